//! Types that every stage uses: diagnostics and their codes, element types, casts, fill values.

pub mod cast;
pub mod codes;
pub mod content_hash;
pub mod diagnostic;
pub mod dtype;
pub mod fill;
pub mod nearest;
