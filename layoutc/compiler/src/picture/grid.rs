//! The logical grid: the cells of a slice, the padding around the tensor included.

use std::ops::Range;

use super::figures::{Figures, Spot};
use super::frame::Frame;
use super::sample::sample;
use super::tiling::{Rule, Run, Tiling};
use super::{Room, Subject};

/// An element with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
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
pub enum Cell {
    /// An element.
    Element(Element),
    /// No element: beside the tensor is a slot of padding.
    Padding {
        /// Its offset.
        offset: i128,
    },
    /// No slot.
    Outside,
}

impl Cell {
    /// The offset, where there is a slot.
    pub fn offset(&self) -> Option<i128> {
        match self {
            Cell::Element(element) => Some(element.offset),
            Cell::Padding { offset } => Some(*offset),
            Cell::Outside => None,
        }
    }

    /// The element, where there is one.
    pub fn element(&self) -> Option<&Element> {
        match self {
            Cell::Element(element) => Some(element),
            Cell::Padding { .. } | Cell::Outside => None,
        }
    }
}

/// A slice of the logical grid.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The indices down; more than the extent where padding follows, below 0 where it precedes.
    pub rows: Vec<i128>,
    /// The indices across.
    pub columns: Vec<i128>,
    /// The cells, row by row.
    pub cells: Vec<Vec<Cell>>,
    /// What stands above each row.
    pub row_rules: Vec<Rule>,
    /// What stands before each column.
    pub column_rules: Vec<Rule>,
}

impl Grid {
    pub(super) fn new(
        figures: &Figures<'_>,
        frame: &Frame,
        tiling: &Tiling,
        room: Room,
        subject: Subject,
    ) -> Self {
        let drawn = |axis: Option<usize>, runs: &[Run], room: usize| {
            if figures.is_empty() {
                return Vec::new();
            }
            match axis {
                Some(axis) => {
                    let range = match subject {
                        Subject::Tensor | Subject::Parts(_) => reach(figures, frame, axis, room),
                        Subject::View | Subject::SharedView => 0..extent(figures, axis),
                    };
                    sample(range, Tiling::block(runs), room)
                }
                None => vec![0],
            }
        };
        let rows = drawn(frame.rows, &tiling.rows, room.rows);
        let columns = drawn(frame.columns, &tiling.columns, room.columns);
        let line = |row: &i128| -> Vec<Cell> {
            columns.iter().map(|column| cell(figures, tiling, frame.index(*row, *column))).collect()
        };
        let cells = rows.iter().map(line).collect();
        let spot = |row: i128, column: i128| figures.spot(&frame.index(row, column));
        let column_rules = rules(&columns, &tiling.columns, &|column| spot(0, column));
        let row_rules = rules(&rows, &tiling.rows, &|row| spot(row, 0));
        Self { rows, columns, cells, row_rules, column_rules }
    }

    /// The elements that are drawn.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.cells.iter().flatten().filter_map(Cell::element)
    }
}

fn cell(figures: &Figures<'_>, tiling: &Tiling, logical: Vec<i128>) -> Cell {
    let Some(spot) = figures.spot(&logical) else { return Cell::Outside };
    if figures.has(&logical) {
        let color = tiling.color(&spot.storage);
        let Spot { storage, physical, offset } = spot;
        return Cell::Element(Element { logical, storage, physical, offset, color });
    }
    if figures.is_padding_of(&logical, &spot) {
        Cell::Padding { offset: spot.offset }
    } else {
        Cell::Outside
    }
}

fn extent(figures: &Figures<'_>, axis: usize) -> i128 {
    figures.logical.get(axis).copied().unwrap_or(0)
}

/// The indices along an axis, padding before and after the tensor included: all of it where there is room, else what is
/// near.
fn reach(figures: &Figures<'_>, frame: &Frame, axis: usize, room: usize) -> Range<i128> {
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
fn rules(indices: &[i128], runs: &[Run], spot: &dyn Fn(i128) -> Option<Spot>) -> Vec<Rule> {
    let between = |pair: (&i128, &i128)| {
        let (before, after) = pair;
        let (Some(a), Some(b)) = (spot(*before), spot(*after)) else { return Rule::None };
        if after - before != 1 {
            return Rule::None;
        }
        Tiling::rule(runs, [&a.storage, &b.storage], [&a.physical, &b.physical])
    };
    let first = indices.first().map(|_| Rule::None);
    first.into_iter().chain(indices.iter().zip(indices.iter().skip(1)).map(between)).collect()
}
