//! Execution of proofs: parallel work, and a cache of enumeration results. The algebra provides
//! [`SequentialExecutor`]; callers with threads or a cache implement [`Executor`].

use alloc::string::String;

/// Minimum number of points of an enumeration whose result is cached.
const MEMORABLE: i128 = 1 << 16;

/// Service that runs parallel parts of proofs and caches their results.
pub trait Executor: Sync {
    /// Calls `work(k)` for every k in `0..pieces`, in any order, and returns when all have returned.
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync));

    /// True if the cache holds the answer yes to `question`. The text of a question does not identify the
    /// program, so a cache must not outlive the build that filled it. Forgetting an answer only costs time.
    fn knows(&self, _question: &str) -> bool {
        false
    }

    /// Caches that the answer to `question` is yes.
    fn learn(&self, _question: &str) {}
}

/// Truth of a property of `points` points, from the cache or by calling `visit`. Only true results of large
/// enumerations are cached.
///
/// # Errors
/// Errors of `visit`.
pub(super) fn prove_cached<E>(
    machine: &dyn Executor,
    points: i128,
    question: impl FnOnce() -> String,
    visit: impl FnOnce() -> Result<bool, E>,
) -> Result<bool, E> {
    if points < MEMORABLE {
        return visit();
    }
    let question = question();
    if machine.knows(&question) {
        return Ok(true);
    }
    let holds = visit()?;
    if holds {
        machine.learn(&question);
    }
    Ok(holds)
}

/// Executor that runs all work sequentially and caches nothing.
#[derive(Debug, Clone, Copy)]
pub struct SequentialExecutor;

impl Executor for SequentialExecutor {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).for_each(work);
    }
}
