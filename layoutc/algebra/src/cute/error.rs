//! Why an operation is refused, and what is worth knowing of an answer.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use core::fmt;

use thiserror::Error;

use crate::swizzle::SwizzleError;

use super::flat::CuteMode;
use super::layout::CuteLayout;
use super::tuple::IntTuple;

/// What CuTe itself answers, where that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CuteReferenceResult {
    /// CuTe's answer.
    pub layout: CuteLayout,
    /// The first index at which it is wrong.
    pub index: i128,
    /// What it gives there.
    pub given: i128,
    /// What `A(B(index))` is.
    pub right: i128,
}

/// Why an operation is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CuteError {
    /// The strides do not nest as the shape does.
    #[error("the strides do not nest as the shape does")]
    Congruence,
    /// An extent below 1, or a stride below 0.
    #[error("`{mode}` is no mode: extents are at least 1, strides at least 0")]
    Extent {
        /// The mode.
        mode: CuteMode,
    },
    /// Three numbers that are no swizzle.
    #[error(transparent)]
    Swizzle(#[from] SwizzleError),
    /// Size or cosize does not fit 64 bits.
    #[error("the size or the largest offset does not fit 64 bits")]
    Size,
    /// Modes nest too deep, or a list of modes is empty.
    #[error("the modes nest too deep, or a list of them is empty")]
    Depth,
    /// No coordinate of the shape.
    #[error("`{coordinate}` is no coordinate of the shape `{shape}`")]
    Coordinate {
        /// As it was given.
        coordinate: IntTuple,
        /// The shape.
        shape: IntTuple,
    },
    /// A tiler or profile has more modes than the layout.
    #[error("{given} top-level modes are given, and the layout has {modes}")]
    Rank {
        /// How many are given.
        given: usize,
        /// How many the layout has.
        modes: usize,
    },
    /// A tiler of modes where one layout is needed.
    #[error("a blocked or raked product is by one layout, not mode by mode")]
    Tiler,
    /// A cotarget below 1.
    #[error("the cotarget is {cotarget}, and at least 1 is needed")]
    Cotarget {
        /// As it was given.
        cotarget: i128,
    },
    /// One mode of B, through A, is no chain of modes.
    #[error(
        "no layout of the shape of B is A after B: {} keeps its step for {run} indices, and {run} does not divide {}",
        within(*mode, *part),
        part.extent
    )]
    Uneven {
        /// The mode of B.
        mode: CuteMode,
        /// What is left of it behind the cuts that A needs.
        part: CuteMode,
        /// For how many indices of the part A gives equal steps; it does not divide them.
        run: i128,
        /// CuTe's answer, where there is one.
        peer: Option<Box<CuteReferenceResult>>,
        /// B with fewer modes, and what A after that is.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// The modes of B are not independent of each other in A.
    #[error(
        "no layout of the shape of B is A after B: at {index} it is {right}, and the modes by themselves add up to {given}"
    )]
    Dependent {
        /// The first index.
        index: i128,
        /// `A(B(index))`.
        right: i128,
        /// What the only candidate gives.
        given: i128,
        /// CuTe's answer, where there is one.
        peer: Option<Box<CuteReferenceResult>>,
        /// B with fewer modes, and what A after that is.
        merged: Option<Box<(CuteLayout, CuteLayout)>>,
    },
    /// A composition that an operation needs on its way.
    #[error("{error}; A is `{outer}` here, and B `{inner}`")]
    InnerComposition {
        /// What stands for A.
        outer: Box<CuteLayout>,
        /// What stands for B.
        inner: Box<CuteLayout>,
        /// Why there is none.
        error: Box<CuteError>,
    },
    /// Carries do not decide, and there are too many indices to look at.
    #[error(
        "the result could not be verified: digits run over without a difference so far, and {size} indices are too many to look at"
    )]
    Unverified {
        /// How many there are.
        size: i128,
    },
    /// Two modes reach into each other.
    #[error(
        "`{second}` begins below the end of `{first}`: copies of the layout cannot be laid side by side"
    )]
    Overlap {
        /// The mode of the smaller stride.
        first: CuteMode,
        /// The other.
        second: CuteMode,
    },
    /// A hole that no copy of the layout fills.
    #[error("no layout of copies covers {cotarget} elements: {element} stays free")]
    Uncovered {
        /// The first element that no copy holds.
        element: i128,
        /// How many were to be covered.
        cotarget: i128,
        /// CuTe's answer.
        peer: Box<CuteLayout>,
    },
    /// A mode that goes nowhere meets elements several times.
    #[error("mode `{mode}` meets each element {} times", mode.extent)]
    Repeats {
        /// The mode.
        mode: CuteMode,
    },
    /// Two indices share an offset.
    #[error("{first} and {second} both lie at {offset}")]
    NotInjective {
        /// One index.
        first: i128,
        /// The other.
        second: i128,
        /// The offset.
        offset: i128,
    },
    /// Strides of which none is a multiple of the other.
    #[error("the strides of `{first}` and `{second}` do not divide each other")]
    Strides {
        /// The mode of the smaller stride.
        first: CuteMode,
        /// The other.
        second: CuteMode,
    },
    /// The tiles cover elements that do not exist.
    #[error("{size_in} elements, {size_out} covered: `{tiler}` does not divide them")]
    Rounds {
        /// The elements that exist.
        size_in: i128,
        /// The elements that CuTe's answer covers.
        size_out: i128,
        /// The tiler.
        tiler: Box<CuteLayout>,
    },
}

/// A part of a mode of B, which may be all of it.
fn within(mode: CuteMode, part: CuteMode) -> String {
    if mode == part {
        return format!("mode `{mode}`");
    }
    format!("`{part}`, a part of mode `{mode}`,")
}

impl CuteError {
    /// A change that works, or what is known of one.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::InnerComposition { error, .. } => error.help(),
            Self::Uneven { merged: Some(merged), .. }
            | Self::Dependent { merged: Some(merged), .. } => {
                let (inner, answer) = merged.as_ref();
                Some(format!("in another shape there is one: A after `{inner}` is `{answer}`"))
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
                Some(format!("up to {limit} indices are looked at one by one"))
            }
            _ => None,
        }
    }

    /// What CuTe itself answers to the same question, where that is wrong.
    pub fn reference_message(&self) -> Option<String> {
        match self {
            Self::InnerComposition { error, .. } => error.reference_message(),
            Self::Uneven { peer: Some(peer), .. } | Self::Dependent { peer: Some(peer), .. } => {
                let CuteReferenceResult { layout, index, given, right } = peer.as_ref();
                Some(format!(
                    "CuTe answers `{layout}`, which gives {given} at {index}, not {right}"
                ))
            }
            Self::Uncovered { peer, element, .. } => {
                Some(format!("CuTe answers `{peer}`, and no copy of A holds {element}"))
            }
            _ => None,
        }
    }
}

/// What is worth knowing of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CuteNote {
    /// B reaches offsets that are no indices of A.
    PastEnd {
        /// The largest offset of B.
        reach: i128,
        /// The size of A.
        size: i128,
    },
    /// CuTe's own answer is another, and wrong.
    Reference(CuteReferenceResult),
    /// A and its complement leave holes below the end of A.
    Hole {
        /// The first element that neither holds.
        element: i128,
    },
    /// A and its complement cover more than was asked for.
    ExcessCover {
        /// How many elements they cover.
        covered: i128,
        /// How many were to be covered.
        cotarget: i128,
    },
    /// Two modes of a product mode by mode reach into each other.
    Overlap {
        /// The mode of the smaller stride.
        first: CuteMode,
        /// The other.
        second: CuteMode,
    },
    /// The tiles cover elements that do not exist.
    Rounded {
        /// The elements that exist.
        size_in: i128,
        /// The elements that are covered.
        size_out: i128,
    },
}

impl fmt::Display for CuteNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastEnd { reach, size } => {
                let more = "past its end its last mode goes on";
                write!(f, "B reaches index {reach}, and A has {size}: {more}")
            }
            Self::Reference(CuteReferenceResult { layout, index, given, right }) => {
                write!(f, "CuTe answers `{layout}`, which gives {given} at {index}, not {right}")
            }
            Self::Hole { element } => {
                write!(f, "A and its complement leave holes, the first at {element}")
            }
            Self::ExcessCover { covered, cotarget } => {
                write!(f, "A and its complement cover {covered} elements, more than {cotarget}")
            }
            Self::Overlap { first, second } => {
                write!(
                    f,
                    "copies reach into each other: `{second}` begins below the end of `{first}`"
                )
            }
            Self::Rounded { size_in, size_out } => {
                write!(f, "{size_in} elements, {size_out} covered: the rest do not exist")
            }
        }
    }
}
