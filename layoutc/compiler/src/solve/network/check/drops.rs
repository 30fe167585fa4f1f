//! Check of the values that a proof drops from the domains of variables.

use super::super::data::{Cost, CostNetwork, INFINITE, PairCosts};
use super::super::proof::DroppedValue;
use super::ProofError;

/// Checks the dropped values of a proof, in order: each must be forbidden or dominated. Returns the remaining values of
/// each variable, ascending. An error [`ProofError::Dropped`] for the first value that fails.
pub(super) fn check_drops(
    network: &CostNetwork,
    drops: &[DroppedValue],
) -> Result<Vec<Vec<usize>>, ProofError> {
    let mut left: Vec<Vec<usize>> =
        network.unaries.iter().map(|costs| (0..costs.len()).collect()).collect();
    let mut pairs: Vec<Vec<&PairCosts>> = vec![Vec::new(); left.len()];
    for pair in &network.pairs {
        for end in [pair.first, pair.second] {
            if let Some(list) = pairs.get_mut(end) {
                list.push(pair);
            }
        }
    }
    for (step, drop) in drops.iter().enumerate() {
        let wrong = ProofError::Dropped { step };
        let near = pairs.get(drop.variable).ok_or(wrong)?;
        if !justified(network, drop, near, &left) {
            return Err(wrong);
        }
        if let Some(values) = left.get_mut(drop.variable) {
            values.retain(|&value| value != drop.value);
        }
    }
    Ok(left)
}

fn justified(
    network: &CostNetwork,
    drop: &DroppedValue,
    near: &[&PairCosts],
    left: &[Vec<usize>],
) -> bool {
    let own = left.get(drop.variable).map_or(&[][..], Vec::as_slice);
    if own.binary_search(&drop.value).is_err() {
        return false;
    }
    let costs = network.unaries.get(drop.variable).map_or(&[][..], Vec::as_slice);
    let alone = |value: usize| costs.get(value).copied().unwrap_or(INFINITE);
    let rows = |pair: &PairCosts, value: usize| row(pair, drop.variable, value, left);
    match drop.by {
        None => {
            alone(drop.value) == INFINITE
                || near.iter().any(|pair| rows(pair, drop.value).iter().all(|&c| c == INFINITE))
        }
        Some(by) => {
            by != drop.value
                && own.binary_search(&by).is_ok()
                && alone(by) <= alone(drop.value)
                && near.iter().all(|pair| {
                    let (left, dropped) = (rows(pair, by), rows(pair, drop.value));
                    left.iter().zip(&dropped).all(|(left, dropped)| left <= dropped)
                })
        }
    }
}

/// Costs of the pair for the value `value` of `variable`: one for each remaining value of the pair's other variable, in
/// ascending order of these values. `left` holds the remaining values of all variables.
fn row(pair: &PairCosts, variable: usize, value: usize, left: &[Vec<usize>]) -> Vec<Cost> {
    let width = pair.width.max(1);
    let place = |other: &usize| {
        if variable == pair.first { value * width + other } else { other * width + value }
    };
    let other = if variable == pair.first { pair.second } else { pair.first };
    let others = left.get(other).map_or(&[][..], Vec::as_slice);
    let cost = |other| pair.costs.get(place(other)).copied().unwrap_or(INFINITE);
    others.iter().map(cost).collect()
}
