//! Errors of operations on CuTe layouts, and notes on their results.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use thiserror::Error;

use crate::layout::swizzle::SwizzleError;

use super::flat::CuteMode;
use super::layout::CuteLayout;
use super::tuple::IntTuple;

/// Result that CuTe itself computes for an operation, where that result is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteReferenceResult {
    /// Layout that CuTe computes.
    pub layout: CuteLayout,
    /// First index at which the result of CuTe is wrong.
    pub index: i128,
    /// Offset that the result of CuTe gives at `index`.
    pub given: i128,
    /// Correct offset, `A(B(index))`.
    pub right: i128,
}

/// Reason why an operation on CuTe layouts has no result.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CuteError {
    /// Shape and strides have different nesting, such as `(4,2)` and `1`.
    #[error("the strides do not nest as the shape does")]
    Congruence,
    /// A mode has an extent below 1, or a stride below 0.
    #[error("`{mode}` is not a mode: extents are at least 1, strides at least 0")]
    Extent {
        /// Mode with the invalid extent or stride.
        mode: CuteMode,
    },
    /// The parameters do not form a swizzle.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// The size or the largest offset plus 1 of a layout does not fit 64 bits, or an intermediate value does not fit
    /// 128 bits.
    #[error("the size or the largest offset does not fit 64 bits")]
    Size,
    /// Modes are nested deeper than 64 levels in an input or 128 levels in a result, or a list of modes is empty.
    #[error("the modes nest too deep, or a list of them is empty")]
    Depth,
    /// A coordinate is outside the shape, or not nested like the shape.
    #[error("`{coordinate}` is not a coordinate of the shape `{shape}`")]
    Coordinate {
        /// Coordinate in the argument of the operation.
        coordinate: IntTuple,
        /// Shape of the layout, to which the coordinate does not fit.
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
    /// A tiler with one layout per mode is given for a blocked or raked product, which requires one layout.
    #[error("a blocked or raked product takes one layout, not a tiler of modes")]
    Tiler,
    /// The cotarget of a complement is below 1.
    #[error("the cotarget is {cotarget}, expected at least 1")]
    Cotarget {
        /// Cotarget in the argument of the operation.
        cotarget: i128,
    },
    /// A mode of B cannot be split for A: the offsets of A along the mode, or along the part of it that remains after
    /// earlier splits, grow by a constant step for a number of indices that does not divide the extent of that part.
    #[error(
        "A after B has no layout of the shape of B: {} has a constant step for {run} indices, and {run} does not divide {}",
        within(*mode, *part),
        part.extent
    )]
    Uneven {
        /// Mode of B that cannot be composed.
        mode: CuteMode,
        /// Part of the mode that remains after the splits that A needs; equal to `mode` if there are none.
        part: CuteMode,
        /// Number of leading indices of `part` over which the offsets of A grow by one constant step. The next mode
        /// of the result would need this extent, but it does not divide the extent of `part`.
        run: i128,
        /// Result of CuTe itself for A after B; `None` if CuTe has no result, or its result is not proven wrong.
        peer: Option<Box<CuteReferenceResult>>,
        /// Pair of the coalesced B and the composition of A after the coalesced B; `None` if that composition does
        /// not exist either, or B is coalesced already.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// Several modes of B cannot be composed together: the sum of their digits carries in A, so that their offsets
    /// in A cannot be added.
    #[error(
        "A after B has no layout of the shape of B: at {index} it is {right}, but the sum of the modes is {given}"
    )]
    Dependent {
        /// First index at which the only layout that could be the result is wrong.
        index: i128,
        /// Correct offset, `A(B(index))`.
        right: i128,
        /// Offset of `index` in the only layout that could be the result.
        given: i128,
        /// Result of CuTe itself for A after B; `None` if CuTe has no result, or its result is not proven wrong.
        peer: Option<Box<CuteReferenceResult>>,
        /// Pair of the coalesced B and the composition of A after the coalesced B; `None` if that composition does
        /// not exist either, or B is coalesced already.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// A composition that another operation, such as a division, needs has no result.
    #[error("{error}; with A = `{outer}` and B = `{inner}`")]
    InnerComposition {
        /// Outer layout A of the composition.
        outer: Box<CuteLayout>,
        /// Inner layout B of the composition.
        inner: Box<CuteLayout>,
        /// Reason why the composition fails.
        error: Box<CuteError>,
    },
    /// The result cannot be verified: carries between digits do not decide, and there are more indices than are
    /// enumerated. Also stands for a coalesced layout or an inverse that fails its check, which no layout is known to
    /// cause.
    #[error(
        "the result could not be verified: carries cancel so far, and {size} indices are too many to enumerate"
    )]
    Unverified {
        /// Number of indices for which the result would have to be verified. It exceeds
        /// [`ENUMERATED`](super::ENUMERATED) unless a coalesced layout or an inverse failed its check.
        size: i128,
    },
    /// Two modes interleave, so that copies of the layout may share elements: a stride is below the end
    /// `extent * stride` of the mode before it in the order of strides, or not above the largest offset that the modes
    /// before it reach together.
    #[error("`{second}` starts below the end of `{first}`: copies of the layout overlap")]
    Overlap {
        /// Mode with the smaller stride, or one of two modes with equal strides.
        first: CuteMode,
        /// Mode with the larger stride, or the other one of two modes with equal strides.
        second: CuteMode,
    },
    /// No copy of the layout can fill an element below the cotarget.
    #[error(
        "copies of the layout cannot cover {cotarget} elements: element {element} remains free"
    )]
    Uncovered {
        /// First element that no copy of the layout contains.
        element: i128,
        /// Number of elements that should be covered.
        cotarget: i128,
        /// Complement that CuTe returns, which leaves the element free.
        peer: Box<CuteLayout>,
    },
    /// A tiler has a mode of stride 0, which visits each element several times.
    #[error("mode `{mode}` repeats each element {} times", mode.extent)]
    Repeats {
        /// Mode of the tiler that has stride 0.
        mode: CuteMode,
    },
    /// Two indices of the layout have the same offset.
    #[error("{first} and {second} both map to offset {offset}")]
    NotInjective {
        /// Smaller one of the two indices.
        first: i128,
        /// Larger one of the two indices.
        second: i128,
        /// Offset of both indices.
        offset: i128,
    },
    /// Neither of two strides is a multiple of the other, and no left inverse is known for such a layout.
    #[error("the strides of `{first}` and `{second}` do not divide each other")]
    Strides {
        /// The one of the two modes that has the smaller stride.
        first: CuteMode,
        /// The one of the two modes that has the larger stride.
        second: CuteMode,
    },
    /// The tiles of a division cover elements that do not exist (see
    /// [`RemainderPolicy::Refuse`](super::RemainderPolicy::Refuse)).
    #[error("`{tiler}` does not divide {size_in} elements: its tiles cover {size_out}")]
    Rounds {
        /// Number of elements of the layout that is divided.
        size_in: i128,
        /// Number of elements that the tiles cover, which is the size of the result of CuTe.
        size_out: i128,
        /// Tiler that does not divide the number of elements.
        tiler: Box<CuteLayout>,
    },
}

/// Text that names `part`, which is a part of the mode `mode` of B or the whole mode, in a message.
fn within(mode: CuteMode, part: CuteMode) -> String {
    if mode == part {
        return format!("mode `{mode}`");
    }
    format!("`{part}`, a part of mode `{mode}`,")
}

impl CuteError {
    /// Change of the input that avoids the error, or the limit that it exceeds; `None` if there is no advice.
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

    /// Message about the result of CuTe for the same operation, if that result is wrong; `None` otherwise.
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

/// Note on a property of a correct result that may be unexpected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CuteNote {
    /// B has offsets that are not below the size of A. The result continues A there by extending its last mode.
    PastEnd {
        /// Largest offset of B.
        reach: i128,
        /// Number of indices of A.
        size: i128,
    },
    /// CuTe itself computes a different result, which is wrong.
    Reference(CuteReferenceResult),
    /// A and its complement leave elements uncovered below the largest offset of A.
    Hole {
        /// First element that neither A nor a copy of A covers.
        element: i128,
    },
    /// A and its complement together cover more elements than the cotarget requires.
    ExcessCover {
        /// Number of elements that the layout and its complement cover.
        covered: i128,
        /// Number of elements that should be covered.
        cotarget: i128,
    },
    /// Two modes of a product with a tiler of modes interleave, so that copies may share elements.
    Overlap {
        /// Mode with the smaller stride, or one of two modes with equal strides.
        first: CuteMode,
        /// Mode with the larger stride, or the other one of two modes with equal strides.
        second: CuteMode,
    },
    /// The tiles of a division cover elements that do not exist (see
    /// [`RemainderPolicy::Pad`](super::RemainderPolicy::Pad)).
    Rounded {
        /// Number of elements of the layout that is divided.
        size_in: i128,
        /// Number of elements that the tiles cover.
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
