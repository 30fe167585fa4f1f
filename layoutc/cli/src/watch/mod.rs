//! Watch that rebuilds whenever an input changes.
//!
//! Notifications are only hints. Changes are found by a comparison of every input with the text that the last build
//! read. As a result, a file that is rewritten with an equal text causes no build, and a change without a notification
//! is found by the next comparison. Without notifications, the watch polls.

mod exec;
mod fs_watcher;
mod interrupt;
mod snapshot;
mod status;
mod wait;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use notify::Event;

use crate::args::WatchArgs;
use crate::build::{
    BuildPrefetch, BuildSummary, ManifestReads, RowSelection, build_once, guess_log,
};
use crate::command_error::{CommandError, os_error_text};
use crate::console::{Console, ReportFormat};
use crate::project::Project;
use crate::project::read_set::ReadSet;
use crate::state::log::LogArena;

use exec::{ExecOutput, ExecRunner};
use fs_watcher::{FsWatcher, OutputBlockage};
use snapshot::{InputChange, InputSnapshot};
use status::{BuildOutcome, StatusReporter};

/// Time without a notification after which the inputs are read. It groups the notifications of one save.
const QUIET: Duration = Duration::from_millis(40);
/// Maximum time to wait for a period of [`QUIET`] without a notification.
const RESTLESS: Duration = Duration::from_secs(1);
/// Time after which an empty or missing input counts as final. Before that, the file may be in the middle of a save
/// that first empties or removes it.
const HALFWAY: Duration = Duration::from_millis(250);
/// Interval at which the inputs are read if the system provides no notifications.
const POLL: Duration = Duration::from_millis(500);
/// Capacity of the channel for messages to the watch loop.
const BACKLOG: usize = 1024;

/// Message that wakes the watch loop.
#[derive(Debug)]
enum WatchMessage {
    /// Event of the file system in a watched folder.
    Event(Event),
    /// End of a run of the command of `--exec`: the number of the run, and a message if it failed.
    Ended(u64, Option<String>),
    Interrupt,
}

/// Reason why the watch loop reads the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WakeReason {
    /// A folder is newly watched; changes in it before that were not reported.
    WatchAdded,
    /// A change was reported, or a polling interval has ended.
    Reported,
}

struct WatchLoop<'a> {
    args: &'a WatchArgs,
    console: &'a mut Console,
    /// Path of the working directory when the watch started.
    home: PathBuf,
    inbox: Receiver<WatchMessage>,
    /// Watcher of the file system, `None` if the inputs are polled.
    eyes: Option<FsWatcher>,
    runner: Option<Arc<ExecRunner>>,
    /// Files that the last build read, and folders and patterns by which it would have read new files.
    known: ReadSet,
    status: StatusReporter,
    /// Outcome of the last build.
    outcome: BuildOutcome,
    is_over: bool,
}

/// Builds the projects, then rebuilds on every change until interrupted, or until standard output is closed.
///
/// # Errors
/// [`CommandError::Usage`], [`CommandError::NoProject`], [`CommandError::Machine`] or [`CommandError::Interrupted`] if
/// the first build ends with it, because no edit of an input fixes it. [`CommandError::Machine`] if the working
/// directory is unknown, or the handler of interrupts cannot be installed.
pub(crate) fn run(args: &WatchArgs, console: &mut Console) -> Result<(), CommandError> {
    let home = std::env::current_dir().map_err(|e| CommandError::io("find", Path::new("."), &e))?;
    let (sender, inbox) = sync_channel(BACKLOG);
    let output =
        if console.format == ReportFormat::Json { ExecOutput::Aside } else { ExecOutput::Shared };
    let runner = args
        .exec
        .as_ref()
        .map(|command| Arc::new(ExecRunner::new(command.clone(), output, sender.clone())));
    interrupt::install(sender.clone(), runner.clone())?;
    let mut watching = WatchLoop {
        args,
        console,
        home,
        inbox,
        eyes: None,
        runner: runner.clone(),
        known: ReadSet::default(),
        status: StatusReporter::default(),
        outcome: BuildOutcome::Success,
        is_over: false,
    };
    if args.poll {
        watching.poll(None);
    } else {
        match FsWatcher::open(sender) {
            Ok(eyes) => watching.eyes = Some(eyes),
            Err(reason) => watching.poll(Some(&reason)),
        }
    }
    let ended = watching.go();
    if let Some(runner) = runner {
        runner.stop();
    }
    ended
}

impl WatchLoop<'_> {
    fn go(&mut self) -> Result<(), CommandError> {
        let look = self.take();
        // Armed before the build, so that changes during it are reported.
        self.known = look.clone().into_known(&self.known, ReadSet::default());
        self.arm();
        let mut reads = ReadSet::default();
        match self.build(None, &mut reads) {
            (
                Err(
                    fault @ (CommandError::Usage(_)
                    | CommandError::NoProject
                    | CommandError::Machine(_)
                    | CommandError::Interrupted),
                ),
                _,
            ) => {
                return Err(fault);
            }
            (built, took) => self.report_build(&[], &built, took),
        }
        self.known = look.into_known(&self.known, reads);
        while !self.is_over {
            let why = if self.arm() {
                self.settle();
                WakeReason::WatchAdded
            } else {
                self.wait();
                WakeReason::Reported
            };
            if !self.is_over {
                self.rebuild(why);
            }
        }
        Ok(())
    }

    /// Rebuilds if an input has changed since the last build. Unless the inputs are polled, also rebuilds if the last
    /// build failed for a reason other than its inputs. `why` is the reason to look. After [`WakeReason::WatchAdded`],
    /// a build that fails again without a change of an input is not reported.
    fn rebuild(&mut self, why: WakeReason) {
        let store = LogArena::default();
        let paths = &self.args.build.select;
        let (look, log) = std::thread::scope(|scope| {
            let log = scope.spawn(|| guess_log(paths, &store));
            (self.look(), log.join().ok().flatten())
        });
        let changes = look.changes(&self.known);
        // Errors outside of the inputs may be fixed without a change of an input.
        let may_be_fixed = match self.outcome {
            BuildOutcome::Blocked => true,
            BuildOutcome::Failed => self.home.is_dir(),
            BuildOutcome::Success | BuildOutcome::InputError => false,
        };
        let may_be_fixed = may_be_fixed && self.eyes.is_some();
        if self.is_over || changes.is_empty() && !may_be_fixed {
            return;
        }
        let mut reads = ReadSet::default();
        let ahead = look.found().map(|(projects, looks)| {
            reads.files.clone_from(looks);
            (
                projects,
                BuildPrefetch {
                    log: log.map(|(_, log)| log),
                    prefetched: ManifestReads::ByPath(looks),
                    store: &store,
                },
            )
        });
        let (built, took) = self.build(ahead, &mut reads);
        if why == WakeReason::WatchAdded
            && changes.is_empty()
            && BuildOutcome::of(&built) != BuildOutcome::Success
        {
            return;
        }
        self.report_build(&changes, &built, took);
        self.known = look.into_known(&self.known, reads);
    }

    fn take(&self) -> InputSnapshot {
        InputSnapshot::take(&self.args.build.select, &self.home, &self.known)
    }

    /// Snapshot of the inputs. If it shows an input that was emptied or removed, as in the middle of a save, it is
    /// taken again, for at most [`HALFWAY`]. While polling, a snapshot with changes is also taken again until two in
    /// succession agree.
    fn look(&mut self) -> InputSnapshot {
        let deadline = Instant::now() + HALFWAY;
        let mut look = self.take();
        while !self.is_over && Instant::now() < deadline {
            let is_fresh = self.eyes.is_none() && !look.changes(&self.known).is_empty();
            if !is_fresh && !look.is_halfway(&self.known) {
                break;
            }
            self.settle();
            let next = self.take();
            // While polling, inputs that are stable over one interval are complete.
            let is_still = next.agrees_with(&look);
            look = next;
            if is_still && !look.is_halfway(&self.known) {
                break;
            }
        }
        look
    }

    /// Runs one build in the working directory of the watch. Returns its result and its duration. `known` has the
    /// projects and the data that was read ahead; `None` to discover the projects. Adds the files that the build read
    /// to `reads`, also on errors.
    fn build<'p>(
        &mut self,
        known: Option<(&'p [Project], BuildPrefetch<'p>)>,
        reads: &mut ReadSet,
    ) -> (Result<BuildSummary, CommandError>, Duration) {
        let start = Instant::now();
        let (args, home) = (&self.args.build, &self.home);
        let entered =
            std::env::set_current_dir(home).map_err(|error| CommandError::io("find", home, &error));
        let built =
            entered.and_then(|()| build_once(args, RowSelection::None, known, reads, self.console));
        (built, start.elapsed())
    }

    /// Reports the build with the result `built`, which took the time `took` and was caused by `changes`. Then runs the
    /// command of `--exec` if the build was successful. Ends the watch if standard output is closed.
    fn report_build(
        &mut self,
        changes: &[InputChange],
        built: &Result<BuildSummary, CommandError>,
        took: Duration,
    ) {
        self.outcome = self.status.report(self.args, changes, built, took, self.console);
        if let Some(runner) = &self.runner
            && self.outcome == BuildOutcome::Success
            && let Err(error) = runner.restart()
        {
            self.console.remark(&format!("error: cannot start `sh`: {}\n", os_error_text(&error)));
        }
        self.is_over |= self.console.is_closed();
    }

    /// Watches the folders of the inputs of the last build. Returns true if the inputs must be compared again: a folder
    /// was added, or the watch has changed to polling.
    fn arm(&mut self) -> bool {
        let blockage = match self.outcome {
            BuildOutcome::Blocked => OutputBlockage::Present,
            BuildOutcome::Success | BuildOutcome::InputError | BuildOutcome::Failed => {
                OutputBlockage::Absent
            }
        };
        match self.eyes.as_mut().map(|eyes| eyes.arm(&self.known, &self.home, blockage)) {
            None => false,
            Some(Ok(is_new)) => is_new,
            Some(Err(reason)) => {
                self.poll(Some(&reason));
                true
            }
        }
    }

    /// Switches to polling, with a message. `reason` is the error of the file system's notifications, `None` if polling
    /// was requested.
    fn poll(&mut self, reason: Option<&str>) {
        self.eyes = None;
        let every = POLL.as_millis();
        match reason {
            Some(reason) => self.console.remark(&format!(
                "warning: cannot watch for changes ({reason}); polling every {every} ms\n"
            )),
            None if self.console.quiet => {}
            None => self.console.remark(&format!("polling for changes every {every} ms\n")),
        }
    }
}
