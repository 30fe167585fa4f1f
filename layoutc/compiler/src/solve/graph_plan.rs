//! Layout plan of a graph: the choice of each operator, the layout of each tensor, and the layout conversions.

use super::conversion_costs::ConversionStep;

/// Layout plan of a graph. Positions are those in the graph's lists of nodes and tensors.
#[derive(Debug, Clone)]
pub struct GraphPlan {
    /// Positions of the chosen alternatives among the choices of each node, in the order of the nodes.
    pub choices: Vec<usize>,
    /// Positions of the candidate layouts in which the tensors are produced, or passed to the graph, in the order of
    /// the tensors.
    pub stored: Vec<usize>,
    /// Layout conversions of all tensors; conversions of one tensor are in execution order.
    pub conversions: Vec<LayoutConversion>,
    /// Cost of the plan in bytes: sum of the costs of the chosen operators and of the conversions.
    pub cost: u64,
    /// Proven lower bound, in bytes, on the cost of every plan of the graph with the choices that the caller fixed, if
    /// any.
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
    /// Cost of the conversion in bytes: 0 if `is_free`, or if the tensor is a constant.
    pub cost: u64,
    /// True if the two layouts are compatible, so that the conversion moves no byte.
    pub is_free: bool,
}

impl GraphPlan {
    /// True if the plan is proven optimal: its cost is equal to the lower bound.
    pub fn is_optimal(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// Conversions of the tensor at position `tensor`, in execution order.
    pub fn conversions_of(&self, tensor: usize) -> impl Iterator<Item = &LayoutConversion> {
        self.conversions.iter().filter(move |conversion| conversion.tensor == tensor)
    }
}

impl LayoutConversion {
    pub(super) fn new(tensor: usize, step: ConversionStep, cost: u64, is_free: bool) -> Self {
        Self { tensor, from: step.from, to: step.to, cost, is_free }
    }
}
