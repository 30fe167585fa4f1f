//! The best values of the levels whose costs are not exact: best first, with the made tables as bounds.
//!
//! A prefix gives values to the levels 0, 1, …. Its cost is what its own tables come to, and the tables that the levels
//! after it made over its levels: no continuation costs less, and where no later bucket has more than one group, the best
//! continuation costs just that. A prefix never costs less than a shorter one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::data::{Cost, INFINITE};
use super::eliminate::BucketTables;
use super::elimination_plan::EliminationPlan;
use super::table::{LevelTable, capped};

/// Prefixes between two attempts to complete one greedily.
const BETWEEN_DIVES: usize = 128;

/// Prefixes between two questions whether to stop.
const BETWEEN_STOPS: usize = 256;

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SearchResult {
    /// A value for each level, and what they cost.
    pub(super) best: Option<(Vec<usize>, Cost)>,
    /// Nothing costs less.
    pub(super) bound: Cost,
    /// How many prefixes cost less than the bound, at most.
    pub(super) nodes: usize,
}

/// A prefix: its last value, and where the one before is.
struct SearchNode {
    before: usize,
    value: usize,
}

/// The tables of a part by the level at which they count.
pub(super) struct BestFirstSearch<'a> {
    /// For each level: tables whose innermost level it is.
    ins: Vec<Vec<&'a LevelTable>>,
    /// For each level: tables that it made.
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

    /// The costs of a prefix with each value of the next level.
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

    /// The prefix with the cheapest next values to the end, the smallest of equal ones.
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

    /// Finds the best values. `improve` may make an assignment better; it gives its cost. At most `nodes` prefixes are
    /// kept.
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

/// The one of lower cost; the first one of equal ones.
fn better(
    a: Option<(Vec<usize>, Cost)>,
    b: Option<(Vec<usize>, Cost)>,
) -> Option<(Vec<usize>, Cost)> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The values of a prefix, level 0 first.
fn values(arena: &[SearchNode], mut at: usize) -> Vec<usize> {
    let mut values = Vec::new();
    while let Some(node) = arena.get(at) {
        values.push(node.value);
        at = node.before;
    }
    values.reverse();
    values
}
