//! Arrangement of a tile in shared memory that avoids bank conflicts.

use crate::loops::gpu_relayout::schedule::{Staging, Tile};
use crate::machine::{GPU, NVIDIA};
use crate::warp::{AccessDirection, WarpRequest, bank_cost};

/// Arrangement of the tile with the fewest bank conflicts of those that are tried, the smallest among equals; the first
/// without conflicts ends the search. `element_bytes` is the size of an element of the tile.
pub(crate) fn stage(tile: &Tile, element_bytes: i64) -> Staging {
    let order = tile.inside(&tile.by_to);
    // Rows that end at the source's fastest digit are tried first.
    let fastest = tile.inside(&tile.by_from).first().copied();
    let first = order.iter().position(|k| Some(*k) == fastest).unwrap_or(0);
    let rows = [first].into_iter().chain((1..order.len()).filter(|row| *row != first));
    let rows = rows.filter(|row| *row > 0);
    let mut best = arrange(tile, &order, (0, 0), element_bytes);
    for (row, padding) in rows.flat_map(|row| (1..=GPU.row_padding).map(move |pad| (row, pad))) {
        if best.conflicts == 0 {
            break;
        }
        let other = arrange(tile, &order, (row, padding), element_bytes);
        let fits = other.elements * element_bytes <= GPU.staged_tile_bytes;
        if fits && (other.conflicts, other.elements) < (best.conflicts, best.elements) {
            best = other;
        }
    }
    best
}

/// Arrangement of the tile with the digits in `order`, fastest first, and `padding` elements after each row. A row
/// consists of the digits before position `row` of `order`; `row` 0 stands for no padding.
fn arrange(
    tile: &Tile,
    order: &[usize],
    (row, padding): (usize, i64),
    element_bytes: i64,
) -> Staging {
    let mut strides = vec![0; tile.blocks.len()];
    let mut stride = 1;
    for (place, digit) in order.iter().enumerate() {
        if place > 0 && place == row {
            stride += padding;
        }
        if let Some(own) = strides.get_mut(*digit) {
            *own = stride;
        }
        stride *= tile.block(*digit);
    }
    let last = tile.blocks.iter().zip(&strides).map(|(block, stride)| (block - 1) * stride);
    let elements = last.sum::<i64>() + 1;
    let sides = [&tile.by_from, &tile.by_to];
    let conflicts = sides.into_iter().map(|side| conflicts(tile, side, &strides, element_bytes));
    Staging { conflicts: conflicts.sum(), strides, elements, padding }
}

/// Number of wavefronts that bank conflicts add if threads access consecutive positions of the tile along `order`
/// (digits, fastest first). `strides` are those of the digits in shared memory, in elements. The first
/// `GPU.sampled_threads` threads are counted.
fn conflicts(tile: &Tile, order: &[usize], strides: &[i64], element_bytes: i64) -> i64 {
    // Elements of 12 bytes are read as words of 4.
    let bytes = (element_bytes & element_bytes.wrapping_neg()).min(GPU.access_bytes);
    let mut places = Places::new(tile, order, strides);
    let mut found = 0;
    let mut left = tile.places(order).min(GPU.sampled_threads);
    while left > 0 {
        let lanes = NVIDIA.warp.min(left);
        let addresses = (0..lanes).map(|_| Some(places.next() * element_bytes)).collect();
        let cost = bank_cost(&WarpRequest { addresses, bytes }, AccessDirection::Read, &NVIDIA);
        found += cost.wavefronts - cost.least;
        left -= lanes;
    }
    found
}

/// Iterator over the offsets in shared memory of consecutive positions of a tile along an order of digits.
struct Places {
    /// Tuples (current value, extent, stride) of the digits, fastest first.
    digits: Vec<(i64, i64, i64)>,
    /// Offset of the current position, in elements.
    place: i64,
}

impl Places {
    fn new(tile: &Tile, order: &[usize], strides: &[i64]) -> Self {
        let digit = |k: &usize| (0, tile.block(*k), strides.get(*k).copied().unwrap_or(0));
        Self { digits: order.iter().map(digit).collect(), place: 0 }
    }

    fn next(&mut self) -> i64 {
        let here = self.place;
        for (value, extent, stride) in &mut self.digits {
            if *value + 1 < *extent {
                *value += 1;
                self.place += *stride;
                break;
            }
            self.place -= *value * *stride;
            *value = 0;
        }
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tile of `rows` by `columns`, column-major in the source and row-major in the destination.
    fn turned(rows: i64, columns: i64) -> Tile {
        Tile {
            blocks: vec![rows, columns],
            by_from: vec![0, 1],
            by_to: vec![1, 0],
            staged: true,
            transpose: None,
        }
    }

    #[test]
    fn rows_are_padded_until_no_bank_conflict_is_left() {
        let found = |rows, columns, bytes| {
            let staging = stage(&turned(rows, columns), bytes);
            (staging.padding, staging.conflicts)
        };
        assert_eq!(found(32, 32, 4), (1, 0));
        assert_eq!(found(64, 64, 2), (2, 0));
        assert_eq!(found(64, 64, 1), (4, 0));
        assert_eq!(found(32, 32, 8), (1, 0));
        assert_eq!(found(16, 32, 16), (1, 0));
        // Rows of an odd number of words have no conflicts without padding.
        assert_eq!(found(32, 33, 4), (0, 0));
    }

    #[test]
    fn unpadded_rows_serialize_bank_accesses() {
        let tile = turned(32, 32);
        // The 512 sampled threads access 16 columns, each with 31 conflicts.
        assert_eq!(conflicts(&tile, &tile.by_from, &[32, 1], 4), 16 * 31);
        assert_eq!(conflicts(&tile, &tile.by_to, &[32, 1], 4), 0);
        // Accesses to two elements of 2 bytes in the same word do not conflict.
        assert_eq!(conflicts(&turned(1, 64), &[1], &[0, 1], 2), 0);
    }
}
