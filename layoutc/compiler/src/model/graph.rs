//! A checked graph: operators, the tensors between them, and every layout that each tensor may have.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::notation::glow;

use crate::diagnostic::FileSpan;
use crate::model::Tensor;

/// A graph of operators. Lists refer to each other by position; every tensor is written before it is read.
#[derive(Debug, Clone)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Its name in the manifest.
    pub place: FileSpan,
    /// Inputs, constants, and then what the nodes write.
    pub tensors: Vec<GraphTensor>,
    /// The operators, each after those whose results it reads.
    pub nodes: Vec<GraphNode>,
    /// What it gives.
    pub outputs: Vec<OutputRequirement>,
    /// Whether it is only verified: every result states its layout, or nothing is asked of it.
    pub is_fixed: bool,
}

/// Where a tensor of a graph comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TensorRole {
    /// From outside, each time.
    Input,
    /// From outside, once: a change of its layout costs nothing.
    Constant,
    /// From a node.
    Result {
        /// Its position in [`Graph::nodes`].
        node: usize,
        /// Which of its results it is.
        result: usize,
    },
}

/// A tensor of a graph.
#[derive(Debug, Clone)]
pub struct GraphTensor {
    /// Its name.
    pub name: String,
    /// Its name in the manifest.
    pub place: FileSpan,
    /// Where it comes from.
    pub role: TensorRole,
    /// The layouts that it may have, at least one, those first that the manifest states of it.
    pub candidates: Vec<LayoutCandidate>,
    /// The layout that it has: an input is given in it, a result is there in it.
    pub declared: Option<usize>,
    /// Whether it is never converted.
    pub is_pinned: bool,
}

/// A layout that a tensor may have.
#[derive(Debug, Clone)]
pub struct LayoutCandidate {
    /// As it is written.
    pub text: String,
    /// Where it is written first.
    pub place: FileSpan,
    /// The tensor in this layout, proven.
    pub tensor: Tensor,
    /// Its bytes, padding included.
    pub bytes: u64,
    /// Whether the manifest forbids it.
    pub is_forbidden: bool,
    /// Glow's string, where the text is one.
    pub string: Option<glow::GlowLayout>,
    /// What it is to one who asks for each of the tensor's candidates, by position.
    pub fits: Vec<Compatibility>,
}

/// What a layout is to one who asks for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compatibility {
    /// It is as good: the same elements at the same places, or what a pattern asks for.
    Satisfied,
    /// Only the owner of an attribute could say.
    Unknown,
    /// It is another.
    Differs,
}

/// An operator at its place in a graph.
#[derive(Debug, Clone)]
pub struct GraphNode {
    /// Its name.
    pub name: String,
    /// The operator's name.
    pub op: String,
    /// Its name in the manifest.
    pub place: FileSpan,
    /// What it reads: positions in [`Graph::tensors`].
    pub inputs: Vec<usize>,
    /// What it writes.
    pub outputs: Vec<usize>,
    /// How it can be done, at least one way.
    pub choices: Vec<OperatorChoice>,
    /// Whether it sees elements alone.
    pub is_elementwise: bool,
    /// Whether all that it reads and writes has one layout, whichever, or the part of it for its axes.
    pub shares_layout: bool,
    /// Of a transposition that is an alias or a conversion: for each axis of the operand its position in the result.
    pub transposed: Option<Vec<usize>>,
}

/// One way to do an operator: the layout of everything that it reads and writes.
#[derive(Debug, Clone)]
pub struct OperatorChoice {
    /// The alternative in the manifest, counted from 0; `None` where the operator takes any layout.
    pub alternative: Option<usize>,
    /// For each operand its candidate; `None`: any.
    pub inputs: Vec<Option<usize>>,
    /// For each result its candidate.
    pub outputs: Vec<usize>,
    /// Who does it.
    pub way: OperatorLowering,
    /// What it costs, in bytes.
    pub cost: u64,
    /// Where it is declared.
    pub place: FileSpan,
}

/// Who does an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperatorLowering {
    /// The caller's operator.
    Operator,
    /// Nobody: the result of a transposition is the operand's memory.
    Alias,
    /// A conversion: a transposition that moves bytes, which are its cost.
    Conversion,
}

/// A tensor that is wanted in a layout.
#[derive(Debug, Clone)]
pub struct OutputRequirement {
    /// Its position in [`Graph::tensors`].
    pub tensor: usize,
    /// The candidate; `None`: any.
    pub candidate: Option<usize>,
    /// Where that is said.
    pub place: FileSpan,
}

impl Graph {
    /// The readers of a tensor: nodes, and which of their operands it is.
    pub fn readers(&self, tensor: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.nodes.iter().enumerate().flat_map(move |(k, node)| {
            let reads = node.inputs.iter().enumerate().filter(move |(_, read)| **read == tensor);
            reads.map(move |(operand, _)| (k, operand))
        })
    }
}

impl LayoutCandidate {
    /// Whether it has an attribute of somebody else's, which no conversion can give a tensor.
    pub fn is_opaque(&self) -> bool {
        let has_attribute = |dim: &glow::GlowAxis| dim.attributes().next().is_some();
        self.string.as_ref().is_some_and(|string| string.dims().iter().any(has_attribute))
    }

    /// What it is to one who asks for another, as Glow's rules have it: by letters, attributes and strides. `None` where one
    /// of the two is no string of Glow's.
    pub fn glow_satisfaction(&self, asked: &Self) -> Option<glow::Satisfaction> {
        let (own, asked) = (self.string.as_ref()?, asked.string.as_ref()?);
        let strides: Option<Vec<i128>> =
            self.tensor.layout.strides.iter().map(Expr::as_const).collect();
        let element_bits = self.tensor.dtype.element_bits();
        let tensor = glow::GlowTensor { strides: &strides?, element_bits, layout: Some(own) };
        Some(glow::check_satisfied(&tensor, asked))
    }
}

impl GraphTensor {
    /// Whether it is a constant.
    pub fn is_constant(&self) -> bool {
        self.role == TensorRole::Constant
    }

    /// Whether its layouts are of no concern: a constant that nobody asks to be kept, not to have one, or to have an
    /// attribute that no conversion gives.
    pub fn is_unconstrained(&self) -> bool {
        let is_bound =
            |candidate: &LayoutCandidate| candidate.is_forbidden || candidate.is_opaque();
        let is_pinned = self.is_pinned || self.candidates.iter().any(is_bound);
        self.is_constant() && !is_pinned
    }

    /// What having it in one candidate is to one who asks for another.
    pub fn compatibility(&self, has: usize, asked: usize) -> Compatibility {
        let fits = self.candidates.get(has).map(|candidate| &candidate.fits);
        fits.and_then(|fits| fits.get(asked)).copied().unwrap_or(Compatibility::Differs)
    }

    /// The candidate of a text.
    pub fn find(&self, text: &str) -> Option<usize> {
        self.candidates.iter().position(|candidate| candidate.text == text)
    }

    /// The text of a candidate; empty for none.
    pub fn text(&self, candidate: usize) -> &str {
        self.candidates.get(candidate).map_or("", |candidate| &candidate.text)
    }
}
