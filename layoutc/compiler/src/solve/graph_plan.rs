//! Plan of a graph: the choice of each operator, the layout of each tensor, and the conversions.

use super::conversion_costs::ConversionStep;

/// Layout plan. Lists are indexed by the positions of the graph's nodes and tensors.
#[derive(Debug, Clone)]
pub struct GraphPlan {
    /// Position of each operator's choice among its choices.
    pub choices: Vec<usize>,
    /// Candidate in which each tensor is passed or produced.
    pub stored: Vec<usize>,
    /// Layout conversions, those of one tensor in execution order.
    pub conversions: Vec<LayoutConversion>,
    /// Cost in bytes.
    pub cost: u64,
    /// Proven lower bound on the cost of every plan, in bytes.
    pub lower_bound: u64,
}

/// Conversion of a tensor's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutConversion {
    /// Position of the tensor.
    pub tensor: usize,
    /// Source candidate.
    pub from: usize,
    /// Destination candidate.
    pub to: usize,
    /// Cost in bytes: 0 if all elements keep their offsets, or the tensor is a constant.
    pub cost: u64,
    /// True if no byte moves.
    pub is_free: bool,
}

impl GraphPlan {
    /// True if no plan is cheaper.
    pub fn is_optimal(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// Conversions of a tensor, in order.
    pub fn conversions_of(&self, tensor: usize) -> impl Iterator<Item = &LayoutConversion> {
        self.conversions.iter().filter(move |conversion| conversion.tensor == tensor)
    }
}

impl LayoutConversion {
    pub(super) fn new(tensor: usize, step: ConversionStep, cost: u64, is_free: bool) -> Self {
        Self { tensor, from: step.from, to: step.to, cost, is_free }
    }
}
