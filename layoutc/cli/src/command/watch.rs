//! `layoutc watch`: builds, and again on every change.

use crate::args::WatchArgs;
use crate::build::start_threads;
use crate::command_error::CommandError;
use crate::console::Console;
use crate::{template_sandbox, watch};

use super::{CommandOutcome, build};

/// Watches what the arguments name, until it is interrupted.
pub(crate) fn run(args: &WatchArgs, console: &mut Console) -> Result<CommandOutcome, CommandError> {
    if template_sandbox::is_child() {
        return build::run(&args.build, console);
    }
    start_threads(&args.build, false)?;
    watch::run(args, console)?;
    // Who reads no longer has not interrupted.
    Ok(if console.is_closed() { CommandOutcome::Success } else { CommandOutcome::Interrupted })
}
