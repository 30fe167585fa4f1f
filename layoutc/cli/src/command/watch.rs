//! `layoutc watch`: builds, and rebuilds on every change.

use crate::args::WatchArgs;
use crate::build::start_threads;
use crate::command_error::CommandError;
use crate::console::Console;
use crate::{template_sandbox, watch};

use super::{CommandOutcome, build};

/// Builds the selected projects, and again on every change of an input, until interrupted or standard output is closed.
/// In the child process of the template sandbox, builds once.
pub(crate) fn run(args: &WatchArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if template_sandbox::is_child() {
        return build::run(&args.build, console);
    }
    start_threads(&args.build, false)?;
    watch::run(args, console)?;
    // A closed standard output ends the watch without an interrupt.
    Ok(if console.is_closed() { CommandOutcome::Success } else { CommandOutcome::Interrupted })
}
