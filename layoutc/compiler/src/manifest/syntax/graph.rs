//! Backends and graphs of operators.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerLiteral, ShapeItem, SpannedText};

/// An exact non-negative decimal: `digits / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decimal {
    /// The digits without the decimal point.
    pub digits: i128,
    /// Number of digits after the decimal point, at most 18.
    pub places: u32,
}

/// Cost of an alternative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CostItem {
    /// `cost=100352`, in bytes; not negative.
    Bytes(IntegerLiteral),
    /// `cost-per-byte=0.5`: cost per byte of the results.
    PerByte(Decimal),
}

/// `backend opencl { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendItem {
    /// The declared name.
    pub name: Identifier,
    /// `like=onnx`: the backend that provides what is not given here.
    pub like: Option<Identifier>,
    /// True if graphs for it are verified: the default.
    pub verify: bool,
    /// `default-layout 4 NHWC`: default layouts by rank; the ranks are distinct.
    pub defaults: Vec<DefaultLayoutItem>,
    /// The operators, with distinct names.
    pub operators: Vec<OperatorItem>,
    /// `others default=#true`: the rule for operators that are not listed.
    pub others: Option<OperatorItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `default-layout 4 NHWC`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultLayoutItem {
    /// The rank, from 0.
    pub rank: IntegerLiteral,
    /// The layout.
    pub layout: SpannedText,
}

/// `op conv { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorItem {
    /// The name; `others` for the rule of unlisted operators.
    pub name: SpannedText,
    /// The rule for accepted layouts.
    pub rule: OperatorRule,
    /// `shapes=concat`: the shape rule; the default follows from `rule`.
    pub shapes: Option<ShapeRule>,
    /// `types=any`: the type rule; the default follows from `rule`.
    pub types: Option<TypeRule>,
    /// The cost, independent of the layouts; excludes `accepts`.
    pub cost: Option<CostItem>,
    /// The alternatives, for [`OperatorRule::Accepts`].
    pub accepts: Vec<AcceptsItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// Rule for the layouts that an operator accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatorRule {
    /// One of the listed alternatives.
    Accepts,
    /// `elementwise=#true`: any layout, the same one for all operands and results.
    Elementwise,
    /// `by-letter=#true`: any layout, the same one for all; a tensor of lower rank takes the part for its axes.
    ByLetter,
    /// `any=#true`: any layout, chosen for each tensor separately.
    Any,
    /// `default=#true`: the default layout of the backend for the rank.
    Default,
    /// `transpose=#true`: the result is a transposition of the operand. No operator is called: the result shares the
    /// operand's memory if the layouts allow it, else it is a conversion.
    Transpose,
}

/// Rule that derives the result shapes of an operator from its operand shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShapeRule {
    /// Unchecked.
    Any,
    /// All operands are broadcast to one shape, the shape of every result.
    Broadcast,
    /// The first result has the shape of the first operand.
    First,
    /// The operands are concatenated along an axis of the result.
    Concat,
    /// The results are concatenated along an axis of the operand.
    Split,
    /// A product of two matrices or of batches of matrices.
    Product,
    /// A convolution: batch and channel extents of data, filter and result agree.
    Convolution,
    /// The result has as many elements as the operand.
    Reshape,
}

/// Rule for the element types of an operator that must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeRule {
    /// Unchecked.
    Any,
    /// The types of all operands and results.
    One,
    /// The types of the first operand and the first result.
    First,
    /// The types of all operands; the result is a comparison.
    Compare,
    /// The types of all but the first operand, which is a condition.
    Select,
}

impl ShapeRule {
    /// The keywords with their rules.
    pub const WORDS: [(&'static str, Self); 8] = [
        ("any", Self::Any),
        ("broadcast", Self::Broadcast),
        ("first", Self::First),
        ("concat", Self::Concat),
        ("split", Self::Split),
        ("product", Self::Product),
        ("convolution", Self::Convolution),
        ("reshape", Self::Reshape),
    ];
}

impl TypeRule {
    /// The keywords with their rules.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("any", Self::Any),
        ("one", Self::One),
        ("first", Self::First),
        ("compare", Self::Compare),
        ("select", Self::Select),
    ];
}

/// `accepts cost-per-byte=0.5 when="R <= 3" { in NHWC OHWI; out NHWC }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptsItem {
    /// The layouts of the operands, in order.
    pub inputs: Vec<SpannedText>,
    /// The layouts of the results, in order.
    pub outputs: Vec<SpannedText>,
    /// The cost; zero if absent.
    pub cost: Option<CostItem>,
    /// The condition under which the alternative applies.
    pub when: Option<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `graph block backend=opencl { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphItem {
    /// The declared name.
    pub name: Identifier,
    /// The backend; without one, every node needs its own alternatives.
    pub backend: Option<Identifier>,
    /// Inputs and constants.
    pub tensors: Vec<GraphTensorItem>,
    /// The operators, in textual order.
    pub nodes: Vec<NodeItem>,
    /// The output tensors.
    pub outputs: Vec<OutputItem>,
    /// The `keep` and `forbid` constraints.
    pub pins: Vec<PinItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `input x dtype=f32 layout=NHWC { shape { … } }`, `constant w …`, or `out y …` in an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphTensorItem {
    /// The declared name.
    pub name: Identifier,
    /// True for a constant.
    pub constant: bool,
    /// The element type as written.
    pub dtype: SpannedText,
    /// The shape.
    pub shape: ShapeItem,
    /// The given layout.
    pub layout: Option<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `node c1 op=conv stride=2 { in x w; out y … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeItem {
    /// The declared name.
    pub name: Identifier,
    /// The operator.
    pub op: SpannedText,
    /// The operator's properties, by name.
    pub properties: Vec<(Identifier, PropertyItem)>,
    /// The input tensors.
    pub inputs: Vec<Identifier>,
    /// The output tensors, at least one.
    pub outputs: Vec<GraphTensorItem>,
    /// The node's own alternatives; if any, they replace those of the operator.
    pub accepts: Vec<AcceptsItem>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// A finite 64-bit float, comparable by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiniteFloat(u64);

impl FiniteFloat {
    /// The number; `None` if it is not finite.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(value.to_bits()))
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The value of an operator's property.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropertyItem {
    /// `stride=2`
    Integer(i128),
    /// `epsilon=1e-5`
    Real(FiniteFloat),
    /// `padding=same`
    Word(String),
}

/// `output z layout=NHWC`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputItem {
    /// The tensor.
    pub tensor: Identifier,
    /// The required layout.
    pub layout: Option<SpannedText>,
}

/// `keep y layout=NHWC`: the tensor is never converted. `forbid y layout=NCHW`: it never has this layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinItem {
    /// True for `forbid`, which has a layout.
    pub forbid: bool,
    /// The tensor.
    pub tensor: Identifier,
    /// The layout.
    pub layout: Option<SpannedText>,
    /// The span of the node.
    pub span: Range<usize>,
}
