//! Normal form of index expressions: polynomials over indivisible atoms, with bounds and rewrites.

mod bounds;
mod curve_rewrites;
mod digit_rewrites;
pub(crate) mod memo;
pub(crate) mod nonnegative;
pub(crate) mod poly;
mod render;
pub mod simplify;
pub(crate) mod written_extent;
