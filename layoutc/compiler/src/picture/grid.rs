//! The logical grid: the cells of a slice, the padding around the tensor included.

use std::ops::Range;

use super::concrete_layout::{ConcreteLayout, ElementAddress};
use super::frame::SliceFrame;
use super::sample::sample;
use super::tiling::{GridLine, SliceTiling, StorageRun};
use super::{PictureLimits, PictureSubject};

/// An element with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GridElement {
    /// The logical index.
    pub logical: Vec<i128>,
    /// The storage index.
    pub storage: Vec<i128>,
    /// The physical index.
    pub physical: Vec<i128>,
    /// Slots from the start of the flat buffer.
    pub offset: i128,
    /// Its colour, a position in the palette.
    pub color: usize,
}

/// A cell of the logical grid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GridCell {
    /// An element.
    Element(GridElement),
    /// No element: beside the tensor is a slot of padding.
    Padding {
        /// Its offset.
        offset: i128,
    },
    /// No slot.
    Outside,
}

impl GridCell {
    /// The offset, where there is a slot.
    pub fn offset(&self) -> Option<i128> {
        match self {
            GridCell::Element(element) => Some(element.offset),
            GridCell::Padding { offset } => Some(*offset),
            GridCell::Outside => None,
        }
    }

    /// The element, where there is one.
    pub fn element(&self) -> Option<&GridElement> {
        match self {
            GridCell::Element(element) => Some(element),
            GridCell::Padding { .. } | GridCell::Outside => None,
        }
    }
}

/// A slice of the logical grid.
#[derive(Debug, Clone)]
pub struct LogicalGrid {
    /// The indices down; more than the extent where padding follows, below 0 where it precedes.
    pub rows: Vec<i128>,
    /// The indices across.
    pub columns: Vec<i128>,
    /// The cells, row by row.
    pub cells: Vec<Vec<GridCell>>,
    /// What stands above each row.
    pub row_rules: Vec<GridLine>,
    /// What stands before each column.
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

    /// The elements that are drawn.
    pub fn elements(&self) -> impl Iterator<Item = &GridElement> {
        self.cells.iter().flatten().filter_map(GridCell::element)
    }
}

fn cell(figures: &ConcreteLayout<'_>, tiling: &SliceTiling, logical: Vec<i128>) -> GridCell {
    let Some(spot) = figures.spot(&logical) else { return GridCell::Outside };
    if figures.has(&logical) {
        let color = tiling.color(&spot.storage);
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

/// The indices along an axis, padding before and after the tensor included: all of it where there is room, else what is
/// near.
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
    let kept = |padding: i128| if is_near { padding.min(room / 4) } else { padding };
    -kept(before)..extent.saturating_add(kept(after))
}

/// How many integers from 0 on have a property, which ends once.
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

/// What stands before each index; nothing before the first, and nothing where some are left out.
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
