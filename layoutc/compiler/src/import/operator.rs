//! What is known of the operators of ONNX besides the shapes of their results.

use super::infer::is_elementwise;
use super::proto;

/// What an operator means by the axes of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnnxOperatorKind {
    /// It sees elements alone: any layout, the same one for all.
    Elementwise,
    /// It goes along axes that can be told by letter: any layout, the same one for all, each the part for its axes.
    ByLetter,
    /// It names its axes: batch, channels, space.
    Window(WindowKind),
    /// Its result has the elements of its operand, in another order of axes.
    Transpose,
    /// Axes by number: row-major, as ONNX has it.
    RowMajor,
}

/// An operator whose axes have names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowKind {
    /// The filter has output channels first.
    Conv,
    /// The filter has input channels first.
    ConvTranspose,
    /// No filter.
    Pool,
}

/// Operators that go along axes, and to which the order of all others is no matter.
pub(super) const BY_LETTER: &[&str] = &[
    "ArgMax",
    "ArgMin",
    "BatchNormalization",
    "Concat",
    "CumProd",
    "CumSum",
    "Expand",
    "GatherElements",
    "GroupNormalization",
    "Hardmax",
    "InstanceNormalization",
    "LRN",
    "LayerNormalization",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "Pad",
    "RMSNormalization",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Resize",
    "Scatter",
    "ScatterElements",
    "Slice",
    "Softmax",
    "Split",
    "Squeeze",
    "Tile",
    "TopK",
    "Unsqueeze",
    "Upsample",
];

/// Pools over all axes but the first two: as windows their axes have names, and they take any layout.
pub(super) const GLOBAL_POOLS: &[&str] = &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"];

/// Operators whose operands behind the first are parameters: shapes, axes, numbers of elements.
const PARAMETERS: &[&str] = &[
    "CenterCropPad",
    "Clip",
    "ConstantOfShape",
    "CumSum",
    "Dropout",
    "Expand",
    "OneHot",
    "Pad",
    "Range",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "Reshape",
    "Resize",
    "Slice",
    "Split",
    "Squeeze",
    "Tile",
    "TopK",
    "Trilu",
    "Unsqueeze",
    "Upsample",
];

/// Operators that give something else each time.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// The letters behind batch and channels, by how many there are.
const SPACE: [&str; 4] = ["", "W", "HW", "DHW"];

impl WindowKind {
    /// The letters of operand `k` of `rank` axes, as ONNX orders them. `None`: one that has no names here.
    pub(super) fn operand(self, k: usize, rank: usize) -> Option<String> {
        let axes = match (self, k) {
            (Self::Pool, 0) => "NC",
            (_, 2) => return (rank == 1).then(|| "C".to_owned()),
            // Without space nothing is filtered.
            (_, _) if rank < 3 => return None,
            (_, 0) => "NC",
            (Self::Conv, 1) => "OI",
            (Self::ConvTranspose, 1) => "IO",
            _ => return None,
        };
        Some(format!("{axes}{}", SPACE.get(rank.checked_sub(2)?)?))
    }

    /// The letters of a result of `rank` axes.
    pub(super) fn result(rank: usize) -> Option<String> {
        Some(format!("NC{}", SPACE.get(rank.checked_sub(2)?)?))
    }
}

/// What an operator means by axes.
pub(super) fn kind(node: &proto::OnnxNode) -> OnnxOperatorKind {
    if !is_standard(node) {
        return OnnxOperatorKind::RowMajor;
    }
    match node.op_type.as_str() {
        "Conv" => OnnxOperatorKind::Window(WindowKind::Conv),
        "ConvTranspose" => OnnxOperatorKind::Window(WindowKind::ConvTranspose),
        "MaxPool" | "AveragePool" | "LpPool" | "GlobalAveragePool" | "GlobalMaxPool"
        | "GlobalLpPool" => OnnxOperatorKind::Window(WindowKind::Pool),
        "Transpose" => OnnxOperatorKind::Transpose,
        op if is_elementwise(op) => OnnxOperatorKind::Elementwise,
        op if BY_LETTER.contains(&op) => OnnxOperatorKind::ByLetter,
        _ => OnnxOperatorKind::RowMajor,
    }
}

/// Whether it is one of ONNX's own operators.
pub(super) fn is_standard(node: &proto::OnnxNode) -> bool {
    ["", "ai.onnx"].contains(&node.domain.as_str())
}

/// Whether operand `k` is a parameter where it is worked out.
pub(super) fn is_parameter(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k > 0 && PARAMETERS.contains(&node.op_type.as_str())
}

/// Whether of operand `k` the element type alone is read.
pub(super) fn is_unread(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k == 1 && node.op_type == "CastLike"
}

/// Whether its results are known where its operands are.
pub(super) fn is_pure(node: &proto::OnnxNode) -> bool {
    is_standard(node) && !RANDOM.contains(&node.op_type.as_str())
}

/// What a parameter is called as a property; an operator of an older version has an attribute of that name.
pub(super) fn parameter_name(
    node: &proto::OnnxNode,
    slot: usize,
    opset: i64,
) -> Option<&'static str> {
    let names: &[&str] = match node.op_type.as_str() {
        "Clip" => &["min", "max"],
        "CenterCropPad" | "Expand" | "Reshape" => &["shape"],
        "CumSum" => &["axis"],
        "Dropout" => &["ratio", "training_mode"],
        "OneHot" => &["depth", "values"],
        "Pad" => &["pads", "value", "axes"],
        "Range" => &["limit", "delta"],
        "Resize" if opset < 11 => &["scales"],
        "Resize" => &["roi", "scales", "sizes"],
        "Slice" => &["starts", "ends", "axes", "steps"],
        "Split" => &["split"],
        "Tile" => &["repeats"],
        "TopK" | "Trilu" => &["k"],
        "Upsample" => &["scales"],
        _ => &["axes"],
    };
    names.get(slot.checked_sub(1)?).copied()
}

/// Whether its first result is its first operand.
pub(super) fn is_identity(node: &proto::OnnxNode) -> bool {
    let is_used = |k: usize| node.output.get(k).is_some_and(|name| !name.is_empty());
    let is_named = ["Identity", "Dropout"].contains(&node.op_type.as_str());
    is_standard(node) && is_named && !is_used(1)
}
