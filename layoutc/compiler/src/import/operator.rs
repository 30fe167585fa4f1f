//! Properties of ONNX operators other than shapes.

use super::infer::family;
use super::proto;

/// Way in which an operator uses the axes of its tensors, which determines the layouts that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnnxOperatorKind {
    /// Elementwise: the operator accepts any layout, the same for all tensors.
    Elementwise,
    /// By letter: the operator refers to axes by letter, and accepts any layout, the same for all tensors, each
    /// restricted to its own axes.
    ByLetter,
    /// Window: the axes have fixed roles (batch, channels, spatial axes).
    Window(WindowKind),
    /// Transposition: the operator permutes the axes of its operand.
    Transpose,
    /// Row-major: the operator refers to axes by position, and accepts row-major layouts only.
    RowMajor,
}

/// Kind of a window operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowKind {
    /// Convolution, whose filter has the output channels first.
    Conv,
    /// Transposed convolution, whose filter has the input channels first.
    ConvTranspose,
    /// Pooling, which has no filter.
    Pool,
    /// Pooling over all spatial axes. The axes have roles, but any layout is accepted.
    GlobalPool,
}

/// Names of the operators with random results, which are never constant.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Letters of the spatial axes, by the number of these axes.
const SPACE: [&str; 4] = ["", "W", "HW", "DHW"];

impl WindowKind {
    /// Letters of the axes of operand `k` with `rank` axes, in ONNX's order; `None` if the operand's axes have no
    /// roles.
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

    /// Letters of the axes of a result with `rank` axes; `None` if there are too few or too many.
    pub(super) fn result(rank: usize) -> Option<String> {
        Some(format!("NC{}", SPACE.get(rank.checked_sub(2)?)?))
    }
}

/// Way in which an operator uses axes.
pub(super) fn kind(node: &proto::OnnxNode) -> OnnxOperatorKind {
    if !is_standard(node) {
        return OnnxOperatorKind::RowMajor;
    }
    family(&node.op_type).map_or(OnnxOperatorKind::RowMajor, |family| family.kind)
}

/// True for an operator of ONNX's standard domain.
pub(super) fn is_standard(node: &proto::OnnxNode) -> bool {
    ["", "ai.onnx"].contains(&node.domain.as_str())
}

/// True if operand `k` is a parameter, not data, provided that it is constant.
pub(super) fn is_parameter(node: &proto::OnnxNode, k: usize) -> bool {
    let family = family(&node.op_type).filter(|_| is_standard(node));
    k > 0 && family.is_some_and(|family| !family.parameters.is_empty())
}

/// True if only the element type of operand `k` is used, not its elements.
pub(super) fn is_unread(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k == 1 && node.op_type == "CastLike"
}

/// True if the results are constant whenever the operands are.
pub(super) fn is_pure(node: &proto::OnnxNode) -> bool {
    is_standard(node) && !RANDOM.contains(&node.op_type.as_str())
}

/// Key of the property for the parameter operand `slot`: the attribute's name in older opsets; `None` if there is
/// none.
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

/// True if the operator's first result equals its first operand.
pub(super) fn is_identity(node: &proto::OnnxNode) -> bool {
    let is_used = |k: usize| node.output.get(k).is_some_and(|name| !name.is_empty());
    let is_named = ["Identity", "Dropout"].contains(&node.op_type.as_str());
    is_standard(node) && is_named && !is_used(1)
}
