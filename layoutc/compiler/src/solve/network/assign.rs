//! An assignment from an elimination: each variable, from the last eliminated to the first, takes its best value. It is
//! the best of all where no table was split; else it is made better one variable at a time.

use super::Network;
use super::eliminate::Eliminated;
use super::table::{Cost, INFINITE, sum};

/// How often all variables are looked at.
const ROUNDS: usize = 20;

/// Values for all variables, and their cost.
pub(super) fn assignment(
    network: &Network,
    found: &Eliminated,
    fixed: &[Option<usize>],
) -> (Vec<usize>, Cost) {
    let mut values = vec![0_usize; network.domains.len()];
    for step in found.steps.iter().rev() {
        let tables: Vec<_> =
            step.groups.iter().flatten().filter_map(|k| found.tables.get(*k)).collect();
        best(network, fixed, step.variable, &mut values, &|values| {
            tables.iter().map(|table| table.at(values)).fold(0, sum)
        });
    }
    if found.split.is_some() {
        improve(network, fixed, &mut values);
    }
    let cost = network.cost(&values);
    (values, cost)
}

/// Gives a variable the value that costs least; the first of several.
fn best(
    network: &Network,
    fixed: &[Option<usize>],
    variable: usize,
    values: &mut [usize],
    cost: &dyn Fn(&[usize]) -> Cost,
) {
    if let Some(Some(value)) = fixed.get(variable) {
        set(values, variable, *value);
        return;
    }
    let mut least = (INFINITE, 0);
    for value in 0..network.domains.get(variable).copied().unwrap_or(0) {
        set(values, variable, value);
        let found = cost(values);
        if found < least.0 {
            least = (found, value);
        }
    }
    set(values, variable, least.1);
}

fn set(values: &mut [usize], variable: usize, value: usize) {
    values.get_mut(variable).into_iter().for_each(|slot| *slot = value);
}

/// Changes one variable at a time while that helps.
fn improve(network: &Network, fixed: &[Option<usize>], values: &mut [usize]) {
    let mut mentions: Vec<Vec<usize>> = vec![Vec::new(); network.domains.len()];
    for (k, table) in network.tables.iter().enumerate() {
        for variable in &table.scope {
            mentions.get_mut(*variable).into_iter().for_each(|list| list.push(k));
        }
    }
    for _ in 0..ROUNDS {
        let before = values.to_vec();
        for (variable, mentioned) in mentions.iter().enumerate() {
            let tables: Vec<_> = mentioned.iter().filter_map(|k| network.tables.get(*k)).collect();
            best(network, fixed, variable, values, &|values| {
                tables.iter().map(|table| table.at(values)).fold(0, sum)
            });
        }
        if network.cost(values) >= network.cost(&before) {
            values.copy_from_slice(&before);
            return;
        }
    }
}
