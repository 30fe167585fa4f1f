use super::*;

/// A small generator of numbers (xorshift), the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }

    fn index(&mut self, most: usize) -> usize {
        usize::try_from(self.below(most as u64)).unwrap_or(0)
    }
}

fn random(numbers: &mut Numbers, variables: usize, most: usize, pairs: usize) -> Network {
    let mut network = Network::new();
    let cost = |numbers: &mut Numbers| match numbers.below(8) {
        0 => INFINITE,
        _ => numbers.below(50).into(),
    };
    let counts: Vec<usize> = (0..variables).map(|_| 1 + numbers.index(most)).collect();
    let all: Vec<Variable> = counts
        .iter()
        .map(|count| network.add_variable((0..*count).map(|_| cost(numbers)).collect()))
        .collect();
    for _ in 0..pairs {
        let (a, b) = (numbers.index(variables), numbers.index(variables));
        if a != b {
            let costs = (0..counts[a] * counts[b]).map(|_| cost(numbers)).collect();
            network.add_pair(all[a], all[b], costs);
        }
    }
    network.add_constant(numbers.below(9).into());
    network
}

fn brute(network: &Network) -> Cost {
    let scope: Vec<usize> = (0..network.domains.len()).collect();
    let mut values = vec![0; scope.len()];
    let mut least = INFINITE;
    for _ in 0..table::entries(&scope, &network.domains).unwrap() {
        least = least.min(network.cost(&values));
        table::next(&scope, &network.domains, &mut values);
    }
    least
}

fn agrees(network: &Network, limits: &Limits) {
    let found = solve(network, limits, &|| false);
    let least = brute(network);
    match found {
        Err(failure) => assert_eq!((failure, least), (Failure::Impossible, INFINITE)),
        Ok(solution) => {
            assert_eq!(verify(network, &solution), Ok(()));
            assert_eq!((solution.cost, solution.bound), (least, least));
        }
    }
}

#[test]
fn elimination_agrees_with_brute_force() {
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    for round in 0..4000 {
        let variables = 1 + numbers.index(7);
        let pairs = numbers.index(12);
        let network = random(&mut numbers, variables, 4, pairs);
        agrees(&network, &Limits::default());
        // Tables of few entries: the rest is searched.
        if round % 2 == 0 {
            agrees(&network, &Limits { entries: 4, nodes: 100_000 });
        }
    }
}

#[test]
fn limits_give_a_bound_that_is_one() {
    let mut numbers = Numbers(77);
    for _ in 0..300 {
        let network = random(&mut numbers, 7, 4, 16);
        let least = brute(&network);
        let limits = Limits { entries: 4, nodes: 1 + numbers.index(6) };
        if let Ok(solution) = solve(&network, &limits, &|| false) {
            assert_eq!(verify(&network, &solution), Ok(()));
            assert!(solution.bound <= least && least <= solution.cost);
        }
    }
}

#[test]
fn what_is_wrong_with_a_solution_is_found() {
    let mut numbers = Numbers(5);
    let mut refused = 0;
    for _ in 0..200 {
        let network = random(&mut numbers, 5, 3, 7);
        let Ok(solution) = solve(&network, &Limits::default(), &|| false) else { continue };
        let cost = Solution { cost: solution.cost + 1, ..solution.clone() };
        assert!(matches!(verify(&network, &cost), Err(Wrong::Cost { .. })));
        let bound = Solution { bound: solution.bound + 1, ..solution.clone() };
        assert!(matches!(verify(&network, &bound), Err(Wrong::Bound { .. })));
        let values = Solution { values: vec![9; 5], ..solution.clone() };
        assert_eq!(verify(&network, &values), Err(Wrong::Values));
        let Proof::Eliminated(steps) = &solution.proof else { continue };
        let fewer = Proof::Eliminated(steps[1..].to_vec());
        let fewer = Solution { proof: fewer, ..solution.clone() };
        assert!(matches!(verify(&network, &fewer), Err(Wrong::Proof(_))));
        let mut twice = steps.clone();
        let groups = twice[0].groups.clone();
        twice.last_mut().unwrap().groups.extend(groups);
        let twice = Solution { proof: Proof::Eliminated(twice), ..solution.clone() };
        assert!(matches!(verify(&network, &twice), Err(Wrong::Proof(_))));
        let open = Solution { proof: Proof::Open, ..solution };
        assert!(matches!(verify(&network, &open), Err(Wrong::Proof(_))));
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn a_dense_network_ends_with_a_bound() {
    let mut numbers = Numbers(3);
    let mut network = Network::new();
    let all: Vec<Variable> = (0..30)
        .map(|_| network.add_variable((0..4).map(|_| numbers.below(20).into()).collect()))
        .collect();
    for (k, a) in all.iter().enumerate() {
        for b in &all[k + 1..] {
            network.add_pair(*a, *b, (0..16).map(|_| numbers.below(100).into()).collect());
        }
    }
    let solution = solve(&network, &Limits { entries: 1 << 10, nodes: 20 }, &|| false).unwrap();
    assert_eq!(verify(&network, &solution), Ok(()));
    assert!(solution.bound > 0 && solution.bound < solution.cost);
}

#[test]
fn a_search_that_is_stopped_gives_what_it_has() {
    let mut numbers = Numbers(12);
    let network = random(&mut numbers, 7, 4, 16);
    let limits = Limits { entries: 2, nodes: 1000 };
    if let Ok(solution) = solve(&network, &limits, &|| true) {
        assert_eq!(verify(&network, &solution), Ok(()));
    }
}
