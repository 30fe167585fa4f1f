//! Cost tables of a reduced network for the checker, dense and indexed by variable.

use std::collections::BTreeMap;

use super::super::data::{Cost, CostNetwork, INFINITE, LARGEST};
use super::super::proof::{BoundProof, ProofPart};
use super::ProofError;

/// Cost table over variables, each given by its position in its part; the variable eliminated first has the
/// highest position.
#[derive(Debug, Clone)]
pub(super) struct CostTable {
    /// Positions of the variables, ascending, each with its number of values.
    pub(super) axes: Vec<(usize, usize)>,
    /// Costs in row-major order, the first variable outermost: [`INFINITE`], or at most [`LARGEST`].
    pub(super) entries: Vec<Cost>,
}

impl CostTable {
    /// Cost at the values of the part's variables, by position.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        let mut index = 0usize;
        for &(place, extent) in &self.axes {
            index = index * extent + values.get(place).copied().unwrap_or(0);
        }
        self.entries.get(index).copied().unwrap_or(INFINITE)
    }
}

/// Normalized cost: [`INFINITE`] above [`LARGEST`]. As no table has negative entries, no assignment of finite cost
/// contains such an entry. `None` for a negative cost.
pub(super) fn clamp_cost(cost: Option<i128>) -> Option<Cost> {
    match cost {
        None => Some(INFINITE),
        Some(cost) if cost > i128::from(LARGEST) => Some(INFINITE),
        Some(cost) => Cost::try_from(cost).ok(),
    }
}

/// Assignment of the network's variables and pairs to the parts of a proof.
pub(super) struct PartAssignment<'a> {
    network: &'a CostNetwork,
    pub(super) left: &'a [Vec<usize>],
    /// For each variable its part and its position there; `None` if it has a single value.
    places: Vec<Option<(usize, usize)>>,
    /// For each pair the part that contains it; `None` if it is in none.
    pairs: Vec<Option<usize>>,
    /// Cost of the variables with a single value, including the constant of the network.
    pub(super) closed: Cost,
}

impl<'a> PartAssignment<'a> {
    /// Assigns the network's variables and pairs to the parts of a proof.
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

    /// Variable that has several values but is in no part; `None` if there is none.
    pub(super) fn missing(&self) -> Option<usize> {
        let mut variables = self.left.iter().zip(&self.places);
        variables.position(|(values, place)| values.len() > 1 && place.is_none())
    }

    /// Number of tables of the network, which is also the number of the first table that a part produces.
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

    /// Costs of a pair in row-major order, one row per remaining value of its first variable.
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

    /// Tables of a part by number, after the messages of the proof.
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

    /// Table with these costs over those of the variables that are in a part.
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
