//! Comparison of small networks with the enumeration of all assignments.

use super::*;

/// Least cost over all assignments of `network`, by enumeration; [`INFINITE`] if every assignment is forbidden.
fn least(network: &CostNetwork) -> u64 {
    let mut values = vec![0; network.variables()];
    let mut best = INFINITE;
    loop {
        best = best.min(network.cost(&values));
        let mut place = 0;
        loop {
            if place == values.len() {
                return best;
            }
            values[place] += 1;
            if values[place] < network.unaries[place].len() {
                break;
            }
            values[place] = 0;
            place += 1;
        }
    }
}

fn sample(seed: u64) -> CostNetwork {
    let mut numbers = Random::new(seed);
    let (variables, domain) = match seed % 16 {
        0 => (9 + numbers.below(4), 2),
        1..=4 => (7 + numbers.below(2), 3),
        _ => (numbers.below(6), 5),
    };
    let chance = [10, 30, 60, 100][numbers.below(4)];
    let most = [1, 5, 1000, 1 << 40][numbers.below(4)];
    let forbidden = [0, 0, 10, 30, 60][numbers.below(5)];
    random(&mut numbers, variables, domain, chance, most, forbidden)
}

#[test]
fn elimination_finds_the_minimum_cost() {
    for seed in 0..20_000 {
        let network = sample(seed);
        let solution = solved(&network, &SolverLimits::default());
        assert_eq!(solution.cost, least(&network), "seed {seed}");
        assert!(solution.is_proven());
        assert_eq!(
            solution.values.is_empty(),
            solution.cost == INFINITE || network.variables() == 0
        );
    }
}

#[test]
fn search_finds_the_minimum_cost_under_a_table_limit() {
    let mut searched = 0;
    for seed in 0..20_000 {
        let network = sample(seed);
        let table = [1, 4, 16, 30][usize::try_from(seed / 16 % 4).unwrap()];
        let sweeps = [0, 5, 50][usize::try_from(seed / 64 % 3).unwrap()];
        let limits = SolverLimits { table, sweeps, ..SolverLimits::default() };
        let solution = solved(&network, &limits);
        assert_eq!(solution.cost, least(&network), "seed {seed}");
        assert!(solution.is_proven(), "seed {seed}");
        searched += usize::from(solution.proof.parts.iter().any(|part| part.nodes > 0));
    }
    assert!(searched > 1_000, "{searched} networks needed a search");
}

#[test]
fn bounds_hold_under_a_node_limit() {
    let (mut open, mut asked) = (0, 0);
    for seed in 0..20_000 {
        let network = sample(seed);
        let limits =
            SolverLimits { table: 4, nodes: usize::try_from(seed % 7).unwrap(), sweeps: 3 };
        let best = least(&network);
        let solution = solved(&network, &limits);
        assert!(solution.bound <= best && best <= solution.cost, "seed {seed}");
        open += usize::from(!solution.is_proven());
        let stopped = solve(&network, &SolverLimits::default(), &|| true);
        assert_eq!(verify(&network, &stopped, &SolverLimits::default()), Ok(()));
        assert!(stopped.bound <= best && best <= stopped.cost, "seed {seed}");
        asked += 1;
    }
    assert!(open > 200, "{open} of {asked} were left open");
}

#[test]
fn ties_are_broken_toward_smaller_values() {
    for seed in 0..3_000 {
        let network = sample(seed);
        let solution = solved(&network, &SolverLimits { table: 16, ..SolverLimits::default() });
        for variable in 0..solution.values.len() {
            for value in 0..solution.values[variable] {
                let mut other = solution.values.clone();
                other[variable] = value;
                assert!(network.cost(&other) > solution.cost, "seed {seed}");
            }
        }
        assert_eq!(
            solution,
            solved(&network, &SolverLimits { table: 16, ..SolverLimits::default() })
        );
    }
}

#[test]
fn two_tables_of_a_pair_are_added() {
    let mut network = CostNetwork::new();
    let a = network.add_variable(vec![0, 5]).unwrap();
    let b = network.add_variable(vec![3, 0]).unwrap();
    network.add_pair(a, b, vec![4, 9, 0, 4]).unwrap();
    network.add_pair(b, a, vec![5, 0, 0, 5]).unwrap();
    assert_eq!(network.pairs(), 1);
    let solution = solved(&network, &SolverLimits::default());
    assert_eq!((solution.values, solution.cost, solution.bound), (vec![1, 0], 8, 8));
}

#[test]
fn invalid_tables_and_costs_are_refused() {
    use super::super::{LARGEST, NetworkError};
    let mut network = CostNetwork::new();
    assert_eq!(network.add_variable(vec![]), Err(NetworkError::Empty));
    let a = network.add_variable(vec![0, LARGEST]).unwrap();
    let b = network.add_variable(vec![INFINITE, 0]).unwrap();
    assert_eq!(network.add_variable(vec![1]), Err(NetworkError::TooLarge));
    assert_eq!(network.add_constant(1), Err(NetworkError::TooLarge));
    assert_eq!(network.add_pair(a, a, vec![0; 4]), Err(NetworkError::Same { variable: 0 }));
    let entries = NetworkError::Entries { given: 3, needed: 4 };
    assert_eq!(network.add_pair(a, b, vec![0; 3]), Err(entries));
    let mut other = CostNetwork::new();
    assert_eq!(other.add_pair(a, b, vec![]), Err(NetworkError::Unknown { variable: 0 }));
    assert_eq!(solved(&network, &SolverLimits::default()).values, [0, 1]);
}

#[test]
fn costs_near_the_largest_are_exact() {
    use super::super::LARGEST;
    for seed in 0..4_000 {
        let mut numbers = Random::new(seed);
        let variables = 2 + numbers.below(4);
        let tables = u64::try_from(1 + variables + variables * variables).unwrap();
        let network = random(&mut numbers, variables, 4, 80, LARGEST / tables, 20);
        let limits = SolverLimits { table: 1, ..SolverLimits::default() };
        let solution = solved(&network, &limits);
        assert_eq!((solution.cost, solution.bound), (least(&network), least(&network)));
    }
}
