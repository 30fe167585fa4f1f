//! The arguments of `completions`.

use clap_complete::Shell;

/// What `completions --help` says besides.
pub(crate) const COMPLETING: &str = "\
The script goes to standard output. It completes commands, options, their values and paths.
Example: layoutc completions bash > ~/.local/share/bash-completion/completions/layoutc";

// The arguments of `completions`.
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
