//! CuTe's algebra of layouts: composition, complement, inverses, division and products.
//!
//! A layout is a shape with congruent strides, the first mode fastest: `(4,(2,2)):(1,(4,8))`. Extents are at least 1
//! and strides at least 0; sizes and cosizes fit 64 bits. As in CuTe, an index past the size extends the last mode.
//! Results are verified against the definition of the operation. Compositions are verified by carries between digits
//! (see [`compose`]), at a cost independent of the size, or otherwise by enumeration of up to [`ENUMERATED`] indices.
//! An operation without a correct result returns an error, such as [`CuteError::Dependent`] with an index that refutes
//! the only possible result.
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

/// Result of an operation on CuTe layouts, verified against the definition of the operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteOutcome {
    /// Layout that the operation computes.
    pub layout: CuteLayout,
    /// Notes on properties of the result that may be unexpected; empty in the usual case.
    pub notes: Vec<CuteNote>,
}

/// Second operand of a composition, division or product with A: one layout for all indices of A, or one tiler per
/// leading mode of A.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiler {
    /// One layout for the whole layout A, such as `4:1`. Its offsets are indices of A in a composition or division, and
    /// numbers of copies of A in a product.
    Whole(CuteLayout),
    /// Tilers of the leading modes of A, one by one, such as `[4:1;_]`. Modes of A with `None` or beyond the list
    /// are unchanged.
    Modes(Vec<Option<Tiler>>),
}
