//! The shapes and element types of an operator's results, from those of its operands. One file for each family.

mod broadcast;
mod cast;
mod fold;
mod parts;
mod product;
mod reduce;
mod reshape;
mod resize;
mod window;

use super::call::{Call, Shaped};
use super::fault::{Shaping, Unshaped};

#[cfg(test)]
pub(super) use cast::elementwise;
pub(super) use cast::{is_broadcast, is_elementwise};
pub(super) use reshape::permutation;

/// The results, those left out included.
///
/// # Errors
/// The operator is not known, its shapes depend on what is not known yet, or its operands do not go together.
pub(super) fn infer(call: &Call<'_>) -> Shaping<Vec<Shaped>> {
    if !["", "ai.onnx"].contains(&call.node.domain.as_str()) {
        return Err(Unshaped::Operator);
    }
    let mut results = shapes(call)?;
    // What an operator may give besides is of no use here unless it is asked for.
    results.truncate(call.outputs);
    if results.len() < call.outputs {
        return Err(Unshaped::Operator);
    }
    if let [result] = results.as_mut_slice()
        && result.known.is_none()
    {
        result.known = fold::fold(call, result);
    }
    Ok(results)
}

fn shapes(call: &Call<'_>) -> Shaping<Vec<Shaped>> {
    let one = |shaped: Shaping<Shaped>| shaped.map(|shaped| vec![shaped]);
    match call.node.op_type.as_str() {
        "Conv" => one(window::conv(call)),
        "ConvTranspose" => one(window::conv_transpose(call)),
        "MaxPool" | "AveragePool" | "LpPool" => window::pool(call),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => one(window::global_pool(call)),
        "Concat" => one(parts::concat(call)),
        "Split" => parts::split(call),
        "Slice" => one(parts::slice(call)),
        "Pad" => one(parts::pad(call)),
        "Gather" => one(parts::gather(call)),
        "GatherElements" => one(parts::gather_elements(call)),
        "GatherND" => one(parts::gather_nd(call)),
        "TopK" => parts::top(call),
        "Tile" => one(parts::tile(call)),
        "Flatten" => one(reshape::flatten(call)),
        "Reshape" => one(reshape::reshape(call)),
        "Squeeze" => one(reshape::squeeze(call)),
        "Unsqueeze" => one(reshape::unsqueeze(call)),
        "Transpose" => one(reshape::transpose(call)),
        "DepthToSpace" => one(reshape::depth_to_space(call)),
        "SpaceToDepth" => one(reshape::space_to_depth(call)),
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
        | "ReduceL2" | "ReduceSumSquare" | "ReduceLogSum" | "ReduceLogSumExp" => {
            one(reduce::reduce(call))
        }
        "ArgMax" | "ArgMin" => one(reduce::arg(call)),
        "LayerNormalization" => reduce::layer_normalization(call),
        "BatchNormalization" => reduce::batch_normalization(call),
        "Gemm" => one(product::gemm(call)),
        "MatMul" => one(product::matmul(call)),
        "Resize" => one(resize::resize(call)),
        "Upsample" => one(resize::upsample(call)),
        "Shape" => one(fold::shape(call)),
        "Size" => one(fold::size(call)),
        "Constant" => one(fold::constant(call)),
        "ConstantOfShape" => one(fold::constant_of_shape(call)),
        "Range" => one(fold::range(call)),
        "Expand" => one(broadcast::expand(call)),
        op => broadcast::elementwise(call, op),
    }
}
