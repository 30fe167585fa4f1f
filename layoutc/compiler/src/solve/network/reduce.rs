//! Pruning of the domains of variables: removes forbidden and dominated values, which an optimal assignment does not
//! need.

use std::collections::BTreeSet;

use super::data::{CostNetwork, INFINITE, PairCosts};
use super::proof::DroppedValue;

/// Maximum number of table entries that are compared in the search for dominated values. After that, only forbidden
/// values are dropped.
const COMPARISONS: usize = 1 << 27;

/// Remaining values of each variable, in the order of the variables. The values of one variable are ascending.
pub(super) type LiveValues = Vec<Vec<usize>>;

/// Drops values that an optimal assignment does not need. Returns a pair: the remaining values, and the dropped values
/// with their reasons, in the order in which they were dropped. Ends early if a variable has no value left, because
/// then no assignment exists.
pub(super) fn reduce(network: &CostNetwork) -> (LiveValues, Vec<DroppedValue>) {
    let mut state = ValuePruner {
        network,
        pairs_of: network.pairs_of(),
        left: network.unaries.iter().map(|costs| (0..costs.len()).collect()).collect(),
        drops: Vec::new(),
        comparisons: COMPARISONS,
    };
    let mut waiting: BTreeSet<usize> = (0..network.unaries.len()).collect();
    while let Some(variable) = waiting.pop_first() {
        let before = state.drops.len();
        state.drop_forbidden(variable);
        if state.left_of(variable).is_empty() {
            break;
        }
        state.drop_dominated(variable);
        if state.drops.len() > before {
            waiting.extend(state.pairs(variable).map(|pair| pair.other(variable)));
        }
    }
    (state.left, state.drops)
}

struct ValuePruner<'a> {
    network: &'a CostNetwork,
    pairs_of: Vec<Vec<usize>>,
    left: LiveValues,
    drops: Vec<DroppedValue>,
    comparisons: usize,
}

impl ValuePruner<'_> {
    fn left_of(&self, variable: usize) -> &[usize] {
        self.left.get(variable).map_or(&[], Vec::as_slice)
    }

    fn pairs(&self, variable: usize) -> impl Iterator<Item = &PairCosts> {
        let numbers = self.pairs_of.get(variable).map_or(&[][..], Vec::as_slice);
        numbers.iter().filter_map(|&number| self.network.pairs.get(number))
    }

    fn unary_cost(&self, variable: usize, value: usize) -> u64 {
        let costs = self.network.unaries.get(variable);
        costs.and_then(|costs| costs.get(value)).copied().unwrap_or(INFINITE)
    }

    fn remove(&mut self, variable: usize, value: usize, by: Option<usize>) {
        if let Some(left) = self.left.get_mut(variable) {
            left.retain(|&v| v != value);
        }
        self.drops.push(DroppedValue { variable, value, by });
    }

    fn drop_forbidden(&mut self, variable: usize) {
        for value in self.left_of(variable).to_vec() {
            let alone = self.unary_cost(variable, value) == INFINITE;
            if alone || self.pairs(variable).any(|pair| self.is_alone(pair, variable, value)) {
                self.remove(variable, value, None);
            }
        }
    }

    /// True if every entry of `pair` that combines `value` of `variable` with a remaining value of the other variable
    /// is infinite.
    fn is_alone(&self, pair: &PairCosts, variable: usize, value: usize) -> bool {
        let mut others = self.left_of(pair.other(variable)).iter();
        others.all(|&other| pair.cost_from(variable, value, other) == INFINITE)
    }

    fn drop_dominated(&mut self, variable: usize) {
        for value in self.left_of(variable).to_vec().into_iter().rev() {
            let candidates = self.left_of(variable).to_vec();
            let by = candidates.into_iter().filter(|&by| by != value).find(|&by| {
                self.is_dominated(variable, value, by)
                    && (by < value || !self.is_dominated(variable, by, value))
            });
            if by.is_some() {
                self.remove(variable, value, by);
            }
        }
    }

    /// True if value `by` of `variable` costs at most as much as `value`, in the unary cost and in each pair for every
    /// remaining value of the pair's other variable. False once the limit on comparisons is reached.
    fn is_dominated(&mut self, variable: usize, value: usize, by: usize) -> bool {
        if self.comparisons == 0 {
            return false;
        }
        let mut read = 1;
        let holds = self.unary_cost(variable, by) <= self.unary_cost(variable, value)
            && self.pairs(variable).all(|pair| {
                self.left_of(pair.other(variable)).iter().all(|&other| {
                    read += 1;
                    pair.cost_from(variable, by, other) <= pair.cost_from(variable, value, other)
                })
            });
        self.comparisons = self.comparisons.saturating_sub(read);
        holds
    }
}
