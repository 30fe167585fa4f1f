//! Checks the values that a proof drops, one after the other.

use super::super::data::{Cost, INFINITE, Network, Pair};
use super::super::proof::Dropped;
use super::Wrong;

/// The values that are left of each variable, ascending.
pub(super) fn follow(network: &Network, drops: &[Dropped]) -> Result<Vec<Vec<usize>>, Wrong> {
    let mut left: Vec<Vec<usize>> =
        network.unaries.iter().map(|costs| (0..costs.len()).collect()).collect();
    let mut pairs: Vec<Vec<&Pair>> = vec![Vec::new(); left.len()];
    for pair in &network.pairs {
        for end in [pair.first, pair.second] {
            if let Some(list) = pairs.get_mut(end) {
                list.push(pair);
            }
        }
    }
    for (step, drop) in drops.iter().enumerate() {
        let wrong = Wrong::Dropped { step };
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

fn justified(network: &Network, drop: &Dropped, near: &[&Pair], left: &[Vec<usize>]) -> bool {
    let own = left.get(drop.variable).map_or(&[][..], Vec::as_slice);
    if own.binary_search(&drop.value).is_err() {
        return false;
    }
    let costs = network.unaries.get(drop.variable).map_or(&[][..], Vec::as_slice);
    let alone = |value: usize| costs.get(value).copied().unwrap_or(INFINITE);
    let rows = |pair: &Pair, value: usize| row(pair, drop.variable, value, left);
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
                    let (good, bad) = (rows(pair, by), rows(pair, drop.value));
                    good.iter().zip(&bad).all(|(good, bad)| good <= bad)
                })
        }
    }
}

/// The costs of a value beside every value that is left of the other variable.
fn row(pair: &Pair, variable: usize, value: usize, left: &[Vec<usize>]) -> Vec<Cost> {
    let width = pair.width.max(1);
    let place = |other: &usize| {
        if variable == pair.first { value * width + other } else { other * width + value }
    };
    let other = if variable == pair.first { pair.second } else { pair.first };
    let others = left.get(other).map_or(&[][..], Vec::as_slice);
    let cost = |other| pair.costs.get(place(other)).copied().unwrap_or(INFINITE);
    others.iter().map(cost).collect()
}
