//! Part of a buffer that belongs to a piece: equally long runs in nested strided loops, and their positions when
//! concatenated.

/// Digit of the offsets in a buffer: its stride in units, the number `extent` of its values, and the values
/// `first..end` that a piece covers, in memory order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Level {
    pub(super) stride: i64,
    pub(super) extent: i64,
    pub(super) first: i64,
    pub(super) end: i64,
}

impl Level {
    fn count(self) -> i64 {
        self.end - self.first
    }

    fn is_whole(self) -> bool {
        self.count() == self.extent
    }

    /// Distance that all values of the digit span, in units: `stride * extent`.
    fn block(self) -> i64 {
        self.stride * self.extent
    }
}

/// Buffer of a whole tensor, in units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    /// Smallest offset that the digits address.
    pub(super) first: i64,
    pub(super) units: i64,
    /// Largest gap that is always read and written along with the data around it, in units.
    pub(super) narrow: i64,
}

/// Contiguous runs of equal length in a buffer, equally spaced in nested loops. Positions and lengths are in units:
/// groups of elements that are a whole number of bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    start: i64,
    length: i64,
    /// Count and stride of each loop over the runs, innermost first.
    loops: Vec<(i64, i64)>,
    /// Size of the buffer. Runs are clipped to it.
    end: i64,
}

/// Contiguous run of bytes in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Offset in the whole buffer, in bytes.
    pub at: u64,
    /// Offset in the concatenation of the runs, in bytes.
    pub held: usize,
    /// Length, in bytes.
    pub length: usize,
}

impl Runs {
    /// Number of runs.
    pub fn count(&self) -> i64 {
        self.loops.iter().map(|(count, _)| count).product()
    }

    /// Length of each run before clipping, in units.
    pub(super) fn length(&self) -> i64 {
        self.length
    }

    /// Total length of the runs before clipping, in units.
    pub fn units(&self) -> usize {
        usize::try_from(self.length * self.count()).unwrap_or(0)
    }

    /// Nonempty runs, clipped to the end of the buffer and scaled to bytes. `bytes` is the size of a unit.
    pub fn each(&self, bytes: usize) -> impl Iterator<Item = Run> + '_ {
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let mut index = vec![0_i64; self.loops.len()];
        let (mut at, mut held, mut left) = (self.start, 0, self.count());
        let all = std::iter::from_fn(move || {
            if left <= 0 {
                return None;
            }
            left -= 1;
            let length = self.length.min(self.end - at).max(0);
            let run = Run {
                at: u64::try_from(at * bytes).ok()?,
                held: usize::try_from(held * bytes).ok()?,
                length: usize::try_from(length * bytes).ok()?,
            };
            held += self.length;
            for (index, (count, stride)) in index.iter_mut().zip(&self.loops) {
                *index += 1;
                at += stride;
                if *index < *count {
                    break;
                }
                at -= stride * count;
                *index = 0;
            }
            Some(run)
        });
        all.filter(|run| run.length > 0)
    }
}

/// Placement of a piece in a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Runs that hold the data of the piece.
    pub(super) runs: Runs,
    /// For each level, distance between consecutive values in the concatenated runs, in units.
    pub(super) steps: Vec<i64>,
    /// Padding before, after or between the values of the levels that is outside `runs` and that this piece fills.
    pub(super) gaps: Vec<Runs>,
    /// Length of the gap behind the slowest level that is part of a run, in units, if the runs of a piece at the end of
    /// this level include the gap and this piece does not reach the end; otherwise 0.
    pub(super) more: i64,
}

/// Placement of a piece with the values `first..end` of each level. Levels are sorted from fastest to slowest, and the
/// stride of each is at least the span of the faster ones.
pub(super) fn place(levels: &[Level], whole: Whole) -> Place {
    let unit = Level { stride: 1, extent: 1, first: 0, end: 1 };
    let all: Vec<Level> = std::iter::once(unit).chain(levels.iter().copied()).collect();
    let gap = |k: usize| {
        let next = all.get(k + 1).map_or(whole.units - whole.first, |level| level.stride);
        all.get(k).map_or(0, |level| (next - level.block()).max(0))
    };
    let is_joined = |k: usize| {
        let block = all.get(k).map_or(0, |level| level.block());
        gap(k) <= whole.narrow.max(block / 4)
    };
    let last = all.len() - 1;
    let broken = (0..all.len()).find(|k| {
        *k == last || !is_joined(*k) || all.get(*k).is_some_and(|level| !level.is_whole())
    });
    let broken = broken.unwrap_or(last);
    let level = all.get(broken).copied().unwrap_or(unit);
    let behind = if is_joined(broken) { gap(broken) } else { 0 };
    let reaches_end = level.end == level.extent;
    let length = level.count() * level.stride + if reaches_end { behind } else { 0 };
    let start = whole.first + all.iter().map(|level| level.first * level.stride).sum::<i64>();
    let (mut steps, mut loops, mut held) = (Vec::new(), Vec::new(), length);
    for (k, level) in all.iter().enumerate() {
        let is_inside = k <= broken;
        steps.push(if is_inside { level.stride } else { held });
        if !is_inside && level.count() > 1 {
            loops.push((level.count(), level.stride));
            held *= level.count();
        }
    }
    steps.remove(0);
    let end = whole.units;
    let mut gaps = Vec::new();
    if whole.first > 0 && all.iter().all(|level| level.first == 0) {
        gaps.push(Runs { start: 0, length: whole.first, loops: Vec::new(), end });
    }
    let is_at_end = |k: &usize| all.iter().take(k + 1).all(|level| level.end == level.extent);
    for k in (broken..all.len()).take_while(is_at_end) {
        let is_written = k == broken && is_joined(k);
        if gap(k) == 0 || is_written {
            continue;
        }
        let above = all.iter().skip(k + 1);
        let behind = all.get(k).map_or(0, |level| level.block());
        let start = above.clone().map(|level| level.first * level.stride).sum::<i64>();
        let loops = above.filter(|level| level.count() > 1);
        let loops = loops.map(|level| (level.count(), level.stride)).collect();
        gaps.push(Runs { start: whole.first + behind + start, length: gap(k), loops, end });
    }
    let runs = Runs { start, length, loops, end };
    Place { runs, steps, gaps, more: if reaches_end { 0 } else { behind } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(stride: i64, extent: i64, first: i64, end: i64) -> Level {
        Level { stride, extent, first, end }
    }

    /// Unit offsets covered by the runs, in order.
    fn units(runs: &Runs) -> Vec<u64> {
        runs.each(1).flat_map(|run| run.at..run.at + u64::try_from(run.length).unwrap()).collect()
    }

    #[test]
    fn chunks_cover_a_padded_buffer_exactly_once() {
        // Rows of 5 units with a pitch of 8, 3 rows per block, 4 blocks 30 units apart, first unit at 2, 121 units in
        // all.
        for narrow in [0, 2, 100] {
            let whole = Whole { first: 2, units: 121, narrow };
            let mut seen = Vec::new();
            for block in [[0, 1], [1, 4]] {
                for rows in [[0, 2], [2, 3]] {
                    let levels = [
                        level(1, 5, 0, 5),
                        level(8, 3, rows[0], rows[1]),
                        level(30, 4, block[0], block[1]),
                    ];
                    let place = place(&levels, whole);
                    seen.extend(units(&place.runs));
                    seen.extend(place.gaps.iter().flat_map(units));
                }
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..121).collect::<Vec<u64>>(), "{narrow}");
        }
    }

    #[test]
    fn contiguous_runs_merge_full_levels_within_the_buffer() {
        let whole = Whole { first: 0, units: 61, narrow: 4 };
        let levels = [level(1, 5, 0, 5), level(8, 8, 4, 8)];
        let place = place(&levels, whole);
        let runs: Vec<Run> = place.runs.each(2).collect();
        assert_eq!(runs, [Run { at: 64, held: 0, length: 58 }]);
        assert_eq!(place.steps, [1, 8]);
    }
}
