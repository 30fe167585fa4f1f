//! Costs of layout conversions of one tensor: from each candidate to each, and to sets of candidates.

use super::network::{Cost, INFINITE, LARGEST};
use crate::model::graph::{Compatibility, GraphTensor, LayoutCandidate};

/// Scale of costs: bytes times a factor, plus one per conversion, so that plans with equal bytes are ordered by their
/// number of conversions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CostScale(Cost);

impl CostScale {
    /// Creates the scale for at most `conversions` conversions and a total of `bytes`. The factor is 1, which ignores
    /// the number of conversions, if the scaled total would overflow.
    pub(super) fn new(conversions: Cost, bytes: u128) -> Self {
        let scale = conversions.saturating_add(1);
        let fits = u128::from(scale).checked_mul(bytes).is_some_and(|all| all < LARGEST.into());
        Self(if fits { scale } else { 1 })
    }

    /// Scaled cost of an operator that costs `bytes`.
    pub(super) fn of(self, bytes: u64) -> Cost {
        bytes.saturating_mul(self.0)
    }

    /// Scaled cost of a conversion that costs `bytes`.
    pub(super) fn conversion(self, bytes: u64) -> Cost {
        self.of(bytes).saturating_add(Cost::from(self.0 > 1))
    }

    /// Bytes of a scaled cost: conversions count for less than one byte in total.
    pub(super) fn bytes(self, weight: Cost) -> u64 {
        weight.checked_div(self.0).unwrap_or(weight)
    }
}

/// Layout conversion of a tensor, by the positions of its source and destination candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConversionStep {
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Costs of all layout conversions of a tensor, and the cheapest chains.
#[derive(Debug, Clone)]
pub(super) struct ConversionCosts {
    /// Number of the tensor's candidates.
    count: usize,
    /// Cost of the direct conversion between two candidates: `cost[from][to]`, scaled.
    cost: Vec<Vec<Cost>>,
    /// Cost of the cheapest chain of conversions between two candidates: `least[from][to]`, scaled.
    least: Vec<Vec<Cost>>,
    /// Candidate after `from` on the cheapest chain of conversions: `first[from][to]`.
    first: Vec<Vec<usize>>,
}

/// Function that returns the bytes of the conversion from one candidate to another, if it moves data; `None` if
/// there is no such conversion.
pub(super) type ConversionPrice<'a> = dyn Fn(usize, usize) -> Option<u64> + 'a;

/// Bytes that a conversion reads and writes, including padding: its cost if none was measured.
pub fn bytes_moved(tensor: &GraphTensor, from: usize, to: usize) -> u64 {
    let bytes = |k: usize| tensor.candidates.get(k).map_or(0, |candidate| candidate.bytes);
    bytes(from).saturating_add(bytes(to))
}

impl ConversionCosts {
    /// Costs of a tensor's conversions. A conversion to a compatible layout is free; a forbidden layout or an opaque
    /// attribute is never a destination; a pinned tensor is never converted.
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

    /// Scaled cost of a direct conversion.
    pub(super) fn cost(&self, step: ConversionStep) -> Cost {
        self.cost.get(step.from).and_then(|row| row.get(step.to)).copied().unwrap_or(INFINITE)
    }

    fn least(&self, from: usize, to: usize) -> Cost {
        self.least.get(from).and_then(|row| row.get(to)).copied().unwrap_or(INFINITE)
    }

    fn first(&self, from: usize, to: usize) -> usize {
        self.first.get(from).and_then(|row| row.get(to)).copied().unwrap_or(to)
    }

    /// Cheapest sets of conversions that reach all of the candidates `targets`, from each candidate.
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

/// Way in which a Steiner tree continues at a candidate.
#[derive(Debug, Clone, Copy)]
enum SteinerBranch {
    /// End of the tree: no target is left.
    Leaf,
    /// Conversion to the candidate at this position.
    Via(usize),
    /// Two subtrees, for this set of targets as a bit mask and for the other targets.
    Split(usize),
}

/// Cost of the cheapest tree for each set of targets, as a bit mask, and each root.
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

    /// Cheapest trees for one set of targets from each root, given those for smaller sets.
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

    /// Cheapest split of a set of targets into two subtrees at `root`.
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

    /// Cost of reaching a set of targets from a candidate; [`INFINITE`] if one of them is unreachable.
    pub(super) fn cost(&self, root: usize, mask: usize) -> Cost {
        self.at(mask, root).0
    }

    /// Conversions of the cheapest tree, each after its predecessor, without duplicates.
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
