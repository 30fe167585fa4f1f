//! Shape inference: shapes and element types of an operator's results from its operands, one file per family of
//! operators.

mod attention;
mod broadcast;
mod einsum;
mod families;
mod fold;
mod generators;
mod image;
mod loss;
mod matmul;
mod microsoft;
mod onnx_ml;
mod quantized;
mod recurrent;
mod reduce;
mod reshape;
mod resize;
mod select;
mod signal;
mod slicing;
mod window;

use super::call::{OnnxCall, ShapedTensor};
use super::error::{ShapeError, ShapeResult};
use families::ShapeRule;

#[cfg(test)]
pub(super) use families::names_of;
pub(super) use families::{family, is_broadcast};
pub(super) use reshape::permutation;

/// Results of an operator: shapes, element types, and elements if they are small and constant. The number of results is
/// `call.outputs`, including omitted ones.
///
/// # Errors
/// [`ShapeError::Operator`] if there is no shape rule for the operator or for that number of results.
/// [`ShapeError::DataDependent`] if the shapes depend on data that is not constant, [`ShapeError::Mismatch`] if the
/// operands do not match. [`ShapeError::NotTensor`] and [`ShapeError::ElementType`] for types that graphs do not
/// support.
pub(super) fn infer(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let is_own = ["", "ai.onnx"].contains(&call.node.domain.as_str());
    let mut results = match call.node.domain.as_str() {
        "" | "ai.onnx" => shapes(call)?,
        "ai.onnx.ml" => onnx_ml::learned(call)?,
        "com.microsoft" => microsoft::fused(call)?,
        "ai.onnx.preview" if call.node.op_type == "FlexAttention" => attention::attention(call)?,
        "ai.onnx.preview.training" => match call.node.op_type.as_str() {
            "Adagrad" | "Momentum" => loss::step(call, 1)?,
            "Adam" => loss::step(call, 2)?,
            _ => return Err(ShapeError::Operator),
        },
        _ => return Err(ShapeError::Operator),
    };
    // Optional results that are not requested are dropped.
    results.truncate(call.outputs);
    if results.len() < call.outputs {
        return Err(ShapeError::Operator);
    }
    if is_own && results.iter().all(|result| result.known.is_none()) {
        let known = fold::fold(call, &results);
        for (result, known) in results.iter_mut().zip(known) {
            result.known = known;
        }
    }
    Ok(results)
}

/// Results of an operator of ONNX's standard domain, by the shape rule of its family.
fn shapes(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    match family(&call.node.op_type).map(|family| &family.rule) {
        Some(ShapeRule::All(rule)) => rule(call),
        Some(ShapeRule::One(rule)) => Ok(vec![rule(call)?]),
        Some(ShapeRule::NotTensor(what)) => Err(ShapeError::NotTensor(what)),
        Some(ShapeRule::DataDependent(what)) => select::data_dependent(what),
        None => Err(ShapeError::Operator),
    }
}
