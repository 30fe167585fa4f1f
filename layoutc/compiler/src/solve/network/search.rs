//! Best-first search over the levels whose tables are not exact. The tables of the bucket elimination give the lower
//! bounds.
//!
//! A prefix assigns values to the levels 0, 1, …. Its cost is a lower bound on every completion: the sum of the
//! original tables over the prefix and of the tables that the elimination of later levels produced over it. The bound
//! is exact if no later bucket has more than one group. Extending a prefix never lowers its cost.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::data::{Cost, INFINITE};
use super::eliminate::BucketTables;
use super::elimination_plan::EliminationPlan;
use super::table::{LevelTable, capped};

/// Number of prefixes that are expanded between two greedy completions of the best prefix.
const BETWEEN_DIVES: usize = 128;

/// Number of prefixes that are expanded between two calls of the closure `stop`, which returns true to end the search.
const BETWEEN_STOPS: usize = 256;

/// Result of a best-first search over a subproblem.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SearchResult {
    /// Pair (assignment, cost) of the best assignment found, with one value per level; `None` if no assignment of
    /// finite cost was found.
    pub(super) best: Option<(Vec<usize>, Cost)>,
    /// Lower bound on the cost of every assignment of the subproblem.
    pub(super) bound: Cost,
    /// Number of stored prefixes, an upper bound on the number of prefixes that cost less than `bound`.
    pub(super) nodes: usize,
}

/// Node of the search tree, which stands for a prefix. `value` is the value of the prefix at its last level. `before`
/// is the position, in the list of nodes, of the prefix without this level.
struct SearchNode {
    before: usize,
    value: usize,
}

/// Best-first search over the levels of a subproblem. It computes the costs of prefixes from the tables that the
/// elimination of each level consumes and produces.
pub(super) struct BestFirstSearch<'a> {
    /// Tables that the elimination of each level consumes: `ins[l]` are the tables whose innermost level is `l`. Their
    /// entries are added to the cost of a prefix when level `l` gets a value.
    ins: Vec<Vec<&'a LevelTable>>,
    /// Tables that the elimination of each level produced, by level: `outs[l]` for level `l`. Their entries are
    /// subtracted from the cost of a prefix when level `l` gets a value.
    outs: Vec<Vec<&'a LevelTable>>,
    sizes: &'a [usize],
    inexact_levels: usize,
    start: Cost,
}

impl<'a> BestFirstSearch<'a> {
    pub(super) fn new(plan: &EliminationPlan, done: &'a BucketTables, sizes: &'a [usize]) -> Self {
        let table = |number: usize| done.tables.get(&number);
        let ins = plan.levels.iter().map(|groups| {
            groups.iter().flat_map(|group| group.tables.iter().filter_map(|&t| table(t))).collect()
        });
        let outs = done.made.iter().map(|made| made.iter().filter_map(|&t| table(t)).collect());
        Self {
            ins: ins.collect(),
            outs: outs.collect(),
            sizes,
            inexact_levels: plan.inexact_levels(),
            start: done.bound,
        }
    }

    /// Costs of the extensions of `prefix` by each value of the next level, in the order of the values. `cost` is the
    /// cost of `prefix`.
    fn next(&self, prefix: &[usize], cost: Cost) -> Vec<Cost> {
        let level = prefix.len();
        let outs = self.outs.get(level).map_or(&[][..], Vec::as_slice);
        let base = outs.iter().fold(cost, |cost, table| cost.saturating_sub(table.at(prefix)));
        let mut costs = vec![base; self.sizes.get(level).copied().unwrap_or(0)];
        for table in self.ins.get(level).map_or(&[][..], Vec::as_slice) {
            for (cost, &more) in costs.iter_mut().zip(table.row(prefix)) {
                *cost = cost.saturating_add(more);
            }
        }
        costs.into_iter().map(capped).collect()
    }

    /// Pair (assignment, cost): the completion of a prefix in which each further level has its cheapest value, the
    /// smallest one on a tie. `None` if at some level every value is forbidden.
    fn dive(&self, mut prefix: Vec<usize>, mut cost: Cost) -> Option<(Vec<usize>, Cost)> {
        while prefix.len() < self.sizes.len() {
            let costs = self.next(&prefix, cost);
            let (value, &least) = costs.iter().enumerate().min_by_key(|&(_, &cost)| cost)?;
            if least == INFINITE {
                return None;
            }
            prefix.push(value);
            cost = least;
        }
        Some((prefix, cost))
    }

    /// Searches for an assignment of least cost, by extending the cheapest prefix again and again. `improve` improves a
    /// complete assignment in place and returns its cost. The search ends early when `stop` returns true, or when
    /// `nodes` prefixes are stored; the last extension may store one prefix per value beyond that. The result is then
    /// the best assignment found, with a lower bound that still holds.
    pub(super) fn run(
        &self,
        nodes: usize,
        improve: &dyn Fn(&mut Vec<usize>) -> Cost,
        stop: &dyn Fn() -> bool,
    ) -> SearchResult {
        let mut best: Option<(Vec<usize>, Cost)> = None;
        let mut arena: Vec<SearchNode> = Vec::new();
        let mut waiting =
            BinaryHeap::from([Reverse((self.start, self.inexact_levels, usize::MAX))]);
        let mut bound = INFINITE;
        let mut opened = 0usize;
        while let Some(Reverse((cost, depth_left, at))) = waiting.pop() {
            let least = best.as_ref().map_or(INFINITE, |&(_, cost)| cost);
            if cost >= least {
                bound = least;
                break;
            }
            let prefix = values(&arena, at);
            let full = depth_left == 0;
            if full || opened.is_multiple_of(BETWEEN_DIVES) {
                let dived = self.dive(prefix.clone(), cost).map(|(mut values, cost)| {
                    let improved = if full { cost } else { improve(&mut values) };
                    (values, improved)
                });
                best = better(best, dived);
            }
            let least = best.as_ref().map_or(INFINITE, |&(_, cost)| cost);
            let stopped = arena.len() >= nodes || (opened.is_multiple_of(BETWEEN_STOPS) && stop());
            if full || cost >= least || stopped {
                bound = cost.min(least);
                break;
            }
            opened += 1;
            for (value, &cost) in self.next(&prefix, cost).iter().enumerate() {
                if cost < least {
                    waiting.push(Reverse((cost, depth_left - 1, arena.len())));
                    arena.push(SearchNode { before: at, value });
                }
            }
        }
        let bound = bound.min(best.as_ref().map_or(INFINITE, |&(_, cost)| cost));
        SearchResult { best, bound, nodes: arena.len() }
    }
}

/// Cheaper one of two pairs (assignment, cost); `a` on a tie.
fn better(
    a: Option<(Vec<usize>, Cost)>,
    b: Option<(Vec<usize>, Cost)>,
) -> Option<(Vec<usize>, Cost)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Values of the prefix that ends at node `at` of the search tree, level 0 first; empty if `at` is out of range (the
/// root).
fn values(arena: &[SearchNode], mut at: usize) -> Vec<usize> {
    let mut values = Vec::new();
    while let Some(node) = arena.get(at) {
        values.push(node.value);
        at = node.before;
    }
    values.reverse();
    values
}
