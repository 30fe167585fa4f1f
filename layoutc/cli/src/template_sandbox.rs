//! Templates that nobody has vouched for, tried in a process that cannot harm.
//!
//! Fuel bounds a template's steps and a cap its output, but a few dozen steps of `x ~ x` fill the memory, and a process
//! without memory is aborted. So a build with templates of the user's own runs once in a child with a memory limit
//! before it runs here; rendering is deterministic, so what the child survives is safe. The child writes nothing.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::command_error::CommandError;

/// Says to a child that it is one.
const MARK: &str = "LAYOUTC_CONFINED";
/// Address space of the child: 2 GiB.
const MEMORY_BYTES: u64 = 2 << 30;
/// How long the child may take.
const PATIENCE: Duration = Duration::from_secs(30);

static IS_TRUSTED: AtomicBool = AtomicBool::new(false);

/// From here on templates run in this process at once.
pub(crate) fn trust() {
    IS_TRUSTED.store(true, Ordering::Relaxed);
}

/// In a child, lowers the limits; elsewhere does nothing.
pub(crate) fn enter() {
    if is_child() {
        // Without a limit the child is no worse than no child.
        let limited = rlimit::setrlimit(rlimit::Resource::AS, MEMORY_BYTES, MEMORY_BYTES);
        drop(limited);
    }
}

/// Whether this process is such a child.
pub(crate) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs this very command once as a confined child, which writes nothing: each command sees to that by [`is_child`].
///
/// # Errors
/// `template::memory` when the child dies or does not end; a machine fault when there can be no child.
pub(crate) fn dry_run_in_child() -> Result<(), CommandError> {
    if is_child() || IS_TRUSTED.load(Ordering::Relaxed) {
        return Ok(());
    }
    let exe =
        std::env::current_exe().map_err(|e| CommandError::io("find", "layoutc".as_ref(), &e))?;
    let mut child = Command::new(&exe)
        .args(std::env::args_os().skip(1))
        .env(MARK, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| CommandError::io("start", &exe, &e))?;
    let start = Instant::now();
    let ended = loop {
        match child.try_wait().map_err(|e| CommandError::io("wait for", &exe, &e))? {
            Some(status) => break status.code(),
            None if start.elapsed() > PATIENCE => {
                drop(child.kill());
                drop(child.wait());
                break None;
            }
            None => thread::sleep(Duration::from_millis(2)),
        }
    };
    // An exit code says that it came to an end by itself; what it had to say, this process will say again.
    if ended.is_some_and(|code| code <= 3) {
        return Ok(());
    }
    let message = "the project's templates take too much memory or time";
    let error = Diagnostic::without_span(Code::TemplateMemory, message)
        .note(format!("they may take {} GiB and {} seconds", MEMORY_BYTES >> 30, PATIENCE.as_secs()))
        .help("a string that is joined to itself in a loop doubles each time: write the parts one after another");
    Err(CommandError::Input(vec![error]))
}
