//! Ctrl-C, and what else asks a watch to end.

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

/// How long a build may go on before it is cut off. Every output is whole at any moment.
const PATIENCE: Duration = Duration::from_millis(200);

/// From here on Ctrl-C sends a message, and ends the process if nobody takes it.
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
        #[expect(clippy::exit, reason = "the build does not look up from its work")]
        process::exit(i32::from(INTERRUPTED));
    };
    ctrlc::set_handler(handler).map_err(|error| {
        CommandError::io("listen for", Path::new("Ctrl-C"), &io::Error::other(error.to_string()))
    })
}
