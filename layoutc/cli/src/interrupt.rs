//! Handling of Ctrl-C and similar signals: the process ends immediately while it computes, and after the current file
//! while it writes.

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::command_error::CommandError;

/// Exit code after an interrupt: 128 plus the number of the signal.
pub(crate) const INTERRUPTED: u8 = 130;
/// Time from an interrupt to the forced end of a process that is writing files, in which the writes should stop.
/// Outputs are written atomically, so none is truncated.
const PATIENCE: Duration = Duration::from_secs(2);

static PREPARED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);

/// Enables [`install_once`]: its next call installs the handler.
#[cfg(feature = "cli")]
pub(crate) fn prepare() {
    PREPARED.store(true, Ordering::SeqCst);
}

/// Installs the handler of interrupts on the first call after [`prepare`]; other calls do nothing. Thus a build with
/// nothing to do avoids the handler's thread.
pub(crate) fn install_once() -> Result<(), CommandError> {
    #[cfg(feature = "cli")]
    if PREPARED.swap(false, Ordering::SeqCst) {
        return install();
    }
    Ok(())
}

/// Installs the handler of Ctrl-C and similar signals, which ends the process with the exit code [`INTERRUPTED`]:
/// immediately, or after [`PATIENCE`] while a [`WriteGuard`] exists.
#[cfg(feature = "cli")]
pub(crate) fn install() -> Result<(), CommandError> {
    let handler = || {
        ASKED.store(true, Ordering::SeqCst);
        if WRITING.load(Ordering::SeqCst) {
            thread::sleep(PATIENCE);
        }
        #[expect(clippy::exit, reason = "computations do not poll for interrupts")]
        process::exit(i32::from(INTERRUPTED));
    };
    ctrlc::set_handler(handler).map_err(|error| {
        CommandError::io("listen for", Path::new("Ctrl-C"), &io::Error::other(error.to_string()))
    })
}

/// Makes writes beyond the file size limit (`ulimit -f`) fail instead of ending the process.
#[cfg(feature = "cli")]
pub(crate) fn ignore_sigxfsz() {
    let is_raised = Arc::new(AtomicBool::new(false));
    // On failure the default remains: the signal ends the process.
    drop(signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_raised));
}

/// Guard that delays the end of the process after an interrupt by [`PATIENCE`] while it exists, so that writes can stop
/// at the next [`check`].
#[derive(Debug)]
pub(crate) struct WriteGuard;

impl WriteGuard {
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

/// Fails if an interrupt has arrived.
///
/// # Errors
/// [`CommandError::Interrupted`].
pub(crate) fn check() -> Result<(), CommandError> {
    if ASKED.load(Ordering::SeqCst) { Err(CommandError::Interrupted) } else { Ok(()) }
}
