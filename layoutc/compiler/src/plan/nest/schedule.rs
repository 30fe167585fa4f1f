//! In which order the digits of a transfer are looped over, and what moves the innermost of them at once.
//!
//! The loops follow the destination from its major to its minor digit. Innermost is one of: a block transposed by
//! vectors, where source and destination disagree on the fastest digit; runs copied one after another, where they
//! agree; an element.

use crate::machine::CPU;
use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use super::super::arith::typical;
use super::super::transfer::{Cut, Transfer};

/// One level of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The loop over a digit.
    Digit(usize),
    /// The loop over blocks of a digit.
    Blocks {
        /// The digit.
        digit: usize,
        /// How many of its values make a block.
        size: i64,
    },
}

impl Level {
    /// The digit that has one value inside this loop.
    pub fn digit(&self) -> Option<usize> {
        match self {
            Self::Digit(k) => Some(*k),
            Self::Blocks { .. } => None,
        }
    }

    /// The digit that is looped over, one by one or by blocks.
    pub fn of(&self) -> usize {
        let (Self::Digit(digit) | Self::Blocks { digit, .. }) = self;
        *digit
    }

    /// By how many of its values a round is beside the next.
    pub fn step(&self) -> i64 {
        match self {
            Self::Digit(_) => 1,
            Self::Blocks { size, .. } => *size,
        }
    }
}

/// What is done inside all loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inner {
    /// One element is moved, or the run that the innermost loop is.
    Element,
    /// A block is transposed.
    Transpose {
        /// The digit whose neighbours are neighbours in the destination.
        rows: usize,
        /// The digit whose neighbours are neighbours in the source.
        columns: usize,
        /// The digit that stays together, where elements are moved several at once.
        together: Option<usize>,
        /// The digit all of whose blocks are transposed by one call, where they are small.
        count: Option<usize>,
        /// Bytes of what stays together.
        bytes: u32,
    },
    /// Runs are copied.
    Runs {
        /// The digit that is a run.
        run: usize,
        /// The digit that counts runs.
        count: usize,
    },
}

impl Inner {
    /// The digits that no loop goes over.
    pub fn digits(self) -> impl Iterator<Item = usize> {
        let digits = match self {
            Self::Element => [None; 4],
            Self::Transpose { rows, columns, together, count, .. } => {
                [Some(rows), Some(columns), together, count]
            }
            Self::Runs { run, count } => [Some(count), Some(run), None, None],
        };
        digits.into_iter().flatten()
    }
}

/// Loops, outermost first, and what is inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// The loops.
    pub levels: Vec<Level>,
    /// What is inside all of them.
    pub inner: Inner,
}

/// The loops of a transfer around `inner`: those of `first` outermost, the others from the destination's major to its
/// minor digit. `edges` are the rows and columns of a block, where they are not to be found here; `large` says that the
/// whole move is larger than the caches.
pub(super) fn levels(
    transfer: &Transfer,
    symbols: &[Symbol],
    inner: Inner,
    first: &[usize],
    edges: Option<[i64; 2]>,
    large: bool,
) -> Vec<Level> {
    let cuts = &transfer.cuts;
    let mut order = loops(transfer, symbols, inner);
    let place = |k: &usize| first.iter().position(|other| other == k).unwrap_or(first.len());
    order.sort_by_key(place);
    let Some(block) = block(transfer, symbols, inner) else {
        return order.into_iter().map(Level::Digit).collect();
    };
    let extents = block.map(|k| cuts.get(k).map_or(1, |cut| extent(cut, symbols)));
    let blocks = |sizes: [i64; 2]| {
        let blocks = block.into_iter().zip(sizes).zip(extents);
        blocks.filter(|((_, size), extent)| *extent > i128::from(*size))
    };
    let block_levels = |sizes| {
        blocks(sizes).map(|((digit, size), _)| Level::Blocks { digit, size }).collect::<Vec<_>>()
    };
    match (inner, edges) {
        (Inner::Transpose { bytes, .. }, _) => {
            let sizes = edges.unwrap_or_else(|| block_sizes(cuts, symbols, block, bytes, large));
            order.into_iter().map(Level::Digit).chain(block_levels(sizes)).collect()
        }
        // Both digits have loops of their own inside those over blocks.
        _ if edges.is_some()
            || first.is_empty()
                && blocks([CPU.transpose_edge; 2]).count() == 2
                && is_known(cuts, block) =>
        {
            let [rows, columns] = block;
            let mut outer: Vec<usize> = order.clone();
            outer.retain(|k| !block.contains(k));
            let mut sizes = block_levels(edges.unwrap_or([CPU.transpose_edge; 2]));
            sizes.reverse();
            let inside = [columns, rows].map(Level::Digit);
            outer.into_iter().map(Level::Digit).chain(sizes).chain(inside).collect()
        }
        _ => order.into_iter().map(Level::Digit).collect(),
    }
}

/// The digits that have a loop of their own, from the destination's major to its minor one.
pub(super) fn loops(transfer: &Transfer, symbols: &[Symbol], inner: Inner) -> Vec<usize> {
    let cuts = &transfer.cuts;
    let mut order: Vec<usize> = (0..cuts.len())
        .filter(|k| cuts.get(*k).is_some_and(|cut| !cut.is_unit()))
        .filter(|k| inner.digits().all(|digit| digit != *k))
        .collect();
    let to_speed = |k: &usize| cuts.get(*k).map_or(0, |cut| speed(&cut.to_stride, symbols));
    order.sort_by_key(|k| std::cmp::Reverse(to_speed(k)));
    order
}

/// The digits that a block is made of: the destination's fastest and the source's, where they disagree.
pub(super) fn block(transfer: &Transfer, symbols: &[Symbol], inner: Inner) -> Option<[usize; 2]> {
    match inner {
        Inner::Transpose { rows, columns, .. } => Some([rows, columns]),
        Inner::Runs { .. } => None,
        Inner::Element => {
            let order = loops(transfer, symbols, inner);
            let cuts = &transfer.cuts;
            let from_speed =
                |k: &usize| cuts.get(*k).map_or(0, |cut| speed(&cut.from_stride, symbols));
            let fastest_from = order.iter().copied().min_by_key(from_speed)?;
            let fastest_to = order.last().copied()?;
            (fastest_from != fastest_to).then_some([fastest_to, fastest_from])
        }
    }
}

/// Whether the extents of digits do not depend on symbols.
fn is_known(cuts: &[Cut], digits: [usize; 2]) -> bool {
    let known = |k: usize| cuts.get(k).is_some_and(|cut| cut.extent.as_const().is_some());
    digits.into_iter().all(known)
}

/// Rows and columns of a block: about four times as many rows, so that the destination is written in longer runs, unless
/// one of the two has less; about as many of both in a move that is `large`r than the caches.
fn block_sizes(
    cuts: &[Cut],
    symbols: &[Symbol],
    digits: [usize; 2],
    bytes: u32,
    large: bool,
) -> [i64; 2] {
    let block = if large { CPU.streamed_block_bytes } else { CPU.transpose_block_bytes };
    let elements = block.checked_div(i128::from(bytes)).unwrap_or(1).max(1);
    let half = elements.ilog2() / 2;
    let more = u32::from(!large);
    let [rows, columns] = digits.map(|k| cuts.get(k).map_or(1, |cut| extent(cut, symbols)));
    let most = |other: i128, edge: i128| {
        let left = elements.checked_div(other.clamp(1, edge)).unwrap_or(1).max(1);
        1_i64 << left.ilog2().min(32)
    };
    [most(columns, 1 << half.saturating_sub(more)), most(rows, 1 << half.saturating_add(more))]
}

pub(super) fn extent(cut: &Cut, symbols: &[Symbol]) -> i128 {
    typical(&cut.extent, symbols)
}

pub(super) fn speed(stride: &Algebra, symbols: &[Symbol]) -> i128 {
    typical(stride, symbols).saturating_abs()
}
