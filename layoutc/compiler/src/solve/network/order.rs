//! Greedy elimination order of the variables. The next variable is always the one whose elimination produces the
//! smallest table.

use std::collections::{BTreeMap, BTreeSet};

/// Numbers of the neighbors of each variable, by the variable's number. Two variables are neighbors if a table contains
/// both, in the network or after the elimination of other variables.
pub(super) type NeighborMap = BTreeMap<usize, BTreeSet<usize>>;

/// Order in which all variables are eliminated. The next variable is always the one whose elimination produces the
/// table with the fewest entries; on a tie the one with the fewest neighbors, then the one with the smallest number.
/// `size` returns the number of values of a variable.
pub(super) fn elimination_order(
    mut neighbours: NeighborMap,
    size: &dyn Fn(usize) -> usize,
) -> Vec<usize> {
    let mut waiting: BTreeSet<(u128, usize, usize)> =
        neighbours.iter().map(|(&v, near)| rank(v, near, size)).collect();
    let mut order = Vec::with_capacity(waiting.len());
    while let Some((_, _, variable)) = waiting.pop_first() {
        order.push(variable);
        let near = neighbours.remove(&variable).unwrap_or_default();
        for &one in &near {
            let Some(of_one) = neighbours.get_mut(&one) else { continue };
            waiting.remove(&rank(one, of_one, size));
            of_one.remove(&variable);
            of_one.extend(near.iter().copied().filter(|&other| other != one));
            waiting.insert(rank(one, of_one, size));
        }
    }
    order
}

/// Sort key for the elimination of `variable`, a triple: number of entries of the table that it produces, number of
/// neighbors, and number of the variable. `near` are the neighbors, which are the variables of that table; `size`
/// returns the number of values of a variable.
fn rank(
    variable: usize,
    near: &BTreeSet<usize>,
    size: &dyn Fn(usize) -> usize,
) -> (u128, usize, usize) {
    let entries = near.iter().fold(1u128, |entries, &v| {
        entries.saturating_mul(u128::try_from(size(v)).unwrap_or(u128::MAX))
    });
    (entries, near.len(), variable)
}
