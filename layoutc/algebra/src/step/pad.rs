//! The steps `pad c multiple=8`, which rounds the extent of an axis up, and `pad h before=1 after=1`, which adds
//! slots on the two sides of an axis.

use super::{StepError, binary, find_axis, identity_item, map_of};
use crate::expr::{BinOp, Expr};
use crate::map::IndexMap;
use crate::symbol::Axis;

/// Rounds the extent of the axis `name` up to a multiple of `multiple`: 30 becomes 32 for 8. The indices stay the
/// same, and the added slots are padding.
///
/// # Errors
/// [`StepError::UnknownAxis`]; [`StepError::Expr`] if the extent becomes too large an expression.
pub fn pad_to_multiple(axes: &[Axis], name: &str, multiple: &Expr) -> Result<IndexMap, StepError> {
    let position = find_axis(axes, name)?;
    let mut items: alloc::vec::Vec<_> = (0..axes.len()).map(|k| identity_item(axes, k)).collect();
    if let (Some(axis), Some(item)) = (axes.get(position), items.get_mut(position)) {
        let below = binary(BinOp::Sub, multiple, &Expr::constant(1))?;
        let sum = binary(BinOp::Add, &axis.extent, &below)?;
        let blocks = binary(BinOp::FloorDiv, &sum, multiple)?;
        item.extent = Some(binary(BinOp::Mul, &blocks, multiple)?);
    }
    map_of(items)
}

/// Adds `before` slots before index 0 of the axis `name`, and `after` slots after its last index: index `i` becomes
/// `i + before`.
///
/// # Errors
/// [`StepError::UnknownAxis`]; [`StepError::Expr`] if the index or the extent becomes too large an expression.
pub fn pad_around(
    axes: &[Axis],
    name: &str,
    before: &Expr,
    after: &Expr,
) -> Result<IndexMap, StepError> {
    let position = find_axis(axes, name)?;
    let mut items: alloc::vec::Vec<_> = (0..axes.len()).map(|k| identity_item(axes, k)).collect();
    if let (Some(axis), Some(item)) = (axes.get(position), items.get_mut(position)) {
        item.index = binary(BinOp::Add, &item.index, before)?;
        let sum = binary(BinOp::Add, &axis.extent, before)?;
        item.extent = Some(binary(BinOp::Add, &sum, after)?);
    }
    map_of(items)
}
