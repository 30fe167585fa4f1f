//! Loop schedules of kernels and of single statements, with the tiles that they cache.

use super::operand::BufferRef;
use crate::base::diagnostic::FileSpan;
use crate::machine::VectorIsa;
use crate::model::{Spanned, Tensor};

/// Loop schedule of a kernel from the manifest. Loops have the names of the output's storage axes and of reduced axes.
///
/// A name may denote loops of several statements: each name in `loops` is a loop of at least one, and a split applies
/// to every statement that has the loop. `vectorize` applies to the statements in which the loop is contiguous,
/// `parallel` to those in which the loop is not a reduction, each to at least one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoopSchedule {
    /// Names of loops in their required order, outermost first; the planner places the other loops.
    pub loops: Vec<Spanned<String>>,
    /// Splits and fusions of loops, in the order of application.
    pub steps: Vec<LoopStep>,
    /// Names of the loops to unroll.
    pub unroll: Vec<Spanned<String>>,
    /// Name of the loop to vectorize; `None`: the planner chooses.
    pub vectorize: Option<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub parallel: Vec<Spanned<String>>,
}

/// Complete schedule of a statement on CPUs, a `schedule` node: the planner adds no loop, register tile or packing.
#[derive(Debug, Clone)]
pub struct StatementSchedule {
    /// Instruction set for which the schedule holds; `None`: all.
    pub isa: Option<VectorIsa>,
    /// Splits and fusions of loops, in the order of application.
    pub steps: Vec<LoopStep>,
    /// Names of all loops with more than one iteration, outermost first. A written loop inside a reduced one belongs to
    /// the register tile.
    pub loops: Vec<Spanned<String>>,
    /// Name of the reduced loop each of whose iterations has accumulators of its own; it is innermost.
    pub partial_sums: Option<Spanned<String>>,
    /// Name of the reduced loop, the outermost one, over chunks of the reduction: each chunk continues from the results
    /// that the previous one has stored.
    pub split_k: Option<Spanned<String>>,
    /// Names of the loops to unroll.
    pub unroll: Vec<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub parallel: Vec<Spanned<String>>,
    /// Tiles of operands that are copied to a buffer inside the loops, each of a different tensor.
    pub caches: Vec<TileCache>,
    /// Span of the `schedule` node.
    pub place: FileSpan,
}

impl StatementSchedule {
    /// Schedule without loops and directives.
    pub fn new(isa: Option<VectorIsa>, place: FileSpan) -> Self {
        Self {
            isa,
            steps: Vec::new(),
            loops: Vec::new(),
            partial_sums: None,
            split_k: None,
            unroll: Vec::new(),
            parallel: Vec::new(),
            caches: Vec::new(),
            place,
        }
    }
}

/// Change of the loops of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopStep {
    /// `split w by=8`.
    Split(Split),
    /// `fuse h w as=hw`.
    Fuse(Fuse),
}

impl LoopStep {
    /// Names of the loops that the step replaces.
    pub fn loops(&self) -> Vec<&Spanned<String>> {
        match self {
            Self::Split(split) => vec![&split.axis],
            Self::Fuse(fuse) => vec![&fuse.outer, &fuse.inner],
        }
    }

    /// Keyword of the directive in manifests.
    pub fn keyword(&self) -> &'static str {
        match self {
            Self::Split(split) if split.is_tile => "tile",
            Self::Split(_) => "split",
            Self::Fuse(_) => "fuse",
        }
    }

    /// Name of the first loop that the step replaces.
    pub fn first_loop(&self) -> &Spanned<String> {
        match self {
            Self::Split(split) => &split.axis,
            Self::Fuse(fuse) => &fuse.outer,
        }
    }
}

/// `fuse h w as=hw`: replaces two loops by one over all pairs of their iterations, in which the inner one varies
/// fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuse {
    /// Name of the outer loop.
    pub outer: Spanned<String>,
    /// Name of the inner loop.
    pub inner: Spanned<String>,
    /// Name of the loop that replaces them.
    pub name: String,
}

/// `split w by=8`: splits `w` into `w_outer` and `w_inner`, which has extent 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Name of the loop that is split.
    pub axis: Spanned<String>,
    /// Extent of the inner loop, at least 1.
    pub by: i64,
    /// True for a split by a `tile` directive: if the planner orders the loops, the inner loops of a tile are
    /// innermost.
    pub is_tile: bool,
}

/// Cached tile of a tensor, `cache A at=k_outer`: a copy of the elements that one iteration of a loop uses, in a
/// layout of its own.
#[derive(Debug, Clone)]
pub struct TileCache {
    /// Tensor that is cached.
    pub buffer: BufferRef,
    /// Name of the loop whose iterations each use one tile.
    pub at: Spanned<String>,
    /// Tile as a tensor: the axes of the cached tensor, with the extents that one iteration of the loop spans.
    pub block: Tensor,
    /// True for double buffering: GPU threads copy the next tile while they use the current one.
    pub is_double: bool,
    /// True if the tile is in memory shared by a thread block, false if in private memory.
    pub is_shared: bool,
}
