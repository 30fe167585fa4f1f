//! A bar for what takes a while; lines, ever fewer of them, where there is no terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::{Console, write_plainly};
use crate::report::size;

/// How long a command says nothing.
const SILENCE: Duration = Duration::from_millis(500);
/// How often a bar moves.
const STEP: Duration = Duration::from_millis(80);

/// What takes a while.
#[derive(Clone, Copy)]
pub(crate) struct ProgressTask<'a> {
    /// What is said of it while it goes on: `building`.
    pub(crate) doing: &'static str,
    /// What is counted.
    pub(crate) unit: ProgressUnit,
    /// How much is done, and how much there is as far as that is known.
    pub(crate) progress: &'a (dyn Fn() -> (u64, u64) + Sync),
}

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProgressUnit {
    /// Pieces of work.
    Steps,
    /// Bytes.
    Bytes,
}

/// Shows how far a command is, until it is dropped.
pub(crate) struct Progress<'scope> {
    over: Option<SyncSender<()>>,
    shows: Option<ScopedJoinHandle<'scope, ()>>,
}

impl<'scope> Progress<'scope> {
    /// Shows how far `work` is, where the console may say that.
    pub(crate) fn show<'env>(
        scope: &'scope Scope<'scope, 'env>,
        work: ProgressTask<'env>,
        console: &Console,
    ) -> Self {
        if console.quiet || console.is_for_programs() {
            return Self { over: None, shows: None };
        }
        let (over, ended) = sync_channel(1);
        let is_terminal = std::io::stderr().is_terminal();
        let show = move || if is_terminal { bar(work, &ended) } else { lines(work, &ended) };
        Self { over: Some(over), shows: Some(scope.spawn(show)) }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(shows) = self.shows.take() {
            // Nothing is said after the command that is still of it.
            drop(shows.join());
        }
    }
}

/// Whether the work is over after so long.
fn is_over(ended: &Receiver<()>, after: Duration) -> bool {
    ended.recv_timeout(after) != Err(RecvTimeoutError::Timeout)
}

fn bar(work: ProgressTask<'_>, ended: &Receiver<()>) {
    if is_over(ended, SILENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let told = match work.unit {
        ProgressUnit::Steps => "{pos} of {len} steps",
        ProgressUnit::Bytes => "{binary_bytes} of {binary_total_bytes}, {eta} left",
    };
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:32}} {{percent:>3}} %  {told}"))
    {
        bar.set_style(style);
    }
    let (done, _) = (work.progress)();
    // What an earlier run did says nothing of how fast this one is.
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

/// Whole percents, never 100 before all is done.
pub(crate) fn percent(done: u64, all: u64) -> u128 {
    (u128::from(done) * 100).checked_div(u128::from(all)).unwrap_or(100)
}
