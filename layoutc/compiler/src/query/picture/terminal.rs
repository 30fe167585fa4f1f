//! Terminal rendering of a picture: the logical grid with offsets, then the memory with indices of elements.

use std::collections::BTreeMap;

use super::concrete_layout::ConcreteLayout;
use super::palette::{ColorDepth, color};
use super::styled_text::{StyledLine, TextStyle};
use super::table::{self, CellKind, PictureTable};
use super::tiling::{CellText, SliceTiling};
use super::{GridLine, Picture, PictureLimits, SliceFrame};
use crate::model::Tensor;
use crate::query::locate::{self, NamedLocateError};

/// Maximum number of rows that are drawn of the logical grid, and likewise of the memory.
const ROWS: usize = 24;
/// Text that is shown in place of omitted columns.
const GAP: &str = " … ";

/// Limits with which the picture of the slice `frame` fits a terminal of `width` characters per line and the colors
/// `depth`. `symbols` holds the values of symbols by name.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest, [`NamedLocateError::Value`] if a computation fails, for example by an overflow.
pub fn room(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    frame: &SliceFrame,
    depth: ColorDepth,
    width: usize,
) -> Result<PictureLimits, NamedLocateError> {
    let figures = ConcreteLayout::new(&tensor.layout, locate::values(tensor, symbols)?)?;
    let digits = |count: i128| (count - 1).max(0).to_string().len();
    let along = |axis: Option<usize>| {
        axis.and_then(|axis| figures.logical.get(axis)).map_or(0, |extent| digits(*extent))
    };
    let (rows, columns, offsets) = (along(frame.rows), along(frame.columns), digits(figures.slots));
    // A bank has no more digits than the offset, but in a tiny buffer.
    let text = match SliceTiling::new(&figures, frame).text {
        CellText::Indices(axes) => {
            let extents = axes.iter().filter_map(|axis| figures.storage.get(*axis));
            extents.map(|extent| digits(*extent) + 1).sum::<usize>().saturating_sub(1)
        }
        CellText::Offset | CellText::Bank(_) => offsets.max(2),
    };
    // Per cell: a blank on each side, a line before, and without colors a letter; besides, labels and two gaps.
    let around = if depth == ColorDepth::None { 4 } else { 3 };
    let fits = |label: usize, cell: usize| {
        let left = width.saturating_sub(label + 2 + 2 * GAP.chars().count());
        (left / (cell + around)).max(2)
    };
    let leading: usize = figures.physical.iter().rev().skip(1).map(|e| digits(*e) + 1).sum();
    let (label, slot) = (offsets.max(leading), rows + columns + 1);
    // Padding may extend an axis by one digit.
    Ok(PictureLimits {
        rows: ROWS,
        columns: fits(rows + 1, text.max(columns + 1)),
        memory_rows: ROWS,
        memory_columns: fits(label, slot.max(offsets + 1)),
    })
}

/// Renders a picture as lines of text, with escape codes for colors unless `depth` is [`ColorDepth::None`].
pub fn terminal(picture: &Picture, depth: ColorDepth) -> String {
    let mut out = Vec::new();
    let mut head = StyledLine::default();
    head.push(TextStyle::Strong, picture.title());
    out.push(head);
    out.push(plain(&format!("storage: {}", picture.storage_text())));
    let shown = picture.shown();
    let mut legend = Vec::new();
    if !picture.colored_by.is_empty() {
        let word = if depth == ColorDepth::None { "letters" } else { "colors" };
        legend.push(format!("{word}: {}", picture.colored_by.join(", ")));
    }
    for (is_there, text) in [
        (shown.padding, "░ padding"),
        (shown.other, "· another slice"),
        (shown.outside, "· outside of the view"),
        (shown.unknown, "? not looked up"),
    ] {
        legend.extend(is_there.then(|| text.to_owned()));
    }
    if !legend.is_empty() {
        out.push(plain(&legend.join("; ")));
    }
    if picture.grid.cells.is_empty() {
        out.push(plain("no element"));
    } else {
        out.push(StyledLine::default());
        let labels = picture.label_axes().unwrap_or_else(|| "offsets".to_owned());
        out.push(plain(&format!("{labels}: {}", picture.frame_text())));
        out.extend(TerminalTable::new(&table::grid(picture), depth).lines());
        out.push(StyledLine::default());
        out.push(plain(&format!("memory: {}", picture.memory_text())));
        out.extend(TerminalTable::new(&table::memory(picture), depth).lines());
    }
    out.iter().map(|line| line.text(depth)).collect()
}

fn plain(text: &str) -> StyledLine {
    let mut line = StyledLine::default();
    line.push(TextStyle::Plain, text);
    line
}

/// Printer of a picture's table with box-drawing characters.
struct TerminalTable<'a> {
    table: &'a PictureTable,
    /// Width of the row labels, in characters.
    label: usize,
    /// Width of the text in a cell, in characters.
    width: usize,
    /// Width of the color's letter after the text of a cell, in characters: 1 without colors, 0 with colors.
    letter: usize,
}

impl<'a> TerminalTable<'a> {
    fn new(table: &'a PictureTable, depth: ColorDepth) -> Self {
        let label = table.lines.iter().map(|line| line.label.len()).max().unwrap_or(0);
        let cells = table.lines.iter().flat_map(|line| &line.cells);
        let texts = cells.map(|cell| cell.text.chars().count());
        let width = texts.chain(table.heads.iter().map(String::len)).max().unwrap_or(1);
        Self { table, label, width, letter: usize::from(depth == ColorDepth::None) }
    }

    fn lines(&self) -> Vec<StyledLine> {
        let mut lines = vec![self.head()];
        if self.table.is_matrix {
            lines.push(self.across(GridLine::Separator));
        }
        for line in &self.table.lines {
            if line.is_apart {
                lines.push(plain(&format!(" {:>1$} ", "⋮", self.label)));
            } else if line.rule != GridLine::None {
                lines.push(self.across(line.rule));
            }
            lines.push(self.row(line));
        }
        lines
    }

    fn columns(&self) -> impl Iterator<Item = (&GridLine, &bool)> {
        self.table.column_rules.iter().zip(&self.table.gaps)
    }

    fn head(&self) -> StyledLine {
        let Self { label, width, letter, .. } = *self;
        let mut text = format!(" {:label$} {}", "", self.border(GridLine::None));
        for (head, (rule, gap)) in self.table.heads.iter().zip(self.columns()) {
            text.push_str(if *gap { GAP } else { "" });
            text.push_str(if *rule == GridLine::None { "" } else { " " });
            text.push_str(&format!(" {head:>width$}{:letter$} ", ""));
        }
        let mut line = StyledLine::default();
        line.push(TextStyle::Faint, text.trim_end());
        line
    }

    fn row(&self, row: &table::TableRow) -> StyledLine {
        let mut line = StyledLine::default();
        let border = self.border(GridLine::None);
        line.push(TextStyle::Faint, format!(" {:>1$} {border}", row.label, self.label));
        for (cell, (rule, gap)) in row.cells.iter().zip(self.columns()) {
            line.push(TextStyle::Plain, if *gap { GAP } else { "" });
            line.push(TextStyle::Plain, vertical(*rule));
            let (paint, fill, letter) = match cell.kind {
                CellKind::Tile(k) => (TextStyle::Tile(k), " ", color(k).letter),
                CellKind::Padding => (TextStyle::Faint, "░", '░'),
                CellKind::Other | CellKind::Unknown | CellKind::Blank => {
                    (TextStyle::Faint, " ", ' ')
                }
            };
            let fill = fill.repeat(self.width.saturating_sub(cell.text.chars().count()));
            let letter: String = std::iter::repeat_n(letter, self.letter).collect();
            line.push(paint, format!(" {fill}{}{letter} ", cell.text));
        }
        line
    }

    /// Line of box-drawing characters above a row, of the kind `rule`.
    fn across(&self, rule: GridLine) -> StyledLine {
        let (dash, plain_cross, double_cross) = match rule {
            GridLine::Separator => ("═", "╪", "╬"),
            GridLine::Part => ("╌", "┼", "╫"),
            GridLine::None | GridLine::Tile => ("─", "┼", "╫"),
        };
        let mut text = format!(" {:1$} {2}", "", self.label, self.border(rule));
        for (own, gap) in self.columns() {
            text.push_str(&dash.repeat(if *gap { GAP.chars().count() } else { 0 }));
            text.push_str(match own {
                GridLine::None => "",
                GridLine::Part | GridLine::Tile => plain_cross,
                GridLine::Separator => double_cross,
            });
            text.push_str(&dash.repeat(self.width + self.letter + 2));
        }
        plain(&text)
    }

    /// Box-drawing character between the row labels and the cells, on a line of kind `rule`; empty unless the table is
    /// a matrix.
    fn border(&self, rule: GridLine) -> &'static str {
        match (self.table.is_matrix, rule) {
            (false, _) => "",
            (true, GridLine::Separator) => "╬",
            (true, _) => "║",
        }
    }
}

fn vertical(rule: GridLine) -> &'static str {
    match rule {
        GridLine::None => "",
        GridLine::Part => "╎",
        GridLine::Tile => "│",
        GridLine::Separator => "║",
    }
}
