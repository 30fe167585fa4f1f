//! Cost function network (weighted constraint network): variables, unary costs and pair costs. Only data.

use std::collections::BTreeMap;

use thiserror::Error;

/// Cost in a unit that the network's creator chooses, or [`INFINITE`]. For a graph, a cost is a number of bytes times a
/// factor, plus 1 per conversion if the factor is above 1.
pub type Cost = u64;

/// Cost of a forbidden value or combination of values. Sums of costs saturate at it.
pub const INFINITE: Cost = u64::MAX;

/// Largest allowed sum of the greatest finite costs of all tables of a network, 2^62 - 1, so that sums of a few tables
/// fit `u64`.
pub const LARGEST: Cost = (1 << 62) - 1;

/// Variable of a [`CostNetwork`], identified by its number in the order of addition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Variable(usize);

impl Variable {
    /// Number of the variable, from 0 in the order of addition: its index in `Solution::values`.
    pub fn number(self) -> usize {
        self.0
    }
}

/// Reason why an addition to a [`CostNetwork`] is rejected. A rejected addition leaves the network unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// The variable has no values.
    #[error("a variable has no values")]
    Empty,
    /// The variable is not part of the network.
    #[error("unknown variable {variable}")]
    Unknown {
        /// Number of the unknown variable.
        variable: usize,
    },
    /// Both variables of a pair are the same.
    #[error("variable {variable} is paired with itself")]
    Same {
        /// Number of the variable.
        variable: usize,
    },
    /// The table of costs has the wrong length.
    #[error("a table has {given} entries, and {needed} are needed")]
    Entries {
        /// Number of entries that are given.
        given: usize,
        /// Number of entries that are required.
        needed: usize,
    },
    /// The greatest finite costs of all tables sum to more than [`LARGEST`].
    #[error("their sum is 2^62 bytes or more")]
    TooLarge,
}

/// Cost table of a pair of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PairCosts {
    /// Variable with the smaller number.
    pub(super) first: usize,
    /// Variable with the greater number.
    pub(super) second: usize,
    /// Costs in row-major order, one row per value of `first`.
    pub(super) costs: Vec<Cost>,
    /// Length of a row: the number of values of `second`.
    pub(super) width: usize,
}

impl PairCosts {
    /// Cost of the value `first` of the first variable together with the value `second` of the second variable;
    /// [`INFINITE`] if the table has no such entry.
    pub(super) fn cost(&self, first: usize, second: usize) -> Cost {
        let place = first.checked_mul(self.width).and_then(|row| row.checked_add(second));
        place.and_then(|place| self.costs.get(place)).copied().unwrap_or(INFINITE)
    }

    /// Cost of `value` of the pair's variable `variable`, with the value `other` of the pair's other variable.
    pub(super) fn cost_from(&self, variable: usize, value: usize, other: usize) -> Cost {
        if variable == self.first { self.cost(value, other) } else { self.cost(other, value) }
    }

    /// Number of the pair's variable that is not `variable`.
    pub(super) fn other(&self, variable: usize) -> usize {
        if variable == self.first { self.second } else { self.first }
    }
}

/// Cost function network: variables with finite domains, a cost for each value, and cost tables for some pairs of
/// variables. The cost of an assignment is the sum of a constant, of the costs of its values, and of the entries of the
/// pairs' tables. Values are numbered from 0.
///
/// For example, two variables with the costs `[0, 5]` and `[3, 0]` and the row-major table `[9, 9, 0, 9]`: the values 1
/// and 0 cost `5 + 3 + 0`, which is 8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CostNetwork {
    pub(super) constant: Cost,
    pub(super) unaries: Vec<Vec<Cost>>,
    pub(super) pairs: Vec<PairCosts>,
    places: BTreeMap<(usize, usize), usize>,
    largest: Cost,
}

impl CostNetwork {
    /// Creates a network without variables; its cost is 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of variables of the network.
    pub fn variables(&self) -> usize {
        self.unaries.len()
    }

    /// Number of pairs of variables with a cost table.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Adds a constant to the cost of every assignment; [`INFINITE`] forbids all assignments.
    ///
    /// # Errors
    /// [`NetworkError::TooLarge`] if the finite costs could sum to more than [`LARGEST`].
    pub fn add_constant(&mut self, cost: Cost) -> Result<(), NetworkError> {
        self.largest = self.grown(&[cost])?;
        self.constant = self.constant.saturating_add(cost);
        Ok(())
    }

    /// Adds a variable with one value for each cost. [`INFINITE`] forbids a value.
    ///
    /// # Errors
    /// [`NetworkError::Empty`] if `costs` is empty, [`NetworkError::TooLarge`] if the finite costs could sum to more
    /// than [`LARGEST`].
    pub fn add_variable(&mut self, costs: Vec<Cost>) -> Result<Variable, NetworkError> {
        if costs.is_empty() {
            return Err(NetworkError::Empty);
        }
        self.largest = self.grown(&costs)?;
        self.unaries.push(costs);
        Ok(Variable(self.unaries.len() - 1))
    }

    /// Adds `costs`, one per value, to the costs of a variable.
    ///
    /// # Errors
    /// [`NetworkError::Unknown`] if the network lacks the variable, [`NetworkError::Entries`] if the number of costs is
    /// not that of the values, [`NetworkError::TooLarge`] if the finite costs could sum to more than [`LARGEST`].
    pub fn add_unary(&mut self, variable: Variable, costs: &[Cost]) -> Result<(), NetworkError> {
        let needed = self.values(variable)?;
        if costs.len() != needed {
            return Err(NetworkError::Entries { given: costs.len(), needed });
        }
        self.largest = self.grown(costs)?;
        let own = self.unaries.get_mut(variable.0).into_iter().flatten();
        own.zip(costs).for_each(|(own, cost)| *own = own.saturating_add(*cost));
        Ok(())
    }

    /// Adds a cost table for two variables: `table` has one cost for each combination of their values, in row-major
    /// order, one row per value of `a`. A second table for the same two variables is added to the first, entry by
    /// entry.
    ///
    /// # Errors
    /// [`NetworkError::Unknown`] if the network lacks a variable, [`NetworkError::Same`] if `a` is `b`,
    /// [`NetworkError::Entries`] if the table has the wrong length, [`NetworkError::TooLarge`] if the finite costs
    /// could sum to more than [`LARGEST`].
    pub fn add_pair(
        &mut self,
        a: Variable,
        b: Variable,
        table: Vec<Cost>,
    ) -> Result<(), NetworkError> {
        let (rows, width) = (self.values(a)?, self.values(b)?);
        if a == b {
            return Err(NetworkError::Same { variable: a.0 });
        }
        let needed = rows.checked_mul(width).ok_or(NetworkError::TooLarge)?;
        if table.len() != needed {
            return Err(NetworkError::Entries { given: table.len(), needed });
        }
        self.largest = self.grown(&table)?;
        let (first, second) = (a.min(b).0, a.max(b).0);
        let costs = if a < b { table } else { transposed(&table, width) };
        let width = if a < b { width } else { rows };
        if let Some(pair) = self.places.get(&(first, second)).and_then(|&p| self.pairs.get_mut(p)) {
            for (old, new) in pair.costs.iter_mut().zip(costs) {
                *old = old.saturating_add(new);
            }
            return Ok(());
        }
        self.places.insert((first, second), self.pairs.len());
        self.pairs.push(PairCosts { first, second, costs, width });
        Ok(())
    }

    /// Cost of the assignment `values`, which has one value per variable, in order. [`INFINITE`] if the assignment is
    /// forbidden, has the wrong length, or has a value that the variable does not have.
    pub fn cost(&self, values: &[usize]) -> Cost {
        if values.len() != self.unaries.len() {
            return INFINITE;
        }
        let unaries = self.unaries.iter().zip(values);
        let alone = unaries.map(|(costs, &v)| costs.get(v).copied().unwrap_or(INFINITE));
        let together = self.pairs.iter().map(|pair| {
            let value = |variable: usize| values.get(variable).copied().unwrap_or(usize::MAX);
            pair.cost(value(pair.first), value(pair.second))
        });
        alone.chain(together).fold(self.constant, Cost::saturating_add)
    }

    /// Positions of the pairs that contain each variable. The index in the outer list is the number of the variable; a
    /// position is that of the pair in the network's list of pairs.
    pub(super) fn pairs_of(&self) -> Vec<Vec<usize>> {
        let mut of = vec![Vec::new(); self.unaries.len()];
        for (number, pair) in self.pairs.iter().enumerate() {
            for variable in [pair.first, pair.second] {
                if let Some(list) = of.get_mut(variable) {
                    list.push(number);
                }
            }
        }
        of
    }

    fn values(&self, variable: Variable) -> Result<usize, NetworkError> {
        let unknown = NetworkError::Unknown { variable: variable.0 };
        self.unaries.get(variable.0).map(Vec::len).ok_or(unknown)
    }

    /// Sum of the greatest finite costs of all tables, including a table `costs` that is to be added. An error
    /// [`NetworkError::TooLarge`] if the sum exceeds [`LARGEST`].
    fn grown(&self, costs: &[Cost]) -> Result<Cost, NetworkError> {
        let most = costs.iter().copied().filter(|&c| c != INFINITE).max().unwrap_or(0);
        let sum = self.largest.checked_add(most).filter(|&sum| sum <= LARGEST);
        sum.ok_or(NetworkError::TooLarge)
    }
}

/// Transposed copy of a row-major table whose rows have `width` entries.
fn transposed(table: &[Cost], width: usize) -> Vec<Cost> {
    let columns = (0..width).flat_map(|c| table.iter().skip(c).step_by(width.max(1)));
    columns.copied().collect()
}
