//! Shape inference for matrix products.

use super::broadcast::broadcast_shapes;
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::{ShapeResult, listed, mismatch};

pub(super) fn gemm(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let matrix = |k: usize, name: &str| {
        let shape = call.shape(k)?;
        match (shape, call.integer(name).unwrap_or(0)) {
            ([rows, columns], 0) => Ok([*rows, *columns]),
            ([rows, columns], _) => Ok([*columns, *rows]),
            _ => mismatch(format!("{} is not the shape of a matrix", listed(shape))),
        }
    };
    let ([m, k], [other, n]) = (matrix(0, "transA")?, matrix(1, "transB")?);
    if k != other {
        return mismatch(format!("cannot multiply [{m}, {k}] by [{other}, {n}]"));
    }
    if let Some(bias) = call.optional(2)
        && broadcast_shapes(&bias.shape, &[m, n])? != [m, n]
    {
        return mismatch(format!("cannot broadcast {} to [{m}, {n}]", listed(&bias.shape)));
    }
    Ok(ShapedTensor::new(call.input(0)?.dtype, vec![m, n]))
}

pub(super) fn matmul(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    Ok(ShapedTensor::new(call.input(0)?.dtype, matmul_shape(call.shape(0)?, call.shape(1)?)?))
}

/// Shape of a matrix product as in `NumPy`: leading axes broadcast; a vector is a row on the left and a column on the
/// right. `[5, 2, 3]` times `[3, 4]` gives `[5, 2, 4]`.
pub(super) fn matmul_shape(a: &[u64], b: &[u64]) -> ShapeResult<Vec<u64>> {
    let (rows, a_inner) = match a {
        [] => return mismatch("an operand of a matrix product is a scalar"),
        [inner] => (None, *inner),
        [.., rows, inner] => (Some(*rows), *inner),
    };
    let (columns, b_inner) = match b {
        [] => return mismatch("an operand of a matrix product is a scalar"),
        [inner] => (None, *inner),
        [.., inner, columns] => (Some(*columns), *inner),
    };
    if a_inner != b_inner {
        return mismatch(format!("cannot multiply {} by {}", listed(a), listed(b)));
    }
    let outer =
        |shape: &[u64]| shape.get(..shape.len().saturating_sub(2)).unwrap_or_default().to_vec();
    let mut shape = broadcast_shapes(&outer(a), &outer(b))?;
    shape.extend(rows.into_iter().chain(columns));
    Ok(shape)
}
