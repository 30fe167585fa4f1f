//! Checked graph: operators, tensors, and the candidate layouts of each tensor.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::notation::glow;

use crate::base::diagnostic::FileSpan;
use crate::model::Tensor;

/// Graph of operators. Its lists refer to each other by position, and every tensor is written before it is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Graph {
    /// Name of the graph.
    pub name: String,
    /// Span of the graph's name in the manifest.
    pub place: FileSpan,
    /// Tensors of the graph: inputs and constants, then results of nodes.
    pub tensors: Vec<GraphTensor>,
    /// Nodes in topological order.
    pub nodes: Vec<GraphNode>,
    /// Outputs of the graph, with the layouts that they must have.
    pub outputs: Vec<OutputRequirement>,
    /// True if the layouts are only verified, not chosen by the solver. This requires that the backend does not set
    /// `verify=#false`, and that the graph has no outputs or every result of a node declares its layout.
    pub is_fixed: bool,
}

/// Origin of a graph's tensor: the caller, or a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// Input, passed by the caller on each run.
    Input,
    /// Constant, passed by the caller once; converting its layout costs nothing.
    Constant,
    /// Result of a node in the graph.
    Result {
        /// Position of the node in [`Graph::nodes`].
        node: usize,
        /// Position of the tensor among the node's results.
        result: usize,
    },
}

/// Tensor of a graph.
#[derive(Debug, Clone)]
pub struct GraphTensor {
    /// Name of the tensor.
    pub name: String,
    /// Span of the tensor's name in the manifest.
    pub place: FileSpan,
    /// Origin of the tensor: the caller, or a node.
    pub role: TensorRole,
    /// Candidate layouts, at least one; those that the manifest declares for this tensor come first.
    pub candidates: Vec<LayoutCandidate>,
    /// Position in `candidates` of the layout that the manifest declares or pins: an input or constant is passed in it,
    /// a result is produced in it or converted to it. `None` if there is none.
    pub declared: Option<usize>,
    /// True if `keep` forbids every conversion of the tensor.
    pub is_pinned: bool,
}

/// Candidate layout of a graph's tensor.
#[derive(Debug, Clone)]
pub struct LayoutCandidate {
    /// Text of the layout, such as `NHWC`.
    pub text: String,
    /// Span that the layout comes from, for diagnostics: for example a declaration, a layout of an alternative
    /// (possibly in the manifest of a backend), or for a default layout the name of the tensor.
    pub place: FileSpan,
    /// Tensor with this layout, which is proven injective.
    pub tensor: Tensor,
    /// Size of the tensor in this layout in bytes, including padding.
    pub bytes: u64,
    /// True if the manifest forbids this layout for the tensor.
    pub is_forbidden: bool,
    /// Glow layout string that the text denotes; `None` for `row-major`, and if the text is in another notation.
    pub string: Option<glow::GlowLayout>,
    /// Compatibility of this layout with each candidate of the tensor as the required layout: `fits[k]` is that with
    /// candidate `k`.
    pub fits: Vec<Compatibility>,
}

/// Compatibility of a tensor's layout with a required layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compatibility {
    /// The layout satisfies the requirement: a buffer in this layout can be read as one in the required layout, without
    /// a change of its bytes.
    Satisfied,
    /// Compatibility is undecidable: it depends on an opaque attribute of a Glow layout, such as `[vendor:packed]`.
    Unknown,
    /// The layout differs from the required one, so that a conversion is needed.
    Differs,
}

/// Node of a graph: an operator with its operands and results.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// Name of the node.
    pub name: String,
    /// Name of the operator, such as `conv`, by which the backend lists its alternatives.
    pub op: String,
    /// Span of the node's name in the manifest.
    pub place: FileSpan,
    /// Positions in [`Graph::tensors`] of the operands, in order.
    pub inputs: Vec<usize>,
    /// Positions in [`Graph::tensors`] of the results, in order.
    pub outputs: Vec<usize>,
    /// Possible layout assignments of the operator, at least one; the solver picks one.
    pub choices: Vec<OperatorChoice>,
    /// True if the choices come from the rule `elementwise` of the operator; false if the node lists its own
    /// alternatives.
    pub is_elementwise: bool,
    /// True if the choices come from the rule `elementwise` or `by-letter` of the operator: operands and results share
    /// one layout, which may be any. Some operands are exempt, for example constants. With `by-letter`, a tensor of
    /// lower rank has the projection of the layout to its axes: `NC16c` of `NCHW16c` for the axes N and C.
    pub shares_layout: bool,
    /// Permutation of a transposition that layoutc performs, as an alias or a conversion: `transposed[k]` is the
    /// position in the result of axis `k` of the operand. `None` for an operator that the caller implements.
    pub transposed: Option<Vec<usize>>,
}

/// Possible layout assignment of an operator: a layout for each operand and result, with its cost.
#[derive(Debug, Clone)]
pub struct OperatorChoice {
    /// Index, from 0, of the choice's alternative among the `accepts` nodes of the graph's node, or of its operator if
    /// the node has none. `None` if a rule such as `elementwise=#true` gives the choice.
    pub alternative: Option<usize>,
    /// Position in [`GraphTensor::candidates`] of the layout that each operand must have, in the order of the operands;
    /// `None` if any candidate is accepted.
    pub inputs: Vec<Option<usize>>,
    /// Position in [`GraphTensor::candidates`] of the layout that each result gets, in the order of the results.
    pub outputs: Vec<usize>,
    /// Implementation of the operator with these layouts: by the caller or by layoutc.
    pub lowering: OperatorLowering,
    /// Cost of the operator with these layouts, in bytes.
    pub cost: u64,
    /// Span of the alternative or rule, possibly in the manifest of a backend. For a transposition by layoutc, that of
    /// the operator's name in the node.
    pub place: FileSpan,
}

/// Implementation of an operator: by the caller, or by layoutc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorLowering {
    /// Function that the caller implements.
    Operator,
    /// No operation: the result of a transposition shares the operand's memory.
    Alias,
    /// Relayout by layoutc that performs a transposition; its cost is the number of bytes that it reads and writes.
    Conversion,
}

/// Output of a graph with its required layout.
#[derive(Debug, Clone)]
pub struct OutputRequirement {
    /// Position of the output's tensor in [`Graph::tensors`].
    pub tensor: usize,
    /// Position of the required layout in the tensor's [`GraphTensor::candidates`]; `None` if any layout is accepted.
    pub candidate: Option<usize>,
    /// Span of the output in the manifest.
    pub place: FileSpan,
}

impl Graph {
    /// Readers of the tensor at position `tensor`, as pairs (position of the node in [`Graph::nodes`], position of the
    /// tensor among the operands of this node).
    pub fn readers(&self, tensor: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes.iter().enumerate().flat_map(move |(k, node)| {
            let reads = node.inputs.iter().enumerate().filter(move |(_, read)| **read == tensor);
            reads.map(move |(operand, _)| (k, operand))
        })
    }
}

impl LayoutCandidate {
    /// True if the layout has an opaque Glow attribute, such as `[vendor:packed]`, which no conversion can produce.
    pub fn is_opaque(&self) -> bool {
        let has_attribute = |dim: &glow::GlowAxis| dim.attributes().next().is_some();
        self.string.as_ref().is_some_and(|string| string.dims().iter().any(has_attribute))
    }

    /// Result of Glow's comparison of this layout with the layout `required`, by letters, attributes and strides.
    /// `None` if one of the two is no Glow string, or if a stride of this layout depends on a symbol.
    pub fn glow_satisfaction(&self, required: &Self) -> Option<glow::Satisfaction> {
        let (own, required) = (self.string.as_ref()?, required.string.as_ref()?);
        let strides: Option<Vec<i128>> =
            self.tensor.layout.strides().iter().map(Expr::as_const).collect();
        let element_bits = self.tensor.dtype.element_bits();
        let tensor = glow::GlowTensor { strides: &strides?, element_bits, layout: Some(own) };
        Some(glow::check_satisfied(&tensor, required))
    }
}

impl GraphTensor {
    /// True if the tensor is a constant.
    pub fn is_constant(&self) -> bool {
        self.role == TensorRole::Constant
    }

    /// True if the tensor may have any layout at no cost: it is a constant that is not pinned, and has no forbidden
    /// candidate and no opaque attribute.
    pub fn is_unconstrained(&self) -> bool {
        let is_bound =
            |candidate: &LayoutCandidate| candidate.is_forbidden || candidate.is_opaque();
        let is_pinned = self.is_pinned || self.candidates.iter().any(is_bound);
        self.is_constant() && !is_pinned
    }

    /// Compatibility of the candidate at position `has` with the required candidate at position `required`;
    /// [`Compatibility::Differs`] if there is no candidate at one of the positions.
    pub fn compatibility(&self, has: usize, required: usize) -> Compatibility {
        let fits = self.candidates.get(has).map(|candidate| &candidate.fits);
        fits.and_then(|fits| fits.get(required)).copied().unwrap_or(Compatibility::Differs)
    }

    /// Position of the candidate whose layout has the given text; `None` if there is none.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.text == text)
    }

    /// Text of the layout of the candidate at position `candidate`; empty if there is none.
    pub fn text(&self, candidate: usize) -> &str {
        self.candidates.get(candidate).map_or("", |candidate| &candidate.text)
    }
}
