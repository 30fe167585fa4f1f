//! `layoutc lsp`: runs the language server.

use crate::command_error::CommandError;
use crate::lsp::{self, SessionEnd};

use super::CommandOutcome;

/// Serves an editor as a language server until the editor disconnects.
pub(crate) fn run() -> Result<CommandOutcome, CommandError> {
    Ok(match lsp::run()? {
        SessionEnd::AfterShutdown => CommandOutcome::Success,
        SessionEnd::WithoutShutdown => CommandOutcome::InputError,
    })
}
