//! The arguments of `fmt`.

use std::path::PathBuf;

/// What `fmt --help` says besides.
pub(crate) const FORMATTING: &str = "\
Comments, numbers and strings stay as they are spelled; blanks, indentation and blank lines change.
A manifest that is not KDL is left as it is, and the others are formatted.";

// The arguments of `fmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct FmtArgs {
    /// Manifests or folders; `-` is standard input, to standard output [none: the project of this folder or of a parent]
    pub(crate) paths: Vec<PathBuf>,
    /// Write nothing; exit 1 if a manifest would change
    #[arg(long)]
    pub(crate) check: bool,
}
