//! Which elements a work group moves at once: a box of the digits that are fastest in the source, and of those that are
//! fastest in the destination.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::layout::Symbol;

use super::digits::{Digit, Digits};
use super::staging::LOCAL_BYTES;
use crate::plan::arith::typical;
use crate::plan::tree::GROUP;

/// Elements of a tile at least, where there are as many; and bytes.
const LEAST: i64 = 1024;
const LEAST_BYTES: i64 = 4096;

/// The shortest run that neighbouring items read or write: in elements, and in bytes.
const RUN: i64 = 32;
const RUN_BYTES: i64 = 64;

/// Elements beyond so many bytes are read and written one by one as fast as in runs.
const LARGE: i64 = 16;

/// Elements that an item holds at once at most.
const MOST_ROUNDS: i64 = 16;

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
}

impl Tile {
    /// The tile of a move of elements of so many bytes.
    pub(super) fn new(digits: &Digits, element_bytes: i64, symbols: &[Symbol]) -> Self {
        let all = &digits.list;
        let size = |of: &Algebra| i64::try_from(typical(of, symbols)).unwrap_or(i64::MAX);
        let sizes: Vec<i64> = all.iter().map(|digit| size(&digit.room).max(1)).collect();
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
        let by_from = in_order(|digit| (digit.extent.as_const() == Some(1), &digit.from));
        let by_to = in_order(|digit| (false, &digit.to));
        let staged = element_bytes <= LARGE && !agree([&by_from, &by_to], &sizes, element_bytes);
        let bytes = element_bytes.max(1);
        let least = LEAST.max(LEAST_BYTES / bytes);
        let mut growth = Growth { blocks: vec![1; sizes.len()], sizes, most: i64::MAX };
        if staged {
            let most = LOCAL_BYTES / bytes;
            // A part of it is left free between rows.
            growth.most = most - most / 16;
            let least = least.min(growth.most);
            let mut run = RUN.max(RUN_BYTES / bytes);
            loop {
                growth.reach(&by_to, run);
                growth.reach(&by_from, run);
                if growth.elements() >= least || run >= least {
                    break;
                }
                run *= 2;
            }
        } else {
            growth.reach(&by_to, least);
        }
        Self { blocks: growth.blocks, by_from, by_to, staged }
    }

    /// How many elements a tile has.
    pub(super) fn elements(&self) -> i64 {
        self.blocks.iter().product()
    }

    /// How many elements each item of a group moves, where all move as many, more than one and no more than
    /// [`MOST_ROUNDS`].
    pub(super) fn rounds(&self) -> Option<i64> {
        let rounds = self.elements().div_euclid(GROUP);
        let all = self.elements().rem_euclid(GROUP) == 0;
        (all && (2..=MOST_ROUNDS).contains(&rounds)).then_some(rounds)
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
        if run >= RUN_BYTES {
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
            let next = if whole { *size } else { power_of_two(wanted.min(most).min(*size)) };
            *block = next.max(*block);
            reached = reached.saturating_mul(*block);
            if *block < *size {
                return;
            }
        }
    }
}

/// The greatest power of two that is not above `value`.
fn power_of_two(value: i64) -> i64 {
    value.checked_ilog2().map_or(1, |log| 1 << log)
}
