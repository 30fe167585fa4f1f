//! Statements of kernels: the written tensor, the iteration domain and the reduction.

use layoutc_algebra::symbol::Axis;

use super::loop_schedule::{StatementSchedule, TileCache};
use super::operand::BufferRef;
use super::typed_expr::{DataIndex, TypedExpr};
use crate::base::cast::{CastMode, range};
use crate::base::diagnostic::FileSpan;
use crate::base::dtype::Scalar;
use crate::machine::VectorIsa;

/// Statement of a kernel, such as `B[n, k] += A[n, c] * W[c, k]`. It computes a value at every point of its iteration
/// domain, and writes the values into one tensor or reduces them into it.
#[derive(Debug, Clone)]
pub struct Statement {
    /// Tensor that the statement writes.
    pub target: BufferRef,
    /// Axes of the statement, which span the iteration domain, with extents over symbols. The axes of the target come
    /// first, in the order of the target; with a `scatter`, the axes that its indices use. The reduced axes follow.
    pub axes: Vec<Axis>,
    /// Number of axes that are not reduced; these are the first ones in `axes`.
    pub written_axes: usize,
    /// Indices of the written element, one for each axis of the target, if at least one of them is read from a tensor,
    /// as in `B[ids[i], j] += …`. `None` if index `k` is axis `k` of the statement.
    pub scatter: Option<Vec<DataIndex>>,
    /// Reduction that combines the values of one written element.
    pub op: Reduction,
    /// True if the reduction starts from the previous value of the target's element, false if it starts from the
    /// initial value of `op`.
    pub accumulate: bool,
    /// Type in which the reduction is computed; the type of the value if there is no reduction.
    pub accumulator: Scalar,
    /// Treatment of results that are out of the range of the target's element type.
    pub store: CastMode,
    /// Right side of the statement: the value at one point of the iteration domain.
    pub value: TypedExpr,
    /// Value that is stored in place of the reduced one, over the written axes. It is the right side of the statement
    /// that follows the reduction and is fused with it; [`super::TypedExprKind::Reduced`] stands for the reduced value.
    /// `None`: the reduced value is stored.
    pub epilogue: Option<TypedExpr>,
    /// Tiles of tensors that are copied to a cache inside the loops, each with a different [`TileCache::buffer`].
    pub caches: Vec<TileCache>,
    /// Complete schedules for CPUs, at most one for each instruction set.
    pub schedules: Vec<StatementSchedule>,
    /// Text of the statement in the syntax of manifests, on one line; of two fused statements, separated by `; `.
    pub text: String,
    /// Pair [first, last] of the numbers, from 1, of the `compute` nodes of the kernel that the statement executes.
    /// They differ for two fused statements. `None` for a statement that initializes the target of a scatter.
    pub numbers: Option<[usize; 2]>,
    /// Span of the statement in the manifest.
    pub place: FileSpan,
}

impl Statement {
    /// True if the previous contents of the target must be preserved: the statement accumulates, reads its target, or
    /// writes only some elements.
    pub fn keeps(&self) -> bool {
        self.accumulate || self.scatter.is_some() || self.reads(self.target)
    }

    /// True if the statement reads an element of the buffer, for the value or for an index.
    pub fn reads(&self, buffer: BufferRef) -> bool {
        self.values().any(|value| value.uses(buffer))
    }

    /// Expressions of the statement: the values of its scatter indices, its value, and its epilogue if there is one.
    pub(crate) fn values(&self) -> impl Iterator<Item = &TypedExpr> {
        let indices = self.scatter.iter().flatten().map(|index| &index.value);
        indices.chain([&self.value]).chain(&self.epilogue)
    }

    /// Type of the stored value before it is converted to the target's element type: that of the epilogue if there is
    /// one, otherwise `accumulator`.
    pub fn stored_type(&self) -> Scalar {
        self.epilogue.as_ref().map_or(self.accumulator, |epilogue| epilogue.ty)
    }

    /// Complete schedule that applies to the instruction set `isa`; `None` if there is none, so that the planner
    /// chooses.
    pub fn complete_schedule(&self, isa: VectorIsa) -> Option<&StatementSchedule> {
        self.schedules.iter().find(|schedule| schedule.isa.is_none_or(|own| own == isa))
    }

    /// True if an index of a read (gather) or of the write (scatter) is itself read from a tensor.
    pub fn is_indexed(&self) -> bool {
        self.scatter.is_some() || self.value.gathers()
    }

    /// Calls `visit` on the scatter indices, the value and the epilogue, in this order, and on all their
    /// subexpressions: on each expression before its subexpressions.
    pub fn walk<'s>(&'s self, visit: &mut dyn FnMut(&'s TypedExpr)) {
        self.values().for_each(|value| value.walk(visit));
    }
}

/// Reduction operator of a statement, with its initial value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// `=`: no reduction.
    Assign,
    /// `+=`: sum, with the initial value 0.
    Sum,
    /// `*=`: product, with the initial value 1.
    Product,
    /// `min=`: minimum, with the greatest value of the type as initial value: infinity for floats.
    Min,
    /// `max=`: maximum, with the least value of the type as initial value: minus infinity for floats.
    Max,
}

impl Reduction {
    /// Initial value as the pair (integer of type `ty`, float): `(1, 1.0)` for a product, zeros for an assignment. For
    /// a float type the integer has no meaning.
    pub fn identity(self, ty: Scalar) -> (i128, f64) {
        match self {
            Self::Assign | Self::Sum => (0, 0.0),
            Self::Product => (1, 1.0),
            Self::Min => (range(ty).1, f64::INFINITY),
            Self::Max => (range(ty).0, f64::NEG_INFINITY),
        }
    }
}
