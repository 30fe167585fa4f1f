//! What templates see of kernels and of the images that they read and write; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Constant;
use super::whole::Whole;
use crate::emit::syntax::{Expr, Function};

/// A tensor's memory as an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageUnit {
    /// 2, or 3 for an array of images.
    pub rank: u32,
    /// How many elements share a texel: 4 scalars, or one element of four lanes.
    pub per_texel: u32,
    /// The type of a texel's lanes where they are computed with: `float`, `int`, `uint`.
    pub lane: String,
    /// The scalar type of the elements, as the manifest calls it.
    pub scalar: String,
    /// OpenCL's names of the channels' order and type, as constants.
    pub formats: Whole<Vec<Constant>>,
    /// The function that reads an element.
    pub fetch: String,
    /// The function that writes a texel.
    pub put: String,
}

/// A move of a whole tensor by kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelsUnit {
    /// Name, documentation and parameters of the whole; without a body.
    pub function: Whole<Function>,
    /// A name for CUDA's stream that no parameter has.
    pub stream: String,
    /// The functions that tell whether the symbols have promised values.
    pub symbols_ok: Vec<Whole<Expr>>,
    /// The kernels, in the order in which they run.
    pub kernels: Vec<KernelUnit>,
}

/// A function that turns words of elements: word `k` of the result has element `k` of each word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnUnit {
    /// What it is called.
    pub name: String,
    /// The type of integers as wide as an element.
    pub element: String,
    /// The type of a word that is read.
    pub from: String,
    /// The type of a word that is written.
    pub to: String,
    /// How many words are read: the elements of one that is written.
    pub rows: i64,
    /// How many words are written: the elements of one that is read.
    pub columns: i64,
}

/// One axis of a launch range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangeUnit {
    /// A name for the number of items: `items`, or `columns`, `rows`, `layers`.
    pub name: String,
    /// How many items there are, over the symbols.
    pub items: Whole<Expr>,
    /// Whether there may be none, for some values of the symbols.
    pub may_be_none: bool,
    /// Threads of a block.
    pub threads: i64,
    /// The number of the last of them, which rounds up: `(items + last_thread) / threads`.
    pub last_thread: i64,
    /// Blocks, where the items are known.
    pub blocks: Option<i64>,
}

/// The kernel for buffers that begin anywhere, beside one that moves several elements at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnalignedUnit {
    /// Bytes that both buffers begin at a multiple of, for the other kernel.
    pub alignment_bytes: i64,
    /// The same less one: the bits of an address that are 0 then.
    pub last_byte: i64,
    /// What one work item does; its name ends in `_unaligned`.
    pub function: Whole<Function>,
    /// The axes of the launch range, the fastest first.
    pub axes: Vec<RangeUnit>,
    /// The range as constants.
    pub constants: Whole<Vec<Constant>>,
    /// Functions in place of constants that depend on symbols.
    pub counts: Vec<Whole<Function>>,
}

/// A kernel with its launch range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelUnit {
    /// What one work item does.
    pub function: Whole<Function>,
    /// The axes of the launch range, the fastest first.
    pub axes: Vec<RangeUnit>,
    /// Whether there is no item, whatever the symbols.
    pub empty: bool,
    /// The items of a work group, where they work together.
    pub group: Option<i64>,
    /// Whether there have to be as many groups as the range says; else any number gives the same.
    pub each_group: bool,
    /// What runs in its place where a buffer does not begin at a multiple of what is moved at once; `null` where
    /// buffers begin anywhere.
    pub unaligned: Option<UnalignedUnit>,
    /// The range as constants: `TEXTURE_PACK_GLOBAL_SIZE_0`; with `unaligned` also what buffers begin at a multiple of.
    pub constants: Whole<Vec<Constant>>,
    /// Functions in place of constants that depend on symbols.
    pub counts: Vec<Whole<Function>>,
}
