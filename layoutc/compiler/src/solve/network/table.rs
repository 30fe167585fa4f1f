//! Cost tables over levels of a part, and their sums. Level 0 is the variable eliminated last. The levels of a table
//! ascend, so that the variable eliminated first is the innermost one.

use super::data::{Cost, INFINITE, LARGEST};

/// Number of table entries that are computed between two calls of `stop`.
const ENTRIES: usize = 1 << 22;

/// Cost table over the values of some levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LevelTable {
    /// Levels of the table, ascending.
    levels: Vec<usize>,
    /// Stride of each of `levels`, in table entries.
    strides: Vec<usize>,
    /// Number of values of the innermost level; the length of a row.
    width: usize,
    /// Costs in row-major order, the smallest level outermost.
    pub(super) costs: Vec<Cost>,
}

impl LevelTable {
    /// Creates a table over levels in ascending order. `sizes` holds the number of values of every level of the part.
    pub(super) fn new(levels: Vec<usize>, sizes: &[usize], costs: Vec<Cost>) -> Self {
        let mut strides = vec![1; levels.len()];
        let mut stride = 1usize;
        for (place, level) in strides.iter_mut().zip(&levels).rev() {
            *place = stride;
            stride = stride.saturating_mul(size_of(sizes, *level));
        }
        let width = levels.last().map_or(1, |&level| size_of(sizes, level));
        Self { levels, strides, width, costs }
    }

    /// Innermost level of the table; `None` for a table without levels.
    pub(super) fn innermost(&self) -> Option<usize> {
        self.levels.last().copied()
    }

    /// Cost at the values of all levels of the part, in the order of levels.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        self.costs.get(self.offset(values)).copied().unwrap_or(INFINITE)
    }

    /// Costs for all values of the innermost level, given the values of the levels before.
    pub(super) fn row(&self, values: &[usize]) -> &[Cost] {
        let start = self.offset(values);
        self.costs.get(start..start.saturating_add(self.width)).unwrap_or(&[])
    }

    /// Offset of a table entry at the values of the first levels; levels beyond `values` have value 0.
    fn offset(&self, values: &[usize]) -> usize {
        let places = self.levels.iter().zip(&self.strides);
        places.map(|(&l, &stride)| values.get(l).copied().unwrap_or(0).saturating_mul(stride)).sum()
    }

    fn stride(&self, level: usize) -> usize {
        let mut places = self.levels.iter().zip(&self.strides);
        places.find(|&(&l, _)| l == level).map_or(0, |(_, &stride)| stride)
    }
}

/// Cost with values above [`LARGEST`] replaced by [`INFINITE`]: as costs are nonnegative, no assignment of finite cost
/// contains them.
pub(super) fn capped(cost: Cost) -> Cost {
    if cost > LARGEST { INFINITE } else { cost }
}

fn size_of(sizes: &[usize], level: usize) -> usize {
    sizes.get(level).copied().unwrap_or(1)
}

/// Level of an odometer over table entries: its current value, its number of values, and its stride in each
/// table.
struct OdometerLevel {
    at: usize,
    extent: usize,
    steps: Vec<usize>,
}

/// Adds tables with the same innermost level, and calls `show` with one row of sums over that level for every
/// assignment of the `outer` levels, in row-major order. `None` if stopped.
pub(super) fn sum_rows(
    tables: &[&LevelTable],
    outer: &[usize],
    sizes: &[usize],
    stop: &dyn Fn() -> bool,
    mut show: impl FnMut(&[Cost]),
) -> Option<()> {
    let mut wheels: Vec<OdometerLevel> =
        outer.iter().map(|&level| wheel(tables, level, sizes)).collect();
    let width = tables.iter().map(|table| table.width).max().unwrap_or(1);
    let mut offsets = vec![0usize; tables.len()];
    let mut sum = vec![0; width];
    let mut read = 0usize;
    loop {
        sum.fill(0);
        for (table, &start) in tables.iter().zip(&offsets) {
            let costs = table.costs.get(start..start.saturating_add(width)).unwrap_or(&[]);
            for (sum, &cost) in sum.iter_mut().zip(costs) {
                *sum = Cost::saturating_add(*sum, cost);
            }
        }
        show(&sum);
        read = read.saturating_add(width);
        if read >= ENTRIES {
            read = 0;
            if stop() {
                return None;
            }
        }
        if !advance(&mut wheels, &mut offsets) {
            return Some(());
        }
    }
}

fn wheel(tables: &[&LevelTable], level: usize, sizes: &[usize]) -> OdometerLevel {
    let steps = tables.iter().map(|table| table.stride(level)).collect();
    OdometerLevel { at: 0, extent: size_of(sizes, level), steps }
}

/// Advances an odometer to the next row; returns `false` after the last one.
fn advance(wheels: &mut [OdometerLevel], offsets: &mut [usize]) -> bool {
    for wheel in wheels.iter_mut().rev() {
        wheel.at += 1;
        let turns = wheel.at < wheel.extent;
        for (offset, &step) in offsets.iter_mut().zip(&wheel.steps) {
            let back = step.saturating_mul(wheel.extent.saturating_sub(1));
            *offset = if turns { offset.saturating_add(step) } else { offset.saturating_sub(back) };
        }
        if turns {
            return true;
        }
        wheel.at = 0;
    }
    false
}
