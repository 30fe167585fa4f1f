//! The Hilbert curve of any box: a path that visits every cell once, and keeps to a neighbourhood as long as it can.
//!
//! A box is as long as the path goes and as broad as it turns aside: the path starts at `(0, 0)` and ends at the other
//! end of its length. A box of more than one and a half times its breadth is cut in two across its length. Any other is
//! cut in three: along one half of the breadth, across the whole length in the other half, and back. The first cut
//! is at an even place wherever that is possible, so that the parts end where the next one starts.
//! In a square whose side is a power of two that is the order of Hilbert.
//!
//! Source: Hilbert, 1891, for squares; the generalisation to rectangles by cuts in two and three is known as "gilbert".
//!
//! Every step goes to one of the four neighbours. Where the longer side is odd and the shorter one even no path of such
//! steps gets to the other end of the longer side: the path then has one diagonal step, or ends one cell before the
//! other end if the shorter side is 2. Both directions are loops without recursion that follow the one part that holds
//! the cell; nothing in them can fail or leave the box.

/// The most cells of a box: 2^22.
pub const MAX_CELLS: u32 = 1 << 22;

/// A box of cells, at least one and at most [`MAX_CELLS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CurveGrid {
    rows: u32,
    columns: u32,
}

/// Where the path goes in a box: `length` cells along it, `breadth` aside.
#[derive(Debug, Clone, Copy)]
struct CurveBlock {
    length: i64,
    breadth: i64,
}

/// How a run goes on.
enum CurveSplit {
    /// One row of cells, or one column.
    Line,
    /// Two runs one after the other: the length of the first.
    Two(i64),
    /// There, across and back: the breadth of the way there, and the length that it takes.
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

/// `n` rounded up to an even number.
fn even(n: i64) -> i64 {
    n + n % 2
}

impl CurveGrid {
    /// A box of so many rows and columns; `None` with no cell, or more than [`MAX_CELLS`].
    pub fn new(rows: u32, columns: u32) -> Option<Self> {
        let cells = u64::from(rows) * u64::from(columns);
        (1..=u64::from(MAX_CELLS)).contains(&cells).then_some(Self { rows, columns })
    }

    /// How many rows.
    pub fn rows(self) -> u32 {
        self.rows
    }

    /// How many columns.
    pub fn columns(self) -> u32 {
        self.columns
    }

    /// How many cells, at most [`MAX_CELLS`].
    pub fn cells(self) -> u32 {
        self.rows * self.columns
    }

    /// The path goes along the longer side, along the columns of a square.
    fn whole(self) -> (bool, CurveBlock) {
        let (rows, columns) = (i64::from(self.rows), i64::from(self.columns));
        if columns >= rows {
            (true, CurveBlock { length: columns, breadth: rows })
        } else {
            (false, CurveBlock { length: rows, breadth: columns })
        }
    }

    /// How many cells the path visits before it gets to `(row, column)`. An index outside the box counts as the nearest
    /// one in it. In a box of 2 by 2, (1, 0) is 1 and (0, 1) is 3.
    pub fn distance(self, row: i128, column: i128) -> i128 {
        let (row, column) = (inside(row, self.rows), inside(column, self.columns));
        let (is_along_columns, mut run) = self.whole();
        let (mut along, mut aside) = if is_along_columns { (column, row) } else { (row, column) };
        let mut before = 0_i64;
        loop {
            match run.cut() {
                // One of the two is 0.
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

    /// The cell that the path gets to after so many others, as `row * columns + column`. Before the first one it is the
    /// first, after the last one the last. In a box of 2 by 2, after 3 others it is 1: row 0, column 1.
    pub fn cell(self, distance: i128) -> i128 {
        let mut left = inside(distance, self.cells());
        let (is_along_columns, mut run) = self.whole();
        let columns = i64::from(self.columns);
        // What a step along the path and one aside add to the cell.
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

/// The index of `0..extent` that is nearest.
fn inside(index: i128, extent: u32) -> i64 {
    let last = i64::from(extent) - 1;
    i64::try_from(index.clamp(0, i128::from(last))).unwrap_or(last)
}
