//! Exit codes of commands that end with an error, and the printing of that error.

use crate::command_error::CommandError;
use crate::console::Console;
use crate::interrupt::INTERRUPTED;
use crate::project::CONFIG;
use crate::report::{Report, escape};

/// Error message for the command `command` outside of any project. It advises to create a project, or to pass a
/// manifest.
fn no_project(command: &str) -> String {
    let alternative = match command {
        "templates" => "create a project with `layoutc init`".to_owned(),
        _ => format!("pass a manifest, as in `layoutc {command} a.kdl`"),
    };
    format!("no {CONFIG} in this folder or a parent; {alternative}")
}

/// Prints `fault`, an error that ends a command, to standard error (a diagnostic as JSON to standard output). Returns
/// the exit code that belongs to the error. Prints nothing for [`CommandError::Interrupted`].
pub(crate) fn report_error(fault: &CommandError, console: &mut Console) -> u8 {
    let mut report = Report::default();
    let code = match fault {
        CommandError::Usage(line) => {
            console.remark(&format!("error: {}\n", escape(line)));
            return 2;
        }
        CommandError::NoProject => {
            console.remark(&format!("error: {}\n", no_project(console.command)));
            return 2;
        }
        CommandError::Input(diagnostics) => {
            report.add(diagnostics.iter().cloned());
            1
        }
        CommandError::Interrupted => return INTERRUPTED,
        CommandError::Machine(diagnostic) => {
            report.add([diagnostic.as_ref().clone()]);
            3
        }
    };
    report.print(console);
    code
}
