//! Families of operators in ONNX's standard domain. The operators of a family have one shape rule, one use of axes, and
//! one list of parameters. An operator in no family has row-major operands, and results with the shapes that the model
//! declares.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::recurrent::{WeightOrder, recurrent};
use super::{
    attention, broadcast, einsum, generators, image, loss, matmul, quantized, reduce, reshape,
    resize, select, signal, slicing, window,
};
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::ShapeResult;
use crate::import::operator::OnnxOperatorKind::{
    self, ByLetter, Elementwise, RowMajor, Transpose, Window,
};
use crate::import::operator::WindowKind;

/// Rule that derives the shapes and element types of an operator's results from its operands.
pub(super) enum ShapeRule {
    /// Function that returns all results, in order.
    All(fn(&OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>>),
    /// Function that returns the single result.
    One(fn(&OnnxCall<'_>) -> ShapeResult<ShapedTensor>),
    /// No rule, as operands or results are not tensors; the text describes them: "sequences of tensors".
    NotTensor(&'static str),
    /// No rule, as the shapes depend on data; the text names the unknown: "how many boxes are left".
    DataDependent(&'static str),
}

use ShapeRule::{All, DataDependent, NotTensor, One};

/// Family of ONNX operators with one shape rule, one use of axes (`kind`), and one list of parameters.
pub(in crate::import) struct OperatorFamily {
    /// Names of the operators, separated by spaces.
    names: &'static str,
    pub(super) rule: ShapeRule,
    pub(in crate::import) kind: OnnxOperatorKind,
    /// Names of the operands from the second on that are parameters, such as shapes, axes and counts, instead of data;
    /// empty if there are none.
    pub(in crate::import) parameters: &'static [&'static str],
}

/// Names of the elementwise operators that broadcast several operands, separated by spaces.
const BROADCAST: &str = "Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater \
    GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or Pow Sub Sum SwiGLU Where Xor";

/// Names of the elementwise operators with one data operand, whose shape the result has, separated by spaces. Further
/// operands, such as slopes and scales, do not change the shape.
const UNARY: &str = "Abs Acos Acosh Asin Asinh Atan Atanh BitCast BitwiseNot Cast CastLike Ceil \
    Celu Cos Cosh DequantizeLinear Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf \
    IsNaN LeakyRelu Log Mish Neg Not PRelu QuantizeLinear Reciprocal Relu Round Selu Shrink \
    Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu";

/// Names of operators that work along axes, list no parameters, and have one result with the shape of the first
/// operand; separated by spaces.
const KEEPING: &str = "CumProd GroupNormalization Hardmax InstanceNormalization LRN LogSoftmax \
    LpNormalization MeanVarianceNormalization RMSNormalization Scatter ScatterElements Softmax";

const REDUCTIONS: &str = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean \
    ReduceMin ReduceProd ReduceSum ReduceSumSquare";

const SEQUENCES: &str = "ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty \
    SequenceErase SequenceInsert SequenceLength SplitToSequence";

/// Creates an entry of [`FAMILIES`].
const fn row(
    names: &'static str,
    rule: ShapeRule,
    kind: OnnxOperatorKind,
    parameters: &'static [&'static str],
) -> OperatorFamily {
    OperatorFamily { names, rule, kind, parameters }
}

const FAMILIES: &[OperatorFamily] = &[
    row(BROADCAST, All(broadcast::broadcast), Elementwise, &[]),
    row(UNARY, All(broadcast::unary), Elementwise, &[]),
    row("Clip", All(broadcast::unary), Elementwise, &["min", "max"]),
    row("Dropout", All(broadcast::unary), Elementwise, &["ratio", "training_mode"]),
    row(KEEPING, One(broadcast::keeping), ByLetter, &[]),
    row("CumSum", One(broadcast::keeping), ByLetter, &["axis"]),
    row("OptionalGetElement ReverseSequence", One(broadcast::keeping), RowMajor, &[]),
    row("RotaryEmbedding ScatterND TensorScatter", One(broadcast::keeping), RowMajor, &[]),
    row("Trilu", One(broadcast::keeping), RowMajor, &["k"]),
    row("Conv", One(window::conv), Window(WindowKind::Conv), &[]),
    row("DeformConv", One(window::conv), RowMajor, &[]),
    row("ConvTranspose", One(window::conv_transpose), Window(WindowKind::ConvTranspose), &[]),
    row("AveragePool LpPool MaxPool", All(window::pool), Window(WindowKind::Pool), &[]),
    row(
        "GlobalAveragePool GlobalLpPool GlobalMaxPool",
        One(window::global_pool),
        Window(WindowKind::GlobalPool),
        &[],
    ),
    row("Concat", One(slicing::concat), ByLetter, &[]),
    row("Split", All(slicing::split), ByLetter, &["split"]),
    row("Slice", One(slicing::slice), ByLetter, &["starts", "ends", "axes", "steps"]),
    row("Pad", One(slicing::pad), ByLetter, &["pads", "value", "axes"]),
    row("Gather", One(slicing::gather), RowMajor, &[]),
    row("GatherElements", One(slicing::gather_elements), ByLetter, &[]),
    row("GatherND", One(slicing::gather_nd), RowMajor, &[]),
    row("Tile", One(slicing::tile), ByLetter, &["repeats"]),
    row("TopK", All(slicing::top), ByLetter, &["k"]),
    row("Flatten", One(reshape::flatten), RowMajor, &[]),
    row("Reshape", One(reshape::reshape), RowMajor, &["shape"]),
    row("Squeeze", One(reshape::squeeze), ByLetter, &["axes"]),
    row("Unsqueeze", One(reshape::unsqueeze), ByLetter, &["axes"]),
    row("Transpose", One(reshape::transpose), Transpose, &[]),
    row("DepthToSpace", One(reshape::depth_to_space), RowMajor, &[]),
    row("SpaceToDepth", One(reshape::space_to_depth), RowMajor, &[]),
    row("Expand", One(broadcast::expand), ByLetter, &["shape"]),
    row(REDUCTIONS, One(reduce::reduce), ByLetter, &["axes"]),
    row("ArgMax ArgMin", One(reduce::arg), ByLetter, &[]),
    row("LayerNormalization", All(reduce::layer_normalization), ByLetter, &[]),
    row("BatchNormalization", All(reduce::batch_normalization), ByLetter, &[]),
    row("LSTM", All(|call| recurrent(call, 4, 2, &WeightOrder::UnitsFirst)), RowMajor, &[]),
    row("GRU", All(|call| recurrent(call, 3, 1, &WeightOrder::UnitsFirst)), RowMajor, &[]),
    row("RNN", All(|call| recurrent(call, 1, 1, &WeightOrder::UnitsFirst)), RowMajor, &[]),
    row("Attention", All(attention::attention), RowMajor, &[]),
    row("LinearAttention", All(attention::linear_attention), RowMajor, &[]),
    row("CausalConvWithState", All(attention::causal_conv), RowMajor, &[]),
    row("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", All(loss::loss), RowMajor, &[]),
    row("Gemm", One(matmul::gemm), RowMajor, &[]),
    row("MatMul", One(matmul::matmul), RowMajor, &[]),
    row("Einsum", One(einsum::einsum), RowMajor, &[]),
    row("ConvInteger", One(quantized::conv_integer), RowMajor, &[]),
    row("QLinearConv", One(quantized::conv), RowMajor, &[]),
    row("MatMulInteger", One(quantized::matmul_integer), RowMajor, &[]),
    row("QLinearMatMul", One(quantized::matmul), RowMajor, &[]),
    row("DynamicQuantizeLinear", All(quantized::dynamic), RowMajor, &[]),
    row("Resize", One(resize::resize), ByLetter, &["roi", "scales", "sizes"]),
    row("Upsample", One(resize::upsample), ByLetter, &["scales"]),
    row("GridSample", One(image::grid_sample), RowMajor, &[]),
    row("AffineGrid", One(image::affine_grid), RowMajor, &[]),
    row("Col2Im", One(image::col2im), RowMajor, &[]),
    row("MaxUnpool", One(image::max_unpool), RowMajor, &[]),
    row("CenterCropPad", One(image::center_crop_pad), RowMajor, &["shape"]),
    row("MaxRoiPool", One(image::max_roi_pool), RowMajor, &[]),
    row("RoiAlign", One(image::roi_align), RowMajor, &[]),
    row("DFT", One(signal::dft), RowMajor, &[]),
    row("STFT", One(signal::stft), RowMajor, &[]),
    row("BlackmanWindow HammingWindow HannWindow", One(signal::window), RowMajor, &[]),
    row("MelWeightMatrix", One(signal::mel), RowMajor, &[]),
    row("OneHot", One(select::one_hot), RowMajor, &["depth", "values"]),
    row("NonZero", One(select::non_zero), RowMajor, &[]),
    row("Compress", One(select::compress), RowMajor, &[]),
    row("Det", One(select::det), RowMajor, &[]),
    row("Multinomial", One(select::multinomial), RowMajor, &[]),
    row("TfIdfVectorizer", One(select::tf_idf), RowMajor, &[]),
    row("NonMaxSuppression", DataDependent("how many boxes are left"), RowMajor, &[]),
    row("Unique", DataDependent("how many elements are alike"), RowMajor, &[]),
    row("ImageDecoder", DataDependent("how large the image is"), RowMajor, &[]),
    row(SEQUENCES, NotTensor("sequences of tensors"), RowMajor, &[]),
    row("Optional", NotTensor("optional values"), RowMajor, &[]),
    row("OptionalHasElement", One(generators::truth), RowMajor, &[]),
    row("Shape", One(generators::shape), RowMajor, &[]),
    row("Size", One(generators::size), RowMajor, &[]),
    row("Constant", One(generators::constant), RowMajor, &[]),
    row("ConstantOfShape", One(generators::constant_of_shape), RowMajor, &[]),
    row("Range", One(generators::range), RowMajor, &["limit", "delta"]),
    row("RandomNormal RandomUniform", One(generators::random), RowMajor, &[]),
    row("Bernoulli RandomNormalLike RandomUniformLike", One(generators::like), RowMajor, &[]),
    row("EyeLike", One(generators::eye_like), RowMajor, &[]),
];

static BY_NAME: LazyLock<BTreeMap<&str, &OperatorFamily>> = LazyLock::new(|| {
    let names = |family: &'static OperatorFamily| family.names.split_whitespace();
    FAMILIES.iter().flat_map(|family| names(family).map(move |name| (name, family))).collect()
});

/// Family of the operator `op` of the standard domain; `None` if it is in no family.
pub(in crate::import) fn family(op: &str) -> Option<&'static OperatorFamily> {
    BY_NAME.get(op).copied()
}

/// True if the operator `op` is elementwise and broadcasts several operands: one of [`BROADCAST`].
pub(in crate::import) fn is_broadcast(op: &str) -> bool {
    BROADCAST.split_whitespace().any(|own| own == op)
}

/// Names of the operators whose [`OnnxOperatorKind`] is among `kinds`, in alphabetical order. A test compares them with
/// the profile `onnx`.
#[cfg(test)]
pub(in crate::import) fn names_of(kinds: &[OnnxOperatorKind]) -> Vec<&'static str> {
    let all = BY_NAME.iter().filter(|(_, family)| kinds.contains(&family.kind));
    all.map(|(name, _)| *name).collect()
}
