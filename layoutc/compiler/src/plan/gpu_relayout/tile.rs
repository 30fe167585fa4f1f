//! Which elements a work group moves at once: a box of the digits that are fastest in the source, and of those that are
//! fastest in the destination.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use super::digits::{Digit, Digits};
use super::turn::Turn;
use crate::machine::GPU;
use crate::plan::arith::typical;

/// A box of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tile {
    /// For each digit, how many values of it.
    pub(super) blocks: Vec<i64>,
    /// The digits in the order of the source, the fastest first.
    pub(super) by_from: Vec<usize>,
    /// The digits in the order of the destination, the fastest first.
    pub(super) by_to: Vec<usize>,
    /// Whether source and destination disagree, so that the tile goes through local memory.
    pub(super) staged: bool,
    /// The block that an item turns, of which each place of the tile is one.
    pub(super) turn: Option<Turn>,
}

impl Tile {
    /// The tile of a move of elements of so many bytes, or of blocks of so many that go by words of so many.
    pub(super) fn new(
        digits: &Digits,
        [element_bytes, run_bytes]: [i64; 2],
        turn: Option<Turn>,
        symbols: &[Symbol],
    ) -> Self {
        let all = &digits.list;
        let [row, column] = [turn.map(|turn| turn.row), turn.map(|turn| turn.column)];
        let is_inside = |k: &usize| row == Some(*k) || column == Some(*k);
        let size = |of: &Algebra| i64::try_from(typical(of, symbols)).unwrap_or(i64::MAX);
        let sizes = all
            .iter()
            .enumerate()
            .map(|(k, digit)| if is_inside(&k) { 1 } else { size(&digit.room).max(1) });
        let sizes: Vec<i64> = sizes.collect();
        let in_order = |stride: fn(&Digit) -> (bool, &Algebra)| {
            let mut order: Vec<usize> = (0..all.len()).collect();
            order.sort_by_key(|k| {
                all.get(*k)
                    .map(stride)
                    .map(|(last, stride)| (last, typical(stride, symbols).saturating_abs()))
            });
            order
        };
        // What has no second element is not read along.
        let mut by_from = in_order(|digit| (digit.extent.as_const() == Some(1), &digit.from));
        by_from.retain(|k| !is_inside(k));
        let mut by_to = in_order(|digit| (false, &digit.to));
        by_to.retain(|k| row != Some(*k));
        let staged =
            run_bytes <= GPU.large_element_bytes && !agree([&by_from, &by_to], &sizes, run_bytes);
        let bytes = element_bytes.max(1);
        let mut growth = Growth { blocks: vec![1; sizes.len()], sizes, most: i64::MAX };
        if staged {
            let most = GPU.staged_tile_bytes / bytes;
            // A part of it is left free between rows.
            growth.most = most - most / 16;
            let (least, mut run) = match turn {
                Some(_) => (GPU.transposed_tile_bytes / bytes, GPU.transposed_run_words),
                None => (
                    GPU.tile_elements.max(GPU.tile_bytes / bytes),
                    GPU.run_elements.max(GPU.run_bytes / bytes),
                ),
            };
            // Of a small tensor tiles are small too, so that there are many.
            let all = growth.sizes.iter().fold(1_i64, |all, size| all.saturating_mul(*size));
            let least = least.min(all.div_euclid(GPU.tiles).max(GPU.threads)).min(growth.most);
            loop {
                growth.reach(&by_to, run);
                growth.reach(&by_from, run);
                if growth.elements() >= least || run >= least {
                    break;
                }
                run *= 2;
            }
        } else {
            growth.reach(&by_to, GPU.threads.max(GPU.tile_bytes / bytes));
        }
        let mut blocks = growth.blocks;
        if let Some(turn) = turn {
            for (digit, values) in [(turn.row, turn.rows), (turn.column, turn.columns)] {
                if let Some(block) = blocks.get_mut(digit) {
                    *block = values;
                }
            }
        }
        Self { blocks, by_from, by_to, staged, turn }
    }

    /// How many places a tile has along an order of its digits.
    pub(super) fn places(&self, order: &[usize]) -> i64 {
        order.iter().map(|k| self.block(*k)).product()
    }

    /// How many of these places each item of a group has at most, where that is more than one and no more than
    /// [`MOST_ROUNDS`].
    pub(super) fn rounds(&self, order: &[usize]) -> Option<i64> {
        let rounds = self.places(order).saturating_add(GPU.threads - 1).div_euclid(GPU.threads);
        (2..=GPU.thread_elements).contains(&rounds).then_some(rounds)
    }

    /// How many values of a digit a tile has.
    pub(super) fn block(&self, digit: usize) -> i64 {
        self.blocks.get(digit).copied().unwrap_or(1)
    }

    /// The digits of an order that have several values in a tile.
    pub(super) fn inside(&self, order: &[usize]) -> Vec<usize> {
        order.iter().copied().filter(|k| self.block(*k) > 1).collect()
    }
}

/// Whether neighbours in the source are neighbours in the destination, for runs that are long enough.
fn agree([by_from, by_to]: [&[usize]; 2], sizes: &[i64], element_bytes: i64) -> bool {
    let mut run = element_bytes;
    for (from, to) in by_from.iter().zip(by_to) {
        if from != to {
            return false;
        }
        run = run.saturating_mul(sizes.get(*from).copied().unwrap_or(1));
        if run >= GPU.run_bytes {
            return true;
        }
    }
    true
}

/// A tile that grows.
struct Growth {
    blocks: Vec<i64>,
    /// For each digit, how many values it has; many where that is not known.
    sizes: Vec<i64>,
    /// How many elements it may have.
    most: i64,
}

impl Growth {
    fn elements(&self) -> i64 {
        self.blocks.iter().product()
    }

    /// Grows until runs along an order have so many elements, by whole digits and then by a power of two.
    fn reach(&mut self, order: &[usize], run: i64) {
        let mut reached = 1;
        for k in order {
            let elements = self.elements();
            let (Some(size), Some(block)) = (self.sizes.get(*k), self.blocks.get_mut(*k)) else {
                return;
            };
            let wanted = run / reached;
            if wanted <= 1 {
                return;
            }
            let most = self.most / (elements / *block);
            let whole = *size <= wanted.saturating_add(wanted / 2) && *size <= most;
            let limit = wanted.min(most).min(*size);
            let next = if whole { *size } else { busiest(elements / *block, limit, *size) };
            *block = next.max(*block);
            reached = reached.saturating_mul(*block);
            if *block < *size {
                return;
            }
        }
    }
}

/// How many values of a digit of so many leave the fewest items of a group without work, beside so many elements of other
/// digits: a power of two where that is as good.
fn busiest(others: i64, most: i64, size: i64) -> i64 {
    let least = power_of_two(most);
    if others.count_ones() == 1 {
        return least;
    }
    // Of a thousand.
    let busy = |block: i64| {
        let all = |of: i64, by: i64| of.saturating_add(by - 1).div_euclid(by).saturating_mul(by);
        let elements = others.saturating_mul(block);
        let within = elements.saturating_mul(1000).div_euclid(all(elements, GPU.threads));
        within.saturating_mul(size).div_euclid(all(size, block))
    };
    (least..=most).rev().max_by_key(|block| (busy(*block), *block == least)).unwrap_or(least)
}

/// The greatest power of two that is not above `value`.
fn power_of_two(value: i64) -> i64 {
    value.checked_ilog2().map_or(1, |log| 1 << log)
}
