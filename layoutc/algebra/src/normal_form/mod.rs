//! Normal form of index expressions: `Facts` about the variables turn an expression into a polynomial over atoms
//! (variables, and operations such as `//` and `%`). From the polynomial follow bounds, proofs of `a == b` and
//! `a >= b`, and a simplified expression.

mod bounds;
mod curve_rewrites;
mod digit_rewrites;
pub(crate) mod memo;
pub(crate) mod nonnegative;
pub(crate) mod poly;
mod render;
pub mod simplify;
pub(crate) mod written_extent;
