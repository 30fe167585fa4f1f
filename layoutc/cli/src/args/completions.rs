//! The arguments of `completions`.

use clap_complete::Shell;

pub(crate) const COMPLETING: &str = "\
Prints the script to standard output. It completes commands, options, their values and paths.
Example: layoutc completions bash > ~/.local/share/bash-completion/completions/layoutc";

#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell that runs the script
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
