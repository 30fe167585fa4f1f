//! Exact solver of cost function networks: an assignment of least cost, and a proof that a checker verifies.
//!
//! 1. Forbidden and dominated values are dropped (`reduce`).
//! 2. Each connected component (`subproblem`) is solved by bucket elimination in a greedy order (`order`,
//!    `elimination_plan`, `table`, `eliminate`): exact if the tables fit [`SolverLimits::table`].
//! 3. Otherwise costs are shifted between tables (`messages`), buckets are partitioned into mini-buckets whose tables
//!    are bounds, and a best-first search over the variables that are eliminated last closes the gap (`search`,
//!    `improve`).
//! 4. [`verify`] checks the proof in exact integers and shares no code with the solver.
//!
//! The solver is independent of tensors and layouts. It reads no clock: the closure `stop` ends the search.
//!
//! Source: Dechter, "Bucket elimination" (1999); Dechter and Rish, "Mini-buckets" (2003); Kask and Dechter, "A general
//! scheme for automatic generation of search heuristics from specification dependencies" (2001).

mod check;
mod data;
mod eliminate;
mod elimination_plan;
mod improve;
mod messages;
mod order;
mod proof;
mod reduce;
mod search;
mod subproblem;
mod table;
#[cfg(test)]
mod tests;

use self::eliminate::{BucketTables, eliminate};
use self::elimination_plan::{EliminationPlan, plan, quick_plan};
use self::search::{BestFirstSearch, SearchResult};
use self::subproblem::{ReducedNetwork, Subproblem};

pub use self::check::{ProofError, verify};
pub use self::data::{Cost, CostNetwork, INFINITE, LARGEST, NetworkError, Variable};
pub use self::proof::{
    BoundProof, Bucket, BucketGroup, CostMessage, DroppedValue, ProofPart, Solution,
};

/// Limits on the memory and work of the solver. Beyond them the result is a proven bound instead of an optimum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SolverLimits {
    /// Maximum number of entries, 8 bytes each, of all tables that the elimination of a subproblem (a connected
    /// component) produces. The tables of the network are not counted. The smallest possible elimination is executed
    /// even beyond the limit.
    pub table: usize,
    /// Maximum number of prefixes (nodes of the search tree, about 40 bytes each) that the searches of all subproblems
    /// store in total. A search may exceed it by the number of values of one variable.
    pub nodes: usize,
    /// Maximum number of passes of message passing over the pairs of a subproblem whose tables do not fit `table`.
    pub sweeps: usize,
}

impl Default for SolverLimits {
    /// Limits of 32 MiB of tables, about 40 MiB of prefixes, and 200 passes of message passing.
    fn default() -> Self {
        Self { table: 1 << 22, nodes: 1 << 20, sweeps: 200 }
    }
}

/// Finds an assignment of least cost. If the limits are reached, or if `stop` returns true, the search ends early. The
/// result is then the best assignment found and a lower bound that is proven all the same; see [`Solution::is_proven`].
///
/// Two variables with costs `[0, 5]` and `[3, 0]` and the table `[9, 9, 0, 9]`: values `[1, 0]`, cost and bound 8.
///
/// Deterministic as long as `stop` is.
pub fn solve(network: &CostNetwork, limits: &SolverLimits, stop: &dyn Fn() -> bool) -> Solution {
    let (left, drops) = reduce::reduce(network);
    let mut proof = BoundProof { drops, parts: Vec::new() };
    if left.iter().any(Vec::is_empty) {
        return Solution { values: Vec::new(), cost: INFINITE, bound: INFINITE, proof };
    }
    let pairs_of = network.pairs_of();
    let reduced = ReducedNetwork { network, pairs_of: &pairs_of, left: &left };
    let mut values: Vec<usize> = left.iter().filter_map(|left| left.first().copied()).collect();
    let mut bound = reduced.base();
    let mut nodes = limits.nodes;
    for group in reduced.groups() {
        let limits = SolverLimits { nodes, ..*limits };
        let part = solve_part(reduced, &group, &mut values, &limits, stop);
        nodes = nodes.saturating_sub(part.nodes);
        bound = bound.saturating_add(part.bound);
        proof.parts.push(part);
    }
    let bound = if bound > LARGEST { INFINITE } else { bound };
    let every: Vec<usize> = (0..values.len()).collect();
    let all: reduce::LiveValues =
        network.unaries.iter().map(|costs| (0..costs.len()).collect()).collect();
    improve::improve(network, &pairs_of, &all, &every, &mut values);
    if network.cost(&values) == INFINITE {
        values = Vec::new();
    }
    Solution { cost: network.cost(&values), values, bound, proof }
}

/// Solves the subproblem of the variables of `reduced` with the numbers `group`, and returns the proof of its bound.
/// Writes the values of these variables to `values`, an assignment by variable number, if an assignment of finite cost
/// is found. Ends early at `limits`, or if `stop` returns true.
fn solve_part(
    reduced: ReducedNetwork<'_>,
    group: &[usize],
    values: &mut [usize],
    limits: &SolverLimits,
    stop: &dyn Fn() -> bool,
) -> ProofPart {
    let variables = reduced.network.variables();
    let made = variables.saturating_add(reduced.network.pairs());
    let mut part = Subproblem::new(reduced, group);
    let scopes = part.scopes(variables);
    let sizes = part.sizes.clone();
    let mut plan = plan(&scopes, &sizes, made, limits);
    let mut sent = Vec::new();
    if plan.inexact_levels() > 0 {
        let mut moved = part.clone();
        messages::sweep(&mut moved.unaries, &mut moved.edges, limits.sweeps, stop);
        if let Some(messages) = moved.messages() {
            (part, sent) = (moved, messages);
        }
    }
    let done = eliminate(&plan, part.tables(variables), made, &sizes, stop).unwrap_or_else(|| {
        plan = quick_plan(&scopes, &sizes, made);
        eliminate(&plan, part.tables(variables), made, &sizes, &|| false).unwrap_or_default()
    });
    let originals = part.tables(variables);
    let improve = |chosen: &mut Vec<usize>| {
        let mut all = values.to_vec();
        write(reduced, &part.variables, chosen, &mut all);
        improve::improve(reduced.network, reduced.pairs_of, reduced.left, group, &mut all);
        *chosen = read(reduced, &part.variables, &all);
        table::capped(originals.values().map(|t| t.at(chosen)).fold(0, Cost::saturating_add))
    };
    let found = BestFirstSearch::new(&plan, &done, &sizes).run(limits.nodes, &improve, stop);
    if let Some((chosen, _)) = &found.best {
        write(reduced, &part.variables, chosen, values);
    }
    part_proof(&part.variables, plan, done, sent, &found)
}

/// Writes the values of a subproblem's variables to `values`, an assignment by variable number. `variables` are the
/// numbers of these variables. `chosen[k]` is the position of the value of `variables[k]` among the remaining values of
/// this variable.
fn write(reduced: ReducedNetwork<'_>, variables: &[usize], chosen: &[usize], values: &mut [usize]) {
    for (&variable, &place) in variables.iter().zip(chosen) {
        let value = reduced.left_of(variable).get(place);
        if let (Some(target), Some(&value)) = (values.get_mut(variable), value) {
            *target = value;
        }
    }
}

/// Positions of the values of `variables` (numbers of a subproblem's variables) in an assignment `values`: entry k is
/// the position of the value of `variables[k]` among the remaining values of this variable, 0 if the value was dropped.
fn read(reduced: ReducedNetwork<'_>, variables: &[usize], values: &[usize]) -> Vec<usize> {
    let place = |&variable: &usize| {
        let value = values.get(variable)?;
        reduced.left_of(variable).binary_search(value).ok()
    };
    variables.iter().map(|variable| place(variable).unwrap_or(0)).collect()
}

/// Proof of the bound of a subproblem. `variables` has the number of the variable at each level, `plan` is the
/// elimination plan, `done` has the shifts of the groups, `messages` are the cost shifts before the elimination, and
/// `found` is the result of the search.
fn part_proof(
    variables: &[usize],
    plan: EliminationPlan,
    done: BucketTables,
    messages: Vec<CostMessage>,
    found: &SearchResult,
) -> ProofPart {
    let levels = variables.iter().zip(plan.levels).zip(done.shifts).rev();
    let bucket =
        |((&variable, groups), shifts): ((_, Vec<elimination_plan::MiniBucket>), Vec<Vec<i64>>)| {
            Bucket {
                variable,
                groups: groups
                    .into_iter()
                    .zip(shifts)
                    .map(|(group, shift)| BucketGroup { tables: group.tables, shift })
                    .collect(),
            }
        };
    let buckets = levels.map(bucket).collect();
    ProofPart { messages, buckets, bound: found.bound, nodes: found.nodes }
}
