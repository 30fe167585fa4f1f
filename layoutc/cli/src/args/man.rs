//! The arguments of `man`.

use std::path::PathBuf;

pub(crate) const MANUAL: &str = "\
Without --out, prints the page of layoutc itself to standard output.
Example: layoutc man --out ~/.local/share/man/man1";

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write the page of layoutc and one per command to this folder; created if missing
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite existing files with different content
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
