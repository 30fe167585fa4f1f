//! What a tensor layout is.
//!
//! Logical axes become storage axes by index maps and steps, storage axes become physical axes by separators, and
//! every layout is proven: no two elements share a slot, or the two that do are named.
#![no_std]

extern crate alloc;

mod bounds;
pub mod build;
pub mod digits;
pub mod expr;
mod join;
pub mod layout;
pub mod locate;
pub mod map;
pub mod parse;
pub mod physical;
mod poly;
pub mod print;
pub mod proof;
mod range;
mod render;
pub mod simplify;
pub mod step;
