//! How long the stages of a build take.

use std::time::{Duration, Instant};

use layoutc_compiler::host::{Observer, Stage};

/// Measures stages that follow each other.
#[derive(Debug)]
pub(super) struct Clock {
    last: Instant,
    stages: Vec<(&'static str, Duration)>,
}

impl Clock {
    /// Starts measuring.
    pub(super) fn start() -> Self {
        Self { last: Instant::now(), stages: Vec::new() }
    }

    /// The stage that ends here.
    pub(super) fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.stages.push((stage, now - self.last));
        self.last = now;
    }

    /// All stages.
    pub(super) fn stages(self) -> Vec<(&'static str, Duration)> {
        self.stages
    }
}

impl Observer for Clock {
    fn begin(&self) {}

    fn end(&self, _stage: Stage, _item: &str) {}
}
