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
    /// Errors in the files of the user: in the input, or files that must not be overwritten at the paths of outputs.
    /// Exit code 1.
    Input(Vec<Diagnostic>),
    /// Error of the system, such as a failed read. Exit code 3.
    Machine(Box<Diagnostic>),
    /// Interrupt of the command, such as Ctrl-C. Exit code 130, without a message.
    Interrupted,
}

impl CommandError {
    /// System error with the message ``cannot {verb} `{path}`: {reason}``. `verb` is an infinitive such as `read`, and
    /// the reason is the text of `error`. An absolute `path` is shown relative to the working directory.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let shown =
            if path.is_absolute() { relative_to_cwd(path) } else { path.display().to_string() };
        let message = format!("cannot {verb} `{shown}`: {}", os_error_text(error));
        CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message)))
    }

    /// System error of a build that does not wait for another build. `holder` describes the other build, such as
    /// ``process 12 (`layoutc build`)``, and `output` is the path of the folder to which that build is writing.
    pub(crate) fn busy(holder: &str, output: &str) -> Self {
        let message = format!("{holder} is writing to `{output}`");
        let help = "try again later, or omit `--no-wait` to wait";
        CommandError::Machine(Box::new(
            Diagnostic::without_span(Code::OutputIo, message).help(help),
        ))
    }
}

/// Text of an I/O error for messages. The text of an error of the operating system is converted to lower case, and
/// loses the suffix that Rust appends, such as ` (os error 28)`. Any other text is unchanged.
pub fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
