//! Properties of ONNX operators other than shapes.

use super::infer::is_elementwise;
use super::proto;

/// Use of axes by an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnnxOperatorKind {
    /// Elementwise: accepts any layout, the same for all tensors.
    Elementwise,
    /// Refers to axes by letter: accepts any layout, the same for all tensors, each restricted to its axes.
    ByLetter,
    /// Has fixed axis roles: batch, channels, spatial axes.
    Window(WindowKind),
    /// Permutes the axes of its operand.
    Transpose,
    /// Refers to axes by position: row-major, as in ONNX.
    RowMajor,
}

/// Window operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowKind {
    /// Filter with output channels first.
    Conv,
    /// Filter with input channels first.
    ConvTranspose,
    /// No filter.
    Pool,
}

/// Operators that work along given axes, independent of the order of the others.
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

/// Pools over all axes but the first two. Like windows they have axis roles, but they accept any layout.
pub(super) const GLOBAL_POOLS: &[&str] = &["GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool"];

/// Operators whose operands after the first are parameters: shapes, axes, counts.
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

/// Operators with random results.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Letters of the spatial axes, by their number.
const SPACE: [&str; 4] = ["", "W", "HW", "DHW"];

impl WindowKind {
    /// Letters of operand `k` with `rank` axes, in ONNX's order; `None` if it has no axis roles.
    pub(super) fn operand(self, k: usize, rank: usize) -> Option<String> {
        let axes = match (self, k) {
            (Self::Pool, 0) => "NC",
            (_, 2) => return (rank == 1).then(|| "C".to_owned()),
            // Needs at least one spatial axis.
            (_, _) if rank < 3 => return None,
            (_, 0) => "NC",
            (Self::Conv, 1) => "OI",
            (Self::ConvTranspose, 1) => "IO",
            _ => return None,
        };
        Some(format!("{axes}{}", SPACE.get(rank.checked_sub(2)?)?))
    }

    /// Letters of a result with `rank` axes.
    pub(super) fn result(rank: usize) -> Option<String> {
        Some(format!("NC{}", SPACE.get(rank.checked_sub(2)?)?))
    }
}

/// Use of axes by an operator.
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

/// True for an operator of the standard domain.
pub(super) fn is_standard(node: &proto::OnnxNode) -> bool {
    ["", "ai.onnx"].contains(&node.domain.as_str())
}

/// True if operand `k` is a parameter, provided that it is constant.
pub(super) fn is_parameter(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k > 0 && PARAMETERS.contains(&node.op_type.as_str())
}

/// True if only the element type of operand `k` is used.
pub(super) fn is_unread(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k == 1 && node.op_type == "CastLike"
}

/// True if constant operands imply constant results.
pub(super) fn is_pure(node: &proto::OnnxNode) -> bool {
    is_standard(node) && !RANDOM.contains(&node.op_type.as_str())
}

/// Property name of a parameter: the attribute's name in older opsets.
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

/// True if the first result equals the first operand.
pub(super) fn is_identity(node: &proto::OnnxNode) -> bool {
    let is_used = |k: usize| node.output.get(k).is_some_and(|name| !name.is_empty());
    let is_named = ["Identity", "Dropout"].contains(&node.op_type.as_str());
    is_standard(node) && is_named && !is_used(1)
}
