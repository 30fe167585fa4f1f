//! Transpose of blocks, in tiles that are one cache line wide. Partial tiles at the edges are copied as strided rows or
//! columns. Strides may have any sign. Large blocks of elements of 4 bytes or more are transposed in pieces,
//! each of which is first copied to a buffer that stays in the cache.

use super::kernels::{Block, Runs, runs};
use crate::machine::CPU;

/// Size of a cache line, in bytes.
const LINE: usize = 64;
/// Size of a word, in bytes.
const WORD: usize = 8;
/// Transposes a block of elements of 1, 2, 4, 8 or 16 bytes. Does nothing if a row or column count is not positive.
/// `None` for other element sizes, or if an access is outside a buffer.
pub(super) fn transpose(source: &[u8], target: &mut [u8], bytes: u32, block: &Block) -> Option<()> {
    let element = usize::try_from(bytes).ok()?;
    let Some([rows, columns]) = pieces(element, block) else {
        return in_cache(source, target, bytes, block);
    };
    in_pieces(source, target, bytes, &Block { rows, columns, ..*block })?;
    let across = block.part(bytes, [0, columns], [rows, block.columns - columns])?;
    in_cache(source, target, bytes, &across)?;
    let below = block.part(bytes, [rows, 0], [block.rows - rows, block.columns])?;
    in_cache(source, target, bytes, &below)
}

/// Numbers of rows and columns that whole pieces cover. `None` if pieces do not pay off: the block is small, or the
/// elements have fewer than 4 bytes.
fn pieces(element: usize, block: &Block) -> Option<[i64; 2]> {
    if element < 4 {
        return None;
    }
    let whole = |count: i64, piece: usize| {
        let piece = i64::try_from(piece.checked_div(element)?).ok()?;
        Some(count - count.checked_rem(piece)?).filter(|whole| *whole > 0)
    };
    let (rows, columns) =
        (whole(block.rows, CPU.piece_column_bytes)?, whole(block.columns, CPU.piece_row_bytes)?);
    let elements = usize::try_from(rows.checked_mul(columns)?).ok()?;
    let is_large = elements.checked_mul(element)? >= CPU.pieced_block_bytes;
    is_large.then_some([rows, columns])
}

/// Transposes a block of whole pieces. Each piece is first copied to a buffer that stays in the cache. One read of each
/// destination line then fetches many lines in parallel; stores alone would wait for each line in turn.
fn in_pieces(source: &[u8], target: &mut [u8], bytes: u32, block: &Block) -> Option<()> {
    let element = usize::try_from(bytes).ok()?;
    let (height, width) =
        (CPU.piece_column_bytes.checked_div(element)?, CPU.piece_row_bytes.checked_div(element)?);
    let (rows, columns) = (i64::try_from(height).ok()?, i64::try_from(width).ok()?);
    let from_stride = isize::try_from(block.from_stride).ok()?;
    let to_stride = isize::try_from(block.to_stride).ok()?;
    let mut piece = vec![[0; CPU.piece_row_bytes]; height];
    for column in (0..block.columns).step_by(width) {
        for row in (0..block.rows).step_by(height) {
            let part = block.part(bytes, [row, column], [rows, columns])?;
            let mut from = usize::try_from(part.from).ok()?;
            for run in &mut piece {
                *run = *source.get(from..)?.first_chunk::<{ CPU.piece_row_bytes }>()?;
                from = from.wrapping_add_signed(from_stride);
            }
            look_at(target, usize::try_from(part.to).ok()?, to_stride, width)?;
            let from_stride = i64::try_from(CPU.piece_row_bytes).ok()?;
            in_cache(piece.as_flattened(), target, bytes, &Block { from: 0, from_stride, ..part })?;
        }
    }
    Some(())
}

/// Brings the destination lines of a piece into the cache by reading one byte of each. `stride` is in bytes.
fn look_at(target: &[u8], mut to: usize, stride: isize, columns: usize) -> Option<()> {
    let mut seen = 0;
    for _ in 0..columns {
        let run = target.get(to..)?.first_chunk::<{ CPU.piece_column_bytes }>()?;
        seen |= run.iter().step_by(LINE).fold(0, |all, byte| all | byte);
        to = to.wrapping_add_signed(stride);
    }
    std::hint::black_box(seen);
    Some(())
}

/// Transposes a block without splitting it into pieces. `None` for element sizes other than 1, 2, 4, 8 and 16 bytes.
fn in_cache(source: &[u8], target: &mut [u8], bytes: u32, block: &Block) -> Option<()> {
    match bytes {
        1 => in_tiles(source, target, block, tile::<1, 64, 64, 64>, tile::<1, 8, 64, 8>, [64, 8]),
        2 => in_tiles(source, target, block, tile::<2, 32, 32, 64>, tile::<2, 4, 32, 8>, [32, 4]),
        4 => in_tiles(source, target, block, tile::<4, 16, 16, 64>, tile::<4, 4, 16, 16>, [16, 4]),
        8 => in_tiles(source, target, block, tile::<8, 8, 8, 64>, tile::<8, 2, 8, 16>, [8, 2]),
        16 => in_tiles(source, target, block, tile::<16, 4, 4, 64>, tile::<16, 2, 4, 32>, [4, 2]),
        _ => None,
    }
}

/// Position of a tile: byte offsets of its first element, and distances in bytes between its source rows and between
/// its destination columns.
#[derive(Clone, Copy)]
struct TilePosition {
    from: usize,
    from_stride: isize,
    to: usize,
    to_stride: isize,
}

/// Transposes a block in tiles of `heights[0]` columns: `high` takes tiles of `heights[0]` rows, `low` takes the
/// remaining rows in tiles of `heights[1]`. Partial tiles are copied by [`rest`].
fn in_tiles<A, B>(
    source: &[u8],
    target: &mut [u8],
    block: &Block,
    high: A,
    low: B,
    heights: [usize; 2],
) -> Option<()>
where
    A: Fn(&[u8], &mut [u8], TilePosition) -> Option<()>,
    B: Fn(&[u8], &mut [u8], TilePosition) -> Option<()>,
{
    let (Ok(rows @ 1..), Ok(columns @ 1..)) =
        (usize::try_from(block.rows), usize::try_from(block.columns))
    else {
        return Some(());
    };
    let element = LINE.checked_div(heights[0])?;
    let from_stride = isize::try_from(block.from_stride).ok()?;
    let to_stride = isize::try_from(block.to_stride).ok()?;
    let width = heights[0];
    let whole = columns - columns.checked_rem(width)?;
    let at = |row: usize, column: usize| {
        let start = [i64::try_from(row).ok()?, i64::try_from(column).ok()?];
        let part = block.part(u32::try_from(element).ok()?, start, [0, 0])?;
        let (from, to) = (usize::try_from(part.from).ok()?, usize::try_from(part.to).ok()?);
        Some(TilePosition { from, from_stride, to, to_stride })
    };
    let highest = rows - rows.checked_rem(heights[0])?;
    let lowest = rows - rows.checked_rem(heights[1])?;
    for column in (0..whole).step_by(width) {
        for row in (0..highest).step_by(heights[0]) {
            high(source, target, at(row, column)?)?;
        }
        for row in (highest..lowest).step_by(heights[1]) {
            low(source, target, at(row, column)?)?;
        }
    }
    rest(source, target, element, block, [lowest..rows, 0..whole])?;
    rest(source, target, element, block, [0..rows, whole..columns])
}

/// Transposes the given ranges of rows and columns by strided copies along the longer range.
fn rest(
    source: &[u8],
    target: &mut [u8],
    element: usize,
    block: &Block,
    [rows, columns]: [std::ops::Range<usize>; 2],
) -> Option<()> {
    let bytes = i64::try_from(element).ok()?;
    let int = |value: usize| i64::try_from(value).ok();
    let (row_count, column_count) = (int(rows.len())?, int(columns.len())?);
    let (row, column) = (int(rows.start)?, int(columns.start)?);
    let (from_stride, to_stride) = (block.from_stride, block.to_stride);
    let at = |row: i64, column: i64| {
        let from = block.from + row * from_stride + column * bytes;
        (from, block.to + column * to_stride + row * bytes)
    };
    if column_count > row_count {
        for k in 0..row_count {
            let (from, to) = at(row + k, column);
            let count = column_count;
            let line = Runs { from, from_stride: bytes, to, to_stride, count, bytes };
            runs(source, target, &line)?;
        }
    } else {
        for k in 0..column_count {
            let (from, to) = at(row, column + k);
            let count = row_count;
            let line = Runs { from, from_stride, to, to_stride: bytes, count, bytes };
            runs(source, target, &line)?;
        }
    }
    Some(())
}

/// Transposes one tile: reads `ROWS` lines of `COLUMNS` elements ([`LINE`] bytes), and writes `COLUMNS` runs of `ROWS`
/// elements (`RUN` bytes).
fn tile<const ELEMENT: usize, const ROWS: usize, const COLUMNS: usize, const RUN: usize>(
    source: &[u8],
    target: &mut [u8],
    at: TilePosition,
) -> Option<()> {
    let mut read = [[0; LINE]; ROWS];
    let mut from = at.from;
    for line in &mut read {
        *line = *source.get(from..)?.first_chunk::<LINE>()?;
        from = from.wrapping_add_signed(at.from_stride);
    }
    let mut written = [[0; RUN]; COLUMNS];
    turn::<ELEMENT, ROWS, COLUMNS, RUN>(&read, &mut written);
    let mut to = at.to;
    for run in &written {
        *target.get_mut(to..)?.first_chunk_mut::<RUN>()? = *run;
        to = to.wrapping_add_signed(at.to_stride);
    }
    Some(())
}

/// Transposes the tile `read` to `written` in squares with `WORD / ELEMENT` elements per side, or element by element if
/// an element is larger than a word.
fn turn<const ELEMENT: usize, const ROWS: usize, const COLUMNS: usize, const RUN: usize>(
    read: &[[u8; LINE]; ROWS],
    written: &mut [[u8; RUN]; COLUMNS],
) {
    if ELEMENT > WORD {
        return wide::<16, RUN>(read, written);
    }
    let side = WORD / ELEMENT;
    for (down, rows) in read.chunks_exact(side).enumerate() {
        for (across, columns) in written.chunks_exact_mut(side).enumerate() {
            let mut words = [0_u64; WORD];
            for (word, line) in words.iter_mut().zip(rows) {
                *word = u64::from_le_bytes(
                    line.as_chunks().0.get(across).copied().unwrap_or([0; WORD]),
                );
            }
            square::<ELEMENT>(&mut words);
            for (word, run) in words.iter().zip(columns) {
                if let Some(place) = run.as_chunks_mut().0.get_mut(down) {
                    *place = word.to_le_bytes();
                }
            }
        }
    }
}

/// Transposes a tile whose elements are larger than a word.
fn wide<const ELEMENT: usize, const RUN: usize>(read: &[[u8; LINE]], written: &mut [[u8; RUN]]) {
    for (column, run) in written.iter_mut().enumerate() {
        for (place, line) in run.as_chunks_mut::<ELEMENT>().0.iter_mut().zip(read) {
            if let Some(element) = line.as_chunks::<ELEMENT>().0.get(column) {
                *place = *element;
            }
        }
    }
}

/// Transposes a square of elements of `ELEMENT` bytes in place; each word is a row. Elements of [`WORD`] bytes need no
/// transposition.
fn square<const ELEMENT: usize>(words: &mut [u64; WORD]) {
    let [a, b, c, d, e, f, g, h] = words;
    match ELEMENT {
        1 => {
            for (a, b) in
                [(&mut *a, &mut *b), (&mut *c, &mut *d), (&mut *e, &mut *f), (&mut *g, &mut *h)]
            {
                exchange(a, b, 8, 0x00FF_00FF_00FF_00FF);
            }
            for (a, b) in
                [(&mut *a, &mut *c), (&mut *b, &mut *d), (&mut *e, &mut *g), (&mut *f, &mut *h)]
            {
                exchange(a, b, 16, 0x0000_FFFF_0000_FFFF);
            }
            for (a, b) in [(a, e), (b, f), (c, g), (d, h)] {
                exchange(a, b, 32, 0x0000_0000_FFFF_FFFF);
            }
        }
        2 => {
            for (a, b) in [(&mut *a, &mut *b), (&mut *c, &mut *d)] {
                exchange(a, b, 16, 0x0000_FFFF_0000_FFFF);
            }
            for (a, b) in [(a, c), (b, d)] {
                exchange(a, b, 32, 0x0000_0000_FFFF_FFFF);
            }
        }
        4 => exchange(a, b, 32, 0x0000_0000_FFFF_FFFF),
        _ => {}
    }
}

/// Swaps the bits `low << shift` of `a` with the bits `low` of `b`.
fn exchange(a: &mut u64, b: &mut u64, shift: u32, low: u64) {
    let both = (*a >> shift ^ *b) & low;
    *b ^= both;
    *a ^= both << shift;
}

#[cfg(test)]
mod tests;
