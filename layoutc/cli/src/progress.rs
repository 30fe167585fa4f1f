//! Progress of long commands: a bar on a terminal, else lines at growing intervals.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

#[cfg(feature = "cli")]
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::{Console, write_plainly};
use crate::report::size;

/// Time from the start of a task to the first display of its progress. A shorter task shows none.
const SILENCE: Duration = Duration::from_millis(500);
/// Interval between two updates of the bar.
const STEP: Duration = Duration::from_millis(80);

/// Long-running task whose progress is shown.
#[derive(Clone, Copy)]
pub(crate) struct ProgressTask<'a> {
    /// Present participle that describes the task, such as `building`.
    pub(crate) doing: &'static str,
    pub(crate) unit: ProgressUnit,
    /// Function that returns the finished and the total amount of work, in `unit`. The total may grow, if work is
    /// discovered during the task.
    pub(crate) progress: &'a (dyn Fn() -> (u64, u64) + Sync),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressUnit {
    Steps,
    Bytes,
}

/// Display of the progress of a task. The display ends when this value is dropped.
pub(crate) struct Progress<'scope> {
    over: Option<SyncSender<()>>,
    shows: Option<ScopedJoinHandle<'scope, ()>>,
}

impl<'scope> Progress<'scope> {
    /// Starts to display the progress of `work` on a thread of `scope`: a bar if standard error is a terminal, else
    /// lines. Displays nothing if the console is quiet or prints JSON.
    pub(crate) fn show<'env>(
        scope: &'scope Scope<'scope, 'env>,
        work: ProgressTask<'env>,
        console: &Console,
    ) -> Self {
        if console.quiet || console.is_for_programs() {
            return Self { over: None, shows: None };
        }
        let (over, ended) = sync_channel(1);
        #[cfg(feature = "cli")]
        if std::io::stderr().is_terminal() {
            return Self { over: Some(over), shows: Some(scope.spawn(move || bar(work, &ended))) };
        }
        Self { over: Some(over), shows: Some(scope.spawn(move || lines(work, &ended))) }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(shows) = self.shows.take() {
            // Joined so that nothing is printed after the command's own output.
            drop(shows.join());
        }
    }
}

/// Waits until the work ends, but at most for the time `after`. `ended` is the channel that disconnects when the work
/// ends. Returns true if the work has ended.
fn is_over(ended: &Receiver<()>, after: Duration) -> bool {
    ended.recv_timeout(after) != Err(RecvTimeoutError::Timeout)
}

#[cfg(feature = "cli")]
fn bar(work: ProgressTask<'_>, ended: &Receiver<()>) {
    if is_over(ended, SILENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let counts = match work.unit {
        ProgressUnit::Steps => "{pos} of {len} steps",
        ProgressUnit::Bytes => "{binary_bytes} of {binary_total_bytes}, {eta} left",
    };
    if let Ok(style) =
        ProgressStyle::with_template(&format!("{{bar:32}} {{percent:>3}} %  {counts}"))
    {
        bar.set_style(style);
    }
    let (done, _) = (work.progress)();
    // Work of an earlier run must not count towards the estimated speed.
    bar.set_position(done);
    bar.reset_eta();
    loop {
        let (done, all) = (work.progress)();
        bar.set_length(all);
        bar.set_position(done);
        if is_over(ended, STEP) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn lines(work: ProgressTask<'_>, ended: &Receiver<()>) {
    let mut wait = SILENCE;
    while !is_over(ended, wait) {
        let (done, all) = (work.progress)();
        if done < all {
            let doing = work.doing;
            write_plainly(&match work.unit {
                ProgressUnit::Steps => format!("{doing}: {done} of {all} steps\n"),
                ProgressUnit::Bytes => {
                    format!("{doing}: {} % of {}\n", percent(done, all), size(all))
                }
            });
            wait *= 2;
        }
    }
}

/// Share of `done` in `all`, as a percentage rounded down: 33 for 1 of 3; 100 if `all` is 0.
pub(crate) fn percent(done: u64, all: u64) -> u128 {
    (u128::from(done) * 100).checked_div(u128::from(all)).unwrap_or(100)
}
