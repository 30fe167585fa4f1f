//! Connected component of a network as a separate problem: variables with at least two remaining values, ordered by
//! level, and their tables.

use std::collections::{BTreeMap, BTreeSet};

use super::data::{Cost, CostNetwork, INFINITE, PairCosts};
use super::elimination_plan::TableScope;
use super::messages::PairEdge;
use super::order::{NeighborMap, elimination_order};
use super::proof::CostMessage;
use super::reduce::LiveValues;
use super::table::LevelTable;

/// Cost function network whose variables are restricted to their remaining values (`left`). `pairs_of` holds the
/// positions of each variable's pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReducedNetwork<'a> {
    pub(super) network: &'a CostNetwork,
    pub(super) pairs_of: &'a [Vec<usize>],
    pub(super) left: &'a LiveValues,
}

impl<'a> ReducedNetwork<'a> {
    pub(super) fn left_of(&self, variable: usize) -> &'a [usize] {
        self.left.get(variable).map_or(&[], Vec::as_slice)
    }

    fn is_open(&self, variable: usize) -> bool {
        self.left_of(variable).len() > 1
    }

    fn pairs(&self, variable: usize) -> impl Iterator<Item = (usize, &'a PairCosts)> {
        let numbers = self.pairs_of.get(variable).map_or(&[][..], Vec::as_slice);
        let network = self.network;
        numbers.iter().filter_map(move |&number| Some((number, network.pairs.get(number)?)))
    }

    fn unary_costs(&self, variable: usize) -> Vec<Cost> {
        let costs = self.network.unaries.get(variable).map_or(&[][..], Vec::as_slice);
        let at = |&value: &usize| costs.get(value).copied().unwrap_or(INFINITE);
        self.left_of(variable).iter().map(at).collect()
    }

    /// Costs of a pair in row-major order: one row per remaining value of its first variable, one column per remaining
    /// value of its second variable.
    fn pair_costs(&self, pair: &PairCosts) -> Vec<Cost> {
        let (rows, columns) = (self.left_of(pair.first), self.left_of(pair.second));
        rows.iter().flat_map(|&a| columns.iter().map(move |&b| pair.cost(a, b))).collect()
    }

    /// Cost of all variables with a single remaining value, of the pairs among them, and of the network's constant.
    pub(super) fn base(&self) -> Cost {
        let closed = (0..self.network.variables()).filter(|&variable| !self.is_open(variable));
        let alone = closed.flat_map(|variable| self.unary_costs(variable));
        let pairs = self.network.pairs.iter();
        let inside = pairs.filter(|pair| !self.is_open(pair.first) && !self.is_open(pair.second));
        let together = inside.flat_map(|pair| self.pair_costs(pair));
        alone.chain(together).fold(self.network.constant, Cost::saturating_add)
    }

    /// Connected components of the variables with more than one remaining value, each as ascending variable numbers.
    /// Two variables are connected if they form a pair.
    pub(super) fn groups(&self) -> Vec<Vec<usize>> {
        let variables = 0..self.network.variables();
        let mut waiting: BTreeSet<usize> = variables.filter(|&v| self.is_open(v)).collect();
        let mut groups = Vec::new();
        while let Some(first) = waiting.pop_first() {
            let mut group = vec![first];
            let mut next = 0;
            while let Some(&variable) = group.get(next) {
                next += 1;
                let near = self.pairs(variable).map(|(_, pair)| pair.other(variable));
                group.extend(near.filter(|other| waiting.remove(other)));
            }
            group.sort_unstable();
            groups.push(group);
        }
        groups
    }
}

/// Subproblem: a connected component of a network, with its variables by level and its tables before the elimination.
/// Level 0 is eliminated last.
#[derive(Debug, Clone)]
pub(super) struct Subproblem {
    /// Number of the variable at each level.
    pub(super) variables: Vec<usize>,
    /// Number of remaining values of the variable at each level.
    pub(super) sizes: Vec<usize>,
    /// Unary costs of the variable at each level, one per remaining value.
    pub(super) unaries: Vec<Vec<Cost>>,
    /// Pairs of two variables of the subproblem; `a` and `b` of an edge are levels.
    pub(super) edges: Vec<PairEdge>,
    numbers: Vec<usize>,
    /// Pairs of the network that connect a variable of the subproblem with one that has a single remaining value, as
    /// triples (number of the pair, level, costs). `level` is that of the variable in the subproblem, for each of whose
    /// remaining values there is a cost.
    halves: Vec<(usize, usize, Vec<Cost>)>,
}

impl Subproblem {
    /// Creates the subproblem of the variables with the numbers `group`, with levels in reverse elimination order.
    pub(super) fn new(reduced: ReducedNetwork<'_>, group: &[usize]) -> Self {
        let near = |v: usize| {
            let others = reduced.pairs(v).map(move |(_, pair)| pair.other(v));
            (v, others.filter(|&other| reduced.is_open(other)).collect::<BTreeSet<usize>>())
        };
        let neighbours: NeighborMap = group.iter().map(|&v| near(v)).collect();
        let mut variables = elimination_order(neighbours, &|v| reduced.left_of(v).len());
        variables.reverse();
        let levels: BTreeMap<usize, usize> =
            variables.iter().enumerate().map(|(level, &v)| (v, level)).collect();
        let mut part = Self {
            sizes: variables.iter().map(|&v| reduced.left_of(v).len()).collect(),
            unaries: variables.iter().map(|&v| reduced.unary_costs(v)).collect(),
            variables,
            edges: Vec::new(),
            numbers: Vec::new(),
            halves: Vec::new(),
        };
        let pairs: BTreeMap<usize, &PairCosts> =
            group.iter().flat_map(|&v| reduced.pairs(v)).collect();
        for (number, pair) in pairs {
            let costs = reduced.pair_costs(pair);
            match (levels.get(&pair.first).copied(), levels.get(&pair.second).copied()) {
                (Some(a), Some(b)) => {
                    let sent = |level: usize| vec![0; part.sizes.get(level).copied().unwrap_or(0)];
                    let (to_a, to_b) = (sent(a), sent(b));
                    part.edges.push(PairEdge { a, b, costs, to_a, to_b });
                    part.numbers.push(number);
                }
                (Some(level), None) | (None, Some(level)) => {
                    part.halves.push((number, level, costs));
                }
                (None, None) => {}
            }
        }
        part
    }

    /// Numbers and levels of the tables of the subproblem. `variables` is the number of variables in the network, on
    /// which the numbers of pairs depend: pair `p` of the network is table `variables + p`.
    pub(super) fn scopes(&self, variables: usize) -> Vec<TableScope> {
        let alone = self.variables.iter().enumerate().map(|(level, &v)| (v, vec![level]));
        let edges = self.edges.iter().zip(&self.numbers);
        let edges = edges.map(|(e, &n)| (variables + n, vec![e.a.min(e.b), e.a.max(e.b)]));
        let halves = self.halves.iter().map(|&(n, level, _)| (variables + n, vec![level]));
        alone.chain(edges).chain(halves).collect()
    }

    /// Tables of the subproblem by number. The numbers, and the argument `variables`, are as in
    /// [`scopes`](Self::scopes).
    pub(super) fn tables(&self, variables: usize) -> BTreeMap<usize, LevelTable> {
        let table = |levels, costs| LevelTable::new(levels, &self.sizes, costs);
        let alone = self.variables.iter().zip(&self.unaries).enumerate();
        let alone = alone.map(|(level, (&v, costs))| (v, table(vec![level], costs.clone())));
        let edges = self.edges.iter().zip(&self.numbers).map(|(edge, &number)| {
            let costs = if edge.a < edge.b {
                edge.costs.clone()
            } else {
                let width = self.sizes.get(edge.b).copied().unwrap_or(1).max(1);
                let column = |c| edge.costs.iter().skip(c).step_by(width).copied();
                (0..width).flat_map(column).collect()
            };
            (variables + number, table(vec![edge.a.min(edge.b), edge.a.max(edge.b)], costs))
        });
        let halves = self.halves.iter();
        let halves =
            halves.map(|(n, level, costs)| (variables + n, table(vec![*level], costs.clone())));
        alone.chain(edges).chain(halves).collect()
    }

    /// Messages for the proof: the costs that message passing has shifted, as the edges record them. `None` if a shift
    /// exceeds 64 bits.
    pub(super) fn messages(&self) -> Option<Vec<CostMessage>> {
        let mut messages = Vec::new();
        for (edge, &pair) in self.edges.iter().zip(&self.numbers) {
            for (level, sent) in [(edge.a, &edge.to_a), (edge.b, &edge.to_b)] {
                if sent.iter().any(|&cost| cost != 0) {
                    let costs: Result<Vec<i64>, _> =
                        sent.iter().map(|&cost| i64::try_from(cost)).collect();
                    let variable = self.variables.get(level).copied()?;
                    messages.push(CostMessage { pair, variable, costs: costs.ok()? });
                }
            }
        }
        Some(messages)
    }
}
