//! Relayouts on GPUs by tiles: the digits over which they iterate, and the choice of the tiles and widths.
//!
//! A tile may be staged in shared memory, to read it in the order of the source and to write it in the order of the
//! destination.

pub(crate) mod digits;
mod reach;
pub(crate) mod schedule;

use layoutc_algebra::expr::{BinOp, Expr};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, fold, product, sum};
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::digits::{Digits, quotient};
use crate::loops::gpu_relayout::schedule::{
    Tile, TilePadding, TileSchedule, TiledRelayout, TransposeTile,
};
use crate::loops::heuristics::gpu_relayout_tile::tile;
use crate::loops::heuristics::gpu_staging::stage;
use crate::loops::heuristics::gpu_transpose::transposed;
use crate::loops::heuristics::gpu_words::widen;
use crate::loops::range::{Range, Ranges};
use crate::loops::relayout::digits::DigitRefinement;
use crate::loops::relayout::fuse::merge;

/// Relayout between two buffers of whole-byte elements whose layouts have digits in common.
pub(crate) struct BufferRelayout<'a> {
    /// Common refinement of the digits of source and destination.
    pub(crate) refinement: DigitRefinement,
    /// Symbols of the strides and extents.
    pub(crate) symbols: &'a [Symbol],
    /// Ranges of the symbols.
    pub(crate) ranges: &'a Ranges<'a>,
    /// Size of an element of the destination, in bytes.
    pub(crate) element_bytes: i64,
    /// True if elements are converted to another type, one at a time.
    pub(crate) is_cast: bool,
    /// True if padding of the destination gets a fill value.
    pub(crate) fills: bool,
    /// Numbers of slots of the memories of source and destination.
    pub(crate) slots: [Expr; 2],
    /// Numbers of slots of the layouts of source and destination, whose offsets the kernel's indices can count.
    pub(crate) counts: [&'a Expr; 2],
}

/// Width of a kernel's accesses: numbers of elements of a word of the source and of a word of the destination, and the
/// transpose tile between them; `None` if the words are copied unchanged.
type Width = ([i64; 2], Option<TransposeTile>);

impl BufferRelayout<'_> {
    /// Schedule of the relayout by tiles; `None` if offsets may exceed 32 bits although the counts of elements and
    /// slots fit.
    ///
    /// # Errors
    /// [`PlanError::Expr`] if a bound or stride overflows or becomes too large.
    pub(crate) fn tiled(&self) -> Result<Option<TiledRelayout>, PlanError> {
        let [_, slots] = &self.slots;
        let digits = Digits::new(&merge(&self.refinement, self.symbols)?, self.symbols);
        let over_slots =
            if self.fills { digits.over_slots(slots, self.symbols, self.ranges)? } else { None };
        let padding = match &over_slots {
            _ if !self.fills => TilePadding::Kept,
            Some(_) => TilePadding::InTiles,
            None => TilePadding::First,
        };
        let digits = over_slots.unwrap_or(digits);
        if !digits.stay_near(self.counts, self.ranges)? {
            return Ok(None);
        }
        let digits = digits.without_units();
        // Elements are cast one at a time.
        let wide =
            if self.is_cast { None } else { self.wide(&digits, padding == TilePadding::InTiles)? };
        let wide = wide.map(|(digits, width)| self.schedule(digits, width)).transpose()?;
        let single = self.schedule(digits, ([1, 1], None))?;
        Ok(Some(TiledRelayout { single, wide, padding }))
    }

    /// Pair of the digits with elements joined to words, and of the width; `None` if only single elements can be
    /// accessed. `fills`: true if padding is filled with the tiles.
    fn wide(&self, digits: &Digits, fills: bool) -> Result<Option<(Digits, Width)>, PlanError> {
        let (bytes, symbols) = (self.element_bytes, self.symbols);
        let wide = widen(digits, bytes, symbols)?.map(|(d, n)| (d.without_units(), n));
        let together = wide.as_ref().map_or(1, |wide| wide.1);
        let [source, _] = &self.slots;
        let source = quotient(source, i128::from(together), symbols)?;
        let digits = wide.as_ref().map_or(digits, |wide| &wide.0);
        let bytes = bytes * together;
        if tile(digits, [bytes; 2], None, symbols).staged
            && let Some((digits, own)) = transposed(digits, bytes, fills, &source, symbols)?
        {
            let words = [own.columns, own.rows].map(|word| word * together);
            return Ok(Some((digits, (words, Some(own)))));
        }
        Ok(wide.map(|(digits, _)| (digits, ([together; 2], None))))
    }

    /// Schedule of the kernel that copies tiles of `digits` with accesses of the given width.
    fn schedule(
        &self,
        digits: Digits,
        (words, transpose): Width,
    ) -> Result<TileSchedule, PlanError> {
        let element_bytes = self.element_bytes;
        let [read, written] = words.map(|elements| elements.saturating_mul(element_bytes));
        let position = read.saturating_mul(transpose.map_or(1, |own| own.rows));
        let tile = tile(&digits, [position, read.min(written)], transpose, self.symbols);
        let counts = digits.list.iter().enumerate();
        let counts = counts.map(|(k, digit)| blocks(&digit.room, tile.block(k), self.ranges));
        let counts = counts.collect::<Result<Vec<_>, _>>()?;
        let mut tiles = Expr::constant(1);
        for count in &counts {
            tiles = product(&tiles, count)?;
        }
        let staging = tile.staged.then(|| stage(&tile, written));
        let held = held(&tile);
        Ok(TileSchedule { digits, element_bytes, words, tile, counts, tiles, staging, held })
    }
}

/// Numbers of iterations of a thread in the loop that reads a tile and in the one that writes it, as in
/// [`TileSchedule::held`].
fn held(tile: &Tile) -> [Option<i64>; 2] {
    let [read, written] = [&tile.by_from, &tile.by_to].map(|order| tile.rounds(order));
    // Transposed words that are not staged are written without another array.
    [read, written.filter(|_| tile.staged || tile.transpose.is_none())]
}

/// Quotient `room / size` rounded up, in a form whose intermediate values fit 32 bits if `room` does: the number of
/// tiles of `size` values along a digit.
fn blocks(room: &Expr, size: i64, ranges: &Ranges<'_>) -> Result<Expr, PlanError> {
    let size = i128::from(size);
    let most = i128::from(i32::MAX);
    let near = |high: i128| high <= most && high.saturating_add(size) > most;
    if size == 1 || room.as_const().is_some() || !Range::of(room, ranges).high.is_some_and(near) {
        return Ok(ceil_div(room, size)?);
    }
    let (one, size) = (Expr::constant(1), Expr::constant(size));
    let rest = fold(BinOp::Min, &fold(BinOp::Mod, room, &size)?, &one)?;
    Ok(sum(&fold(BinOp::FloorDiv, room, &size)?, &rest)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loops::relayout::digits::{CommonDigit, ValidRange};
    use crate::machine::GPU;

    /// Relayout of a dense tensor of `rows` by `columns` elements of `element_bytes` bytes into its transpose.
    fn transposition(rows: i128, columns: i128, element_bytes: i64) -> TiledRelayout {
        let digit = |chain, name: &str, extent, from, to| CommonDigit {
            chain,
            weight: 1,
            extent: Expr::constant(extent),
            from_stride: Expr::constant(from),
            to_stride: Expr::constant(to),
            name: name.to_owned(),
        };
        let range = |extent| ValidRange { low: Expr::constant(0), high: Expr::constant(extent) };
        let zero = Expr::constant(0);
        let refinement = DigitRefinement {
            digits: vec![digit(0, "i", rows, columns, 1), digit(1, "j", columns, 1, rows)],
            chains: vec![range(rows), range(columns)],
            from_constant: zero.clone(),
            to_constant: zero,
        };
        let slots = Expr::constant(rows * columns);
        let relayout = BufferRelayout {
            refinement,
            symbols: &[],
            ranges: &|_| None,
            element_bytes,
            is_cast: false,
            fills: false,
            slots: [slots.clone(), slots.clone()],
            counts: [&slots, &slots],
        };
        relayout.tiled().ok().flatten().expect("tiles")
    }

    #[test]
    fn schedules_of_transpositions_cover_the_tensor_and_fit_the_machine() {
        let (mut staged, mut wide) = (0, 0);
        for (rows, columns) in (1..=9).flat_map(|i| (1..=9).map(move |j| (i * i * i, j * 32))) {
            for bytes in [1, 2, 4, 8, 12, 16] {
                let tiled = transposition(rows, columns, bytes);
                wide += i32::from(tiled.wide.is_some());
                for own in tiled.wide.iter().chain([&tiled.single]) {
                    let size = own.word_bytes();
                    assert!(size.iter().all(|size| (bytes..=GPU.access_bytes).contains(size)));
                    let mut covered = own.words.map(i128::from);
                    if let Some(tile) = own.tile.transpose {
                        // Both digits of a transpose tile count inside of a word.
                        covered = [(tile.rows * tile.columns).into(); 2];
                    }
                    for (k, digit) in own.digits.list.iter().enumerate() {
                        let [room, count] = [&digit.room, &own.counts[k]].map(Expr::as_const);
                        let values = count.expect("a constant") * i128::from(own.tile.block(k));
                        let room = room.expect("a constant");
                        assert!((room..room + i128::from(own.tile.block(k))).contains(&values));
                        if own
                            .tile
                            .transpose
                            .is_none_or(|tile| ![tile.row, tile.column].contains(&k))
                        {
                            covered = covered.map(|all| all * room);
                        }
                    }
                    assert_eq!(covered, [rows * columns; 2], "{rows} {columns} {bytes}");
                    if let Some(staging) = &own.staging {
                        staged += 1;
                        assert!(staging.elements * size[1] <= GPU.staged_tile_bytes);
                    }
                    assert!(own.held.iter().flatten().all(|held| *held <= GPU.thread_elements));
                }
            }
        }
        assert!(staged > 100 && wide > 100, "{staged} staged, {wide} wide");
    }
}
