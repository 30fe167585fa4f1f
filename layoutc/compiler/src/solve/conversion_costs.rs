//! What changing the layout of one tensor costs: from each candidate to each, and to several at once.

use super::network::{Cost, INFINITE, LARGEST};
use crate::model::graph::{Compatibility, GraphTensor, LayoutCandidate};

/// How costs are weighed: bytes times a scale, and one for each conversion, so that of plans that cost as many bytes the
/// one with the fewest conversions is the cheapest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CostScale(Cost);

impl CostScale {
    /// The scale for at most so many conversions; 1, for which conversions do not count, where a sum of so many bytes
    /// would be too large.
    pub(super) fn new(conversions: Cost, bytes: u128) -> Self {
        let scale = conversions.saturating_add(1);
        let fits = u128::from(scale).checked_mul(bytes).is_some_and(|all| all < LARGEST.into());
        Self(if fits { scale } else { 1 })
    }

    /// Bytes as a weight.
    pub(super) fn of(self, bytes: u64) -> Cost {
        bytes.saturating_mul(self.0)
    }

    /// The weight of a conversion of so many bytes.
    pub(super) fn conversion(self, bytes: u64) -> Cost {
        self.of(bytes).saturating_add(Cost::from(self.0 > 1))
    }

    /// The bytes of a weight: what conversions count for is less than one.
    pub(super) fn bytes(self, weight: Cost) -> u64 {
        weight.checked_div(self.0).unwrap_or(weight)
    }
}

/// A change of layout, by the positions of two candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConversionStep {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// The costs of all changes of a tensor's layout, and the cheapest ways.
#[derive(Debug, Clone)]
pub(super) struct ConversionCosts {
    /// How many candidates there are.
    count: usize,
    /// `cost[from][to]` by one change.
    cost: Vec<Vec<Cost>>,
    /// `least[from][to]` by a chain of changes.
    least: Vec<Vec<Cost>>,
    /// `first[from][to]`: the first stop on the cheapest way.
    first: Vec<Vec<usize>>,
}

/// The bytes of a change that moves some; `None` if there is no such change.
pub(super) type ConversionPrice<'a> = dyn Fn(usize, usize) -> Option<u64> + 'a;

/// The bytes that a conversion reads and writes, padding included: what a change costs if nothing was measured.
pub fn bytes_moved(tensor: &GraphTensor, from: usize, to: usize) -> u64 {
    let bytes = |k: usize| tensor.candidates.get(k).map_or(0, |candidate| candidate.bytes);
    bytes(from).saturating_add(bytes(to))
}

impl ConversionCosts {
    /// The changes of a tensor. A layout that does as another costs nothing; one that is forbidden, or has an attribute
    /// that nobody can give, is never reached; a tensor that is kept is never converted.
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

    /// The cheapest chains, by one more stop each time.
    fn chain(&mut self) {
        for stop in 0..self.count {
            for from in 0..self.count {
                for to in 0..self.count {
                    let way = sum(self.least(from, stop), self.least(stop, to));
                    if way < self.least(from, to) {
                        let first = self.first(from, stop);
                        set(&mut self.least, from, to, way);
                        set(&mut self.first, from, to, first);
                    }
                }
            }
        }
    }

    /// What one change costs.
    pub(super) fn cost(&self, step: ConversionStep) -> Cost {
        self.cost.get(step.from).and_then(|row| row.get(step.to)).copied().unwrap_or(INFINITE)
    }

    fn least(&self, from: usize, to: usize) -> Cost {
        self.least.get(from).and_then(|row| row.get(to)).copied().unwrap_or(INFINITE)
    }

    fn first(&self, from: usize, to: usize) -> usize {
        self.first.get(from).and_then(|row| row.get(to)).copied().unwrap_or(to)
    }

    /// The cheapest sets of changes that give all of `targets` together, from each candidate.
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

/// How a tree goes on from a candidate.
#[derive(Debug, Clone, Copy)]
enum SteinerBranch {
    /// Nothing is left to reach.
    Leaf,
    /// To another candidate first.
    Via(usize),
    /// As two trees: this set of targets, and the rest.
    Split(usize),
}

/// For each set of targets, as bits, and each candidate to begin with, the cost of the cheapest tree.
///
/// Source: Dreyfus and Wagner, The Steiner problem in graphs (1971), here with a direction: what is common to several
/// targets is converted once.
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

    /// The trees for one set, where those of smaller sets are known.
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
            let ways = parts.iter().enumerate().filter(|(to, _)| *to != root);
            let best = ways.map(|(to, part)| (sum(moves.least(root, to), part.0), to)).min();
            match best {
                Some((cost, to)) if cost < own.0 => (cost, SteinerBranch::Via(to)),
                _ => own,
            }
        };
        (0..moves.count).map(gone).collect()
    }

    /// The cheapest two trees from `root` that share a set.
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

    /// What reaching a set of targets costs from a candidate; [`INFINITE`] if no way leads to one of them.
    pub(super) fn cost(&self, root: usize, mask: usize) -> Cost {
        self.at(mask, root).0
    }

    /// The changes of the cheapest tree, each after the one that it goes on from, none twice.
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
