//! Shape inference for operators of the domain `com.microsoft`, which ONNX Runtime generates when it optimizes a model.

use super::recurrent::{WeightOrder, recurrent};
use super::{matmul, quantized, window};
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, extent};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Results of an operator of the domain `com.microsoft`.
///
/// # Errors
/// [`ShapeError::Operator`] if there is no shape rule for the operator, [`ShapeError::Mismatch`] if its operands do not
/// match, [`ShapeError::ElementType`] if an attribute names a type that layoutc does not have.
pub(super) fn fused(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let like = |dtype| Ok(vec![ShapedTensor::new(dtype, input.shape.clone())]);
    let one = |found: ShapeResult<ShapedTensor>| found.map(|found| vec![found]);
    match call.node.op_type.as_str() {
        "BiasGelu"
        | "BiasDropout"
        | "FastGelu"
        | "Gelu"
        | "QuickGelu"
        | "QLinearLeakyRelu"
        | "QLinearSigmoid"
        | "QLinearSoftmax"
        | "RotaryEmbedding"
        | "GroupNorm"
        | "Inverse"
        | "SimplifiedLayerNormalization" => like(input.dtype),
        "BiasSplitGelu" => Ok(vec![halved(input)]),
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => {
            let mut means = input.shape.clone();
            means.last_mut().into_iter().for_each(|last| *last = 1);
            let means = ShapedTensor::new(Scalar::F32, means);
            Ok(vec![input.unknown(), means.clone(), means, input.clone()])
        }
        "QuantizeLinear" => like(quantized::quantized(call)?),
        "DequantizeLinear" => like(quantized::dequantized(call)?),
        "QLinearAdd" | "QLinearMul" => one(quantized::broadcast(call)),
        "QLinearConcat" => one(quantized::concat(call)),
        "QLinearGlobalAveragePool" => one(window::global_pool(call)),
        "QLinearAveragePool" => window::pool(call),
        "FusedConv" => one(window::conv(call)),
        "FusedGemm" => one(matmul::gemm(call)),
        "FusedMatMul" | "TransposeMatMul" => one(matmul(call)),
        "DynamicQuantizeMatMul" => {
            let shape = matmul::matmul_shape(&input.shape, call.shape(1)?)?;
            Ok(vec![ShapedTensor::new(Scalar::F32, shape)])
        }
        "MatMulIntegerToFloat" => {
            let shape = matmul::matmul_shape(&input.shape, call.shape(1)?)?;
            Ok(vec![ShapedTensor::new(call.input(2)?.dtype, shape)])
        }
        "MatMulNBits" => {
            let (Some(columns), Some((_, outer))) = (call.integer("N"), input.shape.split_last())
            else {
                return mismatch(format!("{} has no columns", listed(&input.shape)));
            };
            Ok(vec![ShapedTensor::new(input.dtype, [outer, &[extent(columns)?]].concat())])
        }
        "DynamicQuantizeLSTM" => recurrent(call, 4, 2, &WeightOrder::UnitsLast),
        _ => Err(ShapeError::Operator),
    }
}

fn halved(input: &ShapedTensor) -> ShapedTensor {
    let mut shape = input.shape.clone();
    shape.last_mut().into_iter().for_each(|last| *last /= 2);
    ShapedTensor::new(input.dtype, shape)
}

/// Result of a matrix product with optional transposition (`transA`, `transB`) of the last two axes of each operand.
/// The error is [`ShapeError::Operator`] if the batch axes are transposed too (`transBatchA`, `transBatchB`).
fn matmul(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let is_set = |name: &str| call.integer(name) == Some(1);
    if is_set("transBatchA") || is_set("transBatchB") {
        return Err(ShapeError::Operator);
    }
    let matrix = |k: usize, name: &str| {
        let mut shape = call.shape(k)?.to_vec();
        if let (true, [.., rows, columns]) = (is_set(name), shape.as_mut_slice()) {
            std::mem::swap(rows, columns);
        }
        Ok(shape)
    };
    let (a, b) = (matrix(0, "transA")?, matrix(1, "transB")?);
    Ok(ShapedTensor::new(call.input(0)?.dtype, matmul::matmul_shape(&a, &b)?))
}
