//! A solution checked by somebody who does not trust the search: the costs are added up again, and the proof is gone
//! through with arithmetic of its own.

use std::collections::BTreeSet;

use super::table::{Cost, INFINITE, Table};
use super::{Network, Proof, Solution, Step, Wrong};

/// How deep cases may stand in cases.
const MAX_DEPTH: usize = 100_000;

/// Whether a solution costs what it says, and its proof shows the bound that it says.
///
/// # Errors
/// The first thing that is wrong.
pub fn verify(network: &Network, solution: &Solution) -> Result<(), Wrong> {
    let Solution { values, cost, bound, proof } = solution;
    let fits = |(value, domain): (&usize, &usize)| value < domain;
    if values.len() != network.domains.len() || !values.iter().zip(&network.domains).all(fits) {
        return Err(Wrong::Values);
    }
    let mut total = Some(network.constant);
    for table in &network.tables {
        let own = table.at(values);
        if own == INFINITE {
            return Err(Wrong::Cost { found: INFINITE, said: *cost });
        }
        total = total.and_then(|total| total.checked_add(own));
    }
    let found = total.unwrap_or(INFINITE);
    if found != *cost || *cost == INFINITE {
        return Err(Wrong::Cost { found, said: *cost });
    }
    let found = shown(network, proof)?;
    // A bound above the cost would say the same.
    if found < *bound || *bound > *cost {
        return Err(Wrong::Bound { found, said: *bound });
    }
    Ok(())
}

/// What a proof shows: the least over its cases, each gone through on its own.
fn shown(network: &Network, proof: &Proof) -> Result<Cost, Wrong> {
    let mut least = INFINITE;
    let mut open: Vec<(&Proof, Vec<(usize, usize)>)> = vec![(proof, Vec::new())];
    while let Some((proof, fixed)) = open.pop() {
        match proof {
            Proof::Open => return Err(Wrong::Proof("a case is left open")),
            Proof::Eliminated(steps) => least = least.min(eliminated(network, steps, &fixed)?),
            Proof::Cases { variable, cases } => {
                if network.domains.get(*variable) != Some(&cases.len()) {
                    return Err(Wrong::Proof("there is not one case for each value"));
                }
                if fixed.len() >= MAX_DEPTH {
                    return Err(Wrong::Proof("cases stand too deep"));
                }
                for (value, case) in cases.iter().enumerate() {
                    let fixed = fixed.iter().copied().chain([(*variable, value)]).collect();
                    open.push((case, fixed));
                }
            }
        }
    }
    Ok(least)
}

/// What a chain of eliminations shows where some variables have one value.
fn eliminated(network: &Network, steps: &[Step], fixed: &[(usize, usize)]) -> Result<Cost, Wrong> {
    let mut tables: Vec<Option<Table>> = network.tables.iter().cloned().map(Some).collect();
    let mut gone = BTreeSet::new();
    for Step { variable, groups } in steps {
        if *variable >= network.domains.len() || !gone.insert(*variable) {
            return Err(Wrong::Proof("a variable is eliminated twice, or is none"));
        }
        let mut results = Vec::new();
        for group in groups {
            let mut members = Vec::new();
            for k in group {
                let table = tables.get_mut(*k).and_then(Option::take);
                members.push(table.ok_or(Wrong::Proof("a table is used twice, or is none"))?);
            }
            results.push(Some(without(network, *variable, &members, fixed)));
        }
        if tables.iter().flatten().any(|table| table.mentions(*variable)) {
            return Err(Wrong::Proof("a table of an eliminated variable is left out"));
        }
        tables.extend(results);
    }
    if gone.len() != network.domains.len() {
        return Err(Wrong::Proof("a variable is not eliminated"));
    }
    // What is left is over no variable: each has one entry.
    let mut rest = tables.iter().flatten().map(|table| table.at(&[]));
    let total = rest.try_fold(network.constant, Cost::checked_add);
    Ok(total.unwrap_or(INFINITE))
}

/// The table that is nowhere more than the sum of some tables, whatever the value of a variable.
fn without(
    network: &Network,
    variable: usize,
    members: &[Table],
    fixed: &[(usize, usize)],
) -> Table {
    let mut scope = BTreeSet::new();
    for table in members {
        scope.extend(table.scope.iter().copied().filter(|other| *other != variable));
    }
    let only = fixed.iter().rev().find(|(own, _)| *own == variable).map(|(_, value)| *value);
    let count = network.domains.get(variable).copied().unwrap_or(0);
    let mut cost = |given: &mut [usize]| {
        let is_other = |(own, value): &(usize, usize)| {
            scope.contains(own) && given.get(*own).is_some_and(|given| given != value)
        };
        // Nobody has these values here.
        if fixed.iter().any(is_other) {
            return 0;
        }
        let mut least = INFINITE;
        for value in (0..count).filter(|value| only.is_none_or(|only| only == *value)) {
            given.get_mut(variable).into_iter().for_each(|slot| *slot = value);
            let mut total: Option<Cost> = Some(0);
            for table in members {
                total = total.and_then(|total| total.checked_add(table.at(given)));
            }
            least = least.min(total.unwrap_or(INFINITE));
        }
        least
    };
    Table::of(scope.iter().copied().collect(), &network.domains, &mut cost)
}
