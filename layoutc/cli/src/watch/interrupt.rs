//! Handling of Ctrl-C and other signals that end a watch.

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use crate::command_error::CommandError;
use crate::interrupt::INTERRUPTED;

use super::WatchMessage;
use super::exec::ExecRunner;

/// Time that a build has from an interrupt to the end of the process. Outputs are written atomically, so that none is
/// truncated.
const PATIENCE: Duration = Duration::from_millis(200);

/// Installs the handler of interrupts. On an interrupt, it sends a message to `inbox`, waits for [`PATIENCE`], stops
/// the command of `runner`, and ends the process with the exit code [`INTERRUPTED`].
///
/// # Errors
/// [`CommandError::Machine`] if the handler cannot be installed.
pub(super) fn install(
    inbox: SyncSender<WatchMessage>,
    runner: Option<Arc<ExecRunner>>,
) -> Result<(), CommandError> {
    let handler = move || {
        // If the inbox is full, its reader is busy.
        drop(inbox.try_send(WatchMessage::Interrupt));
        thread::sleep(PATIENCE);
        if let Some(runner) = &runner {
            runner.stop();
        }
        #[expect(clippy::exit, reason = "a running build does not poll for interrupts")]
        process::exit(i32::from(INTERRUPTED));
    };
    ctrlc::set_handler(handler).map_err(|error| {
        CommandError::io("listen for", Path::new("Ctrl-C"), &io::Error::other(error.to_string()))
    })
}
