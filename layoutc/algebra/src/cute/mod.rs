//! CuTe's algebra of layouts: composition, complement, inverses, division and products.
//!
//! A layout is a shape with congruent strides, the first mode fastest: `(4,(2,2)):(1,(4,8))`. Extents are at
//! least 1 and strides at least 0; sizes and cosizes fit 64 bits. As in CuTe, an index past the size extends
//! the last mode. Every result is verified against the definition of its operation: by carries (see
//! [`compose`]), at a cost independent of the size, or otherwise by enumeration of up to [`ENUMERATED`]
//! indices. An operation without a correct result is an error with the figures.
//!
//! ```
//! use layoutc_algebra::Error;
//! use layoutc_algebra::cute::{complement, compose, parse_layout};
//!
//! let (a, b) = (parse_layout("(6,2):(8,2)")?, parse_layout("(4,3):(3,1)")?);
//! assert_eq!(compose(&a, &b)?.layout.to_string(), "((2,2),3):((24,2),8)");
//! assert_eq!(complement(&parse_layout("4:2")?, Some(24))?.layout.to_string(), "(2,3):(1,8)");
//! # Ok::<(), Error>(())
//! ```
//!
//! Source: CUTLASS, CuTe layout algebra.

mod coalesce;
mod complement;
mod compose;
mod composition_check;
mod divide;
mod error;
mod flat;
mod inverse;
mod layout;
mod product;
mod reference;
mod swizzle;
mod text;
mod tuple;

use alloc::vec::Vec;

pub use coalesce::{coalesce, coalesce_by};
pub use complement::complement;
pub use compose::{compose, compose_by};
pub use composition_check::ENUMERATED;
pub use divide::{DivisionGrouping, RemainderPolicy, divide};
pub use error::{CuteError, CuteNote, CuteReferenceResult};
pub use flat::CuteMode;
pub use inverse::{left_inverse, right_inverse};
pub use layout::CuteLayout;
pub use product::{ProductGrouping, product};
pub use swizzle::SwizzledLayout;
pub use text::{
    CuteLayoutText, SpannedTuple, parse, parse_layout, parse_shape, parse_swizzle, parse_tiler,
};
pub use tuple::IntTuple;

/// Verified result of an operation on CuTe layouts, with notes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteOutcome {
    /// Resulting layout.
    pub layout: CuteLayout,
    /// Notes on unexpected properties of the result.
    pub notes: Vec<CuteNote>,
}

/// Divisor of a division, or selector of a composition: one layout for all indices, or one tiler per leading
/// mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiler {
    /// Layout that applies to the index of the whole layout.
    Whole(CuteLayout),
    /// Tilers that apply mode by mode. Modes with `None` or beyond the list are unchanged.
    Modes(Vec<Option<Tiler>>),
}
