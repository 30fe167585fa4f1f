//! Errors that end a command, and the exit code of each.

use std::io;
use std::path::Path;

use layoutc_compiler::base::codes::Code;
use layoutc_compiler::base::diagnostic::Diagnostic;

use crate::paths::relative_to_cwd;

/// Reason why a command ends before it has an outcome. The exit code follows from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// Error in the command line, as a message of one line. Exit code 2.
    Usage(String),
    /// Command without PATHS, in a folder outside of any project. Exit code 2.
    NoProject,
    /// Errors in the input files. Exit code 1.
    Input(Vec<Diagnostic>),
    /// Error of the system, such as a failed read. Exit code 3.
    Machine(Box<Diagnostic>),
    /// Interrupt of the command, such as Ctrl-C. Exit code 130, without a message.
    Interrupted,
}

impl CommandError {
    /// System error with the message ``cannot `verb` `path` `` and the reason from the system.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let shown =
            if path.is_absolute() { relative_to_cwd(path) } else { path.display().to_string() };
        let message = format!("cannot {verb} `{shown}`: {}", os_error_text(error));
        CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message)))
    }

    /// Error that the build `holder` is writing to the folder `output`.
    pub(crate) fn busy(holder: &str, output: &str) -> Self {
        let message = format!("{holder} is writing to `{output}`");
        let help = "try again later, or omit `--no-wait` to wait";
        CommandError::Machine(Box::new(
            Diagnostic::without_span(Code::OutputIo, message).help(help),
        ))
    }
}

/// Text of an error of the operating system. It begins in lower case, and lacks the suffix of Rust, such as
/// ` (os error 28)`.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
