//! Template model of the relayout primitives; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cast_model::RunCast;

/// Relayout primitives that pack, unpack and convert call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocks {
    /// True if runs are copied.
    pub runs: bool,
    /// Transposes of blocks, in ascending order of the element size in bytes.
    pub transposes: Vec<TransposeUnit>,
    /// True if runs are set to 0.
    pub zeros: bool,
    /// Conversion primitives of runs and blocks, in order.
    pub casts: Vec<RunCast>,
}

/// Transpose of blocks with elements of one size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransposeUnit {
    /// Bytes of an element.
    pub bytes: u32,
    /// Small numbers of rows or columns with specialized transposes that blocks may have: a subset of 2, 3, 4 and 8.
    pub few: Vec<u32>,
    /// True if blocks may have fewer rows than a vector of 16 bytes has elements.
    pub few_rows: bool,
    /// Bytes of the longest vectors that transpose tiles. 0 if each block has 2 or 4 rows or columns that are
    /// interleaved on the other side. 16 if some of these blocks have 3 instead. 64 for any other block.
    pub tiles: u32,
    /// True if a single block may belong to a relayout that fits the L2 cache.
    pub near: bool,
    /// True if a single block may belong to a relayout that exceeds the L2 cache.
    pub past: bool,
    /// Kinds of calls, in ascending order.
    pub calls: Vec<BlockCall>,
}

/// Blocks that one call transposes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockCall {
    /// Single block.
    One,
    /// Several blocks whose elements are interleaved.
    Alternating,
    /// Several blocks whose columns are consecutive in the source.
    Columns,
    /// Several blocks whose rows are consecutive in the destination.
    Rows,
}
