//! What ends a command early, and which exit code it gives.

use std::io;
use std::path::Path;

use layoutc_compiler::codes::Code;
use layoutc_compiler::diagnostic::Diagnostic;

use crate::project::relative_to_cwd;

/// What ends a command early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CommandError {
    /// The command line is at fault: one line. Exit 2.
    Usage(String),
    /// No path was given, and no project is here. Exit 2.
    NoProject,
    /// The input is at fault. Exit 1.
    Input(Vec<Diagnostic>),
    /// The machine is at fault. Exit 3.
    Machine(Box<Diagnostic>),
    /// It was interrupted. Exit 130, without a word.
    Interrupted,
}

impl CommandError {
    /// The machine would not `verb` (as in "read") the file or folder at `path`.
    pub(crate) fn io(verb: &str, path: &Path, error: &io::Error) -> Self {
        let shown =
            if path.is_absolute() { relative_to_cwd(path) } else { path.display().to_string() };
        let message = format!("cannot {verb} `{shown}`: {}", os_error_text(error));
        CommandError::Machine(Box::new(Diagnostic::without_span(Code::OutputIo, message)))
    }

    /// `holder` is building into the folder `output`.
    pub(crate) fn busy(holder: &str, output: &str) -> Self {
        let message = format!("{holder} is writing to `{output}`");
        let help = "try again later, or wait for it without `--no-wait`";
        CommandError::Machine(Box::new(
            Diagnostic::without_span(Code::OutputIo, message).help(help),
        ))
    }
}

/// The error without Rust's own ` (os error 28)`.
pub(crate) fn os_error_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
