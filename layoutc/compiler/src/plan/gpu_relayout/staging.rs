//! How a tile lies in local memory, so that the items of a warp find their elements in different banks.

use super::tile::Tile;
use crate::machine::GPU;

/// A tile in local memory: the order of the destination, with elements left free between rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Staging {
    /// For each digit, elements between neighbours.
    pub(super) strides: Vec<i64>,
    /// Elements in all, with those that are left free.
    pub(super) elements: i64,
    /// Elements left free after each row.
    pub(super) padding: i64,
    /// How often an item waits for another, over one write and one read of the first [`SAMPLE`] items.
    conflicts: i64,
}

/// The arrangement of the tile with the fewest conflicts, the smallest of them.
pub(super) fn stage(tile: &Tile, element_bytes: i64) -> Staging {
    let order = tile.inside(&tile.by_to);
    // Rows end best where the source's fastest digit begins.
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

/// The tile with rows that end before digit `row` of the order, each with so much padding behind it.
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

/// How often an item of a warp waits for another that reaches for another word of the same bank, where neighbouring
/// items take neighbours along `order`.
///
/// Source: CUDA C++ Programming Guide, shared memory: 32 banks of successive 32-bit words; accesses of 8 bytes are served
/// by halves of a warp, of 16 bytes by quarters.
fn conflicts(tile: &Tile, order: &[usize], strides: &[i64], element_bytes: i64) -> i64 {
    // What one access takes: elements of 12 bytes are read in words.
    let access = (element_bytes & element_bytes.wrapping_neg()).min(GPU.access_bytes);
    let words = (access / GPU.bank_bytes).max(1);
    let together = GPU.banks / words;
    let mut places = Places::new(tile, order, strides);
    let mut found = 0;
    let mut left = tile.places(order).min(GPU.sampled_threads);
    while left > 0 {
        let items = together.min(left);
        let mut touched: Vec<i64> = Vec::with_capacity(32);
        for _ in 0..items {
            let word = places.next() * element_bytes / GPU.bank_bytes;
            touched.extend(word..word + words);
        }
        left -= items;
        touched.sort_unstable();
        touched.dedup();
        let mut busy = [0_i64; 32];
        for word in touched {
            if let Some(bank) = usize::try_from(word % GPU.banks).ok().and_then(|b| busy.get_mut(b))
            {
                *bank += 1;
            }
        }
        found += busy.iter().max().map_or(0, |most| most - 1);
    }
    found
}

/// Places in local memory, one after another along an order of digits.
struct Places {
    /// Of each digit: its value, how many it has, its stride.
    digits: Vec<(i64, i64, i64)>,
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

    /// A tile of rows by columns, which the source has by columns.
    fn turned(rows: i64, columns: i64) -> Tile {
        Tile {
            blocks: vec![rows, columns],
            by_from: vec![0, 1],
            by_to: vec![1, 0],
            staged: true,
            turn: None,
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
        // Rows of an odd number of words lie right as they are.
        assert_eq!(found(32, 33, 4), (0, 0));
    }

    #[test]
    fn unpadded_rows_serialize_bank_accesses() {
        let tile = turned(32, 32);
        // 16 columns, in each of which 31 items wait for the one before.
        assert_eq!(conflicts(&tile, &tile.by_from, &[32, 1], 4), 16 * 31);
        assert_eq!(conflicts(&tile, &tile.by_to, &[32, 1], 4), 0);
        // Two elements of 2 bytes in one word are no conflict.
        assert_eq!(conflicts(&turned(1, 64), &[1], &[0, 1], 2), 0);
    }
}
