//! Networks shaped like operator graphs.

use super::*;

/// Network with `variables` variables of `domain` values each, and a cost table for each pair of variable numbers in
/// `pairs`. All costs are random numbers up to 2^20.
pub(super) fn shaped(
    numbers: &mut Random,
    variables: usize,
    domain: usize,
    pairs: &[(usize, usize)],
) -> CostNetwork {
    let mut network = CostNetwork::new();
    let all: Vec<Variable> = (0..variables)
        .map(|_| network.add_variable(costs(numbers, domain, 1 << 20, 0)).unwrap())
        .collect();
    for &(a, b) in pairs {
        let table = costs(numbers, domain * domain, 1 << 20, 0);
        network.add_pair(all[a], all[b], table).unwrap();
    }
    network
}

pub(super) fn chain(variables: usize) -> Vec<(usize, usize)> {
    (1..variables).map(|v| (v - 1, v)).collect()
}

/// Pairs of variable numbers that form a chain, with an additional pair of the variables `v - 3` and `v` for every `v`
/// that is a multiple of 3.
pub(super) fn ladder(variables: usize) -> Vec<(usize, usize)> {
    let jumps = (3..variables).step_by(3).map(|v| (v - 3, v));
    chain(variables).into_iter().chain(jumps).collect()
}

/// Pairs of variable numbers that connect each variable with one to three random ones among the `window` variables
/// before it. A pair may occur several times.
pub(super) fn window(numbers: &mut Random, variables: usize, window: usize) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for v in 1..variables {
        for _ in 0..=numbers.below(3) {
            pairs.push((v - 1 - numbers.below(window.min(v)), v));
        }
    }
    pairs
}

/// Pairs of variable numbers, in which each possible pair occurs with the probability `chance` in percent.
pub(super) fn dense(numbers: &mut Random, variables: usize, chance: u64) -> Vec<(usize, usize)> {
    let all = (0..variables).flat_map(|a| (0..a).map(move |b| (b, a)));
    all.filter(|_| numbers.below(100) < chance).collect()
}
