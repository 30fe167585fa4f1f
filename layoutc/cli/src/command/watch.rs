//! `layoutc watch`: builds, and again on every change.

use crate::args::Watch;
use crate::build::start_threads;
use crate::console::Console;
use crate::fault::Fault;
use crate::{confine, watch};

use super::{Ending, build};

/// Watches what the arguments name, until it is interrupted.
pub(crate) fn run(args: &Watch, console: &mut Console) -> Result<Ending, Fault> {
    if confine::is_child() {
        return build::run(&args.build, console);
    }
    start_threads(&args.build, false)?;
    watch::run(args, console)?;
    // Who reads no longer has not interrupted.
    Ok(if console.is_closed() { Ending::Good } else { Ending::Interrupted })
}
