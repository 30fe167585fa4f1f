//! Builds of layoutc projects from the build scripts (`build.rs`) of Rust packages: project folder to generated files.

use std::path::{Path, PathBuf};

use layoutc_compiler::emit::outputs::exchanged;
use thiserror::Error;

use crate::build::{self, BuildArgs, DependencyGraph, RowSelection, SelectArgs};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::project::read_set::ReadSet;
use crate::report::Report;
use crate::template_sandbox;

/// Outputs and inputs of a build, and the folders in which a new file would be an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFiles {
    /// Path of the folder to include C headers from: `<out>/layoutc/c`.
    pub include: PathBuf,
    /// Absolute paths of all outputs, sorted.
    pub outputs: Vec<PathBuf>,
    /// Absolute paths of all files that the outputs depend on (configuration, manifests, templates of the project),
    /// sorted.
    pub inputs: Vec<PathBuf>,
    /// Absolute paths of the folders in which a new manifest would be an input, sorted.
    pub folders: Vec<PathBuf>,
}

/// Error of a build, with the text of its diagnostics.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct BuildFailure {
    /// Text of the diagnostics as `layoutc build` prints them, without color, or the message of another error.
    pub text: String,
}

/// Builds the project or manifest at `project` into `<out>/layoutc`. The only other files are state, in
/// `<out>/layoutc/.layoutc`. Up-to-date files are not written. `out` is `OUT_DIR` in a build script:
///
/// ```no_run
/// let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
/// let generated = layoutc::build("kernels".as_ref(), &out).unwrap_or_else(|failure| panic!("{failure}"));
/// generated.print_cargo_directives();
/// let sources: Vec<_> = generated.c_sources().collect();
/// // cc::Build::new().files(sources).include(&generated.include).compile("layouts");
/// ```
///
/// The project's own templates are trusted like the build script: they run in this process, without a sandbox.
///
/// # Errors
/// [`BuildFailure`] with the errors of the project or of the system.
pub fn build(project: &Path, out: &Path) -> Result<GeneratedFiles, BuildFailure> {
    template_sandbox::trust();
    let mut console = Console::silent();
    let select = SelectArgs {
        paths: vec![project.to_owned()],
        target: Vec::new(),
        out: Some(out.join("layoutc")),
        root: None,
    };
    let args = BuildArgs { select, ..BuildArgs::default() };
    let mut reads = ReadSet::default();
    let built = build::build_once(&args, RowSelection::None, None, &mut reads, &mut console)
        .map_err(failure)?;
    if built.report.has_errors() {
        return Err(BuildFailure { text: built.report.plain_text() });
    }
    let (_, graph) = build::graph(&args.select, &mut console).map_err(failure)?;
    Ok(generated(out, &graph, &reads))
}

fn generated(out: &Path, graph: &DependencyGraph, reads: &ReadSet) -> GeneratedFiles {
    let tops = reads.sources.iter();
    let folders = tops.flat_map(|(root, globs)| globs.folders.iter().map(|f| root.join(f)));
    let mut folders: Vec<PathBuf> = folders.chain(reads.loose.iter().cloned()).collect();
    folders.sort();
    GeneratedFiles {
        include: out.join("layoutc").join("c"),
        outputs: graph.outputs().map(Path::to_owned).collect(),
        inputs: graph.inputs().map(Path::to_owned).collect(),
        folders,
    }
}

fn failure(fault: CommandError) -> BuildFailure {
    let mut report = Report::default();
    match fault {
        CommandError::Usage(text) => return BuildFailure { text },
        CommandError::NoProject => {
            return BuildFailure { text: "no layoutc.toml found".to_owned() };
        }
        CommandError::Interrupted => return BuildFailure { text: "interrupted".to_owned() },
        CommandError::Input(diagnostics) => report.add(diagnostics),
        CommandError::Machine(diagnostic) => report.add([*diagnostic]),
    }
    BuildFailure { text: report.plain_text() }
}

impl GeneratedFiles {
    /// Prints one line `cargo::rerun-if-changed=PATH` for each path in [`Self::inputs`] and [`Self::folders`]. Cargo
    /// then runs the build script again when one of these files or folders changes.
    #[expect(clippy::print_stdout, reason = "build scripts print instructions to cargo")]
    pub fn print_cargo_directives(&self) {
        for path in self.inputs.iter().chain(&self.folders) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }

    /// Paths of the outputs with the file extension `extension`, such as `c`, in the order of [`Self::outputs`].
    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a Path> {
        let has_it = move |path: &&PathBuf| path.extension().is_some_and(|e| e == extension);
        self.outputs.iter().filter(has_it).map(PathBuf::as_path)
    }

    /// Paths of the C sources of which a library is compiled, in the order of [`Self::outputs`]: those beside their
    /// header. Programs (folders `tests` and `bench`) and sources that need MPI (folder `mpi`) are not among them.
    pub fn c_sources(&self) -> impl Iterator<Item = &Path> {
        let needs_mpi = |path: &Path| {
            let below = path.strip_prefix(&self.include).ok().and_then(Path::to_str);
            let header = below.and_then(exchanged).map(|header| self.include.join(header));
            header.is_some_and(|header| self.outputs.contains(&header))
        };
        self.with_extension("c").filter(move |path| {
            !needs_mpi(path) && self.outputs.contains(&path.with_extension("h"))
        })
    }
}
