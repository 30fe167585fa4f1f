//! What a proof runs on: threads, and a memory of what was enumerated before. The algebra has [`SequentialExecutor`]; a caller
//! with threads or a memory brings its own.

use alloc::string::String;

/// Points from which on an enumeration is worth remembering.
const MEMORABLE: i128 = 1 << 16;

/// Runs proofs.
pub trait Executor: Sync {
    /// Calls `work(k)` for every k in `0..pieces`, in any order, and returns when all have returned.
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync));

    /// Whether `question` was answered with yes before: by this very program, for the text says no more than what is
    /// asked. To forget costs time and nothing else.
    fn knows(&self, _question: &str) -> bool {
        false
    }

    /// Remembers that the answer to `question` is yes.
    fn learn(&self, _question: &str) {}
}

/// Whether a property of `points` points holds: as remembered under the question, else as `visit` finds out.
///
/// # Errors
///
/// Those of `visit`.
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

/// One piece after another, and no memory.
#[derive(Debug, Clone, Copy)]
pub struct SequentialExecutor;

impl Executor for SequentialExecutor {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).for_each(work);
    }
}
