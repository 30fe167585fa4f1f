//! Kernels and their instances as typed syntax. What a kernel computes is a text here.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, SpannedText};

/// `kernel conv { operands A W B; compute "…" }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelItem {
    /// The name.
    pub name: Identifier,
    /// The names of its tensors, which differ; without them it names the file's tensors and is its own instance.
    pub operands: Option<Vec<Identifier>>,
    /// The statements, at least one.
    pub computes: Vec<SpannedText>,
    /// How far axes count that no tensor is indexed by alone; their names differ.
    pub ranges: Vec<(Identifier, IntegerExpr)>,
    /// The accumulator's type as written.
    pub acc: Option<SpannedText>,
    /// Where it says that what the outputs held before counts; `None` where it does not.
    pub accumulate: Option<Range<usize>>,
    /// The intermediates that have memory; their names differ.
    pub locals: Vec<LocalItem>,
    /// How the loops are ordered and done, in all instances.
    pub schedule: Vec<ScheduleItem>,
    /// What is copied near the compute; the tensors differ.
    pub caches: Vec<CacheItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `local T dtype=f32 { layout { … } }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalItem {
    /// The name.
    pub name: Identifier,
    /// The element type as written.
    pub dtype: SpannedText,
    /// The layout; without one it is row-major.
    pub layout: Option<LayoutItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `instance conv_nchw of=conv A=input W=filters B=output { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceItem {
    /// The name.
    pub name: Identifier,
    /// The kernel.
    pub of: Identifier,
    /// The kernel's names, each with a tensor of the file; the names differ.
    pub operands: Vec<(Identifier, Identifier)>,
    /// How the loops are ordered and done: each word here replaces the kernel's.
    pub schedule: Vec<ScheduleItem>,
    /// What is copied near the compute; where there is any, none of the kernel's is.
    pub caches: Vec<CacheItem>,
    /// The node without its block.
    pub span: Range<usize>,
}

/// `cache A at=k_outer double=#true { layout { … }; memory shared }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheItem {
    /// The kernel's name of the tensor.
    pub tensor: Identifier,
    /// The loop inside which a block of it is used.
    pub at: Identifier,
    /// Whether the next block is copied while one is used.
    pub double: bool,
    /// The layout of the block; without one it is row-major.
    pub layout: Option<LayoutItem>,
    /// Where the block is.
    pub memory: CacheMemory,
    /// The node without its block.
    pub span: Range<usize>,
}

/// Where a block of a tensor is copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheMemory {
    /// Memory that the items of a work group share; the stack of a core.
    Shared,
    /// Memory of an item's own; the stack of a core.
    Local,
}

/// What is said of loops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleItem {
    /// What.
    pub kind: ScheduleKind,
    /// The node.
    pub span: Range<usize>,
}

/// What can be said of loops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the words of the manifest")]
pub enum ScheduleKind {
    /// `loops a b c`: outermost first
    Loops(Vec<Identifier>),
    /// `split w by=8`
    Split { axis: Identifier, by: IntegerExpr },
    /// `tile h w by="4 8"`: as many axes as numbers
    Tile { axes: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `unroll a b`
    Unroll(Vec<Identifier>),
    /// `vectorize a`
    Vectorize(Identifier),
    /// `parallel a b`
    Parallel(Vec<Identifier>),
}

impl ScheduleKind {
    /// Its word.
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
