//! Hilbert curves of rectangular grids of any size: a path that visits every cell once and preserves
//! locality.
//!
//! In a box of `length` by `breadth` cells, the path starts at `(0, 0)` and ends at the far end of the length. A single
//! row or column of cells is not split. A longer box with `2 * length > 3 * breadth` splits into two along its length.
//! Any other box splits into three: the first half of the length in one half of the breadth, the whole length in the
//! other half of the breadth, then the second half of the length back. The split of the length in two blocks, and the
//! split of the breadth in three blocks, is at an even position where possible, so that each block ends next to the
//! start of the following one. For a square whose side is a power of two, this is Hilbert's order.
//!
//! Source: Hilbert, 1891, for squares; the generalization to rectangles is known as "gilbert".
//!
//! Consecutive cells share a side, with one exception. If the longer side is odd and the shorter one even, no such path
//! reaches the far end of the longer side: the path then has one diagonal step, or, for a shorter side of 2, ends one
//! cell early. [`CurveGrid::distance`] and [`CurveGrid::cell`] are iterative and descend into the one block that holds
//! the cell. They clamp their arguments to the grid, so that they never fail.

/// Maximum number of cells of a grid: 2^22. [`CurveGrid::new`] returns `None` for a larger grid.
pub const MAX_CELLS: u32 = 1 << 22;

/// Rectangular grid of 1 to [`MAX_CELLS`] cells with its Hilbert curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurveGrid {
    rows: u32,
    columns: u32,
}

/// Rectangle of cells in the recursion of the curve: `length` cells in the direction of the path, `breadth` cells
/// across it.
#[derive(Debug, Clone, Copy)]
struct CurveBlock {
    length: i64,
    breadth: i64,
}

/// Subdivision of a block of the curve into one, two or three blocks that the path visits in sequence.
enum CurveSplit {
    /// No subdivision: the block is one row or one column of cells.
    Line,
    /// Two blocks one after the other along the length. Contains the length of the first block.
    Two(i64),
    /// Three blocks: out, across and back. Contains `(across, along)`, the numbers of cells of the first block across
    /// and along the block that is split. The second block has the rest across, and the whole length. The third block
    /// has `across` cells across, and the rest along.
    Three(i64, i64),
}

impl CurveBlock {
    fn cut(self) -> CurveSplit {
        if self.length == 1 || self.breadth == 1 {
            return CurveSplit::Line;
        }
        if 2 * self.length > 3 * self.breadth {
            return CurveSplit::Two(even(self.length / 2));
        }
        let there = if self.breadth > 2 { even(self.breadth / 2) } else { 1 };
        CurveSplit::Three(there, self.length / 2)
    }
}

/// Smallest even integer that is at least `n`.
fn even(n: i64) -> i64 {
    n + n % 2
}

impl CurveGrid {
    /// Grid of `rows` by `columns` cells; `None` if it has no cells, or more than [`MAX_CELLS`].
    pub fn new(rows: u32, columns: u32) -> Option<Self> {
        let cells = u64::from(rows) * u64::from(columns);
        (1..=u64::from(MAX_CELLS)).contains(&cells).then_some(Self { rows, columns })
    }

    /// Number of rows of the grid.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// Number of columns of the grid.
    pub fn columns(self) -> u32 {
        self.columns
    }

    /// Number of cells of the grid, `rows * columns`.
    pub fn cells(self) -> u32 {
        self.rows * self.columns
    }

    /// Pair `(is_along_columns, block)`: `block` covers the whole grid, with its length along the longer side.
    /// `is_along_columns` is true if the length counts columns, as for a square, and false if it counts rows.
    fn whole(self) -> (bool, CurveBlock) {
        let (rows, columns) = (i64::from(self.rows), i64::from(self.columns));
        if columns >= rows {
            (true, CurveBlock { length: columns, breadth: rows })
        } else {
            (false, CurveBlock { length: rows, breadth: columns })
        }
    }

    /// Position of the cell `(row, column)` along the curve, from 0. Indices outside the grid are clamped. In a 2
    /// by 2 grid, cell (1, 0) has position 1 and cell (0, 1) has position 3.
    pub fn distance(self, row: i128, column: i128) -> i128 {
        let (row, column) = (inside(row, self.rows), inside(column, self.columns));
        let (is_along_columns, mut run) = self.whole();
        let (mut along, mut aside) = if is_along_columns { (column, row) } else { (row, column) };
        let mut before = 0_i64;
        loop {
            match run.cut() {
                // In a block of one row or one column, `along` or `aside` is 0.
                CurveSplit::Line => return i128::from(before + along + aside),
                CurveSplit::Two(length) if along < length => run.length = length,
                CurveSplit::Two(length) => {
                    before += length * run.breadth;
                    along -= length;
                    run.length -= length;
                }
                CurveSplit::Three(there, length) if aside >= there => {
                    before += there * length;
                    aside -= there;
                    run.breadth -= there;
                }
                CurveSplit::Three(there, length) if along < length => {
                    (along, aside) = (aside, along);
                    run = CurveBlock { length: there, breadth: length };
                }
                CurveSplit::Three(there, length) => {
                    before += there * length + run.length * (run.breadth - there);
                    (along, aside) = (there - 1 - aside, run.length - 1 - along);
                    run = CurveBlock { length: there, breadth: run.length - length };
                }
            }
        }
    }

    /// Cell at position `distance` along the curve, as `row * columns + column`. Positions beyond the curve are
    /// clamped. In a 2 by 2 grid, position 3 is cell 1: row 0, column 1.
    pub fn cell(self, distance: i128) -> i128 {
        let mut left = inside(distance, self.cells());
        let (is_along_columns, mut run) = self.whole();
        let columns = i64::from(self.columns);
        // Increments of the cell per step along and across the path.
        let (mut along, mut aside) = if is_along_columns { (1, columns) } else { (columns, 1) };
        let mut cell = 0_i64;
        loop {
            match run.cut() {
                CurveSplit::Line => {
                    let step = if run.breadth == 1 { along } else { aside };
                    return i128::from(cell + left * step);
                }
                CurveSplit::Two(length) if left < length * run.breadth => run.length = length,
                CurveSplit::Two(length) => {
                    left -= length * run.breadth;
                    cell += length * along;
                    run.length -= length;
                }
                CurveSplit::Three(there, length) if left < there * length => {
                    (along, aside) = (aside, along);
                    run = CurveBlock { length: there, breadth: length };
                }
                CurveSplit::Three(there, length) => {
                    left -= there * length;
                    let across = run.length * (run.breadth - there);
                    if left < across {
                        cell += there * aside;
                        run.breadth -= there;
                        continue;
                    }
                    left -= across;
                    cell += (run.length - 1) * along + (there - 1) * aside;
                    (along, aside) = (-aside, -along);
                    run = CurveBlock { length: there, breadth: run.length - length };
                }
            }
        }
    }
}

/// Value of `index` clamped to `0..extent`.
fn inside(index: i128, extent: u32) -> i64 {
    let last = i64::from(extent) - 1;
    i64::try_from(index.clamp(0, i128::from(last))).unwrap_or(last)
}
