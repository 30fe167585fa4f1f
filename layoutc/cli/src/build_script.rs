//! For the build scripts of Rust projects: a build without a command line.

use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::args::{BuildArgs, SelectArgs};
use crate::build::{self, DependencyGraph, RowSelection};
use crate::command_error::CommandError;
use crate::console::Console;
use crate::project::read_set::ReadSet;
use crate::report::Report;
use crate::template_sandbox;

/// The files that a build made, and what they depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFiles {
    /// The folder that the paths in `#include` lines start from, for C: `<out>/layoutc/c`.
    pub include: PathBuf,
    /// Every file that was made or is still right, sorted.
    pub outputs: Vec<PathBuf>,
    /// Every file that they depend on: configuration, manifests, templates of the project's own; sorted.
    pub inputs: Vec<PathBuf>,
    /// The folders in which a new manifest would be one more input, sorted.
    pub folders: Vec<PathBuf>,
}

/// Why there are no files: what `layoutc build` would say.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct BuildFailure {
    /// The diagnostics, as people read them.
    pub text: String,
}

/// Builds the project or manifest at `project` into `<out>/layoutc`; what is still right there is left alone. Nothing
/// else is written, but for what is remembered in `<out>/layoutc/.layoutc`. `out` is `OUT_DIR` in a build script:
///
/// ```no_run
/// let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
/// let generated = layoutc::build("kernels".as_ref(), &out).unwrap_or_else(|failure| panic!("{failure}"));
/// generated.tell_cargo();
/// let sources = generated.with_extension("c").filter(|path| !path.to_string_lossy().ends_with("_test.c"));
/// // cc::BuildArgs::new().files(sources).include(&generated.include).compile("layouts");
/// ```
///
/// Templates of the project's own are trusted as the build script is: they run in this process.
///
/// # Errors
/// [`BuildFailure`] with all that is wrong with the project, or with the machine.
pub fn build(project: &Path, out: &Path) -> Result<GeneratedFiles, BuildFailure> {
    template_sandbox::trust();
    let mut console = Console::silent();
    let select = SelectArgs {
        paths: vec![project.to_owned()],
        target: Vec::new(),
        out: Some(out.join("layoutc")),
        root: None,
    };
    let args = BuildArgs::of(select);
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
            return BuildFailure { text: "there is no layoutc.toml here".to_owned() };
        }
        CommandError::Interrupted => return BuildFailure { text: "interrupted".to_owned() },
        CommandError::Input(diagnostics) => report.add(diagnostics),
        CommandError::Machine(diagnostic) => report.add([*diagnostic]),
    }
    BuildFailure { text: report.plain_text() }
}

impl GeneratedFiles {
    /// Tells cargo when to run the build script again: on standard output, as build scripts do.
    #[expect(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
    pub fn tell_cargo(&self) {
        for path in self.inputs.iter().chain(&self.folders) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }

    /// The files whose names end in `.<extension>`.
    pub fn with_extension<'a>(&'a self, extension: &'a str) -> impl Iterator<Item = &'a Path> {
        let has_it = move |path: &&PathBuf| path.extension().is_some_and(|e| e == extension);
        self.outputs.iter().filter(has_it).map(PathBuf::as_path)
    }
}
