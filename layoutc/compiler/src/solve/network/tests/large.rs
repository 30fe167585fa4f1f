//! Large networks are solved or bounded within the limits.

use super::graphs::{chain, dense, ladder, shaped, window};
use super::*;

#[test]
fn low_treewidth_networks_are_proven_without_search() {
    let mut numbers = Random::new(1);
    let near = window(&mut numbers, 200, 4);
    for pairs in [chain(200), ladder(200), near] {
        let network = shaped(&mut numbers, 200, 4, &pairs);
        let solution = solved(&network, &SolverLimits::default());
        assert!(solution.is_proven());
        assert!(solution.proof.parts.iter().all(|part| part.nodes == 0));
    }
}

#[test]
fn window_network_is_proven_by_search_with_small_tables() {
    let mut numbers = Random::new(2);
    let pairs = window(&mut numbers, 200, 4);
    let network = shaped(&mut numbers, 200, 4, &pairs);
    let exact = solved(&network, &SolverLimits::default());
    let limits = SolverLimits { table: 6_000, ..SolverLimits::default() };
    let searched = solved(&network, &limits);
    assert_eq!((searched.cost, searched.bound), (exact.cost, exact.cost));
}

#[test]
fn a_dense_network_ends_within_its_limits() {
    let mut numbers = Random::new(3);
    let pairs = dense(&mut numbers, 40, 50);
    let network = shaped(&mut numbers, 40, 4, &pairs);
    let limits = SolverLimits { table: 1 << 14, nodes: 2_000, sweeps: 50 };
    let solution = solved(&network, &limits);
    assert!(solution.bound > 0 && solution.bound < solution.cost);
    assert!(solution.proof.parts[0].nodes <= 2_000 + 4);
}

#[test]
fn large_domains_and_long_chains_do_not_recurse_deeply() {
    let mut numbers = Random::new(4);
    let network = shaped(&mut numbers, 20_000, 2, &chain(20_000));
    assert!(solved(&network, &SolverLimits::default()).is_proven());
    let network = shaped(&mut numbers, 3, 512, &[(0, 1), (1, 2), (0, 2)]);
    assert!(solved(&network, &SolverLimits::default()).is_proven());
}
