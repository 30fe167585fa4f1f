//! Properties of ONNX operators other than shapes: use of axes, parameters, constancy.

use super::infer::family;
use super::proto;

/// Use of axes by an operator, which determines the layouts that it accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnnxOperatorKind {
    /// Elementwise: the operator accepts any layout, if all its tensors have the same one.
    Elementwise,
    /// By letter: the operator names some axes by letter (`axis=C`) and accepts any layout. All its tensors have one
    /// layout, each reduced to the axes that the tensor has.
    ByLetter,
    /// Window: the axes have fixed roles (batch, channels, spatial axes), as in a convolution.
    Window(WindowKind),
    /// Transposition: the operator permutes the axes of its operand.
    Transpose,
    /// Row-major: the operator refers to axes by position, and accepts row-major layouts only.
    RowMajor,
}

/// Window operator, by the roles of its operands' axes.
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

/// Letters of the spatial axes, indexed by the number of spatial axes.
const SPACE: [&str; 4] = ["", "W", "HW", "DHW"];

impl WindowKind {
    /// Letters of the axes of operand `k` (from 0) of the window operator, in ONNX's order: `NCHW` for the data of a 2D
    /// convolution. `rank` is the operand's rank. `None` if the axes of such an operand have no letters.
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

    /// Letters of the axes of a result with `rank` axes, such as `NCHW`; `None` unless the rank is 2 to 5.
    pub(super) fn result(rank: usize) -> Option<String> {
        Some(format!("NC{}", SPACE.get(rank.checked_sub(2)?)?))
    }
}

/// Use of axes by an operator; row-major for an operator outside of the standard domain, or one in no family of
/// [`family`].
pub(super) fn kind(node: &proto::OnnxNode) -> OnnxOperatorKind {
    if !is_standard(node) {
        return OnnxOperatorKind::RowMajor;
    }
    family(&node.op_type).map_or(OnnxOperatorKind::RowMajor, |family| family.kind)
}

/// True if the operator is in ONNX's standard domain, which is empty or `ai.onnx`.
pub(super) fn is_standard(node: &proto::OnnxNode) -> bool {
    ["", "ai.onnx"].contains(&node.domain.as_str())
}

/// True if operand `k`, from 0, is a parameter such as a shape or a list of axes, provided that it is constant.
/// Parameters are the operands from 1 on of a standard operator whose family lists parameters.
pub(super) fn is_parameter(node: &proto::OnnxNode, k: usize) -> bool {
    let family = family(&node.op_type).filter(|_| is_standard(node));
    k > 0 && family.is_some_and(|family| !family.parameters.is_empty())
}

/// True if the operator uses only the element type of operand `k`, so that its elements need not be known: operand 1 of
/// `CastLike`.
pub(super) fn is_unread(node: &proto::OnnxNode, k: usize) -> bool {
    is_standard(node) && k == 1 && node.op_type == "CastLike"
}

/// True if the results are constant whenever the operands are: a standard operator without random numbers.
pub(super) fn is_pure(node: &proto::OnnxNode) -> bool {
    is_standard(node) && !RANDOM.contains(&node.op_type.as_str())
}

/// Name of the manifest property that holds the parameter operand at position `slot`, such as `axes`. For a parameter
/// that was an attribute in older opsets, it is the name of that attribute. `None` if the operand is not a parameter.
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

/// True for an operator whose result is taken to be its first operand: `Identity`, or `Dropout` whose second result,
/// the mask, is not used.
pub(super) fn is_identity(node: &proto::OnnxNode) -> bool {
    let is_used = |k: usize| node.output.get(k).is_some_and(|name| !name.is_empty());
    let is_named = ["Identity", "Dropout"].contains(&node.op_type.as_str());
    is_standard(node) && is_named && !is_used(1)
}
