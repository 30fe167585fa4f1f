//! Questions that a proven layout answers: elements and slots, parts, the comparison of two.

pub mod decomposition;
pub mod equivalence;
pub mod locate;
