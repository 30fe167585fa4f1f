//! In which order the digits of a transfer are looped over, and what moves the innermost of them at once.
//!
//! The loops follow the destination from its major to its minor digit. Innermost is one of: a block transposed by
//! vectors, where source and destination disagree on the fastest digit; runs copied one after another, where they
//! agree; an element.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::layout::Symbol;

use super::super::arith::typical;
use super::super::transfer::{Bounds, Cut, Transfer};
use super::Moves;

/// Edge of a block of the two fastest digits, in elements: 32 x 32 elements of 16 bytes fit a first-level cache.
const EDGE: i64 = 32;

/// Bytes of a block that is transposed by one call: a block of the source and one of the destination fit a
/// second-level cache together.
const BLOCK: i128 = 1 << 16;

/// What is moved by one call at least, in bytes: below, calling takes longer than the loops.
const LEAST: i128 = 256;

/// The shortest run that is copied by a call of its own, in bytes.
const RUN: i128 = 64;

/// One level of a nest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Level {
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
    pub(in crate::plan) fn digit(&self) -> Option<usize> {
        match self {
            Self::Digit(k) => Some(*k),
            Self::Blocks { .. } => None,
        }
    }

    /// The digit that is looped over, one by one or by blocks.
    pub(in crate::plan) fn of(&self) -> usize {
        let (Self::Digit(digit) | Self::Blocks { digit, .. }) = self;
        *digit
    }
}

/// What is done inside all loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::plan) enum Inner {
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
    pub(in crate::plan) fn digits(self) -> impl Iterator<Item = usize> {
        let digits = match self {
            Self::Element => [None; 3],
            Self::Transpose { rows, columns, together, .. } => {
                [Some(rows), Some(columns), together]
            }
            Self::Runs { run, count } => [Some(count), Some(run), None],
        };
        digits.into_iter().flatten()
    }
}

/// Loops, outermost first, and what is inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::plan) struct Schedule {
    pub(in crate::plan) levels: Vec<Level>,
    pub(in crate::plan) inner: Inner,
}

/// The schedule of a transfer. `element` is the bytes of an element, `None` where elements share bytes.
pub(super) fn schedule(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: Option<u32>,
    moves: Moves,
) -> Schedule {
    let cuts = &transfer.cuts;
    let inner = match (moves, element) {
        (Moves::Blocks, Some(element)) => blocks(transfer, symbols, element),
        _ => Inner::Element,
    };
    let mut order: Vec<usize> = (0..cuts.len())
        .filter(|k| cuts.get(*k).is_some_and(|cut| !cut.is_unit()))
        .filter(|k| inner.digits().all(|digit| digit != *k))
        .collect();
    let to_speed = |k: &usize| cuts.get(*k).map_or(0, |cut| speed(&cut.to_stride, symbols));
    order.sort_by_key(|k| std::cmp::Reverse(to_speed(k)));
    let levels = match inner {
        Inner::Element => by_element(transfer, symbols, order),
        Inner::Transpose { rows, columns, bytes, .. } => {
            let sizes = block_sizes(cuts, symbols, [rows, columns], bytes);
            let blocks = [rows, columns].into_iter().zip(sizes).filter_map(|(digit, size)| {
                let extent = cuts.get(digit).map_or(1, |cut| extent(cut, symbols));
                (extent > i128::from(size)).then_some(Level::Blocks { digit, size })
            });
            order.into_iter().map(Level::Digit).chain(blocks).collect()
        }
        Inner::Runs { .. } => order.into_iter().map(Level::Digit).collect(),
    };
    Schedule { levels, inner }
}

/// Loops down to the single element; where source and destination disagree on the fastest digit, the two are blocked.
fn by_element(transfer: &Transfer, symbols: &[Symbol], order: Vec<usize>) -> Vec<Level> {
    let cuts = &transfer.cuts;
    let fastest_to = order.last().copied();
    let from_speed = |k: &usize| cuts.get(*k).map_or(0, |cut| speed(&cut.from_stride, symbols));
    let fastest_from = order.iter().copied().min_by_key(from_speed);
    let large = |k: usize| {
        let extent = cuts.get(k).and_then(|cut| cut.extent.as_const());
        extent.is_some_and(|extent| extent > i128::from(EDGE))
    };
    match (fastest_from, fastest_to) {
        (Some(a), Some(b)) if a != b && large(a) && large(b) => {
            let rest = order.iter().filter(|k| **k != a && **k != b).map(|k| Level::Digit(*k));
            let blocks = [a, b].map(|digit| Level::Blocks { digit, size: EDGE });
            rest.chain(blocks).chain([Level::Digit(a), Level::Digit(b)]).collect()
        }
        _ => order.into_iter().map(Level::Digit).collect(),
    }
}

/// What can be moved by one call.
fn blocks(transfer: &Transfer, symbols: &[Symbol], element: u32) -> Inner {
    let shared = transfer.cuts.iter().position(|cut| !cut.is_unit() && cut.is_run());
    match shared {
        Some(run) => together(transfer, symbols, run, element)
            .or_else(|| runs(transfer, symbols, run, element)),
        None => transpose(transfer, symbols, None, element),
    }
    .unwrap_or(Inner::Element)
}

/// A transposition of runs that are short enough to be moved as one element.
fn together(transfer: &Transfer, symbols: &[Symbol], run: usize, element: u32) -> Option<Inner> {
    let cut = transfer.cuts.get(run)?;
    if transfer.is_guarded(cut.chain, symbols) {
        return None;
    }
    let extent = u32::try_from(cut.extent.as_const()?).ok()?;
    transpose(transfer, symbols, Some((run, extent)), element.checked_mul(extent)?)
}

fn transpose(
    transfer: &Transfer,
    symbols: &[Symbol],
    together: Option<(usize, u32)>,
    bytes: u32,
) -> Option<Inner> {
    if !bytes.is_power_of_two() || bytes > 16 {
        return None;
    }
    let step = together.map_or(1, |(_, extent)| i128::from(extent));
    let along = |stride: fn(&Cut) -> &Algebra| {
        let is_next = |cut: &Cut| !cut.is_unit() && stride(cut).as_const() == Some(step);
        transfer.cuts.iter().position(is_next)
    };
    let (rows, columns) = (along(|cut| &cut.to_stride)?, along(|cut| &cut.from_stride)?);
    let (a, b) = (transfer.cuts.get(rows)?, transfer.cuts.get(columns)?);
    if rows == columns || !apart(transfer, symbols, [a, b]) {
        return None;
    }
    let moved =
        extent(a, symbols).saturating_mul(extent(b, symbols)).saturating_mul(i128::from(bytes));
    let together = together.map(|(run, _)| run);
    (moved >= LEAST).then_some(Inner::Transpose { rows, columns, together, bytes })
}

/// Runs that are long enough to be copied each for itself.
fn runs(transfer: &Transfer, symbols: &[Symbol], run: usize, element: u32) -> Option<Inner> {
    let cut = transfer.cuts.get(run)?;
    let bytes = extent(cut, symbols).saturating_mul(i128::from(element));
    if bytes < RUN {
        return None;
    }
    let others = transfer.cuts.iter().enumerate().filter(|(k, other)| {
        *k != run && !other.is_unit() && apart(transfer, symbols, [cut, other])
    });
    let count = others.min_by_key(|(_, other)| speed(&other.to_stride, symbols))?.0;
    Some(Inner::Runs { run, count })
}

/// Whether the bounds of two digits depend neither on each other, nor does one of them start late.
fn apart(transfer: &Transfer, symbols: &[Symbol], [a, b]: [&Cut; 2]) -> bool {
    let late = |cut: &Cut| transfer.chains.get(cut.chain).is_some_and(Bounds::starts_late);
    (a.chain != b.chain || !transfer.is_guarded(a.chain, symbols)) && !late(a) && !late(b)
}

/// Rows and columns of a block: about four times as many rows, so that the destination is written in longer runs, unless
/// one of the two has less.
fn block_sizes(cuts: &[Cut], symbols: &[Symbol], digits: [usize; 2], bytes: u32) -> [i64; 2] {
    let elements = BLOCK.checked_div(i128::from(bytes)).unwrap_or(1).max(1);
    let half = elements.ilog2() / 2;
    let [rows, columns] = digits.map(|k| cuts.get(k).map_or(1, |cut| extent(cut, symbols)));
    let most = |other: i128, edge: i128| {
        let left = elements.checked_div(other.clamp(1, edge)).unwrap_or(1).max(1);
        1_i64 << left.ilog2().min(32)
    };
    [most(columns, 1 << half.saturating_sub(1)), most(rows, 1 << half.saturating_add(1))]
}

fn extent(cut: &Cut, symbols: &[Symbol]) -> i128 {
    typical(&cut.extent, symbols)
}

fn speed(stride: &Algebra, symbols: &[Symbol]) -> i128 {
    typical(stride, symbols).saturating_abs()
}
