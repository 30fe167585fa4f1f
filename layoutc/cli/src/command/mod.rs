//! The commands: one file each.

mod build;
mod check;
mod explain;
mod index;
mod inspect;

use std::process::ExitCode;

use layoutc_compiler::codes::Code;

use crate::args::{Args, Command};
use crate::console::{Console, write_plainly};
use crate::fault::{Fault, placeless, plain};
use crate::report::{Report, escape};

/// How a command ended that printed all there is to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// All well.
    Good,
    /// The input is at fault.
    Bad,
}

impl Ending {
    fn of(report: &Report) -> Self {
        if report.has_errors() { Ending::Bad } else { Ending::Good }
    }
}

/// Runs the command that was typed; gives its exit code.
pub(crate) fn run(args: &Args) -> ExitCode {
    let mut console = Console::new(&args.common);
    let ended = match &args.command {
        Command::Check { paths } => check::run(paths, &mut console),
        Command::Build(build) => build::run(build, &mut console),
        Command::Inspect { paths, tensor } => inspect::run(paths, tensor, &mut console),
        Command::Index(index) => index::run(index, &mut console),
        Command::Explain { code } => explain::run(code.as_deref(), &mut console),
        // `args::parse` gives none of these.
        Command::Other(_) => Err(Fault::Usage("there is no such command".to_owned())),
    };
    let code = match ended {
        Ok(Ending::Good) => 0,
        Ok(Ending::Bad) => 1,
        Err(fault) => tell(&fault, &mut console),
    };
    match console.finish() {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            write_plainly(&format!("error: cannot write to standard output: {}\n", plain(&error)));
            ExitCode::from(3)
        }
    }
}

/// Prints a fault; gives its exit code.
fn tell(fault: &Fault, console: &mut Console) -> u8 {
    let mut report = Report::default();
    let code = match fault {
        Fault::Usage(line) => {
            console.remark(&format!("error: {}\n", escape(line)));
            return 2;
        }
        Fault::Input(diagnostics) => {
            report.add(diagnostics.iter().cloned());
            1
        }
        Fault::Machine(diagnostic) => {
            report.add([diagnostic.as_ref().clone()]);
            3
        }
    };
    report.print(console);
    code
}

/// Refuses an output folder that leaves its project.
fn outside(out_dir: &str) -> Fault {
    let message = format!("the output folder `{out_dir}` is not inside the project");
    let help = "name a folder of the project as `out-dir`, or write elsewhere with `--out`";
    Fault::Input(vec![placeless(Code::OutputOutside, message).help(help)])
}
