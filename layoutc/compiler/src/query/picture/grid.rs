//! Logical grid of a picture: the cells of a slice in rows and columns, including padding next to the tensor.

use std::ops::Range;

use super::concrete_layout::{ConcreteLayout, ElementAddress};
use super::frame::SliceFrame;
use super::sample::sample;
use super::tiling::{GridLine, SliceTiling, StorageRun};
use super::{PictureLimits, PictureSubject};

/// Element of a tensor with its location in memory and its color.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridElement {
    /// Logical index of the element.
    pub logical: Vec<i128>,
    /// Index of the element along the storage axes.
    pub storage: Vec<i128>,
    /// Index of the element along the physical axes.
    pub physical: Vec<i128>,
    /// Offset of the element from the start of the flat buffer, in slots.
    pub offset: i128,
    /// Position of the element's color in the palette, from 0.
    pub color: usize,
}

/// Cell of the logical grid at one logical index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GridCell {
    /// Element of the tensor.
    Element(GridElement),
    /// Padding: the index is not that of an element, but the layout maps it to a slot without an element.
    Padding {
        /// Offset of the slot from the start of the flat buffer, in slots.
        offset: i128,
    },
    /// Empty cell: the index is not that of an element, and no padding slot of its own is known.
    Outside,
}

impl GridCell {
    /// Offset of the cell's slot in the flat buffer, in slots; `None` for a cell without a slot.
    pub fn offset(&self) -> Option<i128> {
        match self {
            GridCell::Element(element) => Some(element.offset),
            GridCell::Padding { offset } => Some(*offset),
            GridCell::Outside => None,
        }
    }

    /// Element in the cell; `None` for padding and cells without a slot.
    pub fn element(&self) -> Option<&GridElement> {
        match self {
            GridCell::Element(element) => Some(element),
            GridCell::Padding { .. } | GridCell::Outside => None,
        }
    }
}

/// Logical grid of a picture: the cells of a slice in rows and columns.
#[derive(Debug, Clone)]
pub struct LogicalGrid {
    /// Logical index of each drawn row along the row axis of the slice, ascending; negative or at least the extent for
    /// padding. The single entry 0 if the slice has no row axis. Empty if a logical extent of the tensor is 0.
    pub rows: Vec<i128>,
    /// Logical index of each drawn column along the column axis of the slice, ascending; negative or at least the
    /// extent for padding. The single entry 0 if the slice has no column axis. Empty if a logical extent of the tensor
    /// is 0.
    pub columns: Vec<i128>,
    /// Cells of the grid: `cells[r][c]` is the cell in drawn row r and drawn column c.
    pub cells: Vec<Vec<GridCell>>,
    /// Kinds of the lines above the drawn rows, one for each row.
    pub row_rules: Vec<GridLine>,
    /// Kinds of the lines before the drawn columns, one for each column.
    pub column_rules: Vec<GridLine>,
}

impl LogicalGrid {
    pub(super) fn new(
        figures: &ConcreteLayout<'_>,
        frame: &SliceFrame,
        tiling: &SliceTiling,
        room: PictureLimits,
        subject: PictureSubject,
    ) -> Self {
        let drawn = |axis: Option<usize>, runs: &[StorageRun], room: usize| {
            if figures.is_empty() {
                return Vec::new();
            }
            match axis {
                Some(axis) => {
                    let range = match subject {
                        PictureSubject::Tensor | PictureSubject::Parts(_) => {
                            reach(figures, frame, axis, room)
                        }
                        PictureSubject::View | PictureSubject::SharedView => {
                            0..extent(figures, axis)
                        }
                    };
                    sample(range, SliceTiling::block(runs), room)
                }
                None => vec![0],
            }
        };
        let rows = drawn(frame.rows, &tiling.rows, room.rows);
        let columns = drawn(frame.columns, &tiling.columns, room.columns);
        let line = |row: &i128| -> Vec<GridCell> {
            columns.iter().map(|column| cell(figures, tiling, frame.index(*row, *column))).collect()
        };
        let cells = rows.iter().map(line).collect();
        let spot = |row: i128, column: i128| figures.spot(&frame.index(row, column));
        let column_rules = rules(&columns, &tiling.columns, &|column| spot(0, column));
        let row_rules = rules(&rows, &tiling.rows, &|row| spot(row, 0));
        Self { rows, columns, cells, row_rules, column_rules }
    }

    /// Elements of the tensor in the grid, row by row.
    pub fn elements(&self) -> impl Iterator<Item = &GridElement> {
        self.cells.iter().flatten().filter_map(GridCell::element)
    }
}

fn cell(figures: &ConcreteLayout<'_>, tiling: &SliceTiling, logical: Vec<i128>) -> GridCell {
    let Some(spot) = figures.spot(&logical) else { return GridCell::Outside };
    if figures.has(&logical) {
        let color = tiling.color(&spot.storage, spot.offset);
        let ElementAddress { storage, physical, offset } = spot;
        return GridCell::Element(GridElement { logical, storage, physical, offset, color });
    }
    if figures.is_padding_of(&logical, &spot) {
        GridCell::Padding { offset: spot.offset }
    } else {
        GridCell::Outside
    }
}

fn extent(figures: &ConcreteLayout<'_>, axis: usize) -> i128 {
    figures.logical.get(axis).copied().unwrap_or(0)
}

/// Range of indices along the logical axis `axis` from which the drawn ones are sampled: all indices of the axis, and
/// those of the padding before and after it. If these are more than `room`, the padding on each side is cut to
/// `room / 4` indices.
fn reach(
    figures: &ConcreteLayout<'_>,
    frame: &SliceFrame,
    axis: usize,
    room: usize,
) -> Range<i128> {
    let extent = extent(figures, axis);
    let is_padding = |index: i128| {
        let mut logical = frame.at.clone();
        logical.get_mut(axis).into_iter().for_each(|slot| *slot = index);
        let spot = figures.spot(&logical);
        spot.is_some_and(|spot| figures.is_padding_of(&logical, &spot))
    };
    let after = count(&|k| is_padding(extent.saturating_add(k)));
    let before = count(&|k| is_padding(-1 - k));
    let room = i128::try_from(room).unwrap_or(i128::MAX);
    let is_near = before.saturating_add(extent).saturating_add(after) > room;
    let shown = |padding: i128| if is_near { padding.min(room / 4) } else { padding };
    -shown(before)..extent.saturating_add(shown(after))
}

/// Least integer `n` from 0 on for which `holds(n)` is false, found by bisection; 2^63 if `holds` is true up to there.
/// If `holds` is false for one integer, it must be false for all greater ones.
fn count(holds: &dyn Fn(i128) -> bool) -> i128 {
    if !holds(0) {
        return 0;
    }
    let (mut good, mut bad) = (0_i128, 1_i128);
    while holds(bad) {
        (good, bad) = (bad, bad.saturating_mul(2));
        if bad > i128::from(u64::MAX) {
            return good;
        }
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) { good = middle } else { bad = middle }
    }
    bad
}

/// Kinds of the lines before the drawn `indices` of a logical axis, one for each index. It is [`GridLine::None`] for
/// the first index, for an index before which indices are omitted, and next to an index without a location in memory.
/// `runs` are the storage axes whose index changes along the axis; `spot` returns the location in memory for an index.
fn rules(
    indices: &[i128],
    runs: &[StorageRun],
    spot: &dyn Fn(i128) -> Option<ElementAddress>,
) -> Vec<GridLine> {
    let between = |pair: (&i128, &i128)| {
        let (before, after) = pair;
        let (Some(a), Some(b)) = (spot(*before), spot(*after)) else { return GridLine::None };
        if after - before != 1 {
            return GridLine::None;
        }
        SliceTiling::rule(runs, [&a.storage, &b.storage], [&a.physical, &b.physical])
    };
    let first = indices.first().map(|_| GridLine::None);
    first.into_iter().chain(indices.iter().zip(indices.iter().skip(1)).map(between)).collect()
}
