//! The commands and their own arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a project of a folder, one that builds at once
    Init(Init),
    /// Make a new folder with a project that builds at once
    New(New),
    /// Parse, validate and prove the manifests; write nothing
    Check {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
    },
    /// Check, then write the outputs that changed
    Build(Build),
    /// Build, then again on every change of a manifest, a template or layoutc.toml
    #[command(after_help = "\
Ctrl-C ends it, with exit code 130. The command of --exec is stopped before it is run again, and at the end.")]
    Watch(Watch),
    /// Remove the files that layoutc wrote and nobody changed since
    Clean(Clean),
    /// Everything known of a tensor: shapes, maps, inverse, proof, sizes
    Inspect {
        /// Manifests or folders [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
        /// Only this tensor; may be given again
        #[arg(long, value_name = "NAME")]
        tensor: Vec<String>,
    },
    /// Where an element lives; with --inverse, who lives at a physical index
    #[command(after_help = "\
Example: layoutc index layouts/a.kdl texture 11,37,23,101
An empty line (or an empty argument) is the coordinate of a tensor of rank 0.")]
    Index(Index),
    /// Which files a build writes; writes nothing
    #[command(after_help = "\
--format cmake prints `set(LAYOUTC_OUTPUTS ...)`, with absolute paths, for `include()`.")]
    Outputs(Outputs),
    /// Write layoutc.lock: the layout ABI that `build --locked` keeps
    Lock {
        /// Projects [none: the project of this folder or of a parent]
        paths: Vec<PathBuf>,
    },
    /// What depends on what: manifests, templates, configuration, outputs; writes nothing
    #[command(after_help = "\
--format dot prints a graph for Graphviz.")]
    Deps(Deps),
    /// The built-in templates, and copies of them to change
    Templates {
        /// What to do with them
        #[command(subcommand)]
        what: Templates,
    },
    /// The long form of a diagnostic, with a wrong and a mended example
    Explain {
        /// The code, as printed in the brackets: `map::not_injective` [none: list all codes]
        code: Option<String>,
    },
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

impl Command {
    /// The word that is typed for it.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Command::Init(_) => "init",
            Command::New(_) => "new",
            Command::Check { .. } => "check",
            Command::Build(_) => "build",
            Command::Watch(_) => "watch",
            Command::Clean(_) => "clean",
            Command::Inspect { .. } => "inspect",
            Command::Index(_) => "index",
            Command::Outputs(_) => "outputs",
            Command::Lock { .. } => "lock",
            Command::Deps(_) => "deps",
            Command::Templates { .. } => "templates",
            Command::Explain { .. } => "explain",
            Command::Other(_) => "",
        }
    }
}

/// Which outputs a command is about, and where they are.
#[derive(Debug, clap::Args)]
pub(crate) struct Select {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Only this target; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Write below this folder instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The folder below which builds are remembered; `None`: the project's.
    #[arg(skip)]
    pub(crate) state: Option<PathBuf>,
}

/// The arguments of `build`.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub(crate) struct Build {
    #[command(flatten)]
    pub(crate) select: Select,
    /// Work on so many threads [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: Option<u16>,
    /// Overwrite files that layoutc did not write, or that were edited since
    #[arg(long)]
    pub(crate) force: bool,
    /// Say what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write nothing; exit 1 if an output on disk differs from what would be written
    #[arg(long, conflicts_with_all = ["dry_run", "force"])]
    pub(crate) check: bool,
    /// Say how long each stage took
    #[arg(long)]
    pub(crate) timings: bool,
    /// Refuse layouts that differ from layoutc.lock
    #[arg(long)]
    pub(crate) locked: bool,
    /// Give up if another build writes to the same folder, instead of waiting for it
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Touch this file after a good build
    #[arg(long, value_name = "FILE")]
    pub(crate) stamp: Option<PathBuf>,
    /// Write what the outputs (or the stamp) depend on to this file, as a rule for make or ninja
    #[arg(long, value_name = "FILE")]
    pub(crate) depfile: Option<PathBuf>,
}

impl Build {
    /// A plain build of `select`.
    pub(crate) fn of(select: Select) -> Self {
        Self {
            select,
            jobs: None,
            force: false,
            dry_run: false,
            check: false,
            timings: false,
            locked: false,
            no_wait: false,
            stamp: None,
            depfile: None,
        }
    }
}

/// The arguments of `watch`.
#[derive(Debug, clap::Args)]
pub(crate) struct Watch {
    #[command(flatten)]
    pub(crate) build: Build,
    /// Run this through the shell after each good build
    #[arg(long, value_name = "CMD")]
    pub(crate) exec: Option<String>,
    /// Look at the inputs twice a second instead of waiting for the system to report changes
    #[arg(long)]
    pub(crate) poll: bool,
}

/// The arguments of `clean`.
#[derive(Debug, clap::Args)]
pub(crate) struct Clean {
    /// Manifests or folders [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Clean this folder instead of the project's own
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The arguments of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The folder
    #[arg(default_value = ".")]
    pub(crate) dir: PathBuf,
}

/// The arguments of `new`.
#[derive(Debug, clap::Args)]
pub(crate) struct New {
    /// The folder to be made; its last part is the project's name
    pub(crate) name: PathBuf,
}

/// The arguments of `outputs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Outputs {
    #[command(flatten)]
    pub(crate) select: Select,
}

/// The arguments of `deps`.
#[derive(Debug, clap::Args)]
pub(crate) struct Deps {
    #[command(flatten)]
    pub(crate) select: Select,
}

/// The commands of `templates`.
#[derive(Debug, Subcommand)]
pub(crate) enum Templates {
    /// The built-in templates, each with its target and what it is for
    List,
    /// Put a copy into the project's templates folder, where it takes the place of the built-in one
    Eject {
        /// The template: c/header.h.j2
        name: String,
        /// Overwrite the file that stands there
        #[arg(long)]
        force: bool,
    },
}

/// The arguments of `index`.
#[derive(Debug, clap::Args)]
pub(crate) struct Index {
    /// The manifest
    pub(crate) file: PathBuf,
    /// The tensor
    pub(crate) tensor: String,
    /// Coordinates, `I,J,...` [none: one a line from standard input]
    #[arg(value_name = "I,J,...")]
    pub(crate) coordinates: Vec<String>,
    /// The coordinates are physical; say which element lives there
    #[arg(long)]
    pub(crate) inverse: bool,
    /// The value of a symbol; may be given again
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
}
