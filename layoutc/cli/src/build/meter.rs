//! Measurement of the progress and the timings of a build.

use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use layoutc_compiler::env::{CompileStage, Observer};

thread_local! {
    /// Start times of the unfinished tasks on this thread. There are several if the thread runs another task while it
    /// waits for tasks of other threads.
    static BEGUN: RefCell<Vec<Instant>> = const { RefCell::new(Vec::new()) };
}

/// Finished task of a build, with its start and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WorkSpan {
    pub(crate) stage: CompileStage,
    /// Name of what the task processed, such as the path of a manifest.
    pub(crate) item: String,
    /// Number of the worker thread, counted from 1, or 0 for a thread outside of the pool.
    pub(crate) thread: usize,
    /// Time from the start of the build to the start of the task.
    pub(crate) start: Duration,
    /// Time from the start of the build to the end of the task.
    pub(crate) end: Duration,
}

/// Level of detail of a meter. `Spans` records the start and end of each task, `Counts` only the number of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeterDetail {
    Spans,
    Counts,
}

/// Durations of the stages of a build, which follow each other: `last` is the time at which the last stage ended, or
/// the build began, and `took` has the name and the duration of each stage, in order.
#[derive(Debug)]
struct StageTimes {
    last: Instant,
    took: Vec<(&'static str, Duration)>,
}

/// Counter of finished tasks, and clock for the consecutive stages of a build.
#[derive(Debug)]
pub(crate) struct Meter {
    start: Instant,
    stages: Mutex<StageTimes>,
    spans: Option<Mutex<Vec<WorkSpan>>>,
    done: AtomicUsize,
    all: AtomicUsize,
}

impl Meter {
    pub(crate) fn start(detail: MeterDetail) -> Self {
        let now = Instant::now();
        Self {
            start: now,
            stages: Mutex::new(StageTimes { last: now, took: Vec::new() }),
            spans: (detail == MeterDetail::Spans).then(Mutex::default),
            done: AtomicUsize::new(0),
            all: AtomicUsize::new(0),
        }
    }

    /// Ends the stage `stage`, and records its duration: the time since the end of the previous stage, or since the
    /// start of the build.
    pub(super) fn lap(&self, stage: &'static str) {
        let now = Instant::now();
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let took = now - stages.last;
        stages.took.push((stage, took));
        stages.last = now;
    }

    /// Adds `pieces` to the number of tasks that the build is known to have, for the progress.
    pub(super) fn expect(&self, pieces: usize) {
        self.all.fetch_add(pieces, Ordering::Relaxed);
    }

    /// Pair `(done, all)`: the number of finished tasks, and the number of tasks known so far, at least `done`. The
    /// latter grows as tasks are discovered.
    pub(super) fn progress(&self) -> (u64, u64) {
        let done = self.done.load(Ordering::Relaxed);
        (done as u64, self.all.load(Ordering::Relaxed).max(done) as u64)
    }

    /// Pair `(stages, spans)`: name and duration of each stage in order, and all finished tasks sorted by start time.
    /// `spans` is empty with [`MeterDetail::Counts`].
    pub(super) fn finish(&self) -> (Vec<(&'static str, Duration)>, Vec<WorkSpan>) {
        let mut spans = Vec::new();
        if let Some(noted) = &self.spans {
            spans.append(&mut noted.lock().unwrap_or_else(PoisonError::into_inner));
        }
        spans.sort_by_key(|span| (span.start, span.thread));
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut stages.took), spans)
    }
}

impl Observer for Meter {
    fn begin(&self) {
        if self.spans.is_some() {
            BEGUN.with_borrow_mut(|begun| begun.push(Instant::now()));
        }
    }

    fn end(&self, stage: CompileStage, item: &str) {
        self.done.fetch_add(1, Ordering::Relaxed);
        let Some(spans) = &self.spans else { return };
        let end = self.start.elapsed();
        let Some(begun) = BEGUN.with_borrow_mut(Vec::pop) else { return };
        let span = WorkSpan {
            stage,
            item: item.to_owned(),
            thread: rayon::current_thread_index().map_or(0, |index| index + 1),
            start: begun.saturating_duration_since(self.start),
            end,
        };
        spans.lock().unwrap_or_else(PoisonError::into_inner).push(span);
    }
}
