//! Cost tables over the levels of a subproblem, and row-wise sums of tables. Level 0 is the variable eliminated last.
//! The levels of a table ascend, so that the variable eliminated first is innermost.

use super::data::{Cost, INFINITE, LARGEST};

/// Number of table entries that are computed between two calls of the closure `stop`.
const ENTRIES: usize = 1 << 22;

/// Dense cost table: one cost for each combination of values of the variables at some levels of a subproblem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LevelTable {
    /// Levels of the table, ascending.
    levels: Vec<usize>,
    /// Stride of each level of the table, in entries.
    strides: Vec<usize>,
    /// Number of values of the innermost level, which is the length of a row; 1 for a table without levels.
    width: usize,
    /// Costs in row-major order, the smallest level outermost.
    pub(super) costs: Vec<Cost>,
}

impl LevelTable {
    /// Creates a table over ascending `levels` with row-major `costs`. `sizes` holds the number of values of every
    /// level of the subproblem.
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

    /// Cost of the table's entry for `values`: `values[l]` is the value of the variable at level `l` of the subproblem,
    /// level 0 first. Levels outside the table are ignored, and missing values are 0. `INFINITE` if there is no such
    /// entry.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        self.costs.get(self.offset(values)).copied().unwrap_or(INFINITE)
    }

    /// Row of the table: the costs for all values of its innermost level, in order. `values[l]` is the value at level
    /// `l` for every level before the innermost one. Empty if there is no such row.
    pub(super) fn row(&self, values: &[usize]) -> &[Cost] {
        let start = self.offset(values);
        self.costs.get(start..start.saturating_add(self.width)).unwrap_or(&[])
    }

    /// Offset in `costs` of the entry for `values`, level 0 first; levels beyond the end of `values` have value 0.
    fn offset(&self, values: &[usize]) -> usize {
        let places = self.levels.iter().zip(&self.strides);
        places.map(|(&l, &stride)| values.get(l).copied().unwrap_or(0).saturating_mul(stride)).sum()
    }

    fn stride(&self, level: usize) -> usize {
        let mut places = self.levels.iter().zip(&self.strides);
        places.find(|&(&l, _)| l == level).map_or(0, |(_, &stride)| stride)
    }
}

/// Cost as a table stores it: [`INFINITE`] if `cost` is above [`LARGEST`], else `cost`. No assignment of finite cost
/// contains an entry above [`LARGEST`].
pub(super) fn capped(cost: Cost) -> Cost {
    if cost > LARGEST { INFINITE } else { cost }
}

fn size_of(sizes: &[usize], level: usize) -> usize {
    sizes.get(level).copied().unwrap_or(1)
}

/// Digit of a mixed-radix counter over the values of the outer levels. `at` is its value, `extent` its number of
/// values, and `steps` the stride of its level in each of the tables, in entries.
struct OdometerLevel {
    at: usize,
    extent: usize,
    steps: Vec<usize>,
}

/// Adds up tables that have the same innermost level. For every assignment of the `outer` levels, in row-major order,
/// `show` is called with one row of sums: one sum for each value of the innermost level. `sizes` has the number of
/// values of every level of the subproblem. `None` if `stop` returned true.
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

/// Increments the mixed-radix counter `wheels`, whose last digit varies fastest, and updates `offsets`, the offset in
/// each table. Returns false if the counter was at its last value.
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
