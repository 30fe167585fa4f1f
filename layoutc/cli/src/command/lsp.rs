//! `layoutc lsp`: runs the language server.

use crate::command_error::CommandError;
use crate::lsp::{self, SessionEnd};

use super::CommandOutcome;

/// Serves an editor as a language server until the editor disconnects. The outcome is [`CommandOutcome::InputError`] if
/// the editor did not send `shutdown` before, as the protocol requires.
pub(crate) fn run() -> Result<CommandOutcome, CommandError> {
    Ok(match lsp::run()? {
        SessionEnd::AfterShutdown => CommandOutcome::Success,
        SessionEnd::WithoutShutdown => CommandOutcome::InputError,
    })
}
