//! Sampling of the indices along an axis, if there are more than can be drawn.

use std::collections::BTreeSet;
use std::ops::Range;

/// Ascending sample of at most `room` indices of `range`, both ends included; a `room` below 2 counts as 2. It has all
/// indices if they fit. Otherwise:
/// - If two blocks of `block` indices fit, it has blocks from the start and from the end, whole ones where possible:
///   `0..64` by 4 with `room` 12 gives 0 to 7 and 60 to 63.
/// - If they do not fit and `room` is at least 8, it has indices from the start, around the end of the first block, and
///   from the end.
/// - Else, and without a `block` from 2 to less than the length of `range`, it has two thirds of the indices from the
///   start and one third from the end.
pub(super) fn sample(range: Range<i128>, block: Option<i128>, room: usize) -> Vec<i128> {
    let room = i128::try_from(room).unwrap_or(i128::MAX).max(2);
    let Range { start, end } = range;
    let count = end.saturating_sub(start);
    if count <= room {
        return range.collect();
    }
    let ranges = match block.filter(|block| *block > 1 && *block < count) {
        Some(block) if block.saturating_mul(2) <= room => {
            let last = (end - 1).div_euclid(block) * block;
            let tail = (last - ((room / block) / 3 - 1).max(0) * block).max(end - room / 2);
            let head = (start + room - (end - tail)).div_euclid(block) * block;
            // A halo at the start may leave no room for a whole block.
            let head = if head > start { head } else { start + room - (end - tail) };
            vec![start..head, tail..end]
        }
        Some(block) if room >= 8 => {
            let quarter = room / 4;
            let edge = start.div_euclid(block) * block + block;
            let around = (edge - quarter).max(start)..(edge + quarter).min(end - quarter);
            vec![start..start + quarter, around, end - quarter..end]
        }
        Some(_) | None => {
            let tail = (room / 3).max(1);
            vec![start..start + (room - tail), end - tail..end]
        }
    };
    let all: BTreeSet<i128> = ranges.into_iter().flatten().collect();
    all.into_iter().collect()
}

/// Ascending sample of at most `room` of the numbers `wanted`: all if they fit, else two thirds of `room` from the
/// start and one third from the end.
pub(super) fn thin(wanted: BTreeSet<i128>, room: usize) -> Vec<i128> {
    let count = wanted.len();
    let tail = room / 3;
    let is_shown = |k: usize| count <= room || k < room - tail || k >= count - tail;
    wanted.into_iter().enumerate().filter(|(k, _)| is_shown(*k)).map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_ranges_are_not_sampled() {
        assert_eq!(sample(-1..5, Some(2), 6), [-1, 0, 1, 2, 3, 4]);
        assert_eq!(sample(0..0, None, 6), []);
    }

    #[test]
    fn samples_contain_whole_blocks_at_both_ends() {
        assert_eq!(sample(0..64, Some(4), 12), [0, 1, 2, 3, 4, 5, 6, 7, 60, 61, 62, 63]);
        assert_eq!(sample(0..10, Some(4), 8), [0, 1, 2, 3, 8, 9]);
    }

    #[test]
    fn samples_of_long_blocks_contain_their_ends() {
        assert_eq!(sample(0..512, Some(128), 8), [0, 1, 126, 127, 128, 129, 510, 511]);
        assert_eq!(sample(0..100, None, 6), [0, 1, 2, 3, 98, 99]);
    }

    #[test]
    fn samples_stay_within_their_size_and_range() {
        for start in [-3, 0, 5] {
            for count in [1, 7, 20, 1000, i128::from(i64::MAX)] {
                for block in [None, Some(2), Some(3), Some(16), Some(1 << 40)] {
                    for room in 2..40 {
                        let range = start..start + count;
                        let drawn = sample(range.clone(), block, room);
                        assert!(drawn.len() <= room, "{range:?} {block:?} {room}: {drawn:?}");
                        assert!(drawn.iter().all(|index| range.contains(index)));
                        assert!(
                            drawn.first() == Some(&start) && drawn.last() == Some(&(range.end - 1))
                        );
                    }
                }
            }
        }
    }
}
