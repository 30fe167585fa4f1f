//! A picture for a terminal: the logical grid with offsets, then the memory with indices.

use std::collections::BTreeMap;

use super::figures::Figures;
use super::lines::{Line, Paint};
use super::palette::{Depth, color};
use super::table::{self, Kind, Table};
use super::{Frame, Picture, Room, Rule};
use crate::locate::{self, LocateError};
use crate::model::Tensor;

/// The rows of each of the two parts.
const ROWS: usize = 24;
/// What stands for columns that are left out.
const GAP: &str = " … ";

/// How much of a layout has room in so many columns of a terminal.
///
/// # Errors
/// [`LocateError`], as [`super::picture`] has it.
pub fn room(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    frame: &Frame,
    depth: Depth,
    width: usize,
) -> Result<Room, LocateError> {
    let figures = Figures::new(&tensor.layout, locate::values(tensor, symbols)?)?;
    let digits = |count: i128| (count - 1).max(0).to_string().len();
    let along = |axis: Option<usize>| {
        axis.and_then(|axis| figures.logical.get(axis)).map_or(0, |extent| digits(*extent))
    };
    let (rows, columns, offsets) = (along(frame.rows), along(frame.columns), digits(figures.slots));
    // Blanks around each cell, a letter where there are no colours, a rule before each; labels and two gaps.
    let around = if depth == Depth::None { 4 } else { 3 };
    let fits = |label: usize, cell: usize| {
        let left = width.saturating_sub(label + 2 + 2 * GAP.chars().count());
        (left / (cell + around)).max(2)
    };
    let leading: usize = figures.physical.iter().rev().skip(1).map(|e| digits(*e) + 1).sum();
    let (label, slot) = (offsets.max(leading), rows + columns + 1);
    // A padded axis is longer than the tensor: one more digit.
    Ok(Room {
        rows: ROWS,
        columns: fits(rows + 1, offsets.max(columns + 1)),
        memory_rows: ROWS,
        memory_columns: fits(label, slot.max(offsets + 1)),
    })
}

/// The picture as lines of text.
pub fn terminal(picture: &Picture, depth: Depth) -> String {
    let mut out = Vec::new();
    let mut head = Line::default();
    head.push(Paint::Strong, picture.title());
    out.push(head);
    out.push(plain(&format!("storage: {}", picture.storage_text())));
    let shown = picture.shown();
    let mut legend = Vec::new();
    if !picture.colored_by.is_empty() {
        let word = if depth == Depth::None { "letters" } else { "colours" };
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
        out.push(Line::default());
        out.push(plain(&format!("offsets: {}", picture.frame_text())));
        out.extend(Drawing::new(&table::grid(picture), depth).lines());
        out.push(Line::default());
        out.push(plain(&format!("memory: {}", picture.memory_text())));
        out.extend(Drawing::new(&table::memory(picture), depth).lines());
    }
    out.iter().map(|line| line.text(depth)).collect()
}

fn plain(text: &str) -> Line {
    let mut line = Line::default();
    line.push(Paint::Plain, text);
    line
}

/// A table in the characters of a terminal.
struct Drawing<'a> {
    table: &'a Table,
    /// The columns of labels.
    label: usize,
    /// Those of the text in a cell.
    width: usize,
    /// Those of the letter after it.
    letter: usize,
}

impl<'a> Drawing<'a> {
    fn new(table: &'a Table, depth: Depth) -> Self {
        let label = table.lines.iter().map(|line| line.label.len()).max().unwrap_or(0);
        let cells = table.lines.iter().flat_map(|line| &line.cells);
        let texts = cells.map(|cell| cell.text.chars().count());
        let width = texts.chain(table.heads.iter().map(String::len)).max().unwrap_or(1);
        Self { table, label, width, letter: usize::from(depth == Depth::None) }
    }

    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![self.head()];
        if self.table.is_matrix {
            lines.push(self.across(Rule::Separator));
        }
        for line in &self.table.lines {
            if line.is_apart {
                lines.push(plain(&format!(" {:>1$} ", "⋮", self.label)));
            } else if line.rule != Rule::None {
                lines.push(self.across(line.rule));
            }
            lines.push(self.row(line));
        }
        lines
    }

    fn columns(&self) -> impl Iterator<Item = (&Rule, &bool)> {
        self.table.column_rules.iter().zip(&self.table.gaps)
    }

    fn head(&self) -> Line {
        let Self { label, width, letter, .. } = *self;
        let mut text = format!(" {:label$} {}", "", self.border(Rule::None));
        for (head, (rule, gap)) in self.table.heads.iter().zip(self.columns()) {
            text.push_str(if *gap { GAP } else { "" });
            text.push_str(if *rule == Rule::None { "" } else { " " });
            text.push_str(&format!(" {head:>width$}{:letter$} ", ""));
        }
        let mut line = Line::default();
        line.push(Paint::Faint, text.trim_end());
        line
    }

    fn row(&self, row: &table::Line) -> Line {
        let mut line = Line::default();
        let border = self.border(Rule::None);
        line.push(Paint::Faint, format!(" {:>1$} {border}", row.label, self.label));
        for (cell, (rule, gap)) in row.cells.iter().zip(self.columns()) {
            line.push(Paint::Plain, if *gap { GAP } else { "" });
            line.push(Paint::Plain, vertical(*rule));
            let (paint, fill, letter) = match cell.kind {
                Kind::Tile(k) => (Paint::Tile(k), " ", color(k).letter),
                Kind::Padding => (Paint::Faint, "░", '░'),
                Kind::Other | Kind::Unknown | Kind::Blank => (Paint::Faint, " ", ' '),
            };
            let fill = fill.repeat(self.width.saturating_sub(cell.text.chars().count()));
            let letter: String = std::iter::repeat_n(letter, self.letter).collect();
            line.push(paint, format!(" {fill}{}{letter} ", cell.text));
        }
        line
    }

    /// A rule above a row.
    fn across(&self, rule: Rule) -> Line {
        let (dash, plain_cross, double_cross) = match rule {
            Rule::Separator => ("═", "╪", "╬"),
            Rule::Part => ("╌", "┼", "╫"),
            Rule::None | Rule::Tile => ("─", "┼", "╫"),
        };
        let mut text = format!(" {:1$} {2}", "", self.label, self.border(rule));
        for (own, gap) in self.columns() {
            text.push_str(&dash.repeat(if *gap { GAP.chars().count() } else { 0 }));
            text.push_str(match own {
                Rule::None => "",
                Rule::Part | Rule::Tile => plain_cross,
                Rule::Separator => double_cross,
            });
            text.push_str(&dash.repeat(self.width + self.letter + 2));
        }
        plain(&text)
    }

    /// What stands between labels and cells.
    fn border(&self, rule: Rule) -> &'static str {
        match (self.table.is_matrix, rule) {
            (false, _) => "",
            (true, Rule::Separator) => "╬",
            (true, _) => "║",
        }
    }
}

fn vertical(rule: Rule) -> &'static str {
    match rule {
        Rule::None => "",
        Rule::Part => "╎",
        Rule::Tile => "│",
        Rule::Separator => "║",
    }
}
