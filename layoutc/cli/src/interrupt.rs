//! Handling of Ctrl-C and other signals that end a process. While it computes, the process ends immediately; while it
//! writes files, it ends after the current file, or after [`PATIENCE`].

use std::io;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::command_error::CommandError;

/// Exit code after an interrupt: 130, which is 128 plus 2, the number of SIGINT. Other signals that end the process,
/// such as SIGTERM, give it too.
pub(crate) const INTERRUPTED: u8 = 130;
/// Time that a process which is writing files has from an interrupt to its forced end. Outputs are written atomically,
/// so that none is truncated by the forced end.
const PATIENCE: Duration = Duration::from_secs(2);

static PREPARED: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicBool = AtomicBool::new(false);
static WRITING: AtomicBool = AtomicBool::new(false);

/// Enables [`install_once`]: its next call installs the handler.
#[cfg(feature = "cli")]
pub(crate) fn prepare() {
    PREPARED.store(true, Ordering::SeqCst);
}

/// Installs the handler of interrupts on the first call after [`prepare`]; any other call does nothing. A build calls
/// it only if there is work to do, to avoid the thread of the handler otherwise.
pub(crate) fn install_once() -> Result<(), CommandError> {
    #[cfg(feature = "cli")]
    if PREPARED.swap(false, Ordering::SeqCst) {
        return install();
    }
    Ok(())
}

/// Installs the handler of Ctrl-C and other signals, which ends the process with the exit code [`INTERRUPTED`]:
/// immediately, or, while a [`WriteGuard`] exists, after [`PATIENCE`], if the process has not ended by itself before.
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

/// Guard that exists while files are written. While it exists, an interrupt ends the process only after [`PATIENCE`],
/// so that writes can stop at the next [`check`].
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

/// Fails if an interrupt has arrived since the handler was installed.
///
/// # Errors
/// [`CommandError::Interrupted`].
pub(crate) fn check() -> Result<(), CommandError> {
    if ASKED.load(Ordering::SeqCst) { Err(CommandError::Interrupted) } else { Ok(()) }
}
