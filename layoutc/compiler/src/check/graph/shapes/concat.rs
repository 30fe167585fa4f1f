//! Shape rules of concatenation and split. Along one axis, the extent of the whole tensor is the sum of the extents of
//! the parts.

use super::super::tensor_types::GraphTensorType;
use super::{OperatorSignature, by_name, by_position};
use crate::manifest::syntax::PropertyItem;

/// Reason why the concatenation of the operands is not the first result; `None` if it is, or if there is no result.
pub(super) fn concat(operation: &OperatorSignature<'_>) -> Option<String> {
    let whole = *operation.results.first()?;
    let parts = &operation.operands;
    let axes = axes(operation, whole, parts.first().copied());
    let is_fit = |axis: &usize| {
        joined(parts, whole, *axis).is_some_and(|sum| Some(sum) == whole.extent(*axis))
    };
    if axes.iter().any(is_fit) {
        return None;
    }
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let along = along(whole, &axes);
    Some(format!("the concatenation of {}{along} is not {whole}", parts.join(" and ")))
}

/// Reason why the results are not parts of the first operand that follow each other along one axis, from index 0 on.
/// `None` if they are, or if there is no operand. The parts may end before the operand does, because unused results can
/// be omitted.
pub(super) fn split(operation: &OperatorSignature<'_>) -> Option<String> {
    let whole = *operation.operands.first()?;
    let parts = &operation.results;
    let axes = axes(operation, whole, None);
    let is_fit = |axis: &usize| {
        joined(parts, whole, *axis).zip(whole.extent(*axis)).is_some_and(|(s, w)| s <= w)
    };
    if axes.iter().any(is_fit) {
        return None;
    }
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    Some(format!("{} are not a split of {whole}{}", parts.join(" and "), along(whole, &axes)))
}

/// Text `` along `C` `` if `axes`, positions in `whole`, has one element, otherwise empty.
fn along(whole: &GraphTensorType, axes: &[usize]) -> String {
    let [axis] = axes else { return String::new() };
    whole.axes.get(*axis).map(|axis| format!(" along `{}`", axis.name)).unwrap_or_default()
}

/// Positions of the axes of `whole` along which a concatenation or split may be. If the property `axis` is a name, the
/// positions at which `first` (the first part of a concatenation, `None` for a split) and `whole` have an axis of this
/// name; if it is a number, this position, counted from the end if negative. All positions if this gives none.
fn axes(
    operation: &OperatorSignature<'_>,
    whole: &GraphTensorType,
    first: Option<&GraphTensorType>,
) -> Vec<usize> {
    let rank = whole.axes.len();
    let mut meant: Vec<usize> = Vec::new();
    if let Some(PropertyItem::Word(name)) = operation.property("axis") {
        let of = |tensor: &GraphTensorType| tensor.position(name);
        meant.extend(first.and_then(of).into_iter().chain(of(whole)));
    }
    if let Some(number) = operation.integer("axis") {
        let whole = i128::try_from(rank).unwrap_or(0);
        let at = if number < 0 { number.saturating_add(whole) } else { number };
        meant.extend(usize::try_from(at));
    }
    meant.retain(|axis| *axis < rank);
    meant.dedup();
    if meant.is_empty() { (0..rank).collect() } else { meant }
}

/// Sum of the extents of `parts` along axis `axis` of `whole`. Axes are matched by name if this gives the extent of
/// `whole`, otherwise by position if possible. `None` if a part differs from `whole` in rank or in the extent of
/// another axis, or on overflow.
fn joined(parts: &[&GraphTensorType], whole: &GraphTensorType, axis: usize) -> Option<i128> {
    let along = |places: fn(&GraphTensorType, &GraphTensorType) -> Option<Vec<usize>>| {
        let mut sum = 0_i128;
        for part in parts {
            let places = places(part, whole).filter(|places| places.len() == whole.axes.len())?;
            for (own, place) in part.axes.iter().zip(places) {
                if place == axis {
                    sum = sum.checked_add(own.extent)?;
                } else if whole.extent(place) != Some(own.extent) {
                    return None;
                }
            }
        }
        Some(sum)
    };
    let (named, placed) = (along(by_name), along(by_position));
    named.filter(|sum| Some(*sum) == whole.extent(axis)).or(placed).or(named)
}
