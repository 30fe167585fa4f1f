//! Message passing that raises the lower bound of a subproblem: shifts costs between pairs and variables, so that the
//! minima of the tables grow. The cost of every assignment is exactly preserved.
//!
//! Source: Tourani, Shekhovtsov, Rother, Savchynskyy, "MPLP++: fast, parallel dual block-coordinate ascent for dense
//! graphical models" (ECCV 2018), the handshake operation, here in integers.

use super::data::{Cost, INFINITE, LARGEST};

/// Number of consecutive sweeps, each of which raises the bound by at most 0.1%, after which the message passing ends.
const PATIENCE: usize = 6;

/// Pair of variables with its costs over their remaining values, row-major, one row per value of `a`.
#[derive(Debug, Clone)]
pub(super) struct PairEdge {
    /// Index of the pair's first variable in the list of unary costs.
    pub(super) a: usize,
    /// Index of the pair's second variable in the list of unary costs.
    pub(super) b: usize,
    pub(super) costs: Vec<Cost>,
    /// Costs shifted from the pair to `a` so far, for each value of `a`.
    pub(super) to_a: Vec<i128>,
    /// Costs shifted from the pair to `b` so far, for each value of `b`.
    pub(super) to_b: Vec<i128>,
}

/// Runs at most `sweeps` passes of message passing over all edges, alternately in ascending and descending order.
/// Changes `unaries` and `edges`; costs stay nonnegative, and infinite costs stay infinite. Ends early after
/// [`PATIENCE`] sweeps with little progress, or if `stop` returns true.
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

/// Lower bound on the sum of the unary costs: the least cost of each variable, added up.
fn bound(unaries: &[Vec<Cost>]) -> Cost {
    let least = unaries.iter().map(|costs| costs.iter().copied().min().unwrap_or(INFINITE));
    least.fold(0, Cost::saturating_add)
}

/// Shifts costs between one edge and its variables (the handshake of MPLP++), in four steps:
/// - all unary costs of `a` and `b` to the edge
/// - half of the minimum of each row to `a`
/// - the minimum of each column to `b`
/// - the rest of the minimum of each row to `a`
///
/// Does nothing if a sum exceeds [`LARGEST`].
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

/// Subtracts from each row of `costs` its minimum divided by `share`, rounded down, and stores the subtracted number in
/// `taken`. A row without a finite cost is unchanged, and its number is 0. Rows have `width` entries.
fn take_rows(costs: &mut [Cost], taken: &mut [Cost], width: usize, share: Cost) {
    for (row, taken) in costs.chunks_mut(width.max(1)).zip(taken) {
        *taken = row.iter().copied().min().filter(|&c| c != INFINITE).unwrap_or(0) / share;
        row.iter_mut().for_each(|cost| *cost = less(*cost, *taken));
    }
}

/// Subtracts from each column of `costs` its minimum, and stores the subtracted number in `taken`. A column without a
/// finite cost is unchanged, and its number is 0.
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
