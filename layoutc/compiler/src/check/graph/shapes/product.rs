//! Shape rule of matrix products. The axes of the two operands and of the result are matched by position as in `NumPy`,
//! or by name.

use super::super::tensor_types::GraphTensorType;
use super::OperatorSignature;

/// Reason why the result is not the product of the first two operands, neither by position as in `NumPy` (with the
/// properties `transA` and `transB`) nor by axis names; `None` if it is, or if there are fewer than two operands or no
/// result.
pub(super) fn clash(operation: &OperatorSignature<'_>) -> Option<String> {
    let ([a, b, ..], result) = (operation.operands.as_slice(), operation.results.first()?) else {
        return None;
    };
    if is_named(a, b, result) {
        return None;
    }
    let turned = |known: &GraphTensorType, property: &str| {
        let mut extents: Vec<i128> = known.axes.iter().map(|axis| axis.extent).collect();
        let rank = extents.len();
        if operation.integer(property).is_some_and(|value| value != 0) && rank >= 2 {
            extents.swap(rank - 2, rank - 1);
        }
        extents
    };
    let (first, second) = (turned(a, "transA"), turned(b, "transB"));
    let given: Vec<i128> = result.axes.iter().map(|axis| axis.extent).collect();
    let figures = match (first.last(), inner(&second)) {
        (Some(own), Some(other)) if *own != other => {
            format!("the inner extents are {own} and {other}")
        }
        (Some(_), Some(_)) => match multiplied(&first, &second) {
            Some(shape) if shape == given => return None,
            Some(shape) => format!("the product has the extents {}", listed(&shape)),
            None => "the batch axes do not broadcast".to_owned(),
        },
        _ => "an operand is a scalar".to_owned(),
    };
    Some(format!("the product of {a} and {b} is not {result}: {figures}"))
}

/// Extent of the axis of a product's second operand that is reduced: the last axis but one, or the only axis of a
/// vector. `None` for a scalar.
fn inner(extents: &[i128]) -> Option<i128> {
    match extents {
        [] => None,
        [only] => Some(*only),
        [.., inner, _] => Some(*inner),
    }
}

/// Extents of the matrix product of operands with the extents `a` and `b`, as in `NumPy`: `(2, 4, 3)` and `(3, 5)` give
/// `(2, 4, 5)`. A vector is a row on the left and a column on the right. `None` if the axes before the last two do not
/// broadcast.
fn multiplied(a: &[i128], b: &[i128]) -> Option<Vec<i128>> {
    let outer = |extents: &[i128]| {
        extents.get(..extents.len().saturating_sub(2)).unwrap_or_default().to_vec()
    };
    let mut shape = together(&outer(a), &outer(b))?;
    shape.extend(a.len().checked_sub(2).and_then(|k| a.get(k)));
    shape.extend(b.last().filter(|_| b.len() > 1));
    Some(shape)
}

/// Extents of the broadcast of two shapes, aligned at the last axis; `None` if two extents differ and neither is 1.
fn together(a: &[i128], b: &[i128]) -> Option<Vec<i128>> {
    let rank = a.len().max(b.len());
    let at = |extents: &[i128], k: usize| {
        let own = (k + extents.len()).checked_sub(rank);
        own.and_then(|k| extents.get(k)).copied().unwrap_or(1)
    };
    let one = |k: usize| match (at(a, k), at(b, k)) {
        (a, b) if a == b => Some(a),
        (1, extent) | (extent, 1) => Some(extent),
        _ => None,
    };
    (0..rank).map(one).collect()
}

/// True if the operands `a` and `b` and the result form a product by the names of their axes: each name has one extent,
/// each axis of the result is in an operand, each axis that is not in the result is in both operands, and there is at
/// least one such axis.
fn is_named(a: &GraphTensorType, b: &GraphTensorType, result: &GraphTensorType) -> bool {
    let all = [a, b, result];
    let has_one_extent = all.iter().flat_map(|tensor| &tensor.axes).all(|axis| {
        all.iter().filter_map(|tensor| tensor.named(&axis.name)).all(|own| own == axis.extent)
    });
    let is_given =
        result.axes.iter().all(|axis| a.named(&axis.name).or(b.named(&axis.name)).is_some());
    let summed = |own: &GraphTensorType, other: &GraphTensorType| {
        let gone = own.axes.iter().filter(|axis| result.named(&axis.name).is_none());
        let both: Vec<bool> = gone.map(|axis| other.named(&axis.name).is_some()).collect();
        (both.len(), both.into_iter().all(|both| both))
    };
    let ((count, first), (_, second)) = (summed(a, b), summed(b, a));
    has_one_extent && is_given && count > 0 && first && second
}

/// Text of extents: `(4, 3)`.
fn listed(extents: &[i128]) -> String {
    let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
    format!("({})", extents.join(", "))
}
