//! Ctrl-C, and what else asks a build to end: at once while it only computes; while it writes, after the file that it
//! is at.

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::command_error::CommandError;

/// The exit code of a process that was interrupted: 128 and the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;
/// How long a build that writes may take to notice. Every output is whole at any moment.
const PATIENCE: Duration = Duration::from_secs(2);

static PREPARED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);

/// Makes [`when_prepared`] do what it is for.
pub(crate) fn prepare() {
    PREPARED.store(true, Ordering::SeqCst);
}

/// The same as [`install`], once, and only after [`prepare`]: a build that finds nothing to do spares itself the thread.
pub(crate) fn install_once() -> Result<(), CommandError> {
    if PREPARED.swap(false, Ordering::SeqCst) { install() } else { Ok(()) }
}

/// From here on Ctrl-C ends this process in an orderly way.
pub(crate) fn install() -> Result<(), CommandError> {
    let handler = || {
        ASKED.store(true, Ordering::SeqCst);
        if WRITING.load(Ordering::SeqCst) {
            thread::sleep(PATIENCE);
        }
        #[expect(clippy::exit, reason = "what computes does not look up from its work")]
        process::exit(i32::from(INTERRUPTED));
    };
    ctrlc::set_handler(handler).map_err(|error| {
        CommandError::io("listen for", Path::new("Ctrl-C"), &io::Error::other(error.to_string()))
    })
}

/// From here on a file that grows beyond what the shell allows (`ulimit -f`) is a write that fails, and ends nothing.
pub(crate) fn ignore_sigxfsz() {
    let asked = Arc::new(AtomicBool::new(false));
    // Where it cannot be had, the system ends the process, as it would have done before.
    drop(signal_hook::flag::register(signal_hook::consts::SIGXFSZ, asked));
}

/// While this lives, an interrupt waits for [`check`].
#[derive(Debug)]
pub(crate) struct WriteGuard;

impl WriteGuard {
    /// From here on files are written.
    pub(crate) fn begin() -> Self {
        WRITING.store(true, Ordering::SeqCst);
        Self
    }
}

impl Drop for WriteGuard {
    fn drop(&mut self) {
        WRITING.store(false, Ordering::SeqCst);
    }
}

/// Whether to go on.
///
/// # Errors
/// [`CommandError::Interrupted`] once it was asked to end.
pub(crate) fn check() -> Result<(), CommandError> {
    if ASKED.load(Ordering::SeqCst) { Err(CommandError::Interrupted) } else { Ok(()) }
}
