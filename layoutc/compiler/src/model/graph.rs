//! Checked graph: operators, tensors, and the candidate layouts of each tensor.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::notation::glow;

use crate::base::diagnostic::FileSpan;
use crate::model::Tensor;

/// Graph of operators. Lists refer to each other by position; every tensor is written before it is read.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Graph {
    /// Name of the graph.
    pub name: String,
    /// Span of the name.
    pub place: FileSpan,
    /// Inputs, constants, then results of nodes.
    pub tensors: Vec<GraphTensor>,
    /// Nodes in topological order.
    pub nodes: Vec<GraphNode>,
    /// Outputs.
    pub outputs: Vec<OutputRequirement>,
    /// True if it is only verified: every result declares its layout, or nothing is left to choose.
    pub is_fixed: bool,
}

/// Origin of a graph tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// Passed by the caller on each run.
    Input,
    /// Passed by the caller once: converting its layout costs nothing.
    Constant,
    /// Result of a node.
    Result {
        /// Position in [`Graph::nodes`].
        node: usize,
        /// Position among the node's results.
        result: usize,
    },
}

/// Tensor of a graph.
#[derive(Debug, Clone)]
pub struct GraphTensor {
    /// Name of the tensor.
    pub name: String,
    /// Span of the name.
    pub place: FileSpan,
    /// Origin.
    pub role: TensorRole,
    /// Candidate layouts, at least one; those that the manifest declares for this tensor come first.
    pub candidates: Vec<LayoutCandidate>,
    /// Declared layout, a position in `candidates`: the layout in which an input is passed or a result is produced.
    pub declared: Option<usize>,
    /// True if it is never converted.
    pub is_pinned: bool,
}

/// Candidate layout of a tensor.
#[derive(Debug, Clone)]
pub struct LayoutCandidate {
    /// Text of the layout.
    pub text: String,
    /// Span of its first occurrence.
    pub place: FileSpan,
    /// Tensor in this layout, proven.
    pub tensor: Tensor,
    /// Bytes, including padding.
    pub bytes: u64,
    /// True if the manifest forbids it.
    pub is_forbidden: bool,
    /// Glow layout string, if the text is one.
    pub string: Option<glow::GlowLayout>,
    /// Compatibility with each candidate of the tensor as the required one, by position.
    pub fits: Vec<Compatibility>,
}

/// Compatibility of a layout with a required layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compatibility {
    /// Satisfies the requirement: every element has the same offset, or the layout matches the required pattern.
    Satisfied,
    /// Undecidable: depends on an opaque attribute.
    Unknown,
    /// Differs.
    Differs,
}

/// Node of a graph.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// Name of the node.
    pub name: String,
    /// Name of the operator.
    pub op: String,
    /// Span of the name.
    pub place: FileSpan,
    /// Operands: positions in [`Graph::tensors`].
    pub inputs: Vec<usize>,
    /// Results: positions in [`Graph::tensors`].
    pub outputs: Vec<usize>,
    /// Layout assignments of the operator, at least one.
    pub choices: Vec<OperatorChoice>,
    /// True for an elementwise operator.
    pub is_elementwise: bool,
    /// True if all operands and results have one layout, whichever, each restricted to its own axes.
    pub shares_layout: bool,
    /// Permutation of a transposition that is an alias or a conversion: for each axis of the operand, its position in
    /// the result.
    pub transposed: Option<Vec<usize>>,
}

/// Layout assignment of an operator: the layouts of its operands and results.
#[derive(Debug, Clone)]
pub struct OperatorChoice {
    /// Alternative in the manifest, counted from 0; `None` if the operator accepts any layout.
    pub alternative: Option<usize>,
    /// Candidate of each operand; `None`: any.
    pub inputs: Vec<Option<usize>>,
    /// Candidate of each result.
    pub outputs: Vec<usize>,
    /// Implementation of the operator.
    pub lowering: OperatorLowering,
    /// Cost in bytes.
    pub cost: u64,
    /// Span of the declaration.
    pub place: FileSpan,
}

/// Implementation of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorLowering {
    /// Operator of the caller.
    Operator,
    /// No operation: the result of a transposition shares the operand's memory.
    Alias,
    /// Relayout: a transposition that moves bytes, which are its cost.
    Conversion,
}

/// Output of a graph with its required layout.
#[derive(Debug, Clone)]
pub struct OutputRequirement {
    /// Position in [`Graph::tensors`].
    pub tensor: usize,
    /// Required candidate; `None`: any.
    pub candidate: Option<usize>,
    /// Span of the requirement.
    pub place: FileSpan,
}

impl Graph {
    /// Readers of a tensor: positions of the nodes and of the operands.
    pub fn readers(&self, tensor: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes.iter().enumerate().flat_map(move |(k, node)| {
            let reads = node.inputs.iter().enumerate().filter(move |(_, read)| **read == tensor);
            reads.map(move |(operand, _)| (k, operand))
        })
    }
}

impl LayoutCandidate {
    /// True if it has an opaque attribute, which no conversion can produce.
    pub fn is_opaque(&self) -> bool {
        let has_attribute = |dim: &glow::GlowAxis| dim.attributes().next().is_some();
        self.string.as_ref().is_some_and(|string| string.dims().iter().any(has_attribute))
    }

    /// Result of Glow's check by letters, attributes and strides. `None` if one of the two has no Glow string.
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
    /// True for a constant.
    pub fn is_constant(&self) -> bool {
        self.role == TensorRole::Constant
    }

    /// True if its layout is unconstrained: a constant that is not pinned and has no forbidden candidate and no opaque
    /// attribute.
    pub fn is_unconstrained(&self) -> bool {
        let is_bound =
            |candidate: &LayoutCandidate| candidate.is_forbidden || candidate.is_opaque();
        let is_pinned = self.is_pinned || self.candidates.iter().any(is_bound);
        self.is_constant() && !is_pinned
    }

    /// Compatibility of candidate `has` with the required candidate.
    pub fn compatibility(&self, has: usize, required: usize) -> Compatibility {
        let fits = self.candidates.get(has).map(|candidate| &candidate.fits);
        fits.and_then(|fits| fits.get(required)).copied().unwrap_or(Compatibility::Differs)
    }

    /// Candidate with the given text.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.text == text)
    }

    /// Text of a candidate; empty if there is none.
    pub fn text(&self, candidate: usize) -> &str {
        self.candidates.get(candidate).map_or("", |candidate| &candidate.text)
    }
}
