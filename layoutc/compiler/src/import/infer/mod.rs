//! Shapes and element types of results, one file per family of operators.

mod attention;
mod broadcast;
mod cast;
mod einsum;
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
use recurrent::{WeightOrder, recurrent};

#[cfg(test)]
pub(super) use cast::elementwise;
pub(super) use cast::{is_broadcast, is_elementwise};
pub(super) use reshape::permutation;

/// Results of an operator, including omitted ones.
///
/// # Errors
/// The operator is unknown, its shapes depend on data that is not constant, or its operands do not match.
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

/// Results of an operator of the standard domain.
fn shapes(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    match call.node.op_type.as_str() {
        "MaxPool" | "AveragePool" | "LpPool" => window::pool(call),
        "Split" => slicing::split(call),
        "TopK" => slicing::top(call),
        "LayerNormalization" => reduce::layer_normalization(call),
        "BatchNormalization" => reduce::batch_normalization(call),
        "LSTM" => recurrent(call, 4, 2, &WeightOrder::UnitsFirst),
        "GRU" => recurrent(call, 3, 1, &WeightOrder::UnitsFirst),
        "RNN" => recurrent(call, 1, 1, &WeightOrder::UnitsFirst),
        "Attention" => attention::attention(call),
        "LinearAttention" => attention::linear_attention(call),
        "CausalConvWithState" => attention::causal_conv(call),
        "DynamicQuantizeLinear" => quantized::dynamic(call),
        "NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss" => loss::loss(call),
        op => match single(call) {
            Err(ShapeError::Operator) => broadcast::elementwise(call, op),
            result => result.map(|result| vec![result]),
        },
    }
}

/// Result of an operator with one result.
fn single(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    match call.node.op_type.as_str() {
        "Conv" | "DeformConv" => window::conv(call),
        "ConvTranspose" => window::conv_transpose(call),
        "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => window::global_pool(call),
        "Concat" => slicing::concat(call),
        "Slice" => slicing::slice(call),
        "Pad" => slicing::pad(call),
        "Gather" => slicing::gather(call),
        "GatherElements" => slicing::gather_elements(call),
        "GatherND" => slicing::gather_nd(call),
        "Tile" => slicing::tile(call),
        "Flatten" => reshape::flatten(call),
        "Reshape" => reshape::reshape(call),
        "Squeeze" => reshape::squeeze(call),
        "Unsqueeze" => reshape::unsqueeze(call),
        "Transpose" => reshape::transpose(call),
        "DepthToSpace" => reshape::depth_to_space(call),
        "SpaceToDepth" => reshape::space_to_depth(call),
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceProd" | "ReduceL1"
        | "ReduceL2" | "ReduceSumSquare" | "ReduceLogSum" | "ReduceLogSumExp" => {
            reduce::reduce(call)
        }
        "ArgMax" | "ArgMin" => reduce::arg(call),
        "Gemm" => matmul::gemm(call),
        "MatMul" => matmul::matmul(call),
        "Einsum" => einsum::einsum(call),
        "ConvInteger" => quantized::conv_integer(call),
        "QLinearConv" => quantized::conv(call),
        "MatMulInteger" => quantized::matmul_integer(call),
        "QLinearMatMul" => quantized::matmul(call),
        "Resize" => resize::resize(call),
        "Upsample" => resize::upsample(call),
        "GridSample" => image::grid_sample(call),
        "AffineGrid" => image::affine_grid(call),
        "Col2Im" => image::col2im(call),
        "MaxUnpool" => image::max_unpool(call),
        "CenterCropPad" => image::center_crop_pad(call),
        "MaxRoiPool" => image::regions(call, call.integers("pooled_shape").unwrap_or_default()),
        "RoiAlign" => {
            let size =
                ["output_height", "output_width"].map(|name| call.integer(name).unwrap_or(1));
            image::regions(call, &size)
        }
        "DFT" => signal::dft(call),
        "STFT" => signal::stft(call),
        "HannWindow" | "HammingWindow" | "BlackmanWindow" => signal::window(call),
        "MelWeightMatrix" => signal::mel(call),
        "OneHot" => select::one_hot(call),
        "NonZero" => select::non_zero(call),
        "Compress" => select::compress(call),
        "Det" => select::det(call),
        "Multinomial" => select::multinomial(call),
        "TfIdfVectorizer" => select::tf_idf(call),
        "NonMaxSuppression" => select::data_dependent("how many boxes are left"),
        "Unique" => select::data_dependent("how many elements are alike"),
        "ImageDecoder" => select::data_dependent("how large the image is"),
        "SequenceAt" | "SequenceConstruct" | "SequenceEmpty" | "SequenceErase"
        | "SequenceInsert" | "SequenceLength" | "SplitToSequence" | "ConcatFromSequence" => {
            Err(ShapeError::NotTensor("sequences of tensors"))
        }
        "Optional" => Err(ShapeError::NotTensor("optional values")),
        "Shape" => generators::shape(call),
        "Size" => generators::size(call),
        "Constant" => generators::constant(call),
        "ConstantOfShape" => generators::constant_of_shape(call),
        "Range" => generators::range(call),
        "EyeLike" => generators::eye_like(call),
        "RandomNormal" | "RandomUniform" => generators::random(call),
        "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => generators::random_like(call),
        "OptionalHasElement" => Ok(generators::truth(call)),
        "Expand" => broadcast::expand(call),
        _ => Err(ShapeError::Operator),
    }
}
