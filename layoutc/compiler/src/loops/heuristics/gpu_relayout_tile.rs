//! Tile that a thread block of a relayout copies: a box of the fastest digits of the source and of the destination.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::typical;
use crate::loops::gpu_relayout::digits::{Digit, Digits};
use crate::loops::gpu_relayout::schedule::{Tile, TransposeTile};
use crate::machine::GPU;

/// Tile of a relayout. `element_bytes` is the size of a position, which is one element, one word or one transpose
/// tile. `run_bytes` is the size of an element, or of the narrower of the words that are read and written.
pub(crate) fn tile(
    digits: &Digits,
    [element_bytes, run_bytes]: [i64; 2],
    transpose: Option<TransposeTile>,
    symbols: &[Symbol],
) -> Tile {
    let all = &digits.list;
    let [row, column] = [transpose.map(|own| own.row), transpose.map(|own| own.column)];
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
    // Digits with one element are last: they add nothing to a contiguous run.
    let mut by_from = in_order(|digit| (digit.extent.as_const() == Some(1), &digit.from));
    by_from.retain(|k| !is_inside(k));
    let mut by_to = in_order(|digit| (false, &digit.to));
    by_to.retain(|k| row != Some(*k));
    let staged =
        run_bytes <= GPU.large_element_bytes && !agree([&by_from, &by_to], &sizes, run_bytes);
    let bytes = element_bytes.max(1);
    let mut growth = TileSearch { blocks: vec![1; sizes.len()], sizes, most: i64::MAX };
    if staged {
        let most = GPU.staged_tile_bytes / bytes;
        // A sixteenth is reserved for padding between rows.
        growth.most = most - most / 16;
        let (least, mut run) = match transpose {
            Some(_) => (GPU.transposed_tile_bytes / bytes, GPU.transposed_run_words),
            None => (
                GPU.tile_elements.max(GPU.tile_bytes / bytes),
                GPU.run_elements.max(GPU.run_bytes / bytes),
            ),
        };
        // Small tensors get smaller tiles, so that there are enough for all multiprocessors.
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
    if let Some(own) = transpose {
        for (digit, values) in [(own.row, own.rows), (own.column, own.columns)] {
            if let Some(block) = blocks.get_mut(digit) {
                *block = values;
            }
        }
    }
    Tile { blocks, by_from, by_to, staged, transpose }
}

/// True if source and destination share contiguous runs of at least `GPU.run_bytes`, or their whole order. `by_from`
/// and `by_to`: digits, fastest first; `sizes`: numbers of values of the digits; `element_bytes`: bytes of one value of
/// the fastest digit.
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

/// Tile under construction.
struct TileSearch {
    /// Number of values of each digit in the tile so far.
    blocks: Vec<i64>,
    /// Number of values of each digit; a large value in the range of the symbols if it is symbolic.
    sizes: Vec<i64>,
    /// Maximum number of positions of the tile.
    most: i64,
}

impl TileSearch {
    fn elements(&self) -> i64 {
        self.blocks.iter().product()
    }

    /// Grows the tile until its runs along `order` have about `run` positions, by whole digits and then by a part of
    /// one; stays within `most` positions.
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

/// Number of values in the tile for a digit of `size` values, if the tile has `others` positions along the other
/// digits: the greatest power of two up to `most`; if `others` is no power of two, the number from that power to `most`
/// that leaves the fewest threads idle, or that power among equals.
fn busiest(others: i64, most: i64, size: i64) -> i64 {
    let least = power_of_two(most);
    if others.count_ones() == 1 {
        return least;
    }
    // Busy threads per mille, with the idle positions of partial last tiles.
    let busy = |block: i64| {
        let all = |of: i64, by: i64| of.saturating_add(by - 1).div_euclid(by).saturating_mul(by);
        let elements = others.saturating_mul(block);
        let within = elements.saturating_mul(1000).div_euclid(all(elements, GPU.threads));
        within.saturating_mul(size).div_euclid(all(size, block))
    };
    (least..=most).rev().max_by_key(|block| (busy(*block), *block == least)).unwrap_or(least)
}

/// Greatest power of two that is at most `value`; 1 for values below 1.
fn power_of_two(value: i64) -> i64 {
    value.checked_ilog2().map_or(1, |log| 1 << log)
}
