//! Typed syntax of `backend` and `graph` items: operators, the layouts that they accept, and graphs of them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerLiteral, ShapeItem, SpannedText};

/// Exact non-negative decimal number with the value `digits / 10^places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decimal {
    /// Digits of the number without the decimal point, as an integer.
    pub digits: i128,
    /// Number of digits after the decimal point, at most 18.
    pub places: u32,
}

/// Cost of an operator or of one of its alternatives. The solver minimizes the sum of all costs of a graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CostItem {
    /// `cost=100352`: cost in bytes, not negative.
    Bytes(IntegerLiteral),
    /// `cost-per-byte=0.5`: cost in bytes for each byte of the results.
    PerByte(Decimal),
}

/// `backend` item, which lists the layouts that the operators of a device or library accept: `backend opencl { … }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendItem {
    /// Name that the backend declares.
    pub name: Identifier,
    /// `like=onnx`: name of the backend that provides the operators and default layouts that this item does not give.
    pub like: Option<Identifier>,
    /// True unless the backend says `verify=#false`. If true, a graph is verified instead of solved if all its results
    /// declare a layout, or if it has no outputs.
    pub verify: bool,
    /// `default-layout 4 NHWC`: default layouts, each for tensors of one rank; the ranks are distinct.
    pub defaults: Vec<DefaultLayoutItem>,
    /// Operators of the backend, with distinct names.
    pub operators: Vec<OperatorItem>,
    /// `others default=#true`: rule for operators that are not listed; `None` if there is none.
    pub others: Option<OperatorItem>,
    /// Byte range of the `backend` node in the file.
    pub span: Range<usize>,
}

/// Default layout of a backend for the tensors of one rank: `default-layout 4 NHWC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultLayoutItem {
    /// Rank of the tensors to which the default layout applies, at least 0.
    pub rank: IntegerLiteral,
    /// Text of the default layout, such as `NHWC`.
    pub layout: SpannedText,
}

/// Operator of a backend with the layouts that it accepts: `op conv { … }`, `op relu elementwise=#true`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperatorItem {
    /// Name of the operator; `others` for the rule of unlisted operators.
    pub name: SpannedText,
    /// Rule for the layouts that the operator accepts.
    pub rule: OperatorRule,
    /// `shapes=concat`: rule for the result shapes; `None`: the default for `rule`.
    pub shapes: Option<ShapeRule>,
    /// `types=any`: rule for the element types; `None`: the default for `rule`.
    pub types: Option<TypeRule>,
    /// Cost of the operator in every layout. `None`: zero, or with [`OperatorRule::Accepts`] the cost of the chosen
    /// alternative.
    pub cost: Option<CostItem>,
    /// Alternatives of the operator, for [`OperatorRule::Accepts`]; empty for every other rule.
    pub accepts: Vec<AcceptsItem>,
    /// Byte range of the operator's node in the file.
    pub span: Range<usize>,
}

/// Rule for the layouts that an operator accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperatorRule {
    /// `accepts { … }`: the layouts of one of the listed alternatives.
    Accepts,
    /// `elementwise=#true`: any layout, the same one for operands and results. Some operands may have another one, such
    /// as constants, and operands that are broadcast.
    Elementwise,
    /// `by-letter=#true`: any layout, one for operands and results. A tensor without some of the axes has the layout
    /// reduced to its own axes: `NC16c` of `NCHW16c` for a tensor with the axes N and C. Some operands may have another
    /// layout, such as constants.
    ByLetter,
    /// `any=#true`: any layout, chosen for each tensor separately.
    Any,
    /// `default=#true`: for each tensor the backend's default layout for the tensor's rank; any layout if there is
    /// none.
    Default,
    /// `transpose=#true`: the result is a transposition of the operand, and no operator is called. The result is an
    /// alias of the operand if the two layouts put every element at the same offset; otherwise layoutc converts the
    /// operand.
    Transpose,
}

/// Rule that relates the result shapes of an operator to its operand shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ShapeRule {
    /// `any`: the result shapes are not checked against the operand shapes.
    Any,
    /// `broadcast`: all operands are broadcast to one shape, which every result has.
    Broadcast,
    /// `first`: the first result has the shape of the first operand.
    First,
    /// `concat`: the operands, concatenated along an axis, have the shape of the result.
    Concat,
    /// `split`: the results are parts of the operand that follow each other along an axis, from index 0 on. They may
    /// end before the operand does.
    Split,
    /// `product`: the result has the shape of the product of two matrices, or of batches of matrices.
    Product,
    /// `convolution`: the batch and channel extents of data, filter and result agree; the extents along the window are
    /// not checked.
    Convolution,
    /// `reshape`: the result has as many elements as the operand.
    Reshape,
}

/// Rule for which element types of an operator's operands and results must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeRule {
    /// `any`: the element types are not checked.
    Any,
    /// `one`: the types of all operands and results are equal.
    One,
    /// `first`: the types of the first operand and the first result are equal.
    First,
    /// `compare`: the types of all operands are equal; the result, a comparison, may have another type.
    Compare,
    /// `select`: the types of all operands and results are equal, except for the first operand, a condition.
    Select,
}

impl ShapeRule {
    /// Pairs of a rule's keyword in manifests, such as `any`, and the rule.
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
    /// Pairs of a rule's keyword in manifests, such as `any`, and the rule.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("any", Self::Any),
        ("one", Self::One),
        ("first", Self::First),
        ("compare", Self::Compare),
        ("select", Self::Select),
    ];
}

/// Alternative of an operator, one accepted combination of layouts:
/// `accepts cost-per-byte=0.5 when="R <= 3" { in NHWC OHWI; out NHWC }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptsItem {
    /// Texts of the layouts of the operands, one for each operand, in order. The alternative does not apply to a node
    /// with another number of operands.
    pub inputs: Vec<SpannedText>,
    /// Texts of the layouts of the results, one for each result, in order. The alternative does not apply to a node
    /// with another number of results.
    pub outputs: Vec<SpannedText>,
    /// Cost of the alternative; `None`: zero.
    pub cost: Option<CostItem>,
    /// Condition on extents under which the alternative applies, such as `C % 16 == 0`; `None`: always.
    pub when: Option<SpannedText>,
    /// Byte range of the alternative's node in the file.
    pub span: Range<usize>,
}

/// `graph` item, a graph of operators and tensors: `graph block backend=opencl { … }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphItem {
    /// Name that the graph declares.
    pub name: Identifier,
    /// Name of the backend that lists the layouts of the operators; `None`: every node has its own `accepts`
    /// alternatives.
    pub backend: Option<Identifier>,
    /// Inputs and constants of the graph, in the order of the text.
    pub tensors: Vec<GraphTensorItem>,
    /// Nodes of the graph, each a call of an operator, in the order of the text.
    pub nodes: Vec<NodeItem>,
    /// Outputs of the graph, in the order of the text.
    pub outputs: Vec<OutputItem>,
    /// Constraints of the graph: its `keep` and `forbid` nodes.
    pub pins: Vec<PinItem>,
    /// Byte range of the `graph` node in the file.
    pub span: Range<usize>,
}

/// Declaration of a graph's tensor: `input x dtype=f32 layout=NHWC { shape { … } }`, `constant w …`, or in a node
/// `out y …`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphTensorItem {
    /// Name that the tensor declares.
    pub name: Identifier,
    /// True for a constant, false for an input or a result.
    pub constant: bool,
    /// Element type of the tensor as written.
    pub dtype: SpannedText,
    /// Logical axes of the tensor with their extents.
    pub shape: ShapeItem,
    /// Text of the declared layout; `None` if none is declared.
    pub layout: Option<SpannedText>,
    /// Byte range of the tensor's node in the file.
    pub span: Range<usize>,
}

/// Node of a graph, a call of an operator: `node c1 op=conv stride=2 { in x w; out y … }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeItem {
    /// Name that the node declares.
    pub name: Identifier,
    /// Name of the operator that the node calls, as in the backend.
    pub op: SpannedText,
    /// Attributes of the operator with their values, such as `stride=2`, in the order of the text.
    pub properties: Vec<(Identifier, PropertyItem)>,
    /// Names of the operands, in order.
    pub inputs: Vec<Identifier>,
    /// Results of the node, in order, at least one.
    pub outputs: Vec<GraphTensorItem>,
    /// Alternatives of this node; if there are any, they replace those of the operator.
    pub accepts: Vec<AcceptsItem>,
    /// Byte range of the `node` node in the file.
    pub span: Range<usize>,
}

/// Finite 64-bit float, stored and compared by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FiniteFloat(u64);

impl FiniteFloat {
    /// Creates the float from a number; `None` if it is infinite or NaN.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self(value.to_bits()))
    }

    /// Value as a 64-bit float; never infinite or NaN.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Value of an attribute of a node's operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum PropertyItem {
    /// Integer, `stride=2`, or `#true` as 1 and `#false` as 0.
    Integer(i128),
    /// Number with a fraction or an exponent: `epsilon=1e-5`.
    Real(FiniteFloat),
    /// Word or quoted string: `padding=same`.
    Word(String),
}

/// Output of a graph with its required layout: `output z layout=NHWC`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputItem {
    /// Name of the tensor that is an output of the graph.
    pub tensor: Identifier,
    /// Text of the layout that the output must have; `None`: any.
    pub layout: Option<SpannedText>,
}

/// Constraint on the layouts of a graph's tensor. `keep y layout=NHWC`: the tensor is never converted.
/// `forbid y layout=NCHW`: the tensor never has this layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinItem {
    /// True for `forbid`, which has a layout; false for `keep`.
    pub forbid: bool,
    /// Name of the constrained tensor.
    pub tensor: Identifier,
    /// Text of the layout that the tensor must have or must not have; `None` for a `keep` without one, which allows
    /// any.
    pub layout: Option<SpannedText>,
    /// Byte range of the constraint's node in the file.
    pub span: Range<usize>,
}
