//! Logical grid and memory of a picture as tables of labels, cells and lines, for all renderers.

use super::memory::MemorySlot;
use super::{CellText, GridCell, GridLine, Picture};

/// Content of a table's cell, which determines its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// Element of the drawn slice. The member is the position of its color in the palette, from 0.
    Tile(usize),
    /// Padding, which holds no element.
    Padding,
    /// Element of another slice, or slot outside of a view.
    Other,
    /// Slot whose content is unknown.
    Unknown,
    /// Empty cell without a slot.
    Blank,
}

/// Cell of a picture's table: its texts, and the kind of its content, which determines the style.
#[derive(Debug, Clone)]
pub(super) struct TableCell {
    pub(super) kind: CellKind,
    /// Main text of the cell: an offset or indices of threads in the logical grid, an index in the memory.
    pub(super) text: String,
    /// Smaller text below the main text: an offset in the memory; not drawn in terminals.
    pub(super) note: String,
}

/// Row of a picture's table, with its label in front.
#[derive(Debug, Clone)]
pub(super) struct TableRow {
    pub(super) label: String,
    /// Kind of line drawn above the row.
    pub(super) rule: GridLine,
    /// True if rows are omitted directly before this row.
    pub(super) is_apart: bool,
    pub(super) cells: Vec<TableCell>,
}

/// Table of a picture: `lines` are its rows of cells, each with a label in front; `heads` are the labels of its
/// columns.
#[derive(Debug, Clone)]
pub(super) struct PictureTable {
    pub(super) heads: Vec<String>,
    /// Kinds of the lines before the columns, one for each column.
    pub(super) column_rules: Vec<GridLine>,
    /// One entry for each drawn column: true if columns are omitted before it.
    pub(super) gaps: Vec<bool>,
    pub(super) lines: Vec<TableRow>,
    /// True for a memory with several physical axes. A separator line is then drawn between the row labels and the
    /// cells.
    pub(super) is_matrix: bool,
}

/// One entry for each of the ascending `indices`: true if indices are omitted before it. `[0, 1, 5]` gives
/// `[false, false, true]`.
fn gaps(indices: &[i128]) -> Vec<bool> {
    let first = indices.first().map(|first| *first > 0);
    let between = indices.iter().zip(indices.iter().skip(1)).map(|(a, b)| b - a > 1);
    first.into_iter().chain(between).collect()
}

/// Table of a picture's logical grid; the text of a cell is that of [`Picture::label`].
pub(super) fn grid(picture: &Picture) -> PictureTable {
    let grid = &picture.grid;
    let square = |cell: &GridCell| {
        let (kind, text) = match cell {
            GridCell::Element(element) => (CellKind::Tile(element.color), picture.label(element)),
            GridCell::Padding { offset } if picture.text == CellText::Offset => {
                (CellKind::Padding, offset.to_string())
            }
            GridCell::Padding { .. } => (CellKind::Padding, String::new()),
            GridCell::Outside => (CellKind::Blank, String::new()),
        };
        TableCell { kind, text, note: String::new() }
    };
    let label =
        |index: &i128, axis: Option<usize>| axis.map_or(String::new(), |_| index.to_string());
    let lines = grid.rows.iter().zip(&grid.row_rules).zip(gaps(&grid.rows)).zip(&grid.cells);
    let lines = lines.map(|(((index, rule), is_apart), cells)| TableRow {
        label: label(index, picture.frame.rows),
        rule: *rule,
        is_apart,
        cells: cells.iter().map(square).collect(),
    });
    PictureTable {
        heads: grid.columns.iter().map(|index| label(index, picture.frame.columns)).collect(),
        column_rules: grid.column_rules.clone(),
        gaps: gaps(&grid.columns),
        lines: lines.collect(),
        is_matrix: false,
    }
}

/// Table of a picture's memory; the text of a slot is the index of its element, the note is its offset in slots.
pub(super) fn memory(picture: &Picture) -> PictureTable {
    let memory = &picture.memory;
    let square = |(slot, column): (&MemorySlot, &i128), row: i128| {
        let (kind, text) = match slot {
            MemorySlot::Element(element) => {
                (CellKind::Tile(element.color), picture.short(&element.logical))
            }
            MemorySlot::Other { .. } => (CellKind::Other, "·".to_owned()),
            MemorySlot::Padding => (CellKind::Padding, String::new()),
            MemorySlot::Unknown => (CellKind::Unknown, "?".to_owned()),
            MemorySlot::End => (CellKind::Blank, String::new()),
        };
        let is_slot = kind != CellKind::Blank;
        let offset = row.saturating_add(column.saturating_mul(memory.step));
        let note = if is_slot { offset.to_string() } else { String::new() };
        TableCell { kind, text, note }
    };
    let lines = memory.rows.iter().zip(gaps(&memory.row_numbers)).map(|(row, is_apart)| {
        let leading = row.first.split_last().map(|(_, leading)| leading).unwrap_or_default();
        let leading: Vec<String> = leading.iter().map(ToString::to_string).collect();
        TableRow {
            label: if memory.is_matrix { leading.join(",") } else { row.offset.to_string() },
            rule: row.rule,
            is_apart,
            cells: row.slots.iter().zip(&memory.columns).map(|s| square(s, row.offset)).collect(),
        }
    });
    let head = |column: &i128| {
        if memory.is_matrix { column.to_string() } else { format!("+{column}") }
    };
    PictureTable {
        heads: memory.columns.iter().map(head).collect(),
        column_rules: memory.column_rules.clone(),
        gaps: gaps(&memory.columns),
        lines: lines.collect(),
        is_matrix: memory.is_matrix,
    }
}
