//! Loop schedules of kernels and of single statements, with the tiles that they cache.

use super::operand::BufferRef;
use crate::base::diagnostic::FileSpan;
use crate::machine::VectorIsa;
use crate::model::{Spanned, Tensor};

/// Loop schedule of a kernel from the manifest. A loop has the name of a storage axis of the output (of a logical axis
/// if the output is a window), of a reduced axis, or the name that a split or fusion gives it.
///
/// Several statements may have a loop of one name. A split applies to all of them. `vectorize` applies to those in
/// which the loop is contiguous, `parallel` to those in which it is not a reduction. Each name in `loops`, `vectorize`
/// and `parallel` applies to at least one statement.
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
    /// Intermediates that CPUs compute in each iteration of a loop.
    pub compute_at: Vec<ComputeAt>,
}

impl LoopSchedule {
    /// True if the schedule has nothing but `compute_at`. The planner then chooses the loops of each statement, inside
    /// the loop of `compute_at` if the statement has one.
    pub(crate) fn has_default_loops(&self) -> bool {
        let Self { loops, steps, unroll, vectorize, parallel, compute_at: _ } = self;
        loops.is_empty()
            && steps.is_empty()
            && unroll.is_empty()
            && vectorize.is_none()
            && parallel.is_empty()
    }
}

/// Intermediate that is computed in each iteration of the loop that computes the statements that read it (compute-at):
/// `local T dtype=f32 at=i`. Its buffer holds the elements of one iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputeAt {
    /// Name of the intermediate.
    pub local: String,
    /// Position, among the axes of the intermediate, of the axis whose index is the iteration of the loop.
    pub axis: usize,
    /// Name of the loop, which is the name of this axis.
    pub at: Spanned<String>,
}

/// Complete schedule of a statement on CPUs, from a `schedule` node. The planner adds no loop, register tile or packing
/// to it.
#[derive(Debug, Clone)]
pub struct StatementSchedule {
    /// Instruction set for which the schedule holds; `None`: all.
    pub isa: Option<VectorIsa>,
    /// Splits and fusions of loops, in the order of application.
    pub steps: Vec<LoopStep>,
    /// Names of the loops, outermost first; only loops of one iteration may be missing. A loop over a written axis that
    /// is inside a loop over a reduced axis belongs to the register tile.
    pub loops: Vec<Spanned<String>>,
    /// Name of the loop that is split over several accumulators (rfactor): the innermost loop, over a reduced axis.
    /// Each of its iterations has accumulators of its own. `None`: one accumulator for each output.
    pub partial_sums: Option<Spanned<String>>,
    /// Name of the loop over chunks of the reduction (split-K), the outermost loop. Each chunk continues from the
    /// results that the previous chunk has stored. `None`: the reduction is not split into chunks.
    pub split_k: Option<Spanned<String>>,
    /// Names of the loops to unroll.
    pub unroll: Vec<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub parallel: Vec<Spanned<String>>,
    /// Tiles of tensors that are copied to a buffer inside the loops, each with a different [`TileCache::buffer`].
    pub caches: Vec<TileCache>,
    /// Span of the `schedule` node.
    pub place: FileSpan,
}

impl StatementSchedule {
    /// Schedule for the instruction set `isa` (`None`: all) without loops and directives. `place` is the span of its
    /// `schedule` node.
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

/// Change of a statement's loops: a split of one loop, or a fusion of two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopStep {
    /// Split of one loop into two: `split w by=8`.
    Split(Split),
    /// Fusion of two loops into one: `fuse h w as=hw`.
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

/// Fusion of two loops into one over all pairs of their iterations, in which the inner loop varies fastest:
/// `fuse h w as=hw`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fuse {
    /// Name of the outer loop.
    pub outer: Spanned<String>,
    /// Name of the inner loop.
    pub inner: Spanned<String>,
    /// Name of the loop that replaces the outer and the inner loop.
    pub name: String,
}

/// Split of a loop into an outer and an inner loop: `split w by=8` replaces `w` by `w_outer` and `w_inner`, which has
/// extent 8.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Name of the loop that is split.
    pub axis: Spanned<String>,
    /// Extent of the inner loop, at least 1.
    pub by: i64,
    /// True for a split by a `tile` directive. If the planner orders the loops, it places the inner loops of such
    /// splits innermost.
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
    /// Tile as a tensor. It has the axes of the cached tensor; the extents are the numbers of indices that one
    /// iteration of the loop uses.
    pub block: Tensor,
    /// True if the manifest requests double buffering: GPU threads copy the next tile while they use the current one.
    /// It applies to shared tiles in a loop over a reduced axis.
    pub is_double: bool,
    /// True if a GPU stores the tile in memory shared by a thread block, false if in private memory. CPUs store it on
    /// the stack.
    pub is_shared: bool,
}
