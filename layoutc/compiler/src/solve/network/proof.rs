//! Result of the solver and its proof. Only data, read by `check`.
//!
//! A proof is a sequence of operations that the checker repeats in exact integers. It contains no cost tables that
//! would have to be trusted, so it is small: an elimination order, lists of numbers, and messages for networks that are
//! too dense.

use super::data::Cost;

/// Best assignment that the solver found, and a proven lower bound on all assignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Value of each variable, by number; empty if no assignment of finite cost was found.
    pub values: Vec<usize>,
    /// Cost of the assignment, in bytes; `INFINITE` if there is none.
    pub cost: Cost,
    /// Lower bound, in bytes. `INFINITE`: no assignment has a finite cost. Equal to `cost`: the assignment is optimal.
    pub bound: Cost,
    /// Proof of the bound.
    pub proof: BoundProof,
}

impl Solution {
    /// True if the assignment is proven optimal, or none exists.
    pub fn is_proven(&self) -> bool {
        self.bound == self.cost
    }
}

/// Proof of a lower bound: dropped values, then independent parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundProof {
    /// Values that an optimal assignment does not need, in the order in which they were dropped.
    pub drops: Vec<DroppedValue>,
    /// Connected components of the variables with at least two remaining values.
    pub parts: Vec<ProofPart>,
}

/// Value of a variable that an optimal assignment does not need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedValue {
    /// Number of the variable.
    pub variable: usize,
    /// Value that is dropped.
    pub value: usize,
    /// Dominating value: remaining, and of at most the same cost for all values of all neighbors. `None`: the value is
    /// forbidden, by itself or with every remaining value of some neighbor.
    pub by: Option<usize>,
}

/// Bound for a connected component of the variables with more than one value.
///
/// Tables are numbered: the unary costs of variable `v` are table `v`; pair `p` is table `variables + p`; the tables
/// produced by the buckets of this part follow in order, from `variables + pairs` on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofPart {
    /// Cost shifts between tables, applied first.
    pub messages: Vec<CostMessage>,
    /// Elimination step of each variable, in elimination order.
    pub buckets: Vec<Bucket>,
    /// Proven bound in bytes: every prefix of values, starting with the variable eliminated last, whose tables sum to
    /// less has continuations, and all of them sum to at least the bound.
    pub bound: Cost,
    /// Number of prefixes that sum to less than `bound`.
    pub nodes: usize,
}

/// Cost shift from every entry of a pair to the unary costs of one of its variables. The cost of every assignment is
/// unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMessage {
    /// Number of the pair.
    pub pair: usize,
    /// Variable whose unary costs grow.
    pub variable: usize,
    /// Shift for each remaining value of the variable, in bytes.
    pub costs: Vec<i64>,
}

/// Elimination of a variable: its tables are partitioned into groups, and the minimum over the variable of each group's
/// sum is a new table over the group's other variables. One group is exact; with several the sum of their tables is a
/// lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Number of the variable.
    pub variable: usize,
    /// Partition of all tables that contain the variable.
    pub groups: Vec<BucketGroup>,
}

/// Group of tables in a bucket that are added to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketGroup {
    /// Numbers of the tables in the group.
    pub tables: Vec<usize>,
    /// Shift for each remaining value of the bucket's variable, in bytes; empty: 0. For each value the shifts of all
    /// groups of a bucket sum to 0.
    pub shift: Vec<i64>,
}
