//! What the algebra's proofs run on here: rayon's threads, and the memory of earlier runs.

use layoutc_algebra::proof::Machine;
use rayon::prelude::*;

use crate::host::{Key, Memo};

/// Threads and a memory.
pub(super) struct Threads<'a>(pub(super) &'a dyn Memo);

/// The key of a question of the prover's.
fn key(question: &str) -> Key {
    Key::new("proof", question.as_bytes())
}

impl Machine for Threads<'_> {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).into_par_iter().for_each(work);
    }

    fn knows(&self, question: &str) -> bool {
        self.0.recall(&key(question)).is_some()
    }

    fn learn(&self, question: &str) {
        self.0.keep(&key(question), Vec::new());
    }
}
