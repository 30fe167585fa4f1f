//! Memory part of a picture: a matrix if there are at least two physical axes, otherwise the flat buffer in rows.

use std::collections::{BTreeMap, BTreeSet};

use super::concrete_layout::ConcreteLayout;
use super::frame::SliceFrame;
use super::grid::{GridCell, GridElement, LogicalGrid};
use super::sample::thin;
use super::tiling::{GridLine, SliceTiling};
use super::{PictureLimits, PictureSubject};
use crate::query::locate::NamedLocateError;

/// Maximum number of elements of a tensor whose elements are enumerated to find the one in each slot. The enumeration
/// is needed only if the layout has no inverse, or if several elements share a slot. In a larger tensor of this kind,
/// the content of slots outside of the drawn slice is unknown.
const FEW: i128 = 1 << 14;

/// Maximum number of slots in a row of the flat buffer, unless a tile, or the least stride above 1, is wider.
const WIDEST: i128 = 16;

/// Content of a slot in the drawn memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemorySlot {
    /// Element of the drawn slice.
    Element(GridElement),
    /// Slot outside of the drawn slice: it holds an element of another slice, or, beside a view, an element or padding
    /// of the base that is not in the view.
    Other {
        /// Logical index of the element of another slice; `None` for a slot that is not in the view.
        logical: Option<Vec<i128>>,
    },
    /// Padding, which holds no element.
    Padding,
    /// Unknown content, an element or padding: the layout has no inverse or several elements share a slot, and the
    /// tensor is too large to enumerate.
    Unknown,
    /// Position beyond the end of the memory, in the last row of the flat buffer.
    End,
}

/// Row of the drawn memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// Physical index of the row's first slot, even if the slot is not drawn.
    pub first: Vec<i128>,
    /// Offset of the row's first slot from the start of the flat buffer, in slots.
    pub offset: i128,
    /// Kind of line drawn above the row.
    pub rule: GridLine,
    /// Drawn slots of the row, one for each of [`MemoryGrid::columns`].
    pub slots: Vec<MemorySlot>,
}

/// Drawn memory of a tensor, as rows of slots.
#[derive(Debug, Clone)]
pub struct MemoryGrid {
    /// True if there are several physical axes: a column is an index of the last one, a row is an index of all others.
    /// False if there is at most one physical axis: the flat buffer is divided into rows of equal length.
    pub is_matrix: bool,
    /// Number of slots in a row, including omitted ones.
    pub width: i128,
    /// Distance in the flat buffer between neighboring slots of a row, in slots.
    pub step: i128,
    /// Number of rows, including omitted ones.
    pub row_count: i128,
    /// Numbers of the drawn rows, counted from 0, ascending.
    pub row_numbers: Vec<i128>,
    /// Numbers of the drawn columns, counted from 0, ascending.
    pub columns: Vec<i128>,
    /// Kind of line drawn before each drawn column.
    pub column_rules: Vec<GridLine>,
    /// Drawn rows, in ascending order.
    pub rows: Vec<MemoryRow>,
}

impl MemoryGrid {
    pub(super) fn new(
        figures: &ConcreteLayout<'_>,
        frame: &SliceFrame,
        tiling: &SliceTiling,
        grid: &LogicalGrid,
        room: PictureLimits,
        subject: PictureSubject,
    ) -> Result<Self, NamedLocateError> {
        let is_matrix = figures.physical.len() > 1;
        let last = figures.physical.last().copied().unwrap_or(1);
        let width = if is_matrix { last } else { width(figures, tiling, room.memory_columns) };
        let width = width.max(1);
        let leading: Option<i128> = figures.physical.split_last().and_then(|(_, leading)| {
            leading.iter().try_fold(1_i128, |all, extent| all.checked_mul(*extent))
        });
        let row_count = match (is_matrix, leading) {
            (true, Some(leading)) => leading,
            (true, None) => {
                return Err(NamedLocateError::Value("too many rows of memory".to_owned()));
            }
            (false, _) => last.saturating_add(width - 1) / width,
        };
        let shape = MemoryShape { figures, is_matrix, width };
        let mut hosts = (BTreeSet::new(), BTreeSet::new());
        for cell in grid.cells.iter().flatten() {
            let Some(place) = shape.place(cell) else { continue };
            hosts.0.insert(place.0);
            hosts.1.insert(place.1);
        }
        let row_numbers = chosen(row_count, hosts.0, room.memory_rows);
        let columns = chosen(width, hosts.1, room.memory_columns);
        let owners = SlotOwners::new(figures, frame, tiling, grid, subject);
        let mut rows: Vec<MemoryRow> = Vec::new();
        for number in &row_numbers {
            let first = shape.physical(*number, 0);
            let slot = |column: &i128| owners.slot(&shape.physical(*number, *column));
            let slots = columns.iter().map(slot).collect();
            let rule = rows.last().map_or(GridLine::None, |above| outer(&above.first, &first));
            rows.push(MemoryRow { offset: figures.offset(&first), first, rule, slots });
        }
        let column_rules = part_rules(&columns, inner(figures, width));
        let step = figures.pitches.last().copied().unwrap_or(1);
        Ok(Self { is_matrix, width, step, row_count, row_numbers, columns, column_rules, rows })
    }
}

/// Division of a tensor's memory into rows of slots.
struct MemoryShape<'a> {
    figures: &'a ConcreteLayout<'a>,
    is_matrix: bool,
    width: i128,
}

impl MemoryShape<'_> {
    /// Physical index of the slot in the row `row` and the column `column` of the memory, which count from 0.
    fn physical(&self, row: i128, column: i128) -> Vec<i128> {
        if !self.is_matrix {
            return vec![row.saturating_mul(self.width).saturating_add(column)];
        }
        let mut rest = row;
        let mut index = vec![column];
        for extent in self.figures.physical.iter().rev().skip(1) {
            index.push(rest.rem_euclid((*extent).max(1)));
            rest = rest.div_euclid((*extent).max(1));
        }
        index.reverse();
        index
    }

    /// Row and column of the slot at a physical index; `None` on overflow or for a scalar.
    fn row_and_column(&self, physical: &[i128]) -> Option<(i128, i128)> {
        let (last, leading) = physical.split_last()?;
        if !self.is_matrix {
            return Some((last.div_euclid(self.width), last.rem_euclid(self.width)));
        }
        let mut row = 0_i128;
        for (index, extent) in leading.iter().zip(&self.figures.physical) {
            row = row.checked_mul(*extent)?.checked_add(*index)?;
        }
        Some((row, *last))
    }

    /// Row and column in memory of the slot of a cell of the logical grid. `None` for a cell without a slot, and for
    /// padding if the memory is drawn as a matrix.
    fn place(&self, cell: &GridCell) -> Option<(i128, i128)> {
        match cell {
            GridCell::Element(element) => self.row_and_column(&element.physical),
            // With one physical axis the offset is the physical index.
            GridCell::Padding { offset } if !self.is_matrix => self.row_and_column(&[*offset]),
            GridCell::Padding { .. } | GridCell::Outside => None,
        }
    }
}

/// Numbers of the rows of memory to draw, or of its columns, ascending, out of `count`. All are drawn if they fit in
/// `room`. Otherwise a sample of at most `room` of `hosts` is drawn, the numbers of those that contain a cell of the
/// logical grid.
fn chosen(count: i128, hosts: BTreeSet<i128>, room: usize) -> Vec<i128> {
    match usize::try_from(count) {
        Ok(all) if all <= room => (0..count).collect(),
        Ok(_) | Err(_) => thin(hosts, room),
    }
}

/// Kind of the line between two rows of memory. `above` and `below` are the physical indices of their first slots.
/// [`GridLine::Separator`] if these differ along an axis other than the last two, [`GridLine::None`] otherwise.
fn outer(above: &[i128], below: &[i128]) -> GridLine {
    let outer = |index: &[i128]| index.get(..index.len().saturating_sub(2)).map(<[i128]>::to_vec);
    if outer(above) == outer(below) { GridLine::None } else { GridLine::Separator }
}

/// Number of slots in a row of the flat buffer. `room` is the maximum number of drawn slots in a row, and the limit is
/// the lesser of `room` and [`WIDEST`]:
/// - the smallest stride of a storage axis that colors tiles, if it is from 4 to `room`
/// - else the greatest stride above 1 (or the size of the buffer) up to the limit, or a multiple of it up to the limit
///   that divides the next greater stride
/// - else, if no stride is that small, the least stride above 1
/// - in a layout without strides above 1, the greatest multiple of 8 up to the limit, or a limit below 8 itself
fn width(figures: &ConcreteLayout<'_>, tiling: &SliceTiling, room: usize) -> i128 {
    let room = i128::try_from(room).unwrap_or(i128::MAX);
    let all = figures.physical.last().copied().unwrap_or(1).max(1);
    let stride = |axis: &usize| figures.strides.get(*axis).copied();
    let tile = tiling.colors.iter().filter_map(stride).min();
    if let Some(tile) = tile.filter(|tile| (4..=room).contains(tile)) {
        return tile;
    }
    let room = room.min(WIDEST);
    let mut nested: BTreeSet<i128> =
        figures.strides.iter().copied().filter(|stride| *stride > 1 && *stride < all).collect();
    nested.insert(all);
    let Some(fits) = nested.iter().rev().find(|stride| **stride <= room).copied() else {
        // No stride fits: use the innermost one, which is drawn in part; a one-dimensional layout is wrapped.
        let vector = if room < 8 { room } else { room / 8 * 8 };
        return nested.first().copied().filter(|_| nested.len() > 1).unwrap_or(vector);
    };
    let next = nested.iter().find(|stride| **stride > fits).copied().unwrap_or(fits);
    let times = (1..=room / fits).rev().find(|times| next % (fits * times) == 0).unwrap_or(1);
    fits * times
}

/// Distance in slots between the vertical lines inside a row of `width` slots: the greatest stride above 1 and below
/// `width` that divides `width`. `None` if there is no such stride.
fn inner(figures: &ConcreteLayout<'_>, width: i128) -> Option<i128> {
    let divides = |stride: &&i128| **stride > 1 && **stride < width && width % **stride == 0;
    figures.strides.iter().filter(divides).max().copied()
}

fn part_rules(columns: &[i128], part: Option<i128>) -> Vec<GridLine> {
    let ends = |column: &i128| part.is_some_and(|part| *column > 0 && column % part == 0);
    let mut rules: Vec<GridLine> = columns
        .iter()
        .map(|column| if ends(column) { GridLine::Part } else { GridLine::None })
        .collect();
    rules.first_mut().into_iter().for_each(|rule| *rule = GridLine::None);
    rules
}

/// Map from the slots of memory to the elements that they hold.
struct SlotOwners<'a> {
    figures: &'a ConcreteLayout<'a>,
    frame: &'a SliceFrame,
    tiling: &'a SliceTiling,
    /// Logical indices of elements, by offset in slots, one for each offset. It has the elements of the drawn grid. It
    /// has those of all slots of a tensor of at most [`FEW`] elements if the layout has no inverse, or if several
    /// elements share a slot.
    known: BTreeMap<i128, Vec<i128>>,
    /// True if `known` has an element for every slot that holds one.
    is_complete: bool,
    subject: PictureSubject,
}

impl<'a> SlotOwners<'a> {
    fn new(
        figures: &'a ConcreteLayout<'a>,
        frame: &'a SliceFrame,
        tiling: &'a SliceTiling,
        grid: &LogicalGrid,
        subject: PictureSubject,
    ) -> Self {
        let mut known = BTreeMap::new();
        for element in grid.elements() {
            known.entry(element.offset).or_insert_with(|| element.logical.clone());
        }
        let count = figures.logical.iter().try_fold(1_i128, |all, extent| all.checked_mul(*extent));
        let is_searched =
            subject == PictureSubject::SharedView || figures.layout.inverse().is_none();
        let is_complete = is_searched && count.is_some_and(|count| count <= FEW);
        if is_complete {
            for_each_index(&figures.logical, &mut |logical| {
                if let Some(spot) = figures.spot(logical).filter(|_| figures.has(logical)) {
                    known.entry(spot.offset).or_insert_with(|| logical.to_vec());
                }
            });
        }
        Self { figures, frame, tiling, known, is_complete, subject }
    }

    fn slot(&self, physical: &[i128]) -> MemorySlot {
        let figures = self.figures;
        let is_end = physical.iter().zip(&figures.physical).any(|(index, extent)| index >= extent);
        if is_end {
            return MemorySlot::End;
        }
        let known = self.known.get(&figures.offset(physical));
        let has_inverse =
            figures.layout.inverse().is_some() && self.subject != PictureSubject::SharedView;
        let owner = known.cloned().or_else(|| has_inverse.then(|| figures.owner(physical))?);
        match owner {
            Some(logical) if self.frame.place(&logical).is_some() => self.element(logical),
            Some(logical) => MemorySlot::Other { logical: Some(logical) },
            None if !(has_inverse || self.is_complete) => MemorySlot::Unknown,
            None if matches!(self.subject, PictureSubject::Tensor | PictureSubject::Parts(_)) => {
                MemorySlot::Padding
            }
            None => MemorySlot::Other { logical: None },
        }
    }

    fn element(&self, logical: Vec<i128>) -> MemorySlot {
        let Some(spot) = self.figures.spot(&logical) else { return MemorySlot::Unknown };
        let color = self.tiling.color(&spot.storage, spot.offset);
        let (storage, physical, offset) = (spot.storage, spot.physical, spot.offset);
        MemorySlot::Element(GridElement { logical, storage, physical, offset, color })
    }
}

/// Calls `visit` on every index of a shape, in row-major order; never if an extent is 0.
fn for_each_index(shape: &[i128], visit: &mut dyn FnMut(&[i128])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index);
        let mut carried = false;
        for (slot, extent) in index.iter_mut().zip(shape).rev() {
            *slot += 1;
            carried = *slot >= *extent;
            if !carried {
                break;
            }
            *slot = 0;
        }
        if carried || shape.is_empty() {
            return;
        }
    }
}
