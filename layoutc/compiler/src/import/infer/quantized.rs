//! Shape inference for operators on quantized elements: integers with scales and zero points.

use super::broadcast::broadcast_shapes;
use super::{matmul, window};
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::{ShapeResult, mismatch};

/// Element type of a quantized result: that of the zero point (operand 2), else that in `output_dtype`, else `u8`.
pub(super) fn quantized(call: &OnnxCall<'_>) -> ShapeResult<Scalar> {
    if let Some(zero) = call.optional(2) {
        return Ok(zero.dtype);
    }
    Ok(call.dtype("output_dtype")?.unwrap_or(Scalar::U8))
}

/// Element type of a dequantized result: that in `output_dtype`, else that of the scale (operand 1).
pub(super) fn dequantized(call: &OnnxCall<'_>) -> ShapeResult<Scalar> {
    match call.dtype("output_dtype")? {
        Some(dtype) => Ok(dtype),
        None => Ok(call.input(1)?.dtype),
    }
}

/// Results of `DynamicQuantizeLinear`: the quantized `u8` tensor, its `f32` scale and its `u8` zero point, both
/// scalars.
pub(super) fn dynamic(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    Ok(vec![
        ShapedTensor::new(Scalar::U8, call.shape(0)?.to_vec()),
        ShapedTensor::new(Scalar::F32, Vec::new()),
        ShapedTensor::new(Scalar::U8, Vec::new()),
    ])
}

pub(super) fn conv_integer(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    Ok(ShapedTensor::new(Scalar::I32, window::conv_shape(call, call.shape(0)?, call.shape(1)?)?))
}

/// Result of a quantized convolution. Operands: (data, scale, zero, filter, scale, zero, result scale, result
/// zero, bias).
pub(super) fn conv(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = window::conv_shape(call, call.shape(0)?, call.shape(3)?)?;
    Ok(ShapedTensor::new(call.input(7)?.dtype, shape))
}

pub(super) fn matmul_integer(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    Ok(ShapedTensor::new(Scalar::I32, matmul::matmul_shape(call.shape(0)?, call.shape(1)?)?))
}

/// Result of a quantized matrix product. Operands: (a, scale, zero, b, scale, zero, result scale, result zero).
pub(super) fn matmul(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = matmul::matmul_shape(call.shape(0)?, call.shape(3)?)?;
    Ok(ShapedTensor::new(call.input(7)?.dtype, shape))
}

/// Result of a quantized operator that broadcasts two operands. Operands: (a, scale, zero, b, scale, zero, result
/// scale, result zero).
pub(super) fn broadcast(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let own = call.input(0)?;
    Ok(ShapedTensor::new(own.dtype, broadcast_shapes(&own.shape, call.shape(3)?)?))
}

/// Result of a quantized concatenation. Operands: (result scale, result zero, then for each tensor: data, scale,
/// zero).
pub(super) fn concat(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let inputs: Vec<Option<&ShapedTensor>> =
        call.inputs.iter().skip(2).step_by(3).copied().collect();
    if inputs.is_empty() {
        return mismatch("nothing is joined");
    }
    let parts = OnnxCall { node: call.node, opset: call.opset, inputs, outputs: call.outputs };
    super::slicing::concat(&parts)
}
