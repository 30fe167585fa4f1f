//! Copy of a strided box of elements between two buffers: a nest of loops around a kernel that copies runs or
//! transposes a block.

use std::ops::Range;

use super::kernels::{self, Block, Runs};
use super::packed::Packing;
use super::transpose::transpose;
use crate::machine::CPU;

/// Loop along one digit: trip count, and strides in the source and the destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) count: i64,
    pub(super) from: i64,
    pub(super) to: i64,
}

/// Copies a box of elements of `element` bytes each. `loops` are those over the box, in any order. The first element is
/// at offset `from` of the source and offset `to` of the destination; offsets and strides are in bytes. `None` if an
/// access is outside a buffer.
pub(super) fn copy(
    source: &[u8],
    target: &mut [u8],
    (mut loops, [mut from, mut to]): (Vec<Loop>, [i64; 2]),
    element: i64,
) -> Option<()> {
    if loops.iter().any(|level| level.count < 1) {
        return Some(());
    }
    forward(&mut loops, [&mut from, &mut to]);
    let bytes = simplify(&mut loops, element);
    let inner = inner((&mut loops, [&mut from, &mut to]), bytes);
    // The largest destination stride is outermost, so that the destination is written front to back.
    loops.sort_by_key(|level| -level.to);
    for_each(&loops, [from, to], |at| inner.copy(source, target, at, bytes))
}

/// Copies a box of packed elements, as [`copy`] does; offsets and strides are in elements.
pub(super) fn copy_packed(
    source: &[u8],
    target: &mut [u8],
    (mut loops, [mut from, mut to]): (Vec<Loop>, [i64; 2]),
    packing: Packing,
) -> Option<()> {
    if loops.iter().any(|level| level.count < 1) {
        return Some(());
    }
    forward(&mut loops, [&mut from, &mut to]);
    loops.sort_by_key(|level| -level.to);
    let once = Loop { count: 1, from: 0, to: 0 };
    let rows = loops.pop().unwrap_or(once);
    let read = loops.iter().position(|level| level.from.abs() == 1);
    let columns = read.map_or(once, |read| loops.remove(read));
    for_each(&loops, [from, to], |[from, to]| {
        // Elements that share a cache line on either side are copied close together.
        for (tile_columns, tile_rows) in tiles(columns.count, rows.count) {
            for column in tile_columns {
                let (from, to) = (from + columns.from * column, to + columns.to * column);
                for row in tile_rows.clone() {
                    let (from, to) = (from + rows.from * row, to + rows.to * row);
                    let bits = packing.load(source, usize::try_from(from).ok()?)?;
                    packing.store(target, usize::try_from(to).ok()?, bits)?;
                }
            }
        }
        Some(())
    })
}

/// Tiles of a block of `columns` by `rows` elements: their columns and their rows.
fn tiles(columns: i64, rows: i64) -> impl Iterator<Item = (Range<i64>, Range<i64>)> {
    let along = |count: i64| {
        let starts = (0..count).step_by(CPU.packed_tile);
        let side = i64::try_from(CPU.packed_tile).unwrap_or(i64::MAX);
        starts.map(move |start| start..count.min(start.saturating_add(side)))
    };
    along(columns).flat_map(move |own| along(rows).map(move |rows| (own.clone(), rows)))
}

/// Reverses the loops with a negative stride in the destination, and moves the offsets `from` and `to` of the first
/// element accordingly.
pub(super) fn forward(loops: &mut [Loop], [from, to]: [&mut i64; 2]) {
    for level in loops.iter_mut().filter(|level| level.to < 0) {
        *from += level.from * (level.count - 1);
        *to += level.to * (level.count - 1);
        (level.from, level.to) = (-level.from, -level.to);
    }
}

/// Calls `one` with the offsets in source and destination for every iteration of `loops`, outermost first; the first
/// iteration has the offsets `at`.
pub(super) fn for_each(
    loops: &[Loop],
    at: [i64; 2],
    mut one: impl FnMut([i64; 2]) -> Option<()>,
) -> Option<()> {
    let mut index = vec![0_i64; loops.len()];
    let [mut from, mut to] = at;
    loop {
        one([from, to])?;
        let mut is_over = true;
        for (index, level) in index.iter_mut().zip(loops).rev() {
            *index += 1;
            (from, to) = (from + level.from, to + level.to);
            if *index < level.count {
                is_over = false;
                break;
            }
            (from, to) = (from - level.from * level.count, to - level.to * level.count);
            *index = 0;
        }
        if is_over {
            return Some(());
        }
    }
}

/// Drops loops of one iteration and merges loops that are contiguous on both sides. Returns the length of the run that
/// is contiguous on both sides, in the unit of `element`.
pub(super) fn simplify(loops: &mut Vec<Loop>, element: i64) -> i64 {
    loops.retain(|level| level.count > 1);
    let mut run = element;
    while let Some(own) = loops.iter().position(|level| (level.from, level.to) == (run, run)) {
        run *= loops.remove(own).count;
    }
    loops.sort_by_key(|level| level.to);
    let mut k = 0;
    while let Some(level) = loops.get(k).copied() {
        let goes_on = |other: &Loop| {
            (other.from, other.to) == (level.from * level.count, level.to * level.count)
        };
        match loops.iter().position(goes_on) {
            Some(other) => {
                let count = level.count * loops.remove(other).count;
                // Removing a loop in front of position `k` shifts the merged loop to `k - 1`.
                let own = if other < k { k - 1 } else { k };
                if let Some(place) = loops.get_mut(own) {
                    place.count = count;
                }
                k = own;
            }
            None => k += 1,
        }
    }
    run
}

/// Part of a box that one call of a kernel copies.
enum Inner {
    Run,
    Runs(Loop),
    Block { rows: Loop, columns: Loop },
}

/// Part of a box that one call copies. Its loops are removed from `loops`, and the offsets of the first element are
/// moved where a loop is reversed. `bytes` is the length of a run that is contiguous in the source and in the
/// destination.
fn inner((loops, [from, to]): (&mut Vec<Loop>, [&mut i64; 2]), bytes: i64) -> Inner {
    let written = loops.iter().position(|level| level.to == bytes);
    let read = loops.iter().position(|level| level.from.abs() == bytes);
    if let (Some(rows), Some(columns), 1 | 2 | 4 | 8 | 16) = (written, read, bytes) {
        let both = (loops.get(rows).copied(), loops.get(columns).copied());
        if let (Some(rows), Some(mut columns), true) = (both.0, both.1, rows != columns) {
            loops.retain(|level| *level != rows && *level != columns);
            if columns.from < 0 {
                *from += columns.from * (columns.count - 1);
                *to += columns.to * (columns.count - 1);
                (columns.from, columns.to) = (-columns.from, -columns.to);
            }
            return Inner::Block { rows, columns };
        }
    }
    let fastest = (0..loops.len()).min_by_key(|k| loops.get(*k).map(|level| level.to));
    match written.or(fastest) {
        Some(along) => Inner::Runs(loops.remove(along)),
        None => Inner::Run,
    }
}

impl Inner {
    fn copy(
        &self,
        source: &[u8],
        target: &mut [u8],
        [from, to]: [i64; 2],
        bytes: i64,
    ) -> Option<()> {
        match self {
            Self::Run => kernels::copy(source, target, from, to, bytes),
            Self::Runs(Loop { count, from: from_stride, to: to_stride }) => {
                let (from_stride, to_stride, count) = (*from_stride, *to_stride, *count);
                let runs = Runs { from, from_stride, to, to_stride, count, bytes };
                kernels::runs(source, target, &runs)
            }
            Self::Block { rows, columns } => {
                let (from_stride, to_stride) = (rows.from, columns.to);
                let (rows, columns) = (rows.count, columns.count);
                let block = Block { from, from_stride, to, to_stride, rows, columns };
                transpose(source, target, u32::try_from(bytes).ok()?, &block)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_copied_like_reference_loops() {
        let orders: [[usize; 3]; 4] = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]];
        for element in [1_i64, 3, 4, 16] {
            for counts in [[2_i64, 3, 5], [1, 70, 9], [4, 1, 33]] {
                for order in orders {
                    for backwards in [false, true] {
                        let mut digits = [Loop { count: 0, from: 0, to: 0 }; 3];
                        let mut stride = element;
                        for k in (0..3).rev() {
                            digits[k] = Loop { count: counts[k], from: stride, to: 0 };
                            stride *= counts[k];
                        }
                        stride = element;
                        for k in order.into_iter().rev() {
                            digits[k].to = stride;
                            stride *= counts[k];
                        }
                        let mut from = 0;
                        if backwards {
                            from = digits[1].from * (counts[1] - 1);
                            digits[1].from *= -1;
                        }
                        let all = usize::try_from(stride).unwrap();
                        let source: Vec<u8> = (0..all).map(|k| k.to_le_bytes()[0] ^ 7).collect();
                        let mut target = vec![0; all];
                        let loops = (digits.to_vec(), [from, 0]);
                        copy(&source, &mut target, loops, element).unwrap();
                        let mut wanted = vec![0; all];
                        for a in 0..counts[0] {
                            for b in 0..counts[1] {
                                for c in 0..counts[2] {
                                    let at = |of: fn(&Loop) -> i64| {
                                        a * of(&digits[0]) + b * of(&digits[1]) + c * of(&digits[2])
                                    };
                                    for byte in 0..element {
                                        let from = usize::try_from(from + at(|d| d.from) + byte);
                                        let to = usize::try_from(at(|d| d.to) + byte).unwrap();
                                        wanted[to] = source[from.unwrap()];
                                    }
                                }
                            }
                        }
                        assert_eq!(target, wanted, "{element} {counts:?} {order:?} {backwards}");
                    }
                }
            }
        }
    }
}
