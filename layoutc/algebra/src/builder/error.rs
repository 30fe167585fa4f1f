//! Errors of layout construction.

use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{Expr, ExprError};
use crate::step::StepError;

/// Error from applying a step to a layout under construction.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BuildError {
    /// Axis separators are set already, and a step changes the axes, sets strides or sets separators again.
    #[error("axes cannot change after separators")]
    AfterSeparators,
    /// Explicit strides are set already, and a step changes, groups, aligns or rounds the axes, or sets strides again.
    #[error("axes cannot change or be grouped after strides")]
    AfterStrides,
    /// An alignment or rounding is set already, and a step changes the axes; or the first element is aligned already,
    /// and a step swizzles the layout.
    #[error("axes cannot change after an alignment")]
    AfterAlign,
    /// A swizzle is set already, and a step changes the axes, the strides, the rounding or the alignment of the first
    /// element, or swizzles the layout again.
    #[error("axes and strides cannot change after a swizzle")]
    AfterSwizzle,
    /// The number of explicit strides differs from the number of storage axes.
    #[error("{given} strides for {axes} axes")]
    StrideCount {
        /// Number of strides in the arguments of the step.
        given: usize,
        /// Number of current storage axes, which is the number of strides required.
        axes: usize,
    },
    /// The number of indices of a window differs from the number of logical axes of its base layout.
    #[error("window with {given} indices for {axes} axes")]
    WindowRank {
        /// Number of indices given for the window.
        given: usize,
        /// Number of logical axes of the base layout, which is the number of indices required.
        axes: usize,
    },
    /// The lower bound of an explicit stride, over all values of the symbols, is negative.
    #[error("negative stride")]
    NegativeStride,
    /// A separator leaves a group of storage axes empty, is repeated, or is out of order.
    #[error("a separator leaves a group of axes empty")]
    EmptyGroup,
    /// An index of a map is negative at some logical index, such as `i - 1` at `i = 0`.
    #[error("negative index: {value}")]
    Negative {
        /// Position in the map of the item with the negative index, from 0.
        item: usize,
        /// Logical index, one value per logical axis, outermost first, at which the index of this map item is negative.
        witness: Vec<i128>,
        /// Value of the item's index at `witness`, which is negative; for sample values of the symbols if extents are
        /// symbolic.
        value: i128,
    },
    /// The stated extent of a map item, which defines one storage axis, is too small for the item's index, such as 4
    /// for `i` with extent 8.
    #[error("the stated extent is too small: an index is {value}")]
    ExtentTooSmall {
        /// Position in the map of the item with this index, from 0.
        item: usize,
        /// Logical index, one value per logical axis, outermost first, at which the index of this map item is `value`.
        witness: Vec<i128>,
        /// Value of the item's index at `witness`, which is not below the stated extent.
        value: i128,
        /// Smallest extent that is sufficient for the item's index: the maximum of the index plus 1.
        needed: Expr,
    },
    /// An index of a map is neither proven to be in `0..extent` nor refuted by a logical index.
    #[error("the index is not proven to stay within its extent")]
    Unbounded {
        /// Position in the map of the item with this index, from 0.
        item: usize,
    },
    /// No logical index satisfies the conditions of the domain.
    #[error("no index satisfies the conditions")]
    NoElement,
    /// The elements of the domain cannot be counted: its conditions contain symbols or axes of symbolic extent, or
    /// connect axes with more index tuples than are enumerated.
    #[error("the elements could not be counted")]
    Uncounted,
    /// The number of elements of the layout, or its size in bytes, may exceed 64 bits for some values of the symbols.
    #[error("the tensor does not fit 64 bits")]
    Size,
    /// The arguments of a step are invalid, such as the name of an unknown axis.
    #[error(transparent)]
    Step(#[from] StepError),
    /// An index, extent or stride of the layout is too large an expression, or a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}
