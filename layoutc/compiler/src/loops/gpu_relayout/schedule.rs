//! Schedule of a relayout on a GPU: the work of a thread or of a thread block, with all tiles and widths decided.

use layoutc_algebra::expr::Expr;

use crate::loops::gpu_relayout::digits::Digits;
use crate::machine::GPU;

/// Schedule of a relayout on a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GpuRelayoutSchedule {
    /// Thread blocks copy tiles.
    Tiles(Box<TiledRelayout>),
    /// Each thread computes one piece of the destination, or copies one piece of the source.
    Pieces(ThreadPiece),
}

/// Piece of a relayout that one thread copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreadPiece {
    /// Texel of the destination, which is an image.
    Texel,
    /// Slot of the destination.
    Slot,
    /// Smallest group of packed elements of the destination that fills whole bytes.
    Bytes,
    /// Element at one logical index, written to its slot: a destination without a closed-form inverse, or a view.
    Index,
    /// All elements: packed ones of a destination without a closed-form inverse, or of a view.
    Whole,
}

/// Schedules of the kernels of a relayout by tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledRelayout {
    /// Kernel that accesses single elements.
    pub(crate) single: TileSchedule,
    /// Kernel that accesses words of several elements, for buffers aligned to its words; `None` if there is none.
    pub(crate) wide: Option<TileSchedule>,
    /// Treatment of the destination's padding.
    pub(crate) padding: TilePadding,
}

/// Treatment of the destination's padding by a relayout by tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TilePadding {
    /// Padding is not written, or there is none.
    Kept,
    /// The tiles cover all slots, and padding gets the fill value with the elements.
    InTiles,
    /// A kernel before the copying one writes the fill value to the whole destination.
    First,
}

/// Schedule of a kernel whose thread blocks copy tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TileSchedule {
    /// Digits that the tiles divide, with strides and offsets in words.
    pub(crate) digits: Digits,
    /// Size of an element, in bytes.
    pub(crate) element_bytes: i64,
    /// Number of elements of a word of the source and of a word of the destination.
    pub(crate) words: [i64; 2],
    /// Box that a thread block copies at once.
    pub(crate) tile: Tile,
    /// Number of tiles along each digit, rounded up.
    pub(crate) counts: Vec<Expr>,
    /// Number of all tiles: the product of `counts`.
    pub(crate) tiles: Expr,
    /// Arrangement of the tile in shared memory; `None` if it is copied directly.
    pub(crate) staging: Option<Staging>,
    /// Numbers of iterations of a thread, from 2, in the loop that reads the tile and in the loop that writes it, whose
    /// elements the thread holds in registers so that its loads overlap; `None` for a loop that holds none.
    pub(crate) held: [Option<i64>; 2],
}

/// Box of digit values that a thread block copies at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile {
    /// Number of values of each digit in the tile, in the order of [`Digits::list`].
    pub(crate) blocks: Vec<i64>,
    /// Positions in [`Digits::list`] of the digits in the order of the source, fastest first, but those with one
    /// element last. Without the digits of a transpose tile.
    pub(crate) by_from: Vec<usize>,
    /// Positions in [`Digits::list`] of the digits in the order of the destination, fastest first. It has the column
    /// digit of a transpose tile, but not the row digit.
    pub(crate) by_to: Vec<usize>,
    /// True if the tile is staged in shared memory, because the orders of source and destination differ and their
    /// contiguous runs are short.
    pub(crate) staged: bool,
    /// Transpose tile of a thread: every position of the tile is then one transpose tile. `None` if a position is an
    /// element or a word.
    pub(crate) transpose: Option<TransposeTile>,
}

/// Transpose tile of a thread: `rows` words of `columns` elements are read, `columns` words of `rows` elements are
/// written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransposeTile {
    /// Number of elements of a word that is read.
    pub(crate) columns: i64,
    /// Number of elements of a word that is written.
    pub(crate) rows: i64,
    /// Position in [`Digits::list`] of the digit that counts the words that are read for one transpose tile.
    pub(crate) row: usize,
    /// Position in [`Digits::list`] of the digit that counts the words that are written for one transpose tile.
    pub(crate) column: usize,
}

/// Arrangement of a tile in shared memory: the order of the destination, with padding between rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Staging {
    /// Stride of each digit in shared memory, in elements; an element of the tile is a word that is written.
    pub(crate) strides: Vec<i64>,
    /// Size of the tile, in elements, padding included.
    pub(crate) elements: i64,
    /// Padding after each row, in elements.
    pub(crate) padding: i64,
    /// Number of extra shared-memory accesses due to bank conflicts, if the first `GPU.sampled_threads` threads write
    /// and read the tile once.
    pub(crate) conflicts: i64,
}

impl TileSchedule {
    /// Size of a word of the source and of a word of the destination, in bytes.
    pub(crate) fn word_bytes(&self) -> [i64; 2] {
        self.words.map(|elements| elements.saturating_mul(self.element_bytes))
    }

    /// Pairs (digit, number of values in a tile) for the digits with several values there, the slowest digit of the
    /// destination first. A transpose tile is one value.
    pub(crate) fn extents(&self) -> Vec<(&str, i64)> {
        let column = self.tile.transpose.map(|own| own.column);
        let inside = self.tile.inside(&self.tile.by_to).into_iter().rev();
        let inside = inside.filter(|k| Some(*k) != column);
        let named = |k: usize| Some((self.digits.list.get(k)?.name.as_str(), self.tile.block(k)));
        inside.filter_map(named).collect()
    }

    /// True if each thread block copies exactly one tile: a constant number of tiles, at most `GPU.relayout_blocks`.
    /// Otherwise thread blocks stride over the tiles.
    pub(crate) fn is_one_each(&self) -> bool {
        self.tiles.as_const().is_some_and(|tiles| tiles <= i128::from(GPU.relayout_blocks))
    }
}

impl Tile {
    /// Number of positions of a tile along the digits of `order`.
    pub(crate) fn places(&self, order: &[usize]) -> i64 {
        order.iter().map(|k| self.block(*k)).product()
    }

    /// Number of positions of the tile for each thread along the digits of `order`, rounded up; `None` unless it is
    /// from 2 to `GPU.thread_elements`.
    pub(crate) fn rounds(&self, order: &[usize]) -> Option<i64> {
        let rounds = self.places(order).saturating_add(GPU.threads - 1).div_euclid(GPU.threads);
        (2..=GPU.thread_elements).contains(&rounds).then_some(rounds)
    }

    /// Number of values of a digit in a tile.
    pub(crate) fn block(&self, digit: usize) -> i64 {
        self.blocks.get(digit).copied().unwrap_or(1)
    }

    /// Digits of `order` that have several values in a tile, in the same order.
    pub(crate) fn inside(&self, order: &[usize]) -> Vec<usize> {
        order.iter().copied().filter(|k| self.block(*k) > 1).collect()
    }
}
