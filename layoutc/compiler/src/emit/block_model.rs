//! What templates see of the functions that move blocks; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cast_model::RunCast;

/// The functions that pack, unpack and convert move blocks with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Blocks {
    /// Whether runs are copied.
    pub runs: bool,
    /// The transpositions of blocks, by the bytes of their elements.
    pub transposes: Vec<TransposeUnit>,
    /// Whether runs become 0.
    pub zeros: bool,
    /// The conversions of runs and blocks, in order.
    pub casts: Vec<RunCast>,
}

/// A transposition of blocks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TransposeUnit {
    /// Bytes of an element.
    pub bytes: u32,
    /// The small numbers of rows or columns that blocks may have: of 2, 3, 4 and 8.
    pub few: Vec<u32>,
    /// Whether blocks may have fewer rows than a vector of 16 bytes has elements.
    pub few_rows: bool,
    /// The longest vectors with which tiles are moved, in bytes: 0 where all blocks are of 2 or 4 rows or columns whose
    /// elements alternate on the other side, 16 where others are of 3 in this way, else 64.
    pub tiles: u32,
    /// Whether single blocks may be of a move that a second-level cache holds.
    pub near: bool,
    /// Whether single blocks may be of a larger one.
    pub past: bool,
    /// What one call transposes, in order.
    pub calls: Vec<BlockCall>,
}

/// What one call transposes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BlockCall {
    /// A block.
    One,
    /// Several whose elements alternate.
    Alternating,
    /// Several whose columns follow each other in the source.
    Columns,
    /// Several whose rows follow each other in the destination.
    Rows,
}
