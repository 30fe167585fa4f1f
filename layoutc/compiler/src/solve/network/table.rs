//! Tables of costs over some variables of a part, and sums of them. Variables are given by level: level 0 is the variable
//! that goes last. A table's levels ascend, so that the variable that goes first is the innermost one.

use super::data::{Cost, INFINITE, LARGEST};

/// Entries after which a long sum asks whether it is to stop.
const ENTRIES: usize = 1 << 22;

/// Costs for all values of some levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LevelTable {
    /// Ascending.
    levels: Vec<usize>,
    /// Entries between neighbouring values, one for each of `levels`.
    strides: Vec<usize>,
    /// How many values the innermost level has.
    width: usize,
    /// Row-major, the smallest level outermost.
    pub(super) costs: Vec<Cost>,
}

impl LevelTable {
    /// A table of levels in ascending order. `sizes` gives the values of every level.
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

    /// The innermost of its levels; `None` for a single cost.
    pub(super) fn innermost(&self) -> Option<usize> {
        self.levels.last().copied()
    }

    /// Its cost at the values of all levels, in order of levels.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        self.costs.get(self.offset(values)).copied().unwrap_or(INFINITE)
    }

    /// Its costs for all values of its innermost level, at the values of the levels before.
    pub(super) fn row(&self, values: &[usize]) -> &[Cost] {
        let start = self.offset(values);
        self.costs.get(start..start.saturating_add(self.width)).unwrap_or(&[])
    }

    /// Levels that `values` does not reach count as 0.
    fn offset(&self, values: &[usize]) -> usize {
        let places = self.levels.iter().zip(&self.strides);
        places.map(|(&l, &stride)| values.get(l).copied().unwrap_or(0).saturating_mul(stride)).sum()
    }

    fn stride(&self, level: usize) -> usize {
        let mut places = self.levels.iter().zip(&self.strides);
        places.find(|&(&l, _)| l == level).map_or(0, |(_, &stride)| stride)
    }
}

/// A cost that is more than all finite ones together is in no assignment of finite cost, as no table has costs below 0.
pub(super) fn capped(cost: Cost) -> Cost {
    if cost > LARGEST { INFINITE } else { cost }
}

fn size_of(sizes: &[usize], level: usize) -> usize {
    sizes.get(level).copied().unwrap_or(1)
}

/// One level of an odometer: where it is, how far it goes, and how far each table moves with it.
struct OdometerLevel {
    at: usize,
    extent: usize,
    steps: Vec<usize>,
}

/// Adds tables up that have the same innermost level, and shows the sum for every assignment of the `outer` levels, in
/// row-major order: one cost for each value of the innermost level. `None` when it was stopped.
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

/// Turns to the next row; `false` after the last one.
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
