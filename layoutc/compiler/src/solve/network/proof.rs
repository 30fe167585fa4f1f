//! What a solver hands back, and what it takes to believe it. Only data: `check` reads it, nothing else has to.
//!
//! Every part of a proof is a recipe that is followed in exact integers. It holds no table of costs that has to be trusted,
//! so it stays small: an order and lists of numbers, and messages where a network is too dense for its tables.

use super::data::Cost;

/// The best assignment that was found, and what no assignment can be below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solution {
    /// The value of each variable; empty where no assignment of finite cost was found.
    pub values: Vec<usize>,
    /// What that costs, in bytes; `INFINITE` where there is none.
    pub cost: Cost,
    /// No assignment costs less, in bytes. `INFINITE`: none has a finite cost. Equal to `cost`: proven to be the best.
    pub bound: Cost,
    /// Why the bound holds.
    pub proof: BoundProof,
}

impl Solution {
    /// Whether nothing better exists, or nothing at all.
    pub fn is_proven(&self) -> bool {
        self.bound == self.cost
    }
}

/// Why no assignment costs less than a bound: values that are not needed, then parts that share no variable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BoundProof {
    /// Values that a best assignment does without, in the order in which they were left out.
    pub drops: Vec<DroppedValue>,
    /// The variables that two values or more are left of, in parts that no table connects.
    pub parts: Vec<ProofPart>,
}

/// A value that a best assignment does without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DroppedValue {
    /// The variable, by number.
    pub variable: usize,
    /// The value that goes.
    pub value: usize,
    /// A value that is left and that costs as little or less beside every value of every neighbour. `None`: the value is
    /// forbidden, by itself or beside every value that is left of some neighbour.
    pub by: Option<usize>,
}

/// A bound for variables that no table connects with other variables (of more than one value).
///
/// Tables are numbered: the costs of variable `v` alone are table `v`; pair `p` is table `variables + p`; then come the
/// tables that the buckets of this part make, in their order, from `variables + pairs` on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProofPart {
    /// Costs that are moved between tables before anything else.
    pub messages: Vec<CostMessage>,
    /// A step for each variable: the one that goes first is first.
    pub buckets: Vec<Bucket>,
    /// What is proven for this part, in bytes: every prefix of values, the variables that went last first, whose tables
    /// come to less has continuations, and all of those come to this much or more.
    pub bound: Cost,
    /// How many prefixes come to less than `bound`.
    pub nodes: usize,
}

/// Costs that are taken out of every entry of a pair, and added to the costs of one of its variables alone: the cost of
/// every assignment stays what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostMessage {
    /// The pair, by its number among the pairs.
    pub pair: usize,
    /// The variable whose own costs grow.
    pub variable: usize,
    /// By how much, for each value that is left of it, in bytes.
    pub costs: Vec<i64>,
}

/// One variable goes: all tables with it are put in groups, and for each group the least sum over the values of the
/// variable is a new table of the other variables of the group. With one group nothing is lost; with more of them the sum
/// of their tables is a lower bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The variable, by number.
    pub variable: usize,
    /// Its groups: every table with the variable is in one.
    pub groups: Vec<BucketGroup>,
}

/// Tables that are added up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketGroup {
    /// Their numbers.
    pub tables: Vec<usize>,
    /// What is added for each value that is left of the bucket's variable, in bytes; empty: nothing. Over all groups of a
    /// bucket these come to 0 for each value.
    pub shift: Vec<i64>,
}
