//! Template model of GPU kernels and the images that they access; a part of the [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::Constant;
use super::shared::Shared;
use crate::emit::syntax::{Expr, Function};

/// Image that stores a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImageUnit {
    /// Rank: 2 for an image, 3 for an array of images.
    pub rank: u32,
    /// Elements per texel: 4 for scalars, 1 for elements of four lanes.
    pub per_texel: u32,
    /// Type of a texel's lanes in arithmetic: `float`, `int`, `uint`.
    pub lane: String,
    /// Scalar type of the elements, in manifest notation.
    pub scalar: String,
    /// OpenCL channel order and channel data type, as constants.
    pub formats: Shared<Vec<Constant>>,
    /// Name of the function that reads an element.
    pub fetch: String,
    /// Name of the function that writes a texel.
    pub put: String,
}

/// Relayout or kernel of the manifest, executed by GPU kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelsUnit {
    /// Name, documentation and parameters of the whole operation; the body is empty.
    pub function: Shared<Function>,
    /// Identifier of the CUDA stream parameter of a launcher: `stream`, or a name that differs from all other
    /// parameters.
    pub stream: String,
    /// Conditions on the symbols that the caller guarantees.
    pub symbols_ok: Vec<Shared<Expr>>,
    /// Kernels, in the order in which they run.
    pub kernels: Vec<KernelUnit>,
}

/// Function that transposes words of elements in registers: word `k` of the result has element `k` of each input word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RegisterTransposeUnit {
    /// Function name.
    pub name: String,
    /// Integer type as wide as an element.
    pub element: String,
    /// Type of a word that is read.
    pub from: String,
    /// Type of a word that is written.
    pub to: String,
    /// Number of words read, which is the number of elements of each word written.
    pub rows: i64,
    /// Number of words written, which is the number of elements of each word read.
    pub columns: i64,
}

/// Axis of a launch range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RangeUnit {
    /// Identifier in a launcher of the number of blocks along the axis, `blocks`, or, if `blocks` is `null`, of the
    /// number of work items: `items`, or `columns`, `rows` and `layers`. A prefix distinguishes the kernels of one
    /// launcher.
    pub name: String,
    /// Number of work items along the axis, as an expression over the symbols.
    pub items: Shared<Expr>,
    /// False if the number of work items is known to be at least 1 for all values of the symbols.
    pub may_be_none: bool,
    /// Threads per block along the axis.
    pub threads: i64,
    /// Index of the last thread in a block: `threads - 1`. The number of blocks is `(items + last_thread) / threads`.
    pub last_thread: i64,
    /// Number of blocks along the axis, as an expression over the symbols; `null` if the number of work items is
    /// neither constant nor a product with `threads`.
    pub blocks: Option<Shared<Expr>>,
}

/// Alignment of the buffers of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BufferAlignment {
    /// Alignment in bytes, a power of two.
    pub bytes: i64,
    /// Mask of the address bits that are 0 in aligned buffers: `bytes - 1`.
    pub last_byte: i64,
}

/// Variant of a kernel for buffers of any alignment. The kernel itself accesses several elements by one vector access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnalignedUnit {
    /// Function that one work item executes; its name ends in `_unaligned`.
    pub function: Shared<Function>,
    /// Axes of the launch range, fastest first.
    pub axes: Vec<RangeUnit>,
    /// Launch configuration as constants, as far as it does not depend on symbols.
    pub constants: Shared<Vec<Constant>>,
    /// Functions of the symbols that give the other sizes of the launch range.
    pub counts: Vec<Shared<Function>>,
}

/// Kernel with its launch range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KernelUnit {
    /// Function that one work item executes.
    pub function: Shared<Function>,
    /// Axes of the launch range, fastest first.
    pub axes: Vec<RangeUnit>,
    /// True if the launch range is empty for all values of the symbols.
    pub empty: bool,
    /// Number of work items per work group (threads per thread block), if they cooperate; `null` otherwise.
    pub group: Option<i64>,
    /// True if each work group executes one iteration of a loop, so that a launch must have exactly the work groups of
    /// the range. False if the groups share the iterations, so that any number of groups has the same result, and false
    /// if `group` is `null`.
    pub each_group: bool,
    /// Alignment of both buffers that the vector accesses of the kernel need; `null` if it needs none.
    pub alignment: Option<BufferAlignment>,
    /// Kernel for buffers without this alignment; `null` if there is none, or if the configuration does not request it.
    pub unaligned: Option<UnalignedUnit>,
    /// Launch configuration as constants, as far as it does not depend on symbols: `TEXTURE_PACK_GLOBAL_SIZE_0`. With
    /// `alignment` also the alignment of the buffers in bytes.
    pub constants: Shared<Vec<Constant>>,
    /// Functions of the symbols that give the other sizes of the launch range.
    pub counts: Vec<Shared<Function>>,
}
