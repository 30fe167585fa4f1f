//! Sandbox for the templates of a project, which are not trusted: a trial run in a child process with limited memory
//! and time.
//!
//! The renderer bounds the number of steps of a template and the size of its output, but it cannot intervene
//! while the template engine parses, stores, concatenates or compares: a few dozen steps of `x ~ x` exhaust
//! memory, long or nested expressions exhaust the stack, which aborts the process, and `==` of lists that
//! share their items takes exponential time. So a build with the user's own templates first runs in a child
//! process with a memory limit, which writes nothing. Rendering is deterministic, so templates that the child
//! survives are safe.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::command_error::CommandError;

/// Name of the environment variable that marks the child process of the sandbox.
const MARK: &str = "LAYOUTC_CONFINED";
/// Limit of the child's address space in bytes.
const MEMORY_BYTES: u64 = 2 << 30;
/// Time limit of the child process.
const PATIENCE: Duration = Duration::from_secs(30);

static IS_TRUSTED: AtomicBool = AtomicBool::new(false);

/// Disables the sandbox for the rest of the process, for templates that are trusted like the caller itself.
pub(crate) fn trust() {
    IS_TRUSTED.store(true, Ordering::Relaxed);
}

/// Limits the address space of this process to [`MEMORY_BYTES`] if it is the child of a sandbox, else does
/// nothing.
pub(crate) fn enter() {
    if is_child() {
        // Best effort: without the limit, the child is as safe as this process.
        let limit = Rlimit { current: Some(MEMORY_BYTES), maximum: Some(MEMORY_BYTES) };
        let _ = setrlimit(Resource::As, limit);
    }
}

/// True if this process is the child of a sandbox.
pub(crate) fn is_child() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs the command line of this process in a child process with limited memory and time. The child writes no files,
/// because every build in it is a dry run ([`is_child`]). Does nothing in such a child, or after [`trust`]. Errors that
/// the child itself reports are ignored, because this process will report them.
///
/// # Errors
/// [`CommandError::Input`] with a diagnostic `template::memory` if the child is killed by a signal, ends with an exit
/// code above 3 (as after a panic), or exceeds [`PATIENCE`]. [`CommandError::Machine`] if the child cannot be started
/// or waited for.
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
    // The child exited by itself; its errors will be reported by this process.
    if ended.is_some_and(|code| code <= 3) {
        return Ok(());
    }
    let message = "the project's templates take too much memory or time";
    let error = Diagnostic::without_span(Code::TemplateMemory, message)
        .note(format!("limits: {} GiB and {} seconds", MEMORY_BYTES >> 30, PATIENCE.as_secs()))
        .help("a string that is appended to itself in a loop doubles each time; write its parts in sequence");
    Err(CommandError::Input(vec![error]))
}
