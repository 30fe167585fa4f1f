//! Tests against enumeration, on large graphs, and with wrong proofs.

mod brute;
mod graphs;
mod large;
mod wrong;

use layoutc_testing::Random;

use super::{CostNetwork, INFINITE, Solution, SolverLimits, Variable, solve, verify};

pub(super) fn solved(network: &CostNetwork, limits: &SolverLimits) -> Solution {
    let solution = solve(network, limits, &|| false);
    assert_eq!(verify(network, &solution, limits), Ok(()));
    solution
}

pub(super) fn costs(numbers: &mut Random, entries: usize, most: u64, forbidden: u64) -> Vec<u64> {
    let cost = |_| {
        if numbers.below(100) < forbidden { INFINITE } else { numbers.below(most + 1) }
    };
    (0..entries).map(cost).collect()
}

/// Random network of `variables` variables with 1 to `domain` values each. Each ordered pair of two variables has a
/// cost table with the probability `chance` in percent. A cost is infinite with the probability `forbidden` in percent,
/// otherwise at most `most`.
pub(super) fn random(
    numbers: &mut Random,
    variables: usize,
    domain: usize,
    chance: u64,
    most: u64,
    forbidden: u64,
) -> CostNetwork {
    let mut network = CostNetwork::new();
    network.add_constant(numbers.below(3)).unwrap();
    let sizes: Vec<usize> = (0..variables).map(|_| 1 + numbers.below(domain)).collect();
    let all: Vec<Variable> = sizes
        .iter()
        .map(|&size| network.add_variable(costs(numbers, size, most, forbidden)).unwrap())
        .collect();
    for a in 0..variables {
        for b in 0..variables {
            if a != b && numbers.below(100) < chance {
                let table = costs(numbers, sizes[a] * sizes[b], most, forbidden);
                network.add_pair(all[a], all[b], table).unwrap();
            }
        }
    }
    network
}
