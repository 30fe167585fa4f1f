//! Executors on which the algebra crate runs its proofs. They use rayon threads, and keep proven claims in the result
//! cache.

use std::sync::atomic::{AtomicBool, Ordering};

use layoutc_algebra::prove::Executor;
use rayon::prelude::*;

use crate::env::{CacheKey, ResultCache};

/// Executor that runs the pieces of a proof in parallel on rayon threads. The cache stores the claims that expensive
/// proofs have proven; such a claim is not proven again.
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

/// Executor on rayon threads that also records whether a proof had to enumerate many points.
pub(crate) struct CostTrackingExecutor<'a> {
    threads: RayonExecutor<'a>,
    has_queried: AtomicBool,
}

impl<'a> CostTrackingExecutor<'a> {
    pub(crate) fn new(memo: &'a dyn ResultCache) -> Self {
        Self { threads: RayonExecutor(memo), has_queried: AtomicBool::new(false) }
    }

    /// True if a proof had to enumerate enough points for the cache to be consulted, also if the cache had the result.
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
