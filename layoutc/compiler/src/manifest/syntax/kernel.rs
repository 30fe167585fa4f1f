//! Kernels and their instances as typed syntax. What a kernel computes is a text here.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Bound, LayoutItem, Name, Text};

/// `kernel conv { operands A W B; compute "…" }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KernelItem {
    /// The name.
    pub name: Name,
    /// The names of its tensors, which differ; without them it names the file's tensors and is its own instance.
    pub operands: Option<Vec<Name>>,
    /// The statements, at least one.
    pub computes: Vec<Text>,
    /// How far axes count that no tensor is indexed by alone; their names differ.
    pub ranges: Vec<(Name, Bound)>,
    /// The accumulator's type as written.
    pub acc: Option<Text>,
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
    pub name: Name,
    /// The element type as written.
    pub dtype: Text,
    /// The layout; without one it is row-major.
    pub layout: Option<LayoutItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `instance conv_nchw of=conv A=input W=filters B=output { … }`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceItem {
    /// The name.
    pub name: Name,
    /// The kernel.
    pub of: Name,
    /// The kernel's names, each with a tensor of the file; the names differ.
    pub operands: Vec<(Name, Name)>,
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
    pub tensor: Name,
    /// The loop inside which a block of it is used.
    pub at: Name,
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
    Loops(Vec<Name>),
    /// `split w by=8`
    Split { axis: Name, by: Bound },
    /// `tile h w by="4 8"`: as many axes as numbers
    Tile { axes: Vec<Name>, by: Vec<Bound> },
    /// `unroll a b`
    Unroll(Vec<Name>),
    /// `vectorize a`
    Vectorize(Name),
    /// `parallel a b`
    Parallel(Vec<Name>),
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
