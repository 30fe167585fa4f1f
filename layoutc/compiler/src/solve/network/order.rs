//! In which order variables go: always the one whose next table is the smallest.

use std::collections::{BTreeMap, BTreeSet};

/// Which variables share a table, directly or through variables that are gone.
pub(super) type NeighborMap = BTreeMap<usize, BTreeSet<usize>>;

/// All variables of a graph, the first to go first. `size` gives how many values a variable has. Among equal tables the
/// one that connects fewer goes first, then the smaller number.
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

/// The entries of the table that a variable would leave, how many variables it is over, and the variable.
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
