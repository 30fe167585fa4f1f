//! CuTe's algebra of layouts: composition, complement, inverses, division, products.
//!
//! A layout is a shape and strides that nest alike, the first mode the fastest: `(4,(2,2)):(1,(4,8))`. Extents are at
//! least 1, strides at least 0, sizes and cosizes fit 64 bits. An index past the size goes on in the last mode, as in
//! CuTe. Every answer is checked against what its operation promises before it is given: by carries (no digit of an
//! index runs over, see [`compose`]), so that large layouts cost nothing, else element by element up to
//! [`ENUMERATED`]. What cannot be answered rightly is refused with the figures.
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

/// What an operation gives: a layout that keeps the operation's promise, and what is worth knowing of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteOutcome {
    /// The layout.
    pub layout: CuteLayout,
    /// Where it is not what one might think.
    pub notes: Vec<CuteNote>,
}

/// What divides or selects: one layout for the whole, or one for each of the first modes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiler {
    /// Of all indices.
    Whole(CuteLayout),
    /// Mode by mode; `None` leaves a mode as it is. Modes behind the last stay too.
    Modes(Vec<Option<Tiler>>),
}
