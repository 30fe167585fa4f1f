//! Shape inference for elementwise operators, which broadcast their operands, and for operators that keep the shape of
//! the first operand.

use super::quantized;
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, extents};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Result of an elementwise operator that broadcasts all operands: `[4, 1]` and `[3]` give `[4, 3]`. Before opset 7, an
/// operator with the attribute `broadcast=1` has the shape of operand 0.
pub(super) fn broadcast(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let mut shape = Vec::new();
    if call.opset < 7 && call.integer("broadcast") == Some(1) {
        // The second operand is aligned with axes of the first from `axis` on.
        shape = call.shape(0)?.to_vec();
    } else {
        for k in 0..call.inputs.len() {
            shape = broadcast_shapes(&shape, call.shape(k)?)?;
        }
    }
    Ok(vec![ShapedTensor::new(result_type(call)?, shape)])
}

/// Result with the element type and shape of the first operand, and unknown elements.
pub(super) fn keeping(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    call.input(0).map(ShapedTensor::unknown)
}

/// Results of an elementwise operator on one data operand, with the shape of that operand. `Dropout` has two results:
/// the data, and the mask of the elements that it keeps.
pub(super) fn unary(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let (first, op) = (call.input(0)?, call.node.op_type.as_str());
    if op == "PRelu"
        && call.opset >= 7
        && broadcast_shapes(&first.shape, call.shape(1)?)? != first.shape
    {
        let (slopes, shape) = (listed(call.shape(1)?), listed(&first.shape));
        return mismatch(format!("the slopes {slopes} do not fit {shape}"));
    }
    let mut results = vec![ShapedTensor::new(result_type(call)?, first.shape.clone())];
    if op == "Dropout" {
        let of_mask = if call.opset < 10 { first.dtype } else { Scalar::Bool };
        results.push(ShapedTensor::new(of_mask, first.shape.clone()));
    }
    Ok(results)
}

/// Element type of the first result of an elementwise operator:
/// - `bool` for comparisons, logic, `IsInf` and `IsNaN`
/// - the type in the attribute `to` for casts
/// - the type of operand 1 for `Where` and `CastLike`
/// - the quantized or dequantized type for quantization
/// - the type of operand 0 for all other operators
fn result_type(call: &OnnxCall<'_>) -> ShapeResult<Scalar> {
    let own = call.input(0)?.dtype;
    Ok(match call.node.op_type.as_str() {
        "And" | "Or" | "Xor" | "Not" | "Equal" | "Greater" | "GreaterOrEqual" | "Less"
        | "LessOrEqual" | "IsInf" | "IsNaN" => Scalar::Bool,
        "Where" | "CastLike" => call.input(1)?.dtype,
        "Cast" | "BitCast" => match call.dtype("to")? {
            Some(to) => to,
            None => return mismatch("`to` is missing"),
        },
        "QuantizeLinear" => quantized::quantized(call)?,
        "DequantizeLinear" => quantized::dequantized(call)?,
        _ => own,
    })
}

/// Shape to which two shapes are broadcast, aligned at the last axis: `[4, 1]` and `[3]` give `[4, 3]`. An error if two
/// extents differ and neither is 1.
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
    let shape = broadcast_shapes(&input.shape, &extents(shape)?)?;
    Ok(ShapedTensor::new(input.dtype, shape))
}
