//! The checker: follows a proof in exact integers and believes no cost of it. It shares the network's data with the solver,
//! and no code.
//!
//! Why a proof that passes is one:
//!
//! - Drops: where the best assignment has a dropped value, exchanging it for the better one costs no more; so some best
//!   assignment has only values that are left. They are checked in order, each against what is left at that time.
//! - Messages: what leaves a pair goes to one of its variables, so that no assignment changes its cost.
//! - Buckets: the least sum over a variable is at most the sum at any value of it, and shifts of a bucket come to 0. So the
//!   tables that are alive come to no more than the cost of any assignment, at every step.
//! - Prefixes: the checker walks through all prefixes whose alive tables come to less than the bound. Where one reaches
//!   buckets of one group only, its cost is attained; where none does, every assignment costs the bound or more.

mod buckets;
mod drops;
mod prefix_walk;
mod tables;

use thiserror::Error;

use super::SolverLimits;
use super::data::{Cost, CostNetwork, INFINITE, LARGEST};
use super::proof::Solution;

/// Why a solution is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ProofError {
    /// The values cost something else, or they are no assignment.
    #[error("the values cost {found}")]
    Cost {
        /// What they cost, in bytes.
        found: Cost,
    },
    /// The bound is above the cost.
    #[error("the bound is above the cost")]
    Crossed,
    /// The value is not forbidden, or the other one is not always as good, or one of both is not left.
    #[error("drop {step} leaves out a value without reason")]
    Dropped {
        /// Which of the proof's drops.
        step: usize,
    },
    /// A message to a variable that its pair lacks, of a length that does not fit, or to a pair of another part.
    #[error("message {step} is to nobody, or of another length")]
    Message {
        /// Which of the part's messages.
        step: usize,
    },
    /// After messages or shifts a table has an entry below 0.
    #[error("table {table} has an entry below 0")]
    Negative {
        /// The table's number.
        table: usize,
    },
    /// A variable of more than one value is in no part or in two, or one of a single value is in one.
    #[error("variable {variable} is not in one part")]
    Variable {
        /// Its number.
        variable: usize,
    },
    /// A group names a table that is not there, is used before, lacks the variable, or belongs to another part.
    #[error("table {table} is used wrongly")]
    Table {
        /// The table's number.
        table: usize,
    },
    /// A table of the variable is in no group.
    #[error("a table of variable {variable} is left out")]
    LeftOut {
        /// The variable, by number.
        variable: usize,
    },
    /// The shifts of a bucket are of the wrong length or do not come to 0.
    #[error("the shifts of variable {variable} do not cancel")]
    Shift {
        /// The variable, by number.
        variable: usize,
    },
    /// The bound of a part is above what its tables prove.
    #[error("part {part} proves less than it says")]
    PartBound {
        /// Which of the proof's parts.
        part: usize,
    },
    /// The bound is not what the parts come to.
    #[error("the parts prove {found}")]
    Bound {
        /// What they come to, in bytes.
        found: Cost,
    },
    /// Following the proof takes more tables or prefixes than the limits or the proof itself say.
    #[error("following the proof goes beyond its limits")]
    Limits,
}

/// Follows a solution's proof: `Ok` where the values cost what it says and no assignment costs less than its bound. A
/// solution that was found within some limits is checked within the same ones; the work is that of the solver at most.
///
/// Values `[1, 0]` of cost 8 with the bound 8 pass for the network of [`CostNetwork`]'s example, and fail with
/// [`ProofError::Cost`] or [`ProofError::PartBound`] where 8 is replaced by 9.
///
/// # Errors
/// What is wrong, the first of it.
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

/// The cost of values, added up from the tables themselves.
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
