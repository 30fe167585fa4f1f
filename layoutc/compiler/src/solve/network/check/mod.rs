//! Checker of proofs, in exact integers. It trusts no cost in the proof. It shares the data types of the network with
//! the solver, but no code.
//!
//! Correctness of a proof that passes:
//!
//! - Drops: replacing a dropped value of an optimal assignment by the dominating one does not raise the cost, so some
//!   optimal assignment has only remaining values. Drops are checked in order, each against the values that remain at
//!   that time.
//! - Messages: costs are shifted from a pair to one of its variables, so the cost of every assignment is unchanged.
//! - Buckets: the minimum over a variable is at most the sum for any of its values, and the shifts of a bucket sum to
//!   0. So after every step the sum of the current tables is a lower bound on the cost of every assignment.
//! - Prefixes: a prefix assigns values to the variables eliminated last. The checker enumerates all prefixes whose
//!   tables sum to less than the bound. A prefix that reaches exact buckets would attain its cost; if none does, every
//!   assignment costs at least the bound.

mod buckets;
mod drops;
mod prefix_walk;
mod tables;

use thiserror::Error;

use super::SolverLimits;
use super::data::{Cost, CostNetwork, INFINITE, LARGEST};
use super::proof::Solution;

/// Reason why [`verify`] rejects a solution or its proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProofError {
    /// The cost of the solution's values differs from the stated cost; it is infinite for a list of the wrong length.
    #[error("the assignment costs {found}")]
    Cost {
        /// Actual cost of the values.
        found: Cost,
    },
    /// The bound of the solution exceeds its cost.
    #[error("the bound exceeds the cost")]
    Crossed,
    /// A dropped value is neither forbidden nor dominated, or the dropped or the dominating value was dropped before.
    #[error("drop {step} is not justified")]
    Dropped {
        /// Position of the dropped value in `BoundProof::drops`.
        step: usize,
    },
    /// A message is malformed: it names no pair, or has the wrong length. Or it shifts costs to a variable that is not
    /// in its pair, or not in the subproblem.
    #[error("message {step} has an invalid target or length")]
    Message {
        /// Position of the message in `ProofPart::messages`.
        step: usize,
    },
    /// An entry of a table is negative after messages or shifts.
    #[error("table {table} has a negative entry")]
    Negative {
        /// Number of the table, as defined at `ProofPart`.
        table: usize,
    },
    /// A variable with several remaining values is in no subproblem or in two, or a subproblem contains a variable with
    /// a single value or one that the network does not have.
    #[error("variable {variable} is not in exactly one part")]
    Variable {
        /// Number of the variable, as at `Bucket::variable`.
        variable: usize,
    },
    /// A group of a bucket names a table that it cannot use: the table does not exist, was consumed before, lacks the
    /// bucket's variable, or belongs to another subproblem. Or a pair connects two subproblems.
    #[error("invalid use of table {table}")]
    Table {
        /// Number of the table, as defined at `ProofPart`.
        table: usize,
    },
    /// A table over the bucket's variable is in none of the bucket's groups.
    #[error("a table of variable {variable} is in no group")]
    LeftOut {
        /// Number of the bucket's variable, as at `Bucket::variable`.
        variable: usize,
    },
    /// The shifts of a bucket's groups have the wrong length, or do not sum to 0 for each value.
    #[error("the shifts of variable {variable} do not cancel")]
    Shift {
        /// Number of the bucket's variable, as at `Bucket::variable`.
        variable: usize,
    },
    /// The stated bound of a subproblem is greater than the bound that its tables prove.
    #[error("part {part} does not prove its bound")]
    PartBound {
        /// Position of the subproblem's proof in `BoundProof::parts`.
        part: usize,
    },
    /// The bound of the solution differs from the sum of the subproblems' bounds and of the cost outside of them.
    #[error("the parts prove a bound of {found}")]
    Bound {
        /// Sum of the subproblems' bounds and of the cost outside of them.
        found: Cost,
    },
    /// The proof exceeds a limit. Either the groups of a subproblem produce more table entries in total than
    /// `SolverLimits::table` plus the entries of the tables that the subproblem starts with. Or more prefixes cost less
    /// than a subproblem's bound than `ProofPart::nodes` or `SolverLimits::nodes` allows.
    #[error("checking the proof exceeds its limits")]
    Limits,
}

/// Checks a solution and its proof: the values have the stated cost, and no assignment costs less than the bound.
/// `limits` must be at least those of the solver's run.
///
/// For the network in the example of [`CostNetwork`], values `[1, 0]` with cost and bound 8 pass; a cost of 9 fails
/// with [`ProofError::Cost`], a bound of 9 with [`ProofError::Crossed`].
///
/// # Errors
/// The first error found.
pub fn verify(
    network: &CostNetwork,
    solution: &Solution,
    limits: &SolverLimits,
) -> Result<(), ProofError> {
    let found = assignment_cost(network, &solution.values);
    if found != solution.cost {
        return Err(ProofError::Cost { found });
    }
    if solution.bound > solution.cost {
        return Err(ProofError::Crossed);
    }
    let proof = &solution.proof;
    let left = drops::check_drops(network, &proof.drops)?;
    if left.iter().any(Vec::is_empty) {
        return Ok(());
    }
    let mut parts = tables::PartAssignment::new(network, &left, proof)?;
    let mut bound = parts.closed;
    let mut nodes = limits.nodes;
    for (number, part) in proof.parts.iter().enumerate() {
        let made = buckets::rebuild_tables(&mut parts, number, part, limits)?;
        nodes = prefix_walk::walk(&made, number, part, nodes)?;
        bound = bound.saturating_add(part.bound);
    }
    if let Some(variable) = parts.missing() {
        return Err(ProofError::Variable { variable });
    }
    let found = if bound > LARGEST { INFINITE } else { bound };
    if found == solution.bound { Ok(()) } else { Err(ProofError::Bound { found }) }
}

/// Cost of an assignment; [`INFINITE`] if it is forbidden, or if its length is not the number of variables.
fn assignment_cost(network: &CostNetwork, values: &[usize]) -> Cost {
    let mut sum = network.constant;
    if values.len() != network.unaries.len() {
        return INFINITE;
    }
    for (costs, &value) in network.unaries.iter().zip(values) {
        sum = sum.saturating_add(costs.get(value).copied().unwrap_or(INFINITE));
    }
    for pair in &network.pairs {
        let (Some(&a), Some(&b)) = (values.get(pair.first), values.get(pair.second)) else {
            return INFINITE;
        };
        let row = pair.costs.chunks(pair.width.max(1)).nth(a);
        sum = sum.saturating_add(row.and_then(|row| row.get(b)).copied().unwrap_or(INFINITE));
    }
    sum
}
