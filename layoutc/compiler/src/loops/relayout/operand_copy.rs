//! Kernels that only copy one operand to another, recognized as relayouts.

use crate::base::cast::{Cast, CastMode};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::loops::error::PlanError;
use crate::loops::renumbered;
use crate::model::compute::{
    BufferRef, KernelInstance, LoopSchedule, Reduction, TypedExpr, TypedExprKind,
};
use crate::model::{Manifest, Tensor};

/// Copy of all elements of one operand of a kernel to another, with permuted axes.
pub(crate) struct OperandCopy {
    /// Tensor that is read, over the symbols of the instance.
    pub(crate) from: Tensor,
    /// Tensor that is written, over the symbols of the instance.
    pub(crate) to: Tensor,
    /// For each axis of the source, its position in the destination.
    pub(crate) axes: Vec<usize>,
    /// Conversion of each element; `None` if both tensors have the same element type.
    pub(crate) cast: Option<Cast>,
}

impl OperandCopy {
    /// Copy of which an instance consists. `None` if the instance has a loop schedule or an intermediate, if it is
    /// anything but one assignment of the elements of one operand to another with permuted axes, if an operand is a
    /// ring buffer or has a domain, or if the conversions of an element differ from a single one.
    ///
    /// # Errors
    /// [`PlanError::Expr`] if the instance lacks a symbol of an operand, or allows it further values.
    pub(crate) fn of(
        manifest: &Manifest,
        compute: &KernelInstance,
    ) -> Result<Option<Self>, PlanError> {
        let ([statement], [source, target], []) =
            (&*compute.statements, &*compute.operands, &*compute.locals)
        else {
            return Ok(None);
        };
        let is_plain = statement.op == Reduction::Assign
            && !statement.accumulate
            && statement.scatter.is_none()
            && statement.caches.is_empty()
            && statement.target == BufferRef::Operand(1)
            && compute.schedule == LoopSchedule::default();
        let (read, types) = read_and_conversions(&statement.value);
        let TypedExprKind::Read(read) = &read.kind else { return Ok(None) };
        if !is_plain || read.buffer != BufferRef::Operand(0) || read.outside.is_some() {
            return Ok(None);
        }
        let tensors = [source, target].map(|operand| manifest.tensor(operand.tensor));
        let [Some(from), Some(to)] = tensors else { return Ok(None) };
        let is_dense = |tensor: &Tensor| tensor.ring.is_none() && tensor.layout.domain().is_none();
        if ![from, to].into_iter().all(is_dense) {
            return Ok(None);
        }
        let Some(cast) = single_cast(from.dtype, &types, to.dtype) else { return Ok(None) };
        let from = renumbered(from, &compute.symbols)?;
        let to = renumbered(to, &compute.symbols)?;
        let axes = read.permutation(from.layout.logical(), to.layout.logical());
        Ok(axes.map(|axes| Self { from, to, axes, cast }))
    }
}

/// Pair of the expression inside the outermost conversions of `value`, and of the types to which these convert, in the
/// order of execution.
fn read_and_conversions(value: &TypedExpr) -> (&TypedExpr, Vec<Scalar>) {
    let (mut inner, mut types) = (value, Vec::new());
    while let TypedExprKind::Convert(operand) = &inner.kind {
        types.push(inner.ty);
        inner = operand;
    }
    types.reverse();
    (inner, types)
}

/// Conversion that has the result of converting elements of type `from` to `types` in order, then to `to`. The inner
/// option is `None` if no conversion is needed. The outer one is `None` if the chain of conversions may round, wrap or
/// saturate differently, or if no single conversion from `from` to `to` exists.
#[expect(
    clippy::option_option,
    reason = "the inner one is the conversion, the outer one the result"
)]
fn single_cast(from: Dtype, types: &[Scalar], to: Dtype) -> Option<Option<Cast>> {
    let cast = |from, to| Cast::new(from, to, CastMode::Round);
    let is_exact = |from, to| cast(from, to).is_ok_and(|cast| cast.is_none_or(Cast::is_lossless));
    let is_float = |dtype: Dtype| fill::format(dtype.scalar).is_some();
    // Integers out of range wrap, floats saturate: the conversion to `to` starts from a type of the same kind as
    // `from`.
    let is_alike = |reached| is_float(reached) == is_float(from) || is_exact(from, to);
    let (mut reached, mut is_converted) = (from, false);
    for ty in types {
        let dtype = ty.element();
        if dtype == to && !is_converted {
            if !is_alike(reached) {
                return None;
            }
            is_converted = true;
        } else if !is_exact(reached, dtype) {
            return None;
        }
        reached = dtype;
    }
    if !is_converted && !is_alike(reached) {
        return None;
    }
    cast(from, to).ok()
}
