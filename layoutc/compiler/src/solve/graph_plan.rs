//! Plan of a graph: the choice of each operator, the layout of each tensor, and the conversions.

use super::conversion_costs::ConversionStep;

/// Layout plan. Lists are indexed by the positions of the graph's nodes and tensors.
#[derive(Debug, Clone)]
pub struct GraphPlan {
    /// Position of each node's choice among the choices of its operator, by the node's position.
    pub choices: Vec<usize>,
    /// Position of the candidate in which each tensor is passed or produced, by the tensor's position.
    pub stored: Vec<usize>,
    /// Layout conversions, those of one tensor in execution order.
    pub conversions: Vec<LayoutConversion>,
    /// Cost of the plan in bytes: that of the operators and of the conversions.
    pub cost: u64,
    /// Proven lower bound on the cost of every plan, in bytes.
    pub lower_bound: u64,
}

/// Conversion of a tensor from one of its layouts to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutConversion {
    /// Position of the tensor in the graph.
    pub tensor: usize,
    /// Position of the source layout among the tensor's candidates.
    pub from: usize,
    /// Position of the destination layout among the tensor's candidates.
    pub to: usize,
    /// Cost of the conversion in bytes: 0 if all elements keep their offsets, or if the tensor is a constant.
    pub cost: u64,
    /// True if the conversion moves no byte.
    pub is_free: bool,
}

impl GraphPlan {
    /// True if no plan is cheaper: the cost is equal to the lower bound.
    pub fn is_optimal(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// Conversions of the tensor at this position, in execution order.
    pub fn conversions_of(&self, tensor: usize) -> impl Iterator<Item = &LayoutConversion> {
        self.conversions.iter().filter(move |conversion| conversion.tensor == tensor)
    }
}

impl LayoutConversion {
    pub(super) fn new(tensor: usize, step: ConversionStep, cost: u64, is_free: bool) -> Self {
        Self { tensor, from: step.from, to: step.to, cost, is_free }
    }
}
