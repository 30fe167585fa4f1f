//! Inlining of intermediates without storage: the value of the intermediate replaces each read of it.

use std::cell::Cell;

use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::symbol::Axis;

use super::bounds::StatementDomain;
use super::value::InferredValue;
use crate::check::index_point::ClaimResult;
use crate::model::compute::{
    BoundaryCondition, BufferRef, DataIndex, ElementRead, Gather, TypedExpr, TypedExprKind,
};

/// Maximum number of expression nodes that inlining adds to one statement. A statement that needs more is an error.
pub(super) const MAX_SIZE: usize = 1 << 12;

/// Maximum depth of an inlined value, in levels below its root: twice that of a syntax tree, as inference may add
/// conversions.
const MAX_DEPTH: usize = 512;

/// Reason why a value cannot be inlined.
pub(super) enum InlineError {
    /// The statement would get more than [`MAX_SIZE`] nodes by inlining, or the value more than [`MAX_DEPTH`] levels.
    Size,
    /// The arithmetic of an index expression failed.
    Expr(ExprError),
}

impl From<ExprError> for InlineError {
    fn from(error: ExprError) -> Self {
        Self::Expr(error)
    }
}

/// Rewriter that inlines the value of an intermediate at one read of the intermediate: with `T[j] = A[j] + 1`, the read
/// `T[i + 1]` becomes `A[i + 1] + 1`.
pub(super) struct ValueInliner<'a> {
    domain: StatementDomain<'a>,
    /// Expressions over the axes of `domain`, which replace axis 0, 1, … of the intermediate.
    index: &'a [Expr],
    shapes: &'a dyn Fn(BufferRef) -> Option<&'a [Axis]>,
    left: &'a Cell<usize>,
}

impl<'a> ValueInliner<'a> {
    /// Creates the rewriter. Axis k of the value becomes `index[k]`, an expression over the axes of `domain`. `shapes`
    /// returns the axes of a stored tensor, `None` for an unknown one; `left` is the number of expression nodes by
    /// which inlining may still enlarge the statement, which the rewriter decreases.
    pub(super) fn new(
        domain: StatementDomain<'a>,
        index: &'a [Expr],
        shapes: &'a dyn Fn(BufferRef) -> Option<&'a [Axis]>,
        left: &'a Cell<usize>,
    ) -> Self {
        Self { domain, index, shapes, left }
    }

    /// Copy of the intermediate's value `built`, in which `index[k]` replaces axis k of the intermediate.
    pub(super) fn inline(&self, built: &InferredValue) -> Result<InferredValue, InlineError> {
        let whole = |value| self.at_depth(value, 0);
        Ok(match built {
            InferredValue::Number(number) => InferredValue::Number(*number),
            InferredValue::Index(expr) => {
                let expr = self.expr(expr)?;
                expr.as_const().map_or(InferredValue::Index(expr), InferredValue::Number)
            }
            InferredValue::FloatLiteral(value) => InferredValue::FloatLiteral(whole(value)?),
            InferredValue::Typed(value) => InferredValue::Typed(whole(value)?),
        })
    }

    fn at_depth(&self, value: &TypedExpr, depth: usize) -> Result<TypedExpr, InlineError> {
        let left = self.left.get().checked_sub(1).ok_or(InlineError::Size)?;
        self.left.set(left);
        if depth > MAX_DEPTH {
            return Err(InlineError::Size);
        }
        let kind = match &value.kind {
            TypedExprKind::Index(expr) => TypedExprKind::Index(self.expr(expr)?),
            TypedExprKind::Read(read) => TypedExprKind::Read(Box::new(self.read(read, depth)?)),
            TypedExprKind::Gather(gather) => {
                TypedExprKind::Gather(Box::new(self.gather(gather, depth)?))
            }
            kind => kind.with_operands(&mut |operand| self.at_depth(operand, depth + 1))?,
        };
        Ok(TypedExpr { ty: value.ty, kind })
    }

    fn expr(&self, expr: &Expr) -> Result<Expr, ExprError> {
        let placed = expr.substitute(&|var| match var {
            Var::Axis(k) => self.index.get(usize::try_from(k).ok()?).cloned(),
            _ => None,
        })?;
        self.domain.facts.simplify(&placed)
    }

    fn read(&self, read: &ElementRead, depth: usize) -> Result<ElementRead, InlineError> {
        let index: Vec<Expr> =
            read.index.iter().map(|expr| self.expr(expr)).collect::<Result<_, _>>()?;
        let outside = match &read.outside {
            Some(outside) => self.outside(outside, read.buffer, &index, depth)?,
            None => None,
        };
        Ok(ElementRead { buffer: read.buffer, index, outside })
    }

    fn gather(&self, gather: &Gather, depth: usize) -> Result<Gather, InlineError> {
        let index = gather.index.iter().map(|index| {
            let value = self.at_depth(&index.value, depth + 1)?;
            Ok(DataIndex { value, is_checked: index.is_checked })
        });
        let index = index.collect::<Result<_, InlineError>>()?;
        let outside = self.at_depth(&gather.outside, depth + 1)?;
        Ok(Gather { buffer: gather.buffer, index, outside })
    }

    /// Boundary condition of a read of `buffer` after inlining has replaced its index by `index`. `outside` is the
    /// condition before; it loses the axes along which `index` is proven to be at least 0 (`below`) or less than the
    /// extent (`beyond`). `None` if no axis is left. `depth` is the depth of the read in the inlined value.
    fn outside(
        &self,
        outside: &BoundaryCondition,
        buffer: BufferRef,
        index: &[Expr],
        depth: usize,
    ) -> Result<Option<BoundaryCondition>, InlineError> {
        let shape = (self.shapes)(buffer).unwrap_or_default();
        let leaves = |axis: &usize, side: usize| {
            let both = index.get(*axis).zip(shape.get(*axis));
            both.is_none_or(|(index, own)| {
                self.domain.index_bounds(index, &own.extent).get(side) != Some(&ClaimResult::Holds)
            })
        };
        let side = |list: &[usize], side: usize| {
            list.iter().copied().filter(|axis| leaves(axis, side)).collect::<Vec<_>>()
        };
        let (below, beyond) = (side(&outside.below, 0), side(&outside.beyond, 1));
        if below.is_empty() && beyond.is_empty() {
            return Ok(None);
        }
        let value = self.at_depth(&outside.value, depth + 1)?;
        Ok(Some(BoundaryCondition { value, below, beyond }))
    }
}
