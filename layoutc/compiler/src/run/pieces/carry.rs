//! Copy of a box of elements between two buffers, by primitives that copy runs or transpose blocks.

use super::super::blocks::{self, Block, Runs};
use super::super::transpose::transpose;

/// Loop along one digit: trip count, and strides in the source and the destination, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Along {
    pub(super) count: i64,
    pub(super) from: i64,
    pub(super) to: i64,
}

/// Copies a box of elements of `element` bytes each. `digits` are the loops over the box, in any order. The first
/// element is at offset `from` of the source and offset `to` of the destination, in bytes. `None` if an access is
/// outside a buffer.
pub(super) fn carry(
    source: &[u8],
    target: &mut [u8],
    mut digits: Vec<Along>,
    [from, to]: [i64; 2],
    element: i64,
) -> Option<()> {
    if digits.iter().any(|digit| digit.count < 1) {
        return Some(());
    }
    let bytes = simplified(&mut digits, element);
    let inner = inner(&mut digits, bytes);
    // The largest destination stride is outermost, so that the destination is written front to back.
    digits.sort_by_key(|digit| -digit.to.abs());
    let mut index = vec![0_i64; digits.len()];
    let (mut from, mut to) = (from, to);
    loop {
        inner.carry(source, target, [from, to], bytes)?;
        let mut is_over = true;
        for (index, digit) in index.iter_mut().zip(&digits).rev() {
            *index += 1;
            (from, to) = (from + digit.from, to + digit.to);
            if *index < digit.count {
                is_over = false;
                break;
            }
            (from, to) = (from - digit.from * digit.count, to - digit.to * digit.count);
            *index = 0;
        }
        if is_over {
            return Some(());
        }
    }
}

/// Drops digits with one value and merges digits that are contiguous on both sides. Returns the length of the run that
/// is contiguous on both sides, in bytes.
fn simplified(digits: &mut Vec<Along>, element: i64) -> i64 {
    digits.retain(|digit| digit.count > 1);
    let mut bytes = element;
    while let Some(run) = digits.iter().position(|d| (d.from, d.to) == (bytes, bytes)) {
        bytes *= digits.remove(run).count;
    }
    digits.sort_by_key(|digit| digit.to.abs());
    let mut k = 0;
    while let Some(digit) = digits.get(k).copied() {
        let goes_on = |other: &Along| {
            (other.from, other.to) == (digit.from * digit.count, digit.to * digit.count)
        };
        match digits.iter().position(goes_on) {
            Some(other) => {
                let count = digit.count * digits.remove(other).count;
                // Removing a digit in front of position `k` shifts the merged digit to `k - 1`.
                let own = if other < k { k - 1 } else { k };
                if let Some(place) = digits.get_mut(own) {
                    place.count = count;
                }
                k = own;
            }
            None => k += 1,
        }
    }
    bytes
}

/// Part of a box that one call of a block primitive copies.
enum Inner {
    Run,
    Runs(Along),
    Block { rows: Along, columns: Along },
}

/// Part of a box that one call copies. Its digits are removed from `digits`. `bytes` is the length of a run that is
/// contiguous in the source and in the destination.
fn inner(digits: &mut Vec<Along>, bytes: i64) -> Inner {
    let written = digits.iter().position(|digit| digit.to == bytes);
    let read = digits.iter().position(|digit| digit.from == bytes);
    if let (Some(rows), Some(columns), 1 | 2 | 4 | 8 | 16) = (written, read, bytes) {
        let both = (digits.get(rows).copied(), digits.get(columns).copied());
        if let (Some(rows), Some(columns)) = both {
            digits.retain(|digit| *digit != rows && *digit != columns);
            return Inner::Block { rows, columns };
        }
    }
    let fastest = (0..digits.len()).min_by_key(|k| digits.get(*k).map(|digit| digit.to.abs()));
    match written.or(fastest) {
        Some(along) => Inner::Runs(digits.remove(along)),
        None => Inner::Run,
    }
}

impl Inner {
    fn carry(
        &self,
        source: &[u8],
        target: &mut [u8],
        [from, to]: [i64; 2],
        bytes: i64,
    ) -> Option<()> {
        match self {
            Self::Run => blocks::copy(source, target, from, to, bytes),
            Self::Runs(Along { count, from: from_stride, to: to_stride }) => {
                let (from_stride, to_stride, count) = (*from_stride, *to_stride, *count);
                let runs = Runs { from, from_stride, to, to_stride, count, bytes };
                blocks::elements(source, target, &runs)
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
                        let mut digits = [Along { count: 0, from: 0, to: 0 }; 3];
                        let mut stride = element;
                        for k in (0..3).rev() {
                            digits[k] = Along { count: counts[k], from: stride, to: 0 };
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
                        carry(&source, &mut target, digits.to_vec(), [from, 0], element).unwrap();
                        let mut wanted = vec![0; all];
                        for a in 0..counts[0] {
                            for b in 0..counts[1] {
                                for c in 0..counts[2] {
                                    let at = |of: fn(&Along) -> i64| {
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
