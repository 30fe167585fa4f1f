//! Result of the solver and its proof. Only data, read by `check`.
//!
//! A proof is a sequence of operations that the checker repeats in exact integers: dropped values, an elimination
//! order, groups of tables, and messages if the tables exceed the memory limit. It contains no cost tables, which the
//! checker would have to trust.

use super::data::Cost;

/// Best assignment that the solver found, and a proven lower bound on all assignments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// Value of each variable, in the order of the variables; empty if no assignment of finite cost was found.
    pub values: Vec<usize>,
    /// Cost of the assignment; `INFINITE` if none was found.
    pub cost: Cost,
    /// Lower bound on the cost of every assignment. Equal to `cost`: the assignment is optimal. `INFINITE`: no
    /// assignment has a finite cost.
    pub bound: Cost,
    /// Proof of the bound.
    pub proof: BoundProof,
}

impl Solution {
    /// True if the assignment is proven optimal, or proven not to exist.
    pub fn is_proven(&self) -> bool {
        self.bound == self.cost
    }
}

/// Proof of a lower bound: the values that are dropped first, then a proof for each subproblem. Subproblems are the
/// connected components of the variables with more than one remaining value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundProof {
    /// Values that an optimal assignment does not need, in the order in which they were dropped.
    pub drops: Vec<DroppedValue>,
    /// Proofs for the subproblems, one each.
    pub parts: Vec<ProofPart>,
}

/// Value that is removed from the domain of a variable, because some optimal assignment does not use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedValue {
    /// Number of the variable, as of `Variable::number`.
    pub variable: usize,
    /// Value that is dropped.
    pub value: usize,
    /// Dominating value: a remaining value of the variable that costs at most as much as `value`, whatever remaining
    /// values the other variables have. `None`: the value is forbidden, by its unary cost, or together with every
    /// remaining value of one other variable.
    pub by: Option<usize>,
}

/// Proof of a lower bound for a subproblem, which is a connected component of the variables with more than one
/// remaining value.
///
/// The tables have numbers:
/// - variable `v` of the network: its unary costs are table `v`
/// - pair `p` of the network: its costs are table `variables + p`, where `variables` is the number of variables
/// - the tables that the buckets of this subproblem produce follow in order, from `variables + pairs` on
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofPart {
    /// Cost shifts from pairs to variables, applied before the elimination.
    pub messages: Vec<CostMessage>,
    /// Elimination step of each variable, in elimination order.
    pub buckets: Vec<Bucket>,
    /// Lower bound on the cost of every assignment of the subproblem. The checker extends the prefixes that cost less
    /// than the bound (lists of values of the variables eliminated last) until all of them cost at least the bound.
    pub bound: Cost,
    /// Upper bound on the number of prefixes that cost less than `bound`. The checker rejects the proof if it finds
    /// more.
    pub nodes: usize,
}

/// Cost shift from a pair to one of its variables. For each value of the variable, the unary cost grows by an amount,
/// and all entries of the pair with this value shrink by it. So the cost of every assignment is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMessage {
    /// Position of the pair among the network's pairs, in the order of addition, from 0.
    pub pair: usize,
    /// Number, as of `Variable::number`, of the variable whose unary costs grow.
    pub variable: usize,
    /// Shift for each remaining value of the variable, in ascending order of the values.
    pub costs: Vec<i64>,
}

/// Elimination of a variable: its tables are partitioned into groups. Each group is summed and minimized over the
/// variable, which gives a new table over the group's remaining variables. A single group is exact; the tables of
/// several groups sum to a lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Number of the eliminated variable, as of `Variable::number`: its position in the order of addition to the
    /// network.
    pub variable: usize,
    /// Groups into which all tables that contain the variable at the time of its elimination are partitioned.
    pub groups: Vec<BucketGroup>,
}

/// Group of tables in a bucket that are summed before the minimization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketGroup {
    /// Numbers of the tables in the group, as defined at [`ProofPart`].
    pub tables: Vec<usize>,
    /// Shift for each remaining value of the bucket's variable; empty for zero shifts. For each value, the shifts of
    /// all groups of the bucket sum to 0.
    pub shift: Vec<i64>,
}
