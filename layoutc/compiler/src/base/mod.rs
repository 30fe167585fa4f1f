//! Types that every stage of the compiler uses.
//!
//! Diagnostics: [`codes`] and [`diagnostic`]; [`nearest`] has suggestions for their help texts. Types of elements:
//! [`dtype`], [`cast`] between two of them, and [`fill`] values of padding. [`content_hash`] has the seals of generated
//! files.

pub mod cast;
pub mod codes;
pub mod content_hash;
pub mod diagnostic;
pub mod dtype;
pub mod fill;
pub mod nearest;
