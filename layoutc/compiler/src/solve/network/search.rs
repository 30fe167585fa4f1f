//! Best-first search over the levels whose costs are not exact, with the eliminated tables as bounds.
//!
//! A prefix assigns values to the levels 0, 1, …. Its cost is the sum of its own tables and of the tables that later
//! levels produced over its levels: a lower bound on every continuation, and exact if no later bucket has more than one
//! group. The cost of a prefix is at least that of a shorter one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::data::{Cost, INFINITE};
use super::eliminate::BucketTables;
use super::elimination_plan::EliminationPlan;
use super::table::{LevelTable, capped};

/// Number of prefixes that are expanded between two greedy completions.
const BETWEEN_DIVES: usize = 128;

/// Number of prefixes that are expanded between two calls of `stop`.
const BETWEEN_STOPS: usize = 256;

/// Result of a best-first search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SearchResult {
    /// Value of each level in the best assignment found, and its cost; `None` if none was found.
    pub(super) best: Option<(Vec<usize>, Cost)>,
    /// Lower bound on the cost of every assignment.
    pub(super) bound: Cost,
    /// Maximum number of prefixes that cost less than the bound.
    pub(super) nodes: usize,
}

/// Prefix in the search tree: its last value, and the position of the prefix without it.
struct SearchNode {
    before: usize,
    value: usize,
}

/// Best-first search over a part, with the part's tables by the level at which they take effect.
pub(super) struct BestFirstSearch<'a> {
    /// For each level, the tables whose innermost level it is.
    ins: Vec<Vec<&'a LevelTable>>,
    /// For each level, the tables that its elimination produced.
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

    /// Costs of a prefix that is extended by each value of the next level.
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

    /// Completion of a prefix by the cheapest value of each further level; ties take the smallest value.
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

    /// Searches the best values. `improve` improves an assignment in place and returns its cost. At most `nodes`
    /// prefixes are stored.
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

/// The assignment of lower cost of two; `a` on a tie.
fn better(
    a: Option<(Vec<usize>, Cost)>,
    b: Option<(Vec<usize>, Cost)>,
) -> Option<(Vec<usize>, Cost)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// Values of the prefix at a position of the search tree, those of level 0 first.
fn values(arena: &[SearchNode], mut at: usize) -> Vec<usize> {
    let mut values = Vec::new();
    while let Some(node) = arena.get(at) {
        values.push(node.value);
        at = node.before;
    }
    values.reverse();
    values
}
