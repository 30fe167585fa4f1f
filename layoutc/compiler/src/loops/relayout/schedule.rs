//! Loop order of a refinement, and the primitive that replaces its innermost loops.
//!
//! The loops follow the destination from its slowest to its fastest digit. Innermost is one of: a tile transposed by
//! vectors, if source and destination disagree on the fastest digit; a sequence of copied runs, if they agree; one
//! element.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::typical;
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};
use crate::machine::CPU;

/// Loop of the nest that copies a refinement. Digits are positions in `DigitRefinement::digits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayoutLoop {
    /// Loop over the values of a digit.
    Digit(usize),
    /// Loop over tiles of consecutive values of a digit.
    Tiles {
        /// Digit whose values are split into tiles.
        digit: usize,
        /// Number of values of a tile.
        size: i64,
    },
}

impl RelayoutLoop {
    /// Digit that has a single value inside this loop; `None` for a loop over tiles, inside which it has several.
    pub fn single_value_digit(&self) -> Option<usize> {
        match self {
            Self::Digit(k) => Some(*k),
            Self::Tiles { .. } => None,
        }
    }

    /// Digit over whose values or tiles the loop iterates.
    pub fn digit(&self) -> usize {
        let (Self::Digit(digit) | Self::Tiles { digit, .. }) = self;
        *digit
    }

    /// Step of the loop, in values of the digit.
    pub fn step(&self) -> i64 {
        match self {
            Self::Digit(_) => 1,
            Self::Tiles { size, .. } => *size,
        }
    }
}

/// Primitive inside all loops of a refinement. Digits are positions in `DigitRefinement::digits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayoutPrimitive {
    /// Copy of one element. If the innermost loop is a contiguous run, one copy of the run may replace that loop.
    Element,
    /// Transposition of a tile of `rows` by `columns`.
    Transpose {
        /// Digit of the rows, which is contiguous in the destination, in units of what is transposed as one element.
        rows: usize,
        /// Digit of the columns, which is contiguous in the source, in the same units.
        columns: usize,
        /// Digit of the run that is copied as one element; `None` if single elements are transposed.
        together: Option<usize>,
        /// Digit whose tiles are all transposed by one call; `None` for one tile per call.
        count: Option<usize>,
        /// Size of what is transposed as one element, an element or a run, in bytes.
        bytes: u32,
    },
    /// Copies of strided runs.
    Runs {
        /// Digit that is contiguous in source and destination.
        run: usize,
        /// Digit that counts the runs.
        count: usize,
    },
}

impl RelayoutPrimitive {
    /// Digits over which the primitive itself iterates, so that they have no loop in the nest.
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

/// Loops of a refinement, and the primitive inside them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayoutSchedule {
    /// Loops, outermost first.
    pub levels: Vec<RelayoutLoop>,
    /// Primitive inside all loops.
    pub inner: RelayoutPrimitive,
}

/// Loops of a refinement around the primitive `inner`, outermost first: the digits of `first` in their order, then the
/// others from the destination's slowest to its fastest digit. Loops over tiles come last; in an elementwise copy by
/// tiles, the loops over the two digits of a tile follow them. `edges`: rows and columns of a tile, `None` for the
/// planner's choice; `large`: true if the whole relayout exceeds the last-level cache.
pub(crate) fn levels(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
    first: &[usize],
    edges: Option<[i64; 2]>,
    large: bool,
) -> Vec<RelayoutLoop> {
    let digits = &refinement.digits;
    let mut order = loops(refinement, symbols, inner);
    let place = |k: &usize| first.iter().position(|other| other == k).unwrap_or(first.len());
    order.sort_by_key(place);
    let Some(block) = block(refinement, symbols, inner) else {
        return order.into_iter().map(RelayoutLoop::Digit).collect();
    };
    let extents = block.map(|k| digits.get(k).map_or(1, |digit| extent(digit, symbols)));
    let blocks = |sizes: [i64; 2]| {
        let blocks = block.into_iter().zip(sizes).zip(extents);
        blocks.filter(|((_, size), extent)| *extent > i128::from(*size))
    };
    let block_levels = |sizes| {
        blocks(sizes)
            .map(|((digit, size), _)| RelayoutLoop::Tiles { digit, size })
            .collect::<Vec<_>>()
    };
    match (inner, edges) {
        (RelayoutPrimitive::Transpose { bytes, .. }, _) => {
            let sizes = edges.unwrap_or_else(|| block_sizes(digits, symbols, block, bytes, large));
            order.into_iter().map(RelayoutLoop::Digit).chain(block_levels(sizes)).collect()
        }
        // Elementwise transposition by tiles: loops over both digits inside the loops over blocks.
        _ if edges.is_some()
            || first.is_empty()
                && blocks([CPU.transpose_edge; 2]).count() == 2
                && is_known(digits, block) =>
        {
            let [rows, columns] = block;
            let mut outer: Vec<usize> = order.clone();
            outer.retain(|k| !block.contains(k));
            let mut sizes = block_levels(edges.unwrap_or([CPU.transpose_edge; 2]));
            sizes.reverse();
            let inside = [columns, rows].map(RelayoutLoop::Digit);
            outer.into_iter().map(RelayoutLoop::Digit).chain(sizes).chain(inside).collect()
        }
        _ => order.into_iter().map(RelayoutLoop::Digit).collect(),
    }
}

/// Digits that have a loop around the primitive `inner`, from the destination's slowest to its fastest: those with more
/// than one value over which the primitive does not iterate.
pub(crate) fn loops(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
) -> Vec<usize> {
    let digits = &refinement.digits;
    let mut order: Vec<usize> = (0..digits.len())
        .filter(|k| digits.get(*k).is_some_and(|digit| !digit.is_unit()))
        .filter(|k| inner.digits().all(|digit| digit != *k))
        .collect();
    let to_speed = |k: &usize| digits.get(*k).map_or(0, |digit| speed(&digit.to_stride, symbols));
    order.sort_by_key(|k| std::cmp::Reverse(to_speed(k)));
    order
}

/// Digits of a tile, `[rows, columns]`: the fastest of the destination and the fastest of the source. `None` if these
/// are the same digit, if there is no loop, or if runs are copied.
pub(crate) fn block(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
) -> Option<[usize; 2]> {
    match inner {
        RelayoutPrimitive::Transpose { rows, columns, .. } => Some([rows, columns]),
        RelayoutPrimitive::Runs { .. } => None,
        RelayoutPrimitive::Element => {
            let order = loops(refinement, symbols, inner);
            let digits = &refinement.digits;
            let from_speed =
                |k: &usize| digits.get(*k).map_or(0, |digit| speed(&digit.from_stride, symbols));
            let fastest_from = order.iter().copied().min_by_key(from_speed)?;
            let fastest_to = order.last().copied()?;
            (fastest_from != fastest_to).then_some([fastest_to, fastest_from])
        }
    }
}

/// True if the extents of both digits of the tile are constants.
fn is_known(digits: &[CommonDigit], tile: [usize; 2]) -> bool {
    let known = |k: usize| digits.get(k).is_some_and(|digit| digit.extent.as_const().is_some());
    tile.into_iter().all(known)
}

/// Numbers of rows and columns of a tile, powers of two: about four times as many rows as columns, for longer runs in
/// the destination, or more of one if the other has fewer; about as many rows as columns if `large`. `tile` has the
/// digits of rows and columns, `bytes` is the size of what is transposed as one element.
fn block_sizes(
    digits: &[CommonDigit],
    symbols: &[Symbol],
    tile: [usize; 2],
    bytes: u32,
    large: bool,
) -> [i64; 2] {
    let block = if large { CPU.streamed_block_bytes } else { CPU.transpose_block_bytes };
    let elements = block.checked_div(i128::from(bytes)).unwrap_or(1).max(1);
    let half = elements.ilog2() / 2;
    let more = u32::from(!large);
    let [rows, columns] = tile.map(|k| digits.get(k).map_or(1, |digit| extent(digit, symbols)));
    let most = |other: i128, edge: i128| {
        let left = elements.checked_div(other.clamp(1, edge)).unwrap_or(1).max(1);
        1_i64 << left.ilog2().min(32)
    };
    [most(columns, 1 << half.saturating_sub(more)), most(rows, 1 << half.saturating_add(more))]
}

pub(crate) fn extent(digit: &CommonDigit, symbols: &[Symbol]) -> i128 {
    typical(&digit.extent, symbols)
}

pub(crate) fn speed(stride: &Algebra, symbols: &[Symbol]) -> i128 {
    typical(stride, symbols).saturating_abs()
}
