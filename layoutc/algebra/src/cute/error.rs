//! Errors of the algebra, and notes on a result.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use thiserror::Error;

use crate::layout::swizzle::SwizzleError;

use super::flat::CuteMode;
use super::layout::CuteLayout;
use super::tuple::IntTuple;

/// CuTe's own result, where it is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteReferenceResult {
    /// Layout that CuTe computes.
    pub layout: CuteLayout,
    /// First index at which the result is wrong.
    pub index: i128,
    /// Offset that CuTe's result gives at `index`.
    pub given: i128,
    /// Offset `A(B(index))`.
    pub right: i128,
}

/// Reason that an operation has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CuteError {
    /// Shape and strides are not congruent.
    #[error("the strides do not nest as the shape does")]
    Congruence,
    /// An extent below 1, or a stride below 0.
    #[error("`{mode}` is not a mode: extents are at least 1, strides at least 0")]
    Extent {
        /// The mode.
        mode: CuteMode,
    },
    /// Parameters that do not form a swizzle.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// Size or cosize does not fit 64 bits.
    #[error("the size or the largest offset does not fit 64 bits")]
    Size,
    /// Modes nest too deep, or a list of modes is empty.
    #[error("the modes nest too deep, or a list of them is empty")]
    Depth,
    /// A coordinate outside the shape, or not congruent to it.
    #[error("`{coordinate}` is not a coordinate of the shape `{shape}`")]
    Coordinate {
        /// Coordinate as given.
        coordinate: IntTuple,
        /// Shape of the layout.
        shape: IntTuple,
    },
    /// A tiler or profile has more modes than the layout.
    #[error("too many top-level modes: {given} for a layout of rank {modes}")]
    Rank {
        /// Number of modes of the tiler or profile.
        given: usize,
        /// Number of top-level modes of the layout.
        modes: usize,
    },
    /// A tiler of modes where one layout is required.
    #[error("a blocked or raked product takes one layout, not a tiler of modes")]
    Tiler,
    /// A cotarget below 1.
    #[error("the cotarget is {cotarget}, expected at least 1")]
    Cotarget {
        /// Cotarget as given.
        cotarget: i128,
    },
    /// A mode of B that A does not map to a chain of modes.
    #[error(
        "A after B has no layout of the shape of B: {} has a constant step for {run} indices, and {run} does not divide {}",
        within(*mode, *part),
        part.extent
    )]
    Uneven {
        /// Mode of B.
        mode: CuteMode,
        /// Remainder of the mode after the splits that A needs.
        part: CuteMode,
        /// Number of indices of the part for which A's step is constant; it does not divide the part's extent.
        run: i128,
        /// CuTe's result, if it has one and it is wrong.
        peer: Option<Box<CuteReferenceResult>>,
        /// B with fewer modes, and A after that.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// The modes of B interact through carries in A.
    #[error(
        "A after B has no layout of the shape of B: at {index} it is {right}, but the sum of the modes is {given}"
    )]
    Dependent {
        /// First index at which the candidate is wrong.
        index: i128,
        /// `A(B(index))`.
        right: i128,
        /// Offset that the only candidate gives.
        given: i128,
        /// CuTe's result, if it has one and it is wrong.
        peer: Option<Box<CuteReferenceResult>>,
        /// B with fewer modes, and A after that.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// A composition that another operation needs fails.
    #[error("{error}; with A = `{outer}` and B = `{inner}`")]
    InnerComposition {
        /// Outer layout, A.
        outer: Box<CuteLayout>,
        /// Inner layout, B.
        inner: Box<CuteLayout>,
        /// Reason of the failure.
        error: Box<CuteError>,
    },
    /// Carries do not decide, and there are too many indices to enumerate.
    #[error(
        "the result could not be verified: carries cancel so far, and {size} indices are too many to enumerate"
    )]
    Unverified {
        /// Number of indices.
        size: i128,
    },
    /// Two modes interleave, so copies of the layout would share elements.
    #[error("`{second}` starts below the end of `{first}`: copies of the layout overlap")]
    Overlap {
        /// Mode with the smaller stride.
        first: CuteMode,
        /// Mode with the larger stride.
        second: CuteMode,
    },
    /// A hole that no copy of the layout can fill.
    #[error(
        "copies of the layout cannot cover {cotarget} elements: element {element} remains free"
    )]
    Uncovered {
        /// First element that no copy contains.
        element: i128,
        /// Number of elements to cover.
        cotarget: i128,
        /// CuTe's result.
        peer: Box<CuteLayout>,
    },
    /// A mode of stride 0, which visits each element several times.
    #[error("mode `{mode}` repeats each element {} times", mode.extent)]
    Repeats {
        /// Mode of stride 0.
        mode: CuteMode,
    },
    /// Two indices with the same offset.
    #[error("{first} and {second} both map to offset {offset}")]
    NotInjective {
        /// Smaller index.
        first: i128,
        /// Larger index.
        second: i128,
        /// Common offset.
        offset: i128,
    },
    /// Two strides of which neither is a multiple of the other.
    #[error("the strides of `{first}` and `{second}` do not divide each other")]
    Strides {
        /// Mode with the smaller stride.
        first: CuteMode,
        /// Mode with the larger stride.
        second: CuteMode,
    },
    /// Tiles that cover elements that do not exist.
    #[error("`{tiler}` does not divide {size_in} elements: its tiles cover {size_out}")]
    Rounds {
        /// Number of elements of the layout.
        size_in: i128,
        /// Number of elements that CuTe's result covers.
        size_out: i128,
        /// Tiler that does not divide them.
        tiler: Box<CuteLayout>,
    },
}

/// Describes a part of a mode of B, which may be the whole mode.
fn within(mode: CuteMode, part: CuteMode) -> String {
    if mode == part {
        return format!("mode `{mode}`");
    }
    format!("`{part}`, a part of mode `{mode}`,")
}

impl CuteError {
    /// A change that works, or a known limit.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::InnerComposition { error, .. } => error.help(),
            Self::Uneven { merged: Some(merged), .. }
            | Self::Dependent { merged: Some(merged), .. } => {
                let (inner, answer) = merged.as_ref();
                Some(format!("merging modes of B helps: A after `{inner}` is `{answer}`"))
            }
            Self::Uncovered { element, .. } => {
                Some(format!("up to {element} elements are covered"))
            }
            Self::Repeats { .. } => Some("leave the mode out of the tiler".into()),
            Self::Strides { .. } => {
                Some("an inverse is built where each stride is a multiple of the one below".into())
            }
            Self::Unverified { .. } => {
                let limit = super::ENUMERATED;
                Some(format!("up to {limit} indices are enumerated"))
            }
            _ => None,
        }
    }

    /// CuTe's own result for the same operation, if it is wrong.
    pub fn reference_message(&self) -> Option<String> {
        match self {
            Self::InnerComposition { error, .. } => error.reference_message(),
            Self::Uneven { peer: Some(peer), .. } | Self::Dependent { peer: Some(peer), .. } => {
                let CuteReferenceResult { layout, index, given, right } = peer.as_ref();
                Some(format!(
                    "CuTe returns `{layout}`, which gives {given} at {index}, not {right}"
                ))
            }
            Self::Uncovered { peer, element, .. } => {
                Some(format!("CuTe returns `{peer}`, but no copy of A contains {element}"))
            }
            _ => None,
        }
    }
}

/// A note on a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CuteNote {
    /// B reaches offsets that are not indices of A.
    PastEnd {
        /// Largest offset of B.
        reach: i128,
        /// Size of A.
        size: i128,
    },
    /// CuTe's own result differs and is wrong.
    Reference(CuteReferenceResult),
    /// A and its complement leave holes below the end of A.
    Hole {
        /// First element that neither covers.
        element: i128,
    },
    /// A and its complement cover more than the cotarget.
    ExcessCover {
        /// Number of covered elements.
        covered: i128,
        /// Number of elements to cover.
        cotarget: i128,
    },
    /// Two modes of a mode-by-mode product interleave.
    Overlap {
        /// Mode with the smaller stride.
        first: CuteMode,
        /// Mode with the larger stride.
        second: CuteMode,
    },
    /// The tiles cover elements that do not exist.
    Rounded {
        /// Number of elements of the layout.
        size_in: i128,
        /// Number of covered elements.
        size_out: i128,
    },
}

impl fmt::Display for CuteNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastEnd { reach, size } => {
                let more = "beyond its size, A extrapolates its last mode";
                write!(f, "B reaches index {reach}, and A has {size}: {more}")
            }
            Self::Reference(CuteReferenceResult { layout, index, given, right }) => {
                write!(f, "CuTe returns `{layout}`, which gives {given} at {index}, not {right}")
            }
            Self::Hole { element } => {
                write!(f, "A and its complement leave holes, the first at {element}")
            }
            Self::ExcessCover { covered, cotarget } => {
                write!(f, "A and its complement cover {covered} elements, more than {cotarget}")
            }
            Self::Overlap { first, second } => {
                write!(f, "copies interleave: `{second}` begins below the end of `{first}`")
            }
            Self::Rounded { size_in, size_out } => {
                write!(f, "{size_in} elements, {size_out} covered: the rest do not exist")
            }
        }
    }
}
