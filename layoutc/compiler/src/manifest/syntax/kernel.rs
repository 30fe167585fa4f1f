//! Kernels and their instances; statements are kept as text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, SpannedText};

/// `kernel conv { operands A W B; compute "…" }`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelItem {
    /// The declared name.
    pub name: Identifier,
    /// The names of its tensors, distinct. Without them, the kernel names tensors of the file and is its own instance.
    pub operands: Option<Vec<Identifier>>,
    /// The statements, at least one.
    pub computes: Vec<SpannedText>,
    /// Extents of axes that do not index a tensor alone; the names are distinct.
    pub ranges: Vec<(Identifier, IntegerExpr)>,
    /// The accumulator's type as written.
    pub acc: Option<SpannedText>,
    /// The `accumulate #true` node: the statement adds to the previous values of the outputs.
    pub accumulate: Option<Range<usize>>,
    /// The intermediates with storage; the names are distinct.
    pub locals: Vec<LocalItem>,
    /// The loop schedule of all instances.
    pub schedule: Vec<ScheduleItem>,
    /// The operand tiles that are staged in buffers; the tensors are distinct.
    pub caches: Vec<CacheItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `local T dtype=f32 { layout { … } }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalItem {
    /// The declared name.
    pub name: Identifier,
    /// The element type as written.
    pub dtype: SpannedText,
    /// The layout; the default is row-major.
    pub layout: Option<LayoutItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `instance conv_nchw of=conv A=input W=filters B=output { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceItem {
    /// The declared name.
    pub name: Identifier,
    /// The kernel.
    pub of: Identifier,
    /// The tensor of the file for each operand of the kernel; the operands are distinct.
    pub operands: Vec<(Identifier, Identifier)>,
    /// The loop schedule; each keyword here replaces the kernel's.
    pub schedule: Vec<ScheduleItem>,
    /// The staged operand tiles; if any, they replace all of the kernel's.
    pub caches: Vec<CacheItem>,
    /// The span of the node without its block.
    pub span: Range<usize>,
}

/// `cache A at=k_outer double=#true { layout { … }; memory shared }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheItem {
    /// The operand.
    pub tensor: Identifier,
    /// The loop whose iterations each use one tile.
    pub at: Identifier,
    /// True for double buffering: the next tile is copied while the current one is used.
    pub double: bool,
    /// The layout of the buffer; the default is row-major.
    pub layout: Option<LayoutItem>,
    /// The memory of the buffer.
    pub memory: CacheMemory,
    /// The span of the node without its block.
    pub span: Range<usize>,
}

/// The memory of a staging buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheMemory {
    /// Memory shared by a thread block; the stack on a CPU.
    Shared,
    /// Memory of one thread; the stack on a CPU.
    Local,
}

/// One node of a loop schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleItem {
    /// The operation.
    pub kind: ScheduleKind,
    /// The span of the node.
    pub span: Range<usize>,
}

/// An operation of a loop schedule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keywords of the manifest")]
pub enum ScheduleKind {
    /// `loops a b c`: the loop order, outermost first
    Loops(Vec<Identifier>),
    /// `split w by=8`
    Split { axis: Identifier, by: IntegerExpr },
    /// `tile h w by="4 8"`: one size for each axis
    Tile { axes: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `unroll a b`
    Unroll(Vec<Identifier>),
    /// `vectorize a`
    Vectorize(Identifier),
    /// `parallel a b`
    Parallel(Vec<Identifier>),
}

impl ScheduleKind {
    /// The keyword.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Loops(_) => "loops",
            Self::Split { .. } => "split",
            Self::Tile { .. } => "tile",
            Self::Unroll(_) => "unroll",
            Self::Vectorize(_) => "vectorize",
            Self::Parallel(_) => "parallel",
        }
    }
}
