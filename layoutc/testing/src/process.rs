//! Programs that tests run as processes.

use std::env;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::campaign;

/// Time limit for an event or operation that a test waits for, such as the output of a process.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Calls `poll` every few milliseconds until it returns a value, and returns that value. Panics after [`TIME_LIMIT`]
/// with `what`, the name of the awaited event.
#[track_caller]
pub fn wait_for<T>(what: &str, mut poll: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(start.elapsed() < TIME_LIMIT, "{what} did not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Path of the program `name` in the first folder of `PATH` that contains it, `None` if there is none.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// True if the program `name` is in a folder of `PATH`.
pub fn is_installed(name: &str) -> bool {
    program(name).is_some()
}

/// Path of the program `name`, which a test needs. `None` if it is not installed; the test must then be skipped. Panics
/// instead on CI ([`campaign::is_available`]).
pub fn needed_program(name: &str) -> Option<PathBuf> {
    let path = program(name);
    campaign::is_available(path.is_some(), name);
    path
}

/// Runs the command `command`, and returns its standard output as text.
///
/// # Errors
/// A text with the command, its exit status and everything it printed, if the command cannot be started or fails.
pub fn output(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } =
        command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let out = String::from_utf8_lossy(&stdout).into_owned();
    if status.success() {
        return Ok(out);
    }
    let err = String::from_utf8_lossy(&stderr);
    let folder = command.get_current_dir().map(|folder| format!(" in {}", folder.display()));
    Err(format!("{command:?}{}: {status}\n{out}{err}", folder.unwrap_or_default()))
}

/// Exit code and outputs of a finished process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Exit code of the process, `None` if a signal ended it.
    pub code: Option<i32>,
    /// Text of the standard output.
    pub out: String,
    /// Text of the standard error.
    pub err: String,
}

impl Finished {
    /// Runs `command` with the text `input` as standard input, and waits for its end. Panics if the command cannot be
    /// started.
    #[track_caller]
    pub fn run(command: &mut Command, input: &str) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            pipes.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let mut stdin = child.stdin.take().unwrap();
        // A program that does not read its input may exit before all is written.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        Self::of(&child.wait_with_output().unwrap())
    }

    /// Result of a finished process, from `output`, in which bytes that are not UTF-8 are replaced by `U+FFFD`.
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    /// Standard output of the process. Panics unless the process ended with exit code 0 and printed nothing to standard
    /// error.
    #[track_caller]
    pub fn success(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{}", self.out);
        &self.out
    }

    /// Pair of the exit code (`None` if a signal ended the process) and the standard error. Panics if the process
    /// printed to standard output.
    #[track_caller]
    pub fn failure(&self) -> (Option<i32>, &str) {
        assert_eq!(self.out, "", "{}", self.err);
        (self.code, &self.err)
    }
}
