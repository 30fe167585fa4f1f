//! Costs of the layout conversions of one tensor: of direct conversions, of the cheapest chain of conversions between
//! two candidate layouts, and of the cheapest tree of conversions from one candidate to a set of candidates.

use super::network::{Cost, INFINITE, LARGEST};
use crate::model::graph::{Compatibility, GraphTensor, LayoutCandidate};

/// Factor that scales a cost in bytes to a [`Cost`]. A conversion costs its bytes times the factor, plus 1 if the
/// factor is greater than 1. So of plans with equal bytes, the one with fewer conversions is cheaper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CostScale(Cost);

impl CostScale {
    /// Scale for plans with at most `conversions` conversions and at most `bytes` bytes. The factor is
    /// `conversions + 1`. If this times `bytes` is [`LARGEST`] or more, it is 1, and conversions are not counted.
    pub(super) fn new(conversions: Cost, bytes: u128) -> Self {
        let scale = conversions.saturating_add(1);
        let fits = u128::from(scale).checked_mul(bytes).is_some_and(|all| all < LARGEST.into());
        Self(if fits { scale } else { 1 })
    }

    /// Scaled cost of an operator whose cost is `bytes`.
    pub(super) fn of(self, bytes: u64) -> Cost {
        bytes.saturating_mul(self.0)
    }

    /// Scaled cost of one layout conversion whose cost is `bytes`: `bytes` times the factor, plus 1 if the factor is
    /// greater than 1.
    pub(super) fn conversion(self, bytes: u64) -> Cost {
        self.of(bytes).saturating_add(Cost::from(self.0 > 1))
    }

    /// Cost in bytes of the scaled cost `weight`. The division by the factor rounds down, which drops the count of
    /// conversions.
    pub(super) fn bytes(self, weight: Cost) -> u64 {
        weight.checked_div(self.0).unwrap_or(weight)
    }
}

/// Layout conversion of a tensor. `from` and `to` are the positions of its source and its destination among the
/// tensor's candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConversionStep {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Scaled costs of the conversions between all pairs of a tensor's candidate layouts, both direct ones and chains. A
/// candidate is given by its position in the tensor's list of candidates.
#[derive(Debug, Clone)]
pub(super) struct ConversionCosts {
    /// Number of the tensor's candidates.
    count: usize,
    /// Scaled cost `cost[from][to]` of the direct conversion between two candidates; [`INFINITE`] if there is none.
    cost: Vec<Vec<Cost>>,
    /// Scaled cost `least[from][to]` of the cheapest chain of conversions; [`INFINITE`] if there is none.
    least: Vec<Vec<Cost>>,
    /// Position `first[from][to]` of the candidate to which the first conversion of the cheapest chain from `from` to
    /// `to` leads.
    first: Vec<Vec<usize>>,
}

/// Function `price(from, to)` that returns the cost in bytes of the conversion between two candidates, given by their
/// positions; `None` if there is no such conversion. It is not called for conversions that move no byte.
pub(super) type ConversionPrice<'a> = dyn Fn(usize, usize) -> Option<u64> + 'a;

/// Default cost of a conversion: the number of bytes that it reads and writes, including padding. `from` and `to` are
/// positions of candidate layouts of `tensor`.
pub fn bytes_moved(tensor: &GraphTensor, from: usize, to: usize) -> u64 {
    let bytes = |k: usize| tensor.candidates.get(k).map_or(0, |candidate| candidate.bytes);
    bytes(from).saturating_add(bytes(to))
}

impl ConversionCosts {
    /// Costs of a tensor's conversions. A conversion to a compatible layout costs 0. Any other conversion costs
    /// `price`, scaled by `scale`; it does not exist if `price` returns `None`, if the tensor is pinned, or if the
    /// destination has an opaque Glow attribute. No conversion ends in a forbidden candidate.
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

    /// Cheapest trees of conversions from each candidate to each subset of `targets`, which are positions of
    /// candidates. For n targets, the memory grows with 2^n and the time with 3^n.
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

/// First branch at a candidate of a Steiner tree of conversions: the tree is stored as one branch for each candidate
/// and each set of targets.
#[derive(Debug, Clone, Copy)]
enum SteinerBranch {
    /// End of the tree: all targets of the subtree are reached, or, at an infinite cost, some cannot be reached.
    Leaf,
    /// Cheapest chain of conversions to the candidate at this position, where the tree continues.
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

    /// Pairs (scaled cost, first branch) of the cheapest trees to the targets in `mask`, one for each candidate as
    /// root, in the order of the candidates. The rows of all smaller masks must be computed before.
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

    /// Cheapest partition of the targets in `mask` into two subtrees at `root`, as a pair (scaled cost, branch). The
    /// branch is a [`SteinerBranch::Split`]. If no partition reaches all targets, the pair is [`INFINITE`] and
    /// [`SteinerBranch::Leaf`].
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
