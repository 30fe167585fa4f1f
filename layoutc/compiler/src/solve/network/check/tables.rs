//! Dense cost tables of the checker, over the remaining values of a subproblem's variables.

use std::collections::BTreeMap;

use super::super::data::{Cost, CostNetwork, INFINITE, LARGEST};
use super::super::proof::{BoundProof, ProofPart};
use super::ProofError;

/// Cost table over variables of a subproblem, each given by its position in the subproblem. The variable that is
/// eliminated last has position 0.
#[derive(Debug, Clone)]
pub(super) struct CostTable {
    /// Position and number of values of each variable of the table, in ascending order of the position.
    pub(super) axes: Vec<(usize, usize)>,
    /// Costs in row-major order, the first variable outermost: [`INFINITE`], or at most [`LARGEST`].
    pub(super) entries: Vec<Cost>,
}

impl CostTable {
    /// Cost of the table's entry for `values`: `values[p]` is the value of the variable at position `p` of the
    /// subproblem. Positions outside the table are ignored, and missing values are 0.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        let mut index = 0usize;
        for &(place, extent) in &self.axes {
            index = index * extent + values.get(place).copied().unwrap_or(0);
        }
        self.entries.get(index).copied().unwrap_or(INFINITE)
    }
}

/// Table entry for an exact sum of costs; `None` as argument stands for an infinite sum. The entry is [`INFINITE`] for
/// an infinite sum and for one above [`LARGEST`], which no assignment of finite cost contains. The result is `None` for
/// a negative sum.
pub(super) fn clamp_cost(cost: Option<i128>) -> Option<Cost> {
    match cost {
        None => Some(INFINITE),
        Some(cost) if cost > i128::from(LARGEST) => Some(INFINITE),
        Some(cost) => Cost::try_from(cost).ok(),
    }
}

/// Assignment of the variables and pairs of a network to the subproblems of a proof.
pub(super) struct PartAssignment<'a> {
    network: &'a CostNetwork,
    pub(super) left: &'a [Vec<usize>],
    /// Pairs (subproblem, position), by the number of the variable: the position in the proof of the subproblem that
    /// contains it, and its position in the subproblem. `None` for a variable with a single value.
    places: Vec<Option<(usize, usize)>>,
    /// Position in the proof of the subproblem that contains each pair, by the pair's number; `None` if both variables
    /// of the pair have a single value.
    pairs: Vec<Option<usize>>,
    /// Cost outside of all subproblems: the network's constant, the costs of variables with a single value, and the
    /// costs of pairs of such variables.
    pub(super) closed: Cost,
}

impl<'a> PartAssignment<'a> {
    /// Assigns each variable and each pair of `network` to the subproblem of `proof` that contains it. `left` has the
    /// remaining values of each variable. A variable with a single value, and a pair of two such variables, is in no
    /// subproblem, and its cost is added to `closed`.
    ///
    /// # Errors
    /// [`ProofError::Variable`] if a variable with several remaining values is not in exactly one subproblem, or if a
    /// subproblem contains a variable with a single value or one that the network does not have. [`ProofError::Table`]
    /// if a pair connects two subproblems.
    pub(super) fn new(
        network: &'a CostNetwork,
        left: &'a [Vec<usize>],
        proof: &BoundProof,
    ) -> Result<Self, ProofError> {
        let mut places = vec![None; left.len()];
        for (number, part) in proof.parts.iter().enumerate() {
            for (place, bucket) in part.buckets.iter().rev().enumerate() {
                let wrong = ProofError::Variable { variable: bucket.variable };
                let slot = places.get_mut(bucket.variable).ok_or(wrong)?;
                let open = left.get(bucket.variable).is_some_and(|values| values.len() > 1);
                if slot.is_some() || !open {
                    return Err(wrong);
                }
                *slot = Some((number, place));
            }
        }
        let mut parts = Self { network, left, places, pairs: Vec::new(), closed: network.constant };
        if let Some(variable) = parts.missing() {
            return Err(ProofError::Variable { variable });
        }
        for variable in 0..left.len() {
            if parts.place(variable).is_none() {
                let costs = parts.unary_costs(variable).into_iter().fold(0, Cost::saturating_add);
                parts.closed = parts.closed.saturating_add(costs);
            }
        }
        for (number, pair) in network.pairs.iter().enumerate() {
            let ends = [parts.place(pair.first), parts.place(pair.second)];
            let part = match ends {
                [Some((a, _)), Some((b, _))] if a != b => {
                    return Err(ProofError::Table { table: left.len() + number });
                }
                [Some((part, _)), _] | [_, Some((part, _))] => Some(part),
                [None, None] => {
                    let costs = parts.pair_costs(number).into_iter().fold(0, Cost::saturating_add);
                    parts.closed = parts.closed.saturating_add(costs);
                    None
                }
            };
            parts.pairs.push(part);
        }
        Ok(parts)
    }

    /// Number of a variable that has several remaining values but is in no subproblem; `None` if there is none.
    pub(super) fn missing(&self) -> Option<usize> {
        let mut variables = self.left.iter().zip(&self.places);
        variables.position(|(values, place)| values.len() > 1 && place.is_none())
    }

    /// Number of tables of the network: one per variable and one per pair. The tables that a subproblem produces are
    /// numbered from this number on.
    pub(super) fn network_tables(&self) -> usize {
        self.left.len() + self.pairs.len()
    }

    fn place(&self, variable: usize) -> Option<(usize, usize)> {
        self.places.get(variable).copied().flatten()
    }

    fn values(&self, variable: usize) -> &'a [usize] {
        self.left.get(variable).map_or(&[], Vec::as_slice)
    }

    fn unary_costs(&self, variable: usize) -> Vec<Cost> {
        let costs = self.network.unaries.get(variable).map_or(&[][..], Vec::as_slice);
        let remaining = self.values(variable).iter();
        remaining.map(|&value| costs.get(value).copied().unwrap_or(INFINITE)).collect()
    }

    /// Costs of pair `number` in row-major order: one row per remaining value of its first variable, one column per
    /// remaining value of its second variable.
    fn pair_costs(&self, number: usize) -> Vec<Cost> {
        let mut table = Vec::new();
        let Some(pair) = self.network.pairs.get(number) else { return table };
        let rows: Vec<&[Cost]> = pair.costs.chunks(pair.width.max(1)).collect();
        for &a in self.values(pair.first) {
            let row = rows.get(a).copied().unwrap_or(&[]);
            let columns = self.values(pair.second).iter();
            table.extend(columns.map(|&b| row.get(b).copied().unwrap_or(INFINITE)));
        }
        table
    }

    /// Cost tables of the subproblem at position `number` in the proof, by table number: the unary costs of its
    /// variables, and the costs of its pairs. The messages of the proof are applied to them.
    pub(super) fn tables(
        &self,
        number: usize,
        part: &ProofPart,
    ) -> Result<BTreeMap<usize, CostTable>, ProofError> {
        let mut sent: BTreeMap<(usize, usize), Vec<i128>> = BTreeMap::new();
        let mut got: BTreeMap<usize, Vec<i128>> = BTreeMap::new();
        for (step, message) in part.messages.iter().enumerate() {
            let wrong = ProofError::Message { step };
            let pair = self.network.pairs.get(message.pair).ok_or(wrong)?;
            let size = self.values(message.variable).len();
            let ours = self.place(message.variable).is_some_and(|(part, _)| part == number);
            let within = [pair.first, pair.second].contains(&message.variable);
            if !ours || !within || message.costs.len() != size {
                return Err(wrong);
            }
            for list in [
                sent.entry((message.pair, message.variable)).or_insert_with(|| vec![0; size]),
                got.entry(message.variable).or_insert_with(|| vec![0; size]),
            ] {
                for (sum, &cost) in list.iter_mut().zip(&message.costs) {
                    *sum += i128::from(cost);
                }
            }
        }
        let mut tables = BTreeMap::new();
        for bucket in &part.buckets {
            let (v, size) = (bucket.variable, self.values(bucket.variable).len());
            let more = got.remove(&v).unwrap_or_else(|| vec![0; size]);
            let sums =
                self.unary_costs(v).into_iter().zip(more).map(|(cost, more)| exact(cost, more));
            tables.insert(v, self.costs(v, &[v], sums)?);
        }
        for (index, _) in self.pairs.iter().enumerate().filter(|&(_, &p)| p == Some(number)) {
            let table = self.pair_table(index, &sent)?;
            tables.insert(self.left.len() + index, table);
        }
        Ok(tables)
    }

    fn pair_table(
        &self,
        index: usize,
        sent: &BTreeMap<(usize, usize), Vec<i128>>,
    ) -> Result<CostTable, ProofError> {
        let number = self.left.len() + index;
        let pair = self.network.pairs.get(index).ok_or(ProofError::Table { table: number })?;
        let (rows, width) = (self.values(pair.first).len(), self.values(pair.second).len());
        let gone = |variable: usize, place: usize| {
            sent.get(&(index, variable)).and_then(|costs| costs.get(place)).copied().unwrap_or(0)
        };
        let costs = self.pair_costs(index);
        let entry = |a: usize, b: usize| {
            let cost = costs.get(a * width + b).copied().unwrap_or(INFINITE);
            exact(cost, -gone(pair.first, a) - gone(pair.second, b))
        };
        let (a, b) = (self.place(pair.first), self.place(pair.second));
        if let (Some(a), Some(b)) = (a, b)
            && a > b
        {
            let sums = (0..width).flat_map(|b| (0..rows).map(move |a| (a, b)));
            return self.costs(number, &[pair.second, pair.first], sums.map(|(a, b)| entry(a, b)));
        }
        let sums = (0..rows).flat_map(|a| (0..width).map(move |b| (a, b)));
        self.costs(number, &[pair.first, pair.second], sums.map(|(a, b)| entry(a, b)))
    }

    /// Cost table over those of `variables` that belong to a subproblem. `sums` are its exact entries in row-major
    /// order, `None` for an infinite one. A negative entry is an error that names the table by `number`.
    fn costs(
        &self,
        number: usize,
        variables: &[usize],
        sums: impl Iterator<Item = Option<i128>>,
    ) -> Result<CostTable, ProofError> {
        let places =
            variables.iter().filter_map(|&v| Some((self.place(v)?.1, self.values(v).len())));
        let entries: Option<Vec<Cost>> = sums.map(clamp_cost).collect();
        let entries = entries.ok_or(ProofError::Negative { table: number })?;
        Ok(CostTable { axes: places.collect(), entries })
    }
}

fn exact(cost: Cost, more: i128) -> Option<i128> {
    (cost != INFINITE).then(|| i128::from(cost) + more)
}
