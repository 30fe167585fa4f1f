//! What a tensor layout is.
//!
//! Logical axes become storage axes by index maps and steps, storage axes become physical axes by separators, and
//! every layout is proven: no two elements share a slot, or the two that do are named.
//!
//! User numbers are 64-bit, checked where they are written (see [`build`]); derived ones are 128-bit, checked in every
//! product and sum that can grow.
#![no_std]
#![warn(clippy::indexing_slicing)]

extern crate alloc;

pub mod affine;
mod bounds;
pub mod build;
pub mod conditions;
pub mod curve;
mod curve_rewrites;
pub mod cute;
pub mod decomposition;
mod difference_bounds;
mod digit_rewrites;
pub mod digits;
pub mod equivalence;
pub mod expr;
pub mod functions;
pub mod layout;
pub mod locate;
pub mod map;
mod memo;
mod monomial;
mod nonnegative;
pub mod notation;
pub mod parse;
pub mod physical;
mod poly;
pub mod print;
pub mod proof;
mod render;
pub mod sharding;
pub mod simplify;
pub mod step;
pub mod swizzle;
mod symbol_values;
mod written_extent;
