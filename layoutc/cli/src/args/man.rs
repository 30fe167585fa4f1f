//! The arguments of `man`.

use std::path::PathBuf;

/// What `man --help` says besides.
pub(crate) const MANUAL: &str = "\
Without --out the page of layoutc itself goes to standard output.
Example: layoutc man --out ~/.local/share/man/man1";

// The arguments of `man`.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write the page of layoutc and one for each command to this folder, which is made
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write over files that say something else
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
