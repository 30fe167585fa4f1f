//! Template model of the relayout primitives; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cast_model::RunCast;

/// Relayout primitives that CPU functions call: pack, unpack, convert, and kernels that only copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocks {
    /// True if the primitive that copies contiguous runs is called.
    pub runs: bool,
    /// Transpose primitives that are called, in ascending order of the element size.
    pub transposes: Vec<TransposeUnit>,
    /// True if the primitive that sets contiguous runs to 0 is called.
    pub zeros: bool,
    /// Primitives that convert the elements of runs and blocks, sorted by the name of the conversion.
    pub casts: Vec<RunCast>,
}

/// Transpose primitives for elements of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransposeUnit {
    /// Bytes of an element.
    pub bytes: u32,
    /// Small numbers of rows or columns with specialized transposes that blocks may have: a subset of 2, 3, 4 and 8.
    pub few: Vec<u32>,
    /// True if a call for a single block may have at least 2 rows, but fewer than a vector of 16 bytes has elements.
    pub few_rows: bool,
    /// Width in bytes of the widest vectors that transpose a single block, the greatest over all such calls; 0 if there
    /// are none. A call counts as 0 if columns of 2 or 4 elements are adjacent in the destination, or rows of 2 or 4
    /// elements in the source, and fit 16 bytes: it interleaves or deinterleaves them. It counts as 16 if these columns
    /// or rows have 3 elements of at most 4 bytes, and otherwise as 64.
    pub tiles: u32,
    /// True if a single block may belong to a relayout that fits the L2 cache.
    pub near: bool,
    /// True if a single block may belong to a relayout that exceeds the L2 cache or always uses streaming stores.
    pub past: bool,
    /// Kinds of calls, in ascending order.
    pub calls: Vec<BlockCall>,
}

/// Number and arrangement of the blocks that one call of a transpose primitive transposes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockCall {
    /// Single block.
    One,
    /// Several blocks whose columns of 2 or 4 elements are adjacent in the destination, or whose rows of 2 or 4
    /// elements are adjacent in the source, so that the call interleaves or deinterleaves them.
    Alternating,
    /// Several blocks whose rows continue one another in the source: each block starts where the first row of the
    /// previous one ends.
    Columns,
    /// Several blocks whose columns continue one another in the destination: each block starts where the first column
    /// of the previous one ends.
    Rows,
}
