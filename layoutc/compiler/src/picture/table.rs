//! The two parts of a picture as tables: labels, cells, and the rules between them.

use super::memory::Slot;
use super::{Cell, Picture, Rule};

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An element of the slice, in its colour.
    Tile(usize),
    /// No element.
    Padding,
    /// An element of another slice.
    Other,
    /// It was not looked up.
    Unknown,
    /// No slot.
    Blank,
}

/// A cell.
#[derive(Debug, Clone)]
pub(super) struct Square {
    pub(super) kind: Kind,
    /// What stands in it.
    pub(super) text: String,
    /// What stands below that where there is room.
    pub(super) note: String,
}

/// A row of cells.
#[derive(Debug, Clone)]
pub(super) struct Line {
    pub(super) label: String,
    /// What stands above it.
    pub(super) rule: Rule,
    /// Whether rows before it are left out.
    pub(super) is_apart: bool,
    pub(super) cells: Vec<Square>,
}

/// Cells with a label before each row and above each column.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) heads: Vec<String>,
    /// What stands before each column.
    pub(super) column_rules: Vec<Rule>,
    /// Whether columns before it are left out.
    pub(super) gaps: Vec<bool>,
    pub(super) lines: Vec<Line>,
    /// Whether rows and columns are physical axes: a separator stands between the labels and the cells.
    pub(super) is_matrix: bool,
}

/// Whether indices are left out before each.
fn gaps(indices: &[i128]) -> Vec<bool> {
    let first = indices.first().map(|first| *first > 0);
    let between = indices.iter().zip(indices.iter().skip(1)).map(|(a, b)| b - a > 1);
    first.into_iter().chain(between).collect()
}

/// The logical grid: offsets.
pub(super) fn grid(picture: &Picture) -> Table {
    let grid = &picture.grid;
    let square = |cell: &Cell| {
        let (kind, text) = match cell {
            Cell::Element(element) => (Kind::Tile(element.color), element.offset.to_string()),
            Cell::Padding { offset } => (Kind::Padding, offset.to_string()),
            Cell::Outside => (Kind::Blank, String::new()),
        };
        Square { kind, text, note: String::new() }
    };
    let label =
        |index: &i128, axis: Option<usize>| axis.map_or(String::new(), |_| index.to_string());
    let lines = grid.rows.iter().zip(&grid.row_rules).zip(gaps(&grid.rows)).zip(&grid.cells);
    let lines = lines.map(|(((index, rule), is_apart), cells)| Line {
        label: label(index, picture.frame.rows),
        rule: *rule,
        is_apart,
        cells: cells.iter().map(square).collect(),
    });
    Table {
        heads: grid.columns.iter().map(|index| label(index, picture.frame.columns)).collect(),
        column_rules: grid.column_rules.clone(),
        gaps: gaps(&grid.columns),
        lines: lines.collect(),
        is_matrix: false,
    }
}

/// The memory: the indices of elements, with offsets below them.
pub(super) fn memory(picture: &Picture) -> Table {
    let memory = &picture.memory;
    let square = |(slot, column): (&Slot, &i128), row: i128| {
        let (kind, text) = match slot {
            Slot::Element(element) => (Kind::Tile(element.color), picture.short(&element.logical)),
            Slot::Other { .. } => (Kind::Other, "·".to_owned()),
            Slot::Padding => (Kind::Padding, String::new()),
            Slot::Unknown => (Kind::Unknown, "?".to_owned()),
            Slot::End => (Kind::Blank, String::new()),
        };
        let is_slot = kind != Kind::Blank;
        let offset = row.saturating_add(column.saturating_mul(memory.step));
        let note = if is_slot { offset.to_string() } else { String::new() };
        Square { kind, text, note }
    };
    let lines = memory.rows.iter().zip(gaps(&memory.row_numbers)).map(|(row, is_apart)| {
        let leading = row.first.split_last().map(|(_, leading)| leading).unwrap_or_default();
        let leading: Vec<String> = leading.iter().map(ToString::to_string).collect();
        Line {
            label: if memory.is_matrix { leading.join(",") } else { row.offset.to_string() },
            rule: row.rule,
            is_apart,
            cells: row.slots.iter().zip(&memory.columns).map(|s| square(s, row.offset)).collect(),
        }
    });
    let head = |column: &i128| {
        if memory.is_matrix { column.to_string() } else { format!("+{column}") }
    };
    Table {
        heads: memory.columns.iter().map(head).collect(),
        column_rules: memory.column_rules.clone(),
        gaps: gaps(&memory.columns),
        lines: lines.collect(),
        is_matrix: memory.is_matrix,
    }
}
