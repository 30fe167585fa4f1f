//! Costs move between the pairs and the variables of a part, until the sum of all least costs is large: a bound that needs
//! no table of more than two variables. The cost of every assignment stays what it was, to the byte.
//!
//! Source: Tourani, Shekhovtsov, Rother, Savchynskyy, "MPLP++: fast, parallel dual block-coordinate ascent for dense
//! graphical models" (ECCV 2018), the handshake operation, here in integers.

use super::data::{Cost, INFINITE, LARGEST};

/// Sweeps in a row that gain less than a thousandth before it ends.
const PATIENCE: usize = 6;

/// The costs of a pair over the values that are left: row-major, a row for each value of `a`.
#[derive(Debug, Clone)]
pub(super) struct PairEdge {
    /// Where the first variable is among the unaries.
    pub(super) a: usize,
    /// Where the second one is.
    pub(super) b: usize,
    pub(super) costs: Vec<Cost>,
    /// What went to `a`, for each of its values.
    pub(super) to_a: Vec<i128>,
    /// What went to `b`.
    pub(super) to_b: Vec<i128>,
}

/// Moves costs, at most `sweeps` times through all edges. Tables keep costs of 0 or more, and what is forbidden stays so.
pub(super) fn sweep(
    unaries: &mut [Vec<Cost>],
    edges: &mut [PairEdge],
    sweeps: usize,
    stop: &dyn Fn() -> bool,
) {
    let mut best = bound(unaries);
    let mut idle = 0;
    for round in 0..sweeps {
        if round % 2 == 0 {
            edges.iter_mut().for_each(|edge| handshake(unaries, edge));
        } else {
            edges.iter_mut().rev().for_each(|edge| handshake(unaries, edge));
        }
        let next = bound(unaries);
        idle = if next > best.saturating_add(best / 1000) { 0 } else { idle + 1 };
        best = best.max(next);
        if idle >= PATIENCE || stop() {
            return;
        }
    }
}

/// The sum of the least costs of all variables.
fn bound(unaries: &[Vec<Cost>]) -> Cost {
    let least = unaries.iter().map(|costs| costs.iter().copied().min().unwrap_or(INFINITE));
    least.fold(0, Cost::saturating_add)
}

/// Puts the costs of both variables into the edge, then gives half of the least costs to `a`, what is left of them to `b`
/// and the rest to `a`. An edge whose sums exceed [`LARGEST`] is left as it is.
fn handshake(unaries: &mut [Vec<Cost>], edge: &mut PairEdge) {
    let (Some(of_a), Some(of_b)) = (unaries.get(edge.a), unaries.get(edge.b)) else { return };
    let (mut of_a, mut of_b) = (of_a.clone(), of_b.clone());
    let mut costs = edge.costs.clone();
    for (row, &a) in costs.chunks_mut(of_b.len().max(1)).zip(&of_a) {
        for (cost, &b) in row.iter_mut().zip(&of_b) {
            if *cost != INFINITE {
                *cost = cost.saturating_add(a).saturating_add(b);
                if *cost > LARGEST {
                    return;
                }
            }
        }
    }
    take_rows(&mut costs, &mut of_a, of_b.len(), 2);
    take_columns(&mut costs, &mut of_b);
    let half = of_a.clone();
    take_rows(&mut costs, &mut of_a, of_b.len(), 1);
    for (all, half) in of_a.iter_mut().zip(half) {
        *all = all.saturating_add(half);
    }
    edge.costs = costs;
    for (place, new, sent) in [(edge.a, of_a, &mut edge.to_a), (edge.b, of_b, &mut edge.to_b)] {
        let Some(old) = unaries.get_mut(place) else { continue };
        for ((sent, &old), &new) in sent.iter_mut().zip(old.iter()).zip(&new) {
            *sent += i128::from(new) - i128::from(old);
        }
        *old = new;
    }
}

/// Moves the least cost of each row, divided by `share`, out of the row. Every row has a finite cost.
fn take_rows(costs: &mut [Cost], taken: &mut [Cost], width: usize, share: Cost) {
    for (row, taken) in costs.chunks_mut(width.max(1)).zip(taken) {
        *taken = row.iter().copied().min().filter(|&c| c != INFINITE).unwrap_or(0) / share;
        row.iter_mut().for_each(|cost| *cost = less(*cost, *taken));
    }
}

/// Moves the least cost of each column out of the column. Every column has a finite cost.
fn take_columns(costs: &mut [Cost], taken: &mut [Cost]) {
    let width = taken.len().max(1);
    taken.fill(INFINITE);
    for row in costs.chunks(width) {
        for (least, &cost) in taken.iter_mut().zip(row) {
            *least = (*least).min(cost);
        }
    }
    for least in taken.iter_mut().filter(|least| **least == INFINITE) {
        *least = 0;
    }
    for row in costs.chunks_mut(width) {
        for (cost, &taken) in row.iter_mut().zip(taken.iter()) {
            *cost = less(*cost, taken);
        }
    }
}

fn less(cost: Cost, by: Cost) -> Cost {
    if cost == INFINITE { INFINITE } else { cost.saturating_sub(by) }
}
