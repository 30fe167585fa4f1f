//! Queries on a proven layout: lookup of elements and slots, decomposition into components, and comparison
//! with another layout.

pub mod decomposition;
pub mod equivalence;
pub mod locate;
