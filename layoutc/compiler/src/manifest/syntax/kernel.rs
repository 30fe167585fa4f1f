//! Typed syntax of `kernel` and `instance` items with their loop schedules; statements are kept as text.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, LayoutItem, SpannedText};
use crate::machine::VectorIsa;

/// `kernel` item, a computation on logical axes: `kernel conv { operands A W B; compute "…" }`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelItem {
    /// Name that the kernel declares.
    pub name: Identifier,
    /// Names of the kernel's operands, distinct. `None`: the kernel computes on tensors of the file, which its
    /// statements name, and no `instance` item is needed.
    pub operands: Option<Vec<Identifier>>,
    /// Texts of the statements, at least one, in order.
    pub computes: Vec<SpannedText>,
    /// Pairs `(name, bound)` from `range NAME BOUND` nodes; the names are distinct. For an axis that is not an index of
    /// a tensor by itself, `bound` is its extent. For an integer operand, it is the exclusive upper bound of the
    /// elements.
    pub ranges: Vec<(Identifier, IntegerExpr)>,
    /// Type of the accumulators of reductions, `f64`, `f32` or an integer type, as written; `None`: the type in which
    /// kernels compute on elements of the output, such as `f32` for `f16`.
    pub acc: Option<SpannedText>,
    /// Byte range of the `accumulate #true` node, with which reductions into operands start from the previous values of
    /// their elements. `None` without the node, and for `accumulate #false`.
    pub accumulate: Option<Range<usize>>,
    /// Intermediate tensors that are stored in a buffer; the names are distinct.
    pub locals: Vec<LocalItem>,
    /// Directives of the loop schedule, which apply to all instances of the kernel.
    pub schedule: Vec<ScheduleItem>,
    /// Caches for tiles of operands and stored intermediates; the tensors are distinct.
    pub caches: Vec<CacheItem>,
    /// Complete schedules of statements.
    pub complete: Vec<CompleteSchedule>,
    /// Byte range of the `kernel` node in the file.
    pub span: Range<usize>,
}

/// Intermediate tensor of a kernel: `local T dtype=f32 { layout { … } }`, or `local T dtype=f32 at=i`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LocalItem {
    /// Name of the intermediate tensor.
    pub name: Identifier,
    /// Element type of the intermediate tensor as written.
    pub dtype: SpannedText,
    /// Layout of the intermediate tensor; `None`: row-major.
    pub layout: Option<LayoutItem>,
    /// Loop in each iteration of which the intermediate is computed (compute-at); `None`: it is computed as a whole.
    pub at: Option<Identifier>,
    /// Byte range of the `local` node in the file.
    pub span: Range<usize>,
}

/// `instance` item, which binds the operands of a kernel to tensors:
/// `instance conv_nchw of=conv A=input W=filters B=output { … }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstanceItem {
    /// Name that the instance declares.
    pub name: Identifier,
    /// Name of the kernel that the instance binds.
    pub of: Identifier,
    /// Pairs of a kernel operand's name and the name of the tensor or view that is bound to it; the operands are
    /// distinct.
    pub operands: Vec<(Identifier, Identifier)>,
    /// Directives of the loop schedule. Directives with one keyword, such as `split`, replace all directives of the
    /// kernel with this keyword.
    pub schedule: Vec<ScheduleItem>,
    /// Caches for tiles of operands and stored intermediates; if the instance has any, they replace all caches of the
    /// kernel.
    pub caches: Vec<CacheItem>,
    /// Complete schedules of statements; if the instance has any, they replace all those of the kernel.
    pub complete: Vec<CompleteSchedule>,
    /// Byte range in the file of the `instance` node without its block.
    pub span: Range<usize>,
}

/// Complete schedule of a statement on CPUs: `schedule machine=avx512 statement=2 { split k by=8; loops i k_outer … }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompleteSchedule {
    /// Instruction set for which the schedule holds; `None`: all.
    pub machine: Option<VectorIsa>,
    /// Number of the statement, from 1; `None`: the only one.
    pub statement: Option<IntegerExpr>,
    /// Directives in the order of the text.
    pub directives: Vec<ScheduleItem>,
    /// Caches for tiles of operands and stored intermediates; the tensors are distinct.
    pub caches: Vec<CacheItem>,
    /// Byte range in the file of the `schedule` node without its block.
    pub span: Range<usize>,
}

/// Copy of a tile of an operand or stored intermediate in a buffer inside a loop:
/// `cache A at=k_outer double=#true { layout { … }; memory shared }`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CacheItem {
    /// Name of the operand or stored intermediate of which tiles are cached.
    pub tensor: Identifier,
    /// Name of the loop whose iterations each use one tile.
    pub at: Identifier,
    /// True for double buffering: the next tile is copied while the current one is used.
    pub double: bool,
    /// Layout of the cache's buffer; `None`: row-major.
    pub layout: Option<LayoutItem>,
    /// Memory of the cache's buffer.
    pub memory: CacheMemory,
    /// Byte range in the file of the `cache` node without its block.
    pub span: Range<usize>,
}

/// Memory in which the buffer of a tile cache is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheMemory {
    /// `shared`: memory shared by a GPU thread block; the stack on a CPU.
    Shared,
    /// `local`: memory of one GPU thread; the stack on a CPU.
    Local,
}

/// Directive of a loop schedule, such as `unroll a b`, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduleItem {
    /// Directive with its arguments.
    pub kind: ScheduleKind,
    /// Byte range of the directive's node in the file.
    pub span: Range<usize>,
}

/// Directive of a loop schedule, with the names of its loops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields are the keywords of the manifest")]
pub enum ScheduleKind {
    /// `loops a b c`: order of the loops, outermost first.
    Loops(Vec<Identifier>),
    /// `split w by=8`: splits the loop `w` into `w_outer` and `w_inner`, which has extent 8.
    Split { axis: Identifier, by: IntegerExpr },
    /// `fuse h w as=hw`: replaces two loops by one, in which `inner` varies fastest.
    Fuse { outer: Identifier, inner: Identifier, name: Identifier },
    /// `partial-sums k_inner`: each iteration of the loop has an accumulator of its own (rfactor), and the accumulators
    /// are combined at the end of the reduction.
    PartialSums(Identifier),
    /// `split-k k_outer`: the named loop, the outermost one, is over chunks of a reduction (split-K).
    SplitK(Identifier),
    /// `tile h w by="4 8"`: splits several loops; `by` has the extent of each inner loop, in the order of `axes`.
    Tile { axes: Vec<Identifier>, by: Vec<IntegerExpr> },
    /// `unroll a b`: loops that are unrolled.
    Unroll(Vec<Identifier>),
    /// `vectorize a`: loop that is vectorized.
    Vectorize(Identifier),
    /// `parallel a b`: loops that run in parallel on CPU threads.
    Parallel(Vec<Identifier>),
}

impl ScheduleKind {
    /// Names of the loops to which the directive applies, in the order of the text. The new loop of a `fuse` is left
    /// out.
    pub fn loops(&self) -> Vec<&Identifier> {
        match self {
            Self::Loops(names) | Self::Unroll(names) | Self::Parallel(names) => {
                names.iter().collect()
            }
            Self::Tile { axes, .. } => axes.iter().collect(),
            Self::Split { axis, .. } => vec![axis],
            Self::Fuse { outer, inner, .. } => vec![outer, inner],
            Self::Vectorize(name) | Self::PartialSums(name) | Self::SplitK(name) => vec![name],
        }
    }

    /// Keyword of the directive in manifests.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Loops(_) => "loops",
            Self::Split { .. } => "split",
            Self::Fuse { .. } => "fuse",
            Self::PartialSums(_) => "partial-sums",
            Self::SplitK(_) => "split-k",
            Self::Tile { .. } => "tile",
            Self::Unroll(_) => "unroll",
            Self::Vectorize(_) => "vectorize",
            Self::Parallel(_) => "parallel",
        }
    }
}
