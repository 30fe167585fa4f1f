//! The arguments of `fmt`.

use std::path::PathBuf;

pub(crate) const FORMATTING: &str = "\
Comments, numbers and strings keep their spelling; spaces, indentation and blank lines change.
A manifest that is not valid KDL is left unchanged; the others are formatted.";

#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Manifests or folders; `-`: standard input to output [default: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; exit with 1 if a manifest is not formatted
    #[arg(long)]
    pub(crate) check: bool,
}
