//! A bar for builds that take a while; lines, ever fewer of them, where there is no terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::{Console, write_plainly};

use super::meter::Meter;

/// How long a build says nothing.
const SILENCE: Duration = Duration::from_millis(500);
/// How often a bar moves.
const STEP: Duration = Duration::from_millis(80);

/// Shows how far a build is, until it is dropped.
pub(super) struct Progress<'scope> {
    over: Option<SyncSender<()>>,
    shows: Option<ScopedJoinHandle<'scope, ()>>,
}

impl<'scope> Progress<'scope> {
    /// Shows how far `meter` is, where the console may say that.
    pub(super) fn show<'env>(
        scope: &'scope Scope<'scope, 'env>,
        meter: &'env Meter,
        console: &Console,
    ) -> Self {
        if console.quiet || console.is_for_programs() {
            return Self { over: None, shows: None };
        }
        let (over, ended) = sync_channel(1);
        let is_terminal = std::io::stderr().is_terminal();
        let show = move || if is_terminal { bar(meter, &ended) } else { lines(meter, &ended) };
        Self { over: Some(over), shows: Some(scope.spawn(show)) }
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        drop(self.over.take());
        if let Some(shows) = self.shows.take() {
            // Nothing is said after the build that is still of it.
            drop(shows.join());
        }
    }
}

/// Whether the build is over after so long.
fn is_over(ended: &Receiver<()>, after: Duration) -> bool {
    ended.recv_timeout(after) != Err(RecvTimeoutError::Timeout)
}

fn bar(meter: &Meter, ended: &Receiver<()>) {
    if is_over(ended, SILENCE) {
        return;
    }
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {pos} of {len} steps")
    {
        bar.set_style(style);
    }
    loop {
        let (done, all) = meter.progress();
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        if is_over(ended, STEP) {
            break;
        }
    }
    bar.finish_and_clear();
}

fn lines(meter: &Meter, ended: &Receiver<()>) {
    let mut wait = SILENCE;
    while !is_over(ended, wait) {
        let (done, all) = meter.progress();
        if done < all {
            write_plainly(&format!("building: {done} of {all} steps\n"));
            wait *= 2;
        }
    }
}
