//! What a device accepts, and graphs of operators.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerLiteral, ShapeItem, SpannedText};

/// A number from 0, exact as it is written: `digits / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decimal {
    /// The digits without the point.
    pub digits: i128,
    /// How many of them stand behind the point, at most 18.
    pub places: u32,
}

/// What an alternative costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CostItem {
    /// `cost=100352`, in bytes; not negative.
    Bytes(IntegerLiteral),
    /// `cost-per-byte=0.5`, for each byte of the results.
    PerByte(Decimal),
}

/// `backend opencl { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendItem {
    /// The name.
    pub name: Identifier,
    /// `like=onnx`: the backend that says what this one does not.
    pub like: Option<Identifier>,
    /// Whether graphs for it are verified.
    pub verify: bool,
    /// `default-layout 4 NHWC`: a layout for a number of axes; the numbers differ.
    pub defaults: Vec<DefaultLayoutItem>,
    /// Its operators; their names differ.
    pub operators: Vec<OperatorItem>,
    /// `others default=#true`: all operators that are not named.
    pub others: Option<OperatorItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `default-layout 4 NHWC`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultLayoutItem {
    /// How many axes, from 0.
    pub rank: IntegerLiteral,
    /// The layout.
    pub layout: SpannedText,
}

/// `op conv { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorItem {
    /// The name; `others` for those without.
    pub name: SpannedText,
    /// What it accepts.
    pub rule: OperatorRule,
    /// `shapes=concat`: how the shapes of its results follow from those of its operands; what the rule says if nothing
    /// is said.
    pub shapes: Option<ShapeRule>,
    /// `types=any`: which element types are one; what the rule says if nothing is said.
    pub types: Option<TypeRule>,
    /// What it costs, whatever its layouts are: not beside `accepts`.
    pub cost: Option<CostItem>,
    /// Its alternatives, for [`OperatorRule::Accepts`].
    pub accepts: Vec<AcceptsItem>,
    /// The node.
    pub span: Range<usize>,
}

/// What kind of layouts an operator accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatorRule {
    /// One of its alternatives.
    Accepts,
    /// `elementwise=#true`: any layout, the same one for all operands and results.
    Elementwise,
    /// `by-letter=#true`: any layout, the same one for all; a tensor with fewer axes has the part for its axes.
    ByLetter,
    /// `any=#true`: any layout, each its own.
    Any,
    /// `default=#true`: the default layouts for the number of axes.
    Default,
    /// `transpose=#true`: the result is the operand with its axes in another order. No operator of the caller's does it:
    /// the result is the operand's memory where the layouts allow that, and else a conversion.
    Transpose,
}

/// How the shapes of an operator's results follow from those of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShapeRule {
    /// In no way that is checked.
    Any,
    /// All operands are broadcast to one shape, which every result has.
    Broadcast,
    /// The first result has the shape of the first operand.
    First,
    /// The operands lie one behind the other along an axis of the result.
    Concat,
    /// The results lie one behind the other along an axis of the operand.
    Split,
    /// A product of two matrices, or of batches of them.
    Product,
    /// A convolution: batch and channels of data, filter and result.
    Convolution,
    /// The result has as many elements as the operand.
    Reshape,
}

/// Which element types of an operator's operands and results are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeRule {
    /// None that is checked.
    Any,
    /// All of them.
    One,
    /// Those of the first operand and the first result.
    First,
    /// Those of all operands: the result is a comparison.
    Compare,
    /// All but that of the first operand, which is a condition.
    Select,
}

impl ShapeRule {
    /// The words, each with what it says.
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
    /// The words, each with what it says.
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
    /// What it costs; nothing if that is not said.
    pub cost: Option<CostItem>,
    /// When it is there at all.
    pub when: Option<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}

/// `graph block backend=opencl { … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphItem {
    /// The name.
    pub name: Identifier,
    /// The backend; without one, operators must bring their own alternatives.
    pub backend: Option<Identifier>,
    /// Inputs and constants.
    pub tensors: Vec<GraphTensorItem>,
    /// The operators, in the order of the file.
    pub nodes: Vec<NodeItem>,
    /// What the graph gives.
    pub outputs: Vec<OutputItem>,
    /// What is asked of single tensors.
    pub pins: Vec<PinItem>,
    /// The node.
    pub span: Range<usize>,
}

/// `input x dtype=f32 layout=NHWC { shape { … } }`, `constant w …`, or `out y …` in an operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphTensorItem {
    /// The name.
    pub name: Identifier,
    /// Whether it is a constant.
    pub constant: bool,
    /// The element type as written.
    pub dtype: SpannedText,
    /// The shape.
    pub shape: ShapeItem,
    /// The layout that it has.
    pub layout: Option<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}

/// `node c1 op=conv stride=2 { in x w; out y … }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeItem {
    /// The name.
    pub name: Identifier,
    /// The operator.
    pub op: SpannedText,
    /// Its own properties, by name.
    pub properties: Vec<(Identifier, PropertyItem)>,
    /// The tensors that it reads.
    pub inputs: Vec<Identifier>,
    /// The tensors that it writes, one at least.
    pub outputs: Vec<GraphTensorItem>,
    /// Its own alternatives: with one, those of the operator do not count.
    pub accepts: Vec<AcceptsItem>,
    /// The node.
    pub span: Range<usize>,
}

/// A finite number with a fraction or an exponent, as the nearest of 64 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiniteFloat(u64);

impl FiniteFloat {
    /// `None` for one that is not finite.
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
    /// The layout in which it is wanted.
    pub layout: Option<SpannedText>,
}

/// `keep y layout=NHWC`: it is never converted. `forbid y layout=NCHW`: it is never in this layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinItem {
    /// Whether it is `forbid`, which has a layout.
    pub forbid: bool,
    /// The tensor.
    pub tensor: Identifier,
    /// The layout.
    pub layout: Option<SpannedText>,
    /// The node.
    pub span: Range<usize>,
}
