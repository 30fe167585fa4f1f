//! The memory beside the grid: a matrix where the physical rank is 2 or more, else the flat buffer in rows.

use std::collections::{BTreeMap, BTreeSet};

use super::concrete_layout::ConcreteLayout;
use super::frame::SliceFrame;
use super::grid::{GridCell, GridElement, LogicalGrid};
use super::sample::thin;
use super::tiling::{GridLine, SliceTiling};
use super::{PictureLimits, PictureSubject};
use crate::locate::NamedLocateError;

/// As many elements are looked at one by one where no inverse tells who lives in a slot.
const FEW: i128 = 1 << 14;

/// The slots of a row where nothing asks for more.
const WIDEST: i128 = 16;

/// A slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemorySlot {
    /// An element of the slice.
    Element(GridElement),
    /// An element of another slice, or of what a view does not see.
    Other {
        /// Its logical index, if it is one of the same tensor or view.
        logical: Option<Vec<i128>>,
    },
    /// No element.
    Padding,
    /// An element of another slice or none; it was not looked up.
    Unknown,
    /// No slot: memory ends before.
    End,
}

/// A row of slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryRow {
    /// The physical index of the first slot of the row, drawn or not.
    pub first: Vec<i128>,
    /// The offset of that slot.
    pub offset: i128,
    /// What stands above the row.
    pub rule: GridLine,
    /// The slots that are drawn.
    pub slots: Vec<MemorySlot>,
}

/// The memory.
#[derive(Debug, Clone)]
pub struct MemoryGrid {
    /// Whether rows and columns are physical axes; else rows are pieces of the one axis.
    pub is_matrix: bool,
    /// Slots of a whole row.
    pub width: i128,
    /// Slots of the flat buffer between neighbours in a row.
    pub step: i128,
    /// How many rows there are, drawn or not.
    pub row_count: i128,
    /// The rows that are drawn, counted from the first.
    pub row_numbers: Vec<i128>,
    /// The columns that are drawn.
    pub columns: Vec<i128>,
    /// Whether a part of a row ends before each column.
    pub column_rules: Vec<GridLine>,
    /// The rows.
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

/// How memory is cut into rows.
struct MemoryShape<'a> {
    figures: &'a ConcreteLayout<'a>,
    is_matrix: bool,
    width: i128,
}

impl MemoryShape<'_> {
    /// The physical index of a slot.
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

    /// The row and the column of a physical index.
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

    /// The row and the column of a cell.
    fn place(&self, cell: &GridCell) -> Option<(i128, i128)> {
        match cell {
            GridCell::Element(element) => self.row_and_column(&element.physical),
            // One physical axis: the offset is its index.
            GridCell::Padding { offset } if !self.is_matrix => self.row_and_column(&[*offset]),
            GridCell::Padding { .. } | GridCell::Outside => None,
        }
    }
}

/// All lines where there is room for them, else those that hold something drawn.
fn chosen(count: i128, hosts: BTreeSet<i128>, room: usize) -> Vec<i128> {
    match usize::try_from(count) {
        Ok(all) if all <= room => (0..count).collect(),
        Ok(_) | Err(_) => thin(hosts, room),
    }
}

/// A separator is crossed where more than the last of the leading indices changes.
fn outer(above: &[i128], below: &[i128]) -> GridLine {
    let outer = |index: &[i128]| index.get(..index.len().saturating_sub(2)).map(<[i128]>::to_vec);
    if outer(above) == outer(below) { GridLine::None } else { GridLine::Separator }
}

/// How many slots a row of the flat buffer has: a tile where that fits, else what storage axes nest in.
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
        // None does: the innermost, of which a part is drawn; a vector is wrapped.
        let vector = if room < 8 { room } else { room / 8 * 8 };
        return nested.first().copied().filter(|_| nested.len() > 1).unwrap_or(vector);
    };
    let next = nested.iter().find(|stride| **stride > fits).copied().unwrap_or(fits);
    let times = (1..=room / fits).rev().find(|times| next % (fits * times) == 0).unwrap_or(1);
    fits * times
}

/// How many slots a part of a row has, where it has parts.
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

/// Who lives in a slot.
struct SlotOwners<'a> {
    figures: &'a ConcreteLayout<'a>,
    frame: &'a SliceFrame,
    tiling: &'a SliceTiling,
    /// Those that are known without an inverse, by offset.
    known: BTreeMap<i128, Vec<i128>>,
    /// Whether slots that are not known hold no element.
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
        let is_searched = subject == PictureSubject::SharedView || figures.layout.inverse.is_none();
        let is_complete = is_searched && count.is_some_and(|count| count <= FEW);
        if is_complete {
            for_each_index(&figures.logical, &mut |logical| {
                if let Some(spot) = figures.spot(logical) {
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
            figures.layout.inverse.is_some() && self.subject != PictureSubject::SharedView;
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
        let color = self.tiling.color(&spot.storage);
        let (storage, physical, offset) = (spot.storage, spot.physical, spot.offset);
        MemorySlot::Element(GridElement { logical, storage, physical, offset, color })
    }
}

/// Visits every index of a shape, row by row.
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
