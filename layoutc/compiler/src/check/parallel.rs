//! Threads for the algebra's enumeration.

use layoutc_algebra::proof::Parallel;
use rayon::prelude::*;

/// Pieces of work on rayon's threads.
pub(super) struct Threads;

impl Parallel for Threads {
    fn for_each(&self, pieces: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..pieces).into_par_iter().for_each(work);
    }
}
