//! Commands of layoutc, one per file.

mod algebra;
mod bench;
mod build;
mod check;
mod clean;
mod completions;
mod deps;
mod element;
mod explain;
mod fmt;
mod import;
mod index;
mod init;
mod inspect;
mod library;
mod lock;
mod lsp;
mod man;
mod measure;
mod ninja;
mod outputs;
mod pack;
mod same;
mod show;
mod solve;
mod swizzle;
mod templates;
mod trace;
mod translate;
mod watch;

use std::process::ExitCode;
use std::time::Duration;

use crate::args::{CliArgs, Command};
use crate::command_error::{CommandError, os_error_text};
use crate::console::write_plainly;
use crate::exit_code::report_error;
use crate::interrupt::INTERRUPTED;
use crate::report::Report;

/// Outcome of a command that has printed its diagnostics. The exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    Success,
    /// Command that found errors in its input.
    InputError,
    /// Command that ran until it was interrupted.
    Interrupted,
}

impl CommandOutcome {
    fn of(report: &Report) -> Self {
        if report.has_errors() { CommandOutcome::InputError } else { CommandOutcome::Success }
    }
}

/// Runs the command that the arguments `args` select, with a console for their options. Returns the exit code of the
/// command, or 3 if a write to standard output failed for another reason than a closed pipe.
pub(crate) fn run(args: &CliArgs) -> ExitCode {
    let mut console = args.common.console(args.command.name());
    let ended = match &args.command {
        Command::Check { paths } => check::run(paths, &mut console),
        Command::Build(build) => build::run(build, &mut console),
        Command::Watch(watch) => watch::run(watch, &mut console),
        Command::Init(init) => init::init(&init.dir, &mut console),
        Command::New(new) => init::new(&new.name, &mut console),
        Command::Clean(clean) => clean::run(clean, &mut console),
        Command::Outputs(outputs) => outputs::run(outputs, args.common.format, &mut console),
        Command::Lock { paths, force } => lock::run(paths, *force, &mut console),
        Command::Deps(deps) => deps::run(deps, args.common.format, &mut console),
        Command::Templates { what } => templates::run(what, &mut console),
        Command::Library { name } => library::run(name.as_deref(), &mut console),
        Command::Inspect { paths, tensor, plan, access } => {
            let parts = inspect::InspectParts { plan: *plan, access: *access };
            inspect::run(paths, tensor, parts, &mut console)
        }
        Command::Swizzle(args) => swizzle::run(args, &mut console),
        Command::Index(index) => index::run(index, &mut console),
        Command::Show(show) => show::run(show, &mut console),
        Command::Trace(trace) => trace::run(trace, &mut console),
        Command::Pack(pack) => pack::pack(pack, &mut console),
        Command::Unpack(unpack) => pack::unpack(unpack, &mut console),
        Command::Algebra { what } => Ok(algebra::run(what, &mut console)),
        Command::Bench(bench) => bench::run(bench, &mut console),
        Command::Translate(translate) => translate::run(translate, &mut console),
        Command::Same(same) => same::run(same, &mut console),
        Command::Solve { paths, graph, time_limit, measure, cc } => {
            let request = solve::SolveRequest {
                names: graph,
                format: args.common.format,
                limit: Duration::from_secs(*time_limit),
                measure: *measure,
                cc: cc.as_deref(),
            };
            solve::run(paths, &request, &mut console)
        }
        Command::Import(import) => import::run(import, &mut console),
        Command::Fmt(fmt) => fmt::run(fmt, &mut console),
        Command::Lsp => lsp::run(),
        Command::Explain { code } => explain::run(code.as_deref(), &mut console),
        Command::Completions(args) => Ok(completions::run(args.shell, &mut console)),
        Command::Man(man) => man::run(man, &mut console),
        // Rejected by `args::parse`.
        Command::Other(_) => Err(CommandError::Usage("unknown command".to_owned())),
    };
    let code = match ended {
        Ok(CommandOutcome::Success) => 0,
        Ok(CommandOutcome::InputError) => 1,
        Ok(CommandOutcome::Interrupted) => INTERRUPTED,
        Err(fault) => report_error(&fault, &mut console),
    };
    match console.finish() {
        Ok(()) => ExitCode::from(code),
        Err(error) => {
            write_plainly(&format!(
                "error: cannot write to standard output: {}\n",
                os_error_text(&error)
            ));
            ExitCode::from(3)
        }
    }
}
