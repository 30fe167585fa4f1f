//! Elementwise operators, which broadcast their operands.

use super::cast;
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, extent};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Operators that preserve the shape of their first operand but are not elementwise.
const KEEPING: &[&str] = &[
    "CumProd",
    "CumSum",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "LRN",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "OptionalGetElement",
    "RMSNormalization",
    "ReverseSequence",
    "RotaryEmbedding",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Softmax",
    "TensorScatter",
    "Trilu",
];

/// Results of an operator that preserves the shape of an operand, or broadcasts several.
pub(super) fn elementwise(call: &OnnxCall<'_>, op: &str) -> ShapeResult<Vec<ShapedTensor>> {
    if cast::is_broadcast(op) && call.opset < 7 && call.integer("broadcast") == Some(1) {
        // The second operand is aligned with axes of the first from `axis` on.
        return Ok(vec![ShapedTensor::new(cast::result(call, op)?, call.shape(0)?.to_vec())]);
    }
    if cast::is_broadcast(op) {
        let mut shape = Vec::new();
        for k in 0..call.inputs.len() {
            shape = broadcast_shapes(&shape, call.shape(k)?)?;
        }
        return Ok(vec![ShapedTensor::new(cast::result(call, op)?, shape)]);
    }
    if KEEPING.contains(&op) {
        let first = call.input(0)?;
        return Ok(vec![ShapedTensor::new(first.dtype, first.shape.clone())]);
    }
    if !cast::is_unary(op) {
        return Err(ShapeError::Operator);
    }
    let first = call.input(0)?;
    if op == "PRelu"
        && call.opset >= 7
        && broadcast_shapes(&first.shape, call.shape(1)?)? != first.shape
    {
        return mismatch(format!(
            "the slopes {} do not fit {}",
            listed(call.shape(1)?),
            listed(&first.shape)
        ));
    }
    let mut results = vec![ShapedTensor::new(cast::result(call, op)?, first.shape.clone())];
    if op == "Dropout" {
        let of_mask = if call.opset < 10 { first.dtype } else { Scalar::Bool };
        results.push(ShapedTensor::new(of_mask, first.shape.clone()));
    }
    Ok(results)
}

/// Common shape of a broadcast.
pub(super) fn broadcast_shapes(a: &[u64], b: &[u64]) -> ShapeResult<Vec<u64>> {
    let rank = a.len().max(b.len());
    let at = |shape: &[u64], k: usize| {
        (k + shape.len()).checked_sub(rank).and_then(|k| shape.get(k)).copied().unwrap_or(1)
    };
    let mut shape = Vec::new();
    for k in 0..rank {
        shape.push(match (at(a, k), at(b, k)) {
            (a, b) if a == b => a,
            (1, extent) | (extent, 1) => extent,
            _ => return mismatch(format!("cannot broadcast {} and {}", listed(a), listed(b))),
        });
    }
    Ok(shape)
}

pub(super) fn expand(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let Some(shape) = call.parameter("shape", 1)? else { return mismatch("the shape is missing") };
    let shape = shape.into_iter().map(extent).collect::<ShapeResult<Vec<_>>>()?;
    Ok(ShapedTensor::new(input.dtype, broadcast_shapes(&input.shape, &shape)?))
}
