//! Execution of proofs: the trait [`Executor`] runs work in parallel and caches results of enumerations. The algebra
//! provides [`SequentialExecutor`]; callers with threads or a cache implement [`Executor`].

use alloc::string::String;

/// Minimum number of points (index tuples) of an enumeration whose result is cached.
const MEMORABLE: i128 = 1 << 16;

/// Service that runs parallel parts of proofs and caches which properties are proven.
pub trait Executor: Sync {
    /// Calls `work(k)` once for every `k` in `0..pieces`, in any order or in parallel, and returns when all calls
    /// have returned.
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync));

    /// True if the cache contains `question` as a proven property. The text, such as `no collision: …`, describes the
    /// property and its data. It does not identify the version of the program, so a cache must be used only by the
    /// build of the program that filled it. A property missing from the cache is proven again.
    fn knows(&self, _question: &str) -> bool {
        false
    }

    /// Adds `question` to the cache as a proven property, for later calls of [`Executor::knows`]. By default nothing is
    /// cached.
    fn learn(&self, _question: &str) {}
}

/// True if a property of `points` points holds. For at least [`MEMORABLE`] points, the cache is asked with the text
/// `question()` first, and a true result is cached. If the cache is not asked or lacks the property, the result is that
/// of `visit`.
///
/// # Errors
/// Errors of `visit`.
pub(super) fn prove_cached<E>(
    executor: &dyn Executor,
    points: i128,
    question: impl FnOnce() -> String,
    visit: impl FnOnce() -> Result<bool, E>,
) -> Result<bool, E> {
    if points < MEMORABLE {
        return visit();
    }
    let question = question();
    if executor.knows(&question) {
        return Ok(true);
    }
    let holds = visit()?;
    if holds {
        executor.learn(&question);
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
