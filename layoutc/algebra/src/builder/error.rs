//! Error of the construction of layouts.

use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError};
use crate::step::StepError;

/// Error from applying a step to a layout under construction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// A step changes the axes after separators.
    #[error("axes cannot change after separators")]
    AfterSeparators,
    /// A step changes or groups the axes after `strides`.
    #[error("axes cannot change or be grouped after strides")]
    AfterStrides,
    /// A step changes the axes after an alignment was requested.
    #[error("axes cannot change after an alignment")]
    AfterAlign,
    /// A step changes the axes or their strides after a swizzle.
    #[error("axes and strides cannot change after a swizzle")]
    AfterSwizzle,
    /// The number of explicit strides differs from the number of storage axes.
    #[error("{given} strides for {axes} axes")]
    StrideCount {
        /// Number of strides given.
        given: usize,
        /// Number of storage axes.
        axes: usize,
    },
    /// The number of indices of a window differs from the number of logical axes of its base layout.
    #[error("window with {given} indices for {axes} axes")]
    WindowRank {
        /// Number of indices given.
        given: usize,
        /// Number of logical axes of the base layout.
        axes: usize,
    },
    /// An explicit stride is negative for some values of the symbols.
    #[error("negative stride")]
    NegativeStride,
    /// A separator leaves a group of storage axes empty, or is repeated.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// An index of a map is negative at some logical index.
    #[error("negative index: {value}")]
    Negative {
        /// Position of the map item with that index.
        item: usize,
        /// Logical index at which the index of the map is negative.
        witness: Vec<i128>,
        /// Value of the index there.
        value: i128,
    },
    /// The stated extent of a map item is smaller than needed for some index.
    #[error("the stated extent is too small: an index is {value}")]
    ExtentTooSmall {
        /// Position of the map item in the map.
        item: usize,
        /// Logical index at which the item reaches `value`; empty if it depends on a symbol.
        witness: Vec<i128>,
        /// Value of the index there.
        value: i128,
        /// Smallest sufficient extent, over symbols.
        needed: Expr,
    },
    /// An index of a map is neither proven to stay within its extent nor refuted.
    #[error("the index is not proven to stay within its extent")]
    Unbounded {
        /// Position of the map item in the map.
        item: usize,
    },
    /// No logical index satisfies the conditions of the domain.
    #[error("no index satisfies the conditions")]
    NoElement,
    /// The elements of the domain cannot be counted: the conditions contain symbols, or connect more indices than
    /// are enumerated.
    #[error("the elements could not be counted")]
    Uncounted,
    /// The number of elements or bytes exceeds 64 bits for some values of the symbols.
    #[error("the tensor does not fit 64 bits")]
    Size,
    /// The step itself is invalid.
    #[error(transparent)]
    Step(#[from] StepError),
    /// An expression is too large, or a value is out of range.
    #[error(transparent)]
    Expr(#[from] ExprError),
}
