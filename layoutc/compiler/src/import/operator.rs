//! Properties of ONNX operators other than shapes.

use super::infer::family;
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
    /// All spatial axes. The axes have roles, but any layout is accepted.
    GlobalPool,
}

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
            (Self::Pool | Self::GlobalPool, 0) => "NC",
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
    family(&node.op_type).map_or(OnnxOperatorKind::RowMajor, |family| family.kind)
}

/// True for an operator of the standard domain.
pub(super) fn is_standard(node: &proto::OnnxNode) -> bool {
    ["", "ai.onnx"].contains(&node.domain.as_str())
}

/// True if operand `k` is a parameter, provided that it is constant.
pub(super) fn is_parameter(node: &proto::OnnxNode, k: usize) -> bool {
    let family = family(&node.op_type).filter(|_| is_standard(node));
    k > 0 && family.is_some_and(|family| !family.parameters.is_empty())
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
    match node.op_type.as_str() {
        "Resize" if opset < 11 => (slot == 1).then_some("scales"),
        op => family(op)?.parameters.get(slot.checked_sub(1)?).copied(),
    }
}

/// True if the first result equals the first operand.
pub(super) fn is_identity(node: &proto::OnnxNode) -> bool {
    let is_used = |k: usize| node.output.get(k).is_some_and(|name| !name.is_empty());
    let is_named = ["Identity", "Dropout"].contains(&node.op_type.as_str());
    is_standard(node) && is_named && !is_used(1)
}
