//! Costs of the layout conversions of one tensor: direct, by the cheapest chain between two candidate layouts, and by
//! the cheapest tree from one candidate to a set of candidates.

use super::network::{Cost, INFINITE, LARGEST};
use crate::model::graph::{Compatibility, GraphTensor, LayoutCandidate};

/// Scale that maps a cost in bytes to a [`Cost`]: bytes × factor, plus 1 per conversion. So plans with equal bytes are
/// ordered by their number of conversions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CostScale(Cost);

impl CostScale {
    /// Creates a scale for plans with at most `conversions` conversions and a total of `bytes`. If the scaled total
    /// would exceed [`LARGEST`], the factor is 1 and conversions are not counted.
    pub(super) fn new(conversions: Cost, bytes: u128) -> Self {
        let scale = conversions.saturating_add(1);
        let fits = u128::from(scale).checked_mul(bytes).is_some_and(|all| all < LARGEST.into());
        Self(if fits { scale } else { 1 })
    }

    /// Scaled cost of an operator whose cost is `bytes`.
    pub(super) fn of(self, bytes: u64) -> Cost {
        bytes.saturating_mul(self.0)
    }

    /// Scaled cost of one layout conversion whose cost is `bytes`.
    pub(super) fn conversion(self, bytes: u64) -> Cost {
        self.of(bytes).saturating_add(Cost::from(self.0 > 1))
    }

    /// Cost in bytes of a scaled cost, rounded down, which removes the counts of conversions.
    pub(super) fn bytes(self, weight: Cost) -> u64 {
        weight.checked_div(self.0).unwrap_or(weight)
    }
}

/// Layout conversion of a tensor: positions of its source and destination among the tensor's candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConversionStep {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Scaled costs of the conversions between all pairs of a tensor's candidates, direct and by chains of conversions.
#[derive(Debug, Clone)]
pub(super) struct ConversionCosts {
    /// Number of the tensor's candidates.
    count: usize,
    /// Scaled cost of the direct conversion `cost[from][to]`; [`INFINITE`] if there is none.
    cost: Vec<Vec<Cost>>,
    /// Scaled cost of the cheapest chain of conversions `least[from][to]`; [`INFINITE`] if there is none.
    least: Vec<Vec<Cost>>,
    /// Candidate that follows `from` on the cheapest chain to `to`: `first[from][to]`.
    first: Vec<Vec<usize>>,
}

/// Function that returns the cost in bytes of the conversion between two candidates, by their positions (source,
/// destination); `None` if there is no such conversion. Called only for conversions that move bytes.
pub(super) type ConversionPrice<'a> = dyn Fn(usize, usize) -> Option<u64> + 'a;

/// Bytes that a conversion reads and writes, including padding: the default cost of a conversion. `from` and `to` are
/// positions of candidates.
pub fn bytes_moved(tensor: &GraphTensor, from: usize, to: usize) -> u64 {
    let bytes = |k: usize| tensor.candidates.get(k).map_or(0, |candidate| candidate.bytes);
    bytes(from).saturating_add(bytes(to))
}

impl ConversionCosts {
    /// Creates the costs of a tensor's conversions. A conversion to a compatible layout costs 0. There is no conversion
    /// to a forbidden candidate; a layout with an opaque Glow attribute, and any other layout of a pinned tensor, is
    /// reached only by a free conversion.
    pub(super) fn new(tensor: &GraphTensor, price: &ConversionPrice<'_>, scale: CostScale) -> Self {
        let count = tensor.candidates.len();
        let one = |from: usize, to: usize| {
            let target = tensor.candidates.get(to);
            if from == to {
                return 0;
            }
            if target.is_none_or(|to| to.is_forbidden) {
                return INFINITE;
            }
            if tensor.compatibility(from, to) == Compatibility::Satisfied {
                return 0;
            }
            let is_opaque = target.is_none_or(LayoutCandidate::is_opaque);
            let price = if is_opaque || tensor.is_pinned { None } else { price(from, to) };
            price.map_or(INFINITE, |bytes| scale.conversion(bytes))
        };
        let cost: Vec<Vec<Cost>> =
            (0..count).map(|from| (0..count).map(|to| one(from, to)).collect()).collect();
        let mut moves = Self {
            count,
            least: cost.clone(),
            first: (0..count).map(|_| (0..count).collect()).collect(),
            cost,
        };
        moves.chain();
        moves
    }

    /// Computes the cheapest chains of conversions between all candidates (Floyd-Warshall).
    fn chain(&mut self) {
        for stop in 0..self.count {
            for from in 0..self.count {
                for to in 0..self.count {
                    let through = sum(self.least(from, stop), self.least(stop, to));
                    if through < self.least(from, to) {
                        let first = self.first(from, stop);
                        set(&mut self.least, from, to, through);
                        set(&mut self.first, from, to, first);
                    }
                }
            }
        }
    }

    /// Scaled cost of a direct conversion; [`INFINITE`] if there is none.
    pub(super) fn cost(&self, step: ConversionStep) -> Cost {
        self.cost.get(step.from).and_then(|row| row.get(step.to)).copied().unwrap_or(INFINITE)
    }

    fn least(&self, from: usize, to: usize) -> Cost {
        self.least.get(from).and_then(|row| row.get(to)).copied().unwrap_or(INFINITE)
    }

    fn first(&self, from: usize, to: usize) -> usize {
        self.first.get(from).and_then(|row| row.get(to)).copied().unwrap_or(to)
    }

    /// Cheapest trees of conversions from each candidate to each subset of the candidates `targets`. The number of
    /// subsets is 2 to the power of the number of targets.
    pub(super) fn trees(&self, targets: &[usize]) -> SteinerTrees<'_> {
        let all = 1_usize << targets.len();
        let mut trees = SteinerTrees { moves: self, targets: targets.to_vec(), rows: Vec::new() };
        for mask in 0..all {
            let row = trees.row(mask);
            trees.rows.push(row);
        }
        trees
    }
}

fn sum(a: Cost, b: Cost) -> Cost {
    a.checked_add(b).unwrap_or(INFINITE)
}

fn set<T>(table: &mut [Vec<T>], row: usize, column: usize, value: T) {
    if let Some(slot) = table.get_mut(row).and_then(|row| row.get_mut(column)) {
        *slot = value;
    }
}

/// Continuation of a Steiner tree of conversions at a candidate.
#[derive(Debug, Clone, Copy)]
enum SteinerBranch {
    /// End of the tree: all targets of the subtree are reached.
    Leaf,
    /// Conversion to the candidate at this position, where the tree continues.
    Via(usize),
    /// Two subtrees at the same candidate: one for the targets of this bit mask, one for the remaining targets.
    Split(usize),
}

/// Cheapest tree of conversions for each root and each set of targets. A set is a bit mask: bit k stands for target k.
///
/// Source: Dreyfus and Wagner, The Steiner problem in graphs (1971), for directed graphs: a conversion shared by
/// several targets is counted once.
#[derive(Debug)]
pub(super) struct SteinerTrees<'m> {
    moves: &'m ConversionCosts,
    targets: Vec<usize>,
    rows: Vec<Vec<(Cost, SteinerBranch)>>,
}

impl SteinerTrees<'_> {
    fn at(&self, mask: usize, root: usize) -> (Cost, SteinerBranch) {
        let row = self.rows.get(mask);
        row.and_then(|row| row.get(root)).copied().unwrap_or((INFINITE, SteinerBranch::Leaf))
    }

    /// Cost and first branch of the cheapest tree from each root to the targets in `mask`. The rows of all smaller
    /// masks must be computed.
    fn row(&self, mask: usize) -> Vec<(Cost, SteinerBranch)> {
        let moves = self.moves;
        if mask == 0 {
            return vec![(0, SteinerBranch::Leaf); moves.count];
        }
        let single = mask.is_power_of_two().then_some(mask.trailing_zeros());
        let single = single.and_then(|bit| self.targets.get(usize::try_from(bit).ok()?));
        let parted = |root: usize| match single {
            Some(target) if *target == root => (0, SteinerBranch::Leaf),
            Some(_) => (INFINITE, SteinerBranch::Leaf),
            None => self.parted(mask, root),
        };
        let parts: Vec<(Cost, SteinerBranch)> = (0..moves.count).map(parted).collect();
        let gone = |root: usize| {
            let own = parts.get(root).copied().unwrap_or((INFINITE, SteinerBranch::Leaf));
            let others = parts.iter().enumerate().filter(|(to, _)| *to != root);
            let best = others.map(|(to, part)| (sum(moves.least(root, to), part.0), to)).min();
            match best {
                Some((cost, to)) if cost < own.0 => (cost, SteinerBranch::Via(to)),
                _ => own,
            }
        };
        (0..moves.count).map(gone).collect()
    }

    /// Cheapest partition of the targets in `mask` into two subtrees at `root`: scaled cost and
    /// [`SteinerBranch::Split`]; [`INFINITE`] and [`SteinerBranch::Leaf`] if no partition reaches all targets.
    fn parted(&self, mask: usize, root: usize) -> (Cost, SteinerBranch) {
        let mut best = (INFINITE, SteinerBranch::Leaf);
        let mut part = (mask - 1) & mask;
        while part > 0 {
            let cost = sum(self.at(part, root).0, self.at(mask ^ part, root).0);
            if cost < best.0 {
                best = (cost, SteinerBranch::Split(part));
            }
            part = (part - 1) & mask;
        }
        best
    }

    /// Scaled cost of the cheapest tree from candidate `root` to the targets in `mask`; [`INFINITE`] if a target is
    /// unreachable.
    pub(super) fn cost(&self, root: usize, mask: usize) -> Cost {
        self.at(mask, root).0
    }

    /// Conversions of the cheapest tree from `root` to the targets in `mask`, without duplicates. A conversion comes
    /// after the one that produces its source.
    pub(super) fn steps(&self, root: usize, mask: usize) -> Vec<ConversionStep> {
        let mut steps: Vec<ConversionStep> = Vec::new();
        let mut open = vec![(mask, root)];
        while let Some((mask, root)) = open.pop() {
            match self.at(mask, root).1 {
                SteinerBranch::Leaf => {}
                SteinerBranch::Split(part) => open.extend([(mask ^ part, root), (part, root)]),
                SteinerBranch::Via(to) => {
                    self.walk(root, to, &mut steps);
                    open.push((mask, to));
                }
            }
        }
        steps
    }

    fn walk(&self, root: usize, to: usize, steps: &mut Vec<ConversionStep>) {
        let mut from = root;
        for _ in 0..self.moves.count {
            if from == to {
                return;
            }
            let step = ConversionStep { from, to: self.moves.first(from, to) };
            if !steps.contains(&step) {
                steps.push(step);
            }
            from = step.to;
        }
    }
}
