//! Executor of the algebra's proofs: rayon threads, and the result cache of earlier runs.

use std::sync::atomic::{AtomicBool, Ordering};

use layoutc_algebra::prove::Executor;
use rayon::prelude::*;

use crate::env::{CacheKey, ResultCache};

/// Executor that runs proofs on rayon threads, and keeps their results in a cache.
pub(crate) struct RayonExecutor<'a>(pub(crate) &'a dyn ResultCache);

fn key(question: &str) -> CacheKey {
    CacheKey::new("proof", question.as_bytes())
}

impl Executor for RayonExecutor<'_> {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).into_par_iter().for_each(work);
    }

    fn knows(&self, question: &str) -> bool {
        self.0.recall(&key(question)).is_some()
    }

    fn learn(&self, question: &str) {
        self.0.store(&key(question), Vec::new());
    }
}

/// Executor that also records whether a proof enumerated many points.
pub(crate) struct CostTrackingExecutor<'a> {
    threads: RayonExecutor<'a>,
    has_queried: AtomicBool,
}

impl<'a> CostTrackingExecutor<'a> {
    pub(crate) fn new(memo: &'a dyn ResultCache) -> Self {
        Self { threads: RayonExecutor(memo), has_queried: AtomicBool::new(false) }
    }

    /// True if a proof enumerated enough points to be worth caching, in this or an earlier run.
    pub(crate) fn has_visited_many(&self) -> bool {
        self.has_queried.load(Ordering::Relaxed)
    }
}

impl Executor for CostTrackingExecutor<'_> {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        self.threads.for_each(pieces, work);
    }

    fn knows(&self, question: &str) -> bool {
        self.has_queried.store(true, Ordering::Relaxed);
        self.threads.knows(question)
    }

    fn learn(&self, question: &str) {
        self.threads.learn(question);
    }
}
