//! Options of a build, as arguments of the commands that build.

use std::path::PathBuf;

#[derive(Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub(crate) struct SelectArgs {
    /// Manifests or folders [default: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Only this target; repeatable
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub(crate) target: Vec<String>,
    /// Write below this folder instead of the project's `out_dir`
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR"))]
    pub(crate) out: Option<PathBuf>,
    /// Run as one action of another build system: DIR is the project; read nothing above it, cache nothing
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIR", requires = "out"))]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct BuildArgs {
    #[cfg_attr(feature = "cli", command(flatten))]
    pub(crate) select: SelectArgs,
    /// Number of threads [default: number of processors]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..)))]
    pub(crate) jobs: Option<u16>,
    /// Overwrite files that layoutc did not write, or that were edited since
    #[cfg_attr(feature = "cli", arg(long))]
    pub(crate) force: bool,
    /// Print what would be written, and write nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub(crate) dry_run: bool,
    /// Write nothing; exit with 1 if an output on disk is out of date
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["dry_run", "force"]))]
    pub(crate) check: bool,
    /// Print the time of each stage
    #[cfg_attr(feature = "cli", arg(long))]
    pub(crate) timings: bool,
    /// Reject layouts that differ from layoutc.lock
    #[cfg_attr(feature = "cli", arg(long))]
    pub(crate) locked: bool,
    /// Fail instead of waiting if another build is writing to the same folder
    #[cfg_attr(feature = "cli", arg(long))]
    pub(crate) no_wait: bool,
    /// Touch this file after a successful build
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub(crate) stamp: Option<PathBuf>,
    /// Write the dependencies of the outputs (or the stamp) to this file, as a rule for make or ninja
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub(crate) depfile: Option<PathBuf>,
}
