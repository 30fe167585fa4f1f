//! Wrong solutions and proofs are rejected.

use super::super::{CostMessage, ProofError};
use super::*;

const SMALL: SolverLimits = SolverLimits { table: 4, nodes: 1 << 20, sweeps: 20 };

fn networks() -> impl Iterator<Item = (CostNetwork, Solution)> {
    (0..400).filter_map(|seed| {
        let mut numbers = Random::new(seed);
        // Small costs, so that some values are dominated.
        let most = if seed % 4 == 0 { 3 } else { 1000 };
        let network = random(&mut numbers, 7, 4, 60, most, 5);
        let solution = solved(&network, &SMALL);
        (solution.cost != INFINITE).then_some((network, solution))
    })
}

/// Number of changed solutions, each rejected with an error that `expected` accepts. `change` changes a correct
/// solution, or returns false to skip it.
fn refused(change: impl Fn(&mut Solution) -> bool, expected: impl Fn(ProofError) -> bool) -> usize {
    let mut count = 0;
    for (network, correct) in networks() {
        let mut bad = correct.clone();
        if change(&mut bad) {
            let wrong = verify(&network, &bad, &SMALL).expect_err("a wrong solution passes");
            assert!(expected(wrong), "{wrong:?}");
            count += 1;
        }
    }
    count
}

#[test]
fn a_cost_that_is_off_by_one_is_refused() {
    for by in [1, -1] {
        let change = |s: &mut Solution| {
            s.cost = s.cost.saturating_add_signed(by);
            s.bound = s.cost;
            true
        };
        assert!(refused(change, |wrong| matches!(wrong, ProofError::Cost { .. })) > 300);
    }
}

#[test]
fn other_values_are_refused() {
    let change = |s: &mut Solution| {
        s.values[3] = 9;
        true
    };
    assert!(refused(change, |wrong| wrong == ProofError::Cost { found: INFINITE }) > 300);
    let change = |s: &mut Solution| s.values.pop().is_some();
    assert!(refused(change, |wrong| wrong == ProofError::Cost { found: INFINITE }) > 300);
}

#[test]
fn a_bound_that_is_raised_by_one_is_refused() {
    let change = |s: &mut Solution| {
        s.bound += 1;
        true
    };
    assert!(refused(change, |wrong| wrong == ProofError::Crossed) > 300);
    let change = |s: &mut Solution| {
        s.bound -= 1;
        true
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Bound { .. })) > 300);
    // A subproblem with a bound greater than its tables prove, and room for more prefixes.
    let change = |s: &mut Solution| {
        s.proof.parts.first_mut().is_some_and(|part| {
            part.bound += 1;
            part.nodes += 1000;
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::PartBound { .. })) > 300);
}

#[test]
fn raised_open_bounds_are_refused() {
    let (mut above, mut refused) = (0, 0);
    for seed in 0..400 {
        let network = random(&mut Random::new(seed), 7, 4, 80, 1000, 0);
        let limits = SolverLimits { table: 4, nodes: 3, sweeps: 5 };
        let mut open = solved(&network, &limits);
        if open.bound + 1 < open.cost && open.proof.parts.len() == 1 {
            above += 1;
            open.bound = open.cost;
            open.proof.parts[0].bound += open.cost;
            refused += usize::from(verify(&network, &open, &limits).is_err_and(|wrong| {
                matches!(wrong, ProofError::Limits | ProofError::PartBound { .. })
            }));
        }
    }
    assert!(above > 100 && above == refused, "{above} {refused}");
}

#[test]
fn unbalanced_messages_are_refused() {
    let change = |s: &mut Solution| {
        let messages = s.proof.parts.iter_mut().flat_map(|part| &mut part.messages);
        messages.for_each(|message| message.costs[0] += 100_000);
        s.proof.parts.iter().any(|part| !part.messages.is_empty())
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Negative { .. })) > 100);
    let change = |s: &mut Solution| {
        s.proof.parts.first_mut().is_some_and(|part| {
            part.messages.insert(0, CostMessage { pair: 999, variable: 0, costs: vec![] });
            true
        })
    };
    assert!(refused(change, |wrong| wrong == ProofError::Message { step: 0 }) > 300);
}

#[test]
fn missing_elimination_steps_are_refused() {
    let change =
        |s: &mut Solution| s.proof.parts.first_mut().is_some_and(|p| p.buckets.pop().is_some());
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Variable { .. })) > 300);
    let change = |s: &mut Solution| s.proof.parts.pop().is_some();
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Variable { .. })) > 300);
    let change = |s: &mut Solution| {
        let group = s.proof.parts.first_mut().and_then(|p| p.buckets[0].groups.first_mut());
        group.is_some_and(|group| group.tables.pop().is_some())
    };
    let expected =
        |wrong| matches!(wrong, ProofError::LeftOut { .. } | ProofError::Negative { .. });
    assert!(refused(change, expected) > 300);
}

#[test]
fn a_table_that_is_used_twice_is_refused() {
    let change = |s: &mut Solution| {
        let group = s.proof.parts.first_mut().and_then(|p| p.buckets[0].groups.first_mut());
        group.is_some_and(|group| {
            group.tables.push(group.tables[0]);
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Table { .. })) > 300);
    let change = |s: &mut Solution| {
        s.proof.parts.first_mut().is_some_and(|part| {
            part.buckets.push(part.buckets[0].clone());
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Variable { .. })) > 300);
}

#[test]
fn noncanceling_shifts_are_refused() {
    let change = |s: &mut Solution| {
        let groups =
            s.proof.parts.iter_mut().flat_map(|p| &mut p.buckets).flat_map(|b| &mut b.groups);
        let mut shifts = groups.map(|group| &mut group.shift).filter(|shift| !shift.is_empty());
        shifts.next().is_some_and(|shift| {
            shift[0] += 1;
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Shift { .. })) > 100);
}

#[test]
fn unjustified_value_elimination_is_refused() {
    let change = |s: &mut Solution| {
        let kept = s.proof.parts.first().map(|part| part.buckets[0].variable);
        kept.is_some_and(|variable| {
            let value = s.values[variable];
            s.proof.drops.push(super::super::DroppedValue { variable, value, by: None });
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Dropped { .. })) > 300);
    let change = |s: &mut Solution| {
        s.proof.drops.first().copied().is_some_and(|drop| {
            s.proof.drops.insert(0, drop);
            true
        })
    };
    assert!(refused(change, |wrong| wrong == ProofError::Dropped { step: 1 }) > 20);
    let change = |s: &mut Solution| {
        let by = s.proof.drops.iter_mut().find(|drop| drop.by.is_some());
        by.is_some_and(|drop| {
            drop.by = None;
            true
        })
    };
    assert!(refused(change, |wrong| matches!(wrong, ProofError::Dropped { .. })) > 20);
}
