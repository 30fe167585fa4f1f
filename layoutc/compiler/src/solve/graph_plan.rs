//! What a solution says of a graph: which way each operator is done, in which layout each tensor is stored, what is
//! converted.

use super::conversion_costs::ConversionStep;

/// A plan. Lists are by the positions of the graph's nodes and tensors.
#[derive(Debug, Clone)]
pub struct GraphPlan {
    /// The way of each operator: a position among its choices.
    pub choices: Vec<usize>,
    /// The candidate in which each tensor is given, or written first.
    pub stored: Vec<usize>,
    /// The changes of layout, those of one tensor in the order in which they are made.
    pub conversions: Vec<LayoutConversion>,
    /// What it costs, in bytes.
    pub cost: u64,
    /// No plan costs less than this, in bytes.
    pub lower_bound: u64,
}

/// A change of a tensor's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayoutConversion {
    /// The tensor's position.
    pub tensor: usize,
    /// From this candidate.
    pub from: usize,
    /// To this one.
    pub to: usize,
    /// What it costs, in bytes: nothing where the elements stay where they are, or the tensor is a constant.
    pub cost: u64,
    /// Whether no byte moves.
    pub is_free: bool,
}

impl GraphPlan {
    /// Whether no plan is cheaper.
    pub fn is_optimal(&self) -> bool {
        self.lower_bound >= self.cost
    }

    /// The conversions of a tensor, in order.
    pub fn conversions_of(&self, tensor: usize) -> impl Iterator<Item = &LayoutConversion> {
        self.conversions.iter().filter(move |conversion| conversion.tensor == tensor)
    }
}

impl LayoutConversion {
    pub(super) fn new(tensor: usize, step: ConversionStep, cost: u64, is_free: bool) -> Self {
        Self { tensor, from: step.from, to: step.to, cost, is_free }
    }
}
