//! Diagnostics for people.

use std::fmt::Write as _;

use layoutc_compiler::diagnostic::{Diagnostic, Label, Severity};

use super::place::{Position, Source, locate};
use super::text::{Cell, cells, escape};

/// The widest part of a source line that is shown, in columns.
const WIDTH: usize = 100;
/// The columns kept on either side of what is underlined in a line that is cut.
const CONTEXT: usize = 30;

/// Gives the text of a file by the name that a place calls it.
pub(crate) type Lookup<'a> = dyn Fn(&str) -> Option<Source<'a>> + 'a;

/// The colours of a report; all empty when there are none.
#[derive(Debug, Clone, Copy)]
struct Palette {
    severity: &'static str,
    underline: &'static str,
    gutter: &'static str,
    strong: &'static str,
    reset: &'static str,
}

impl Palette {
    fn new(severity: Severity, color: bool) -> Self {
        if !color {
            return Self { severity: "", underline: "", gutter: "", strong: "", reset: "" };
        }
        let (severity, underline) = match severity {
            Severity::Error => ("\x1b[1;31m", "\x1b[31m"),
            Severity::Warning => ("\x1b[1;33m", "\x1b[33m"),
        };
        Self { severity, underline, gutter: "\x1b[36m", strong: "\x1b[1m", reset: "\x1b[0m" }
    }
}

/// A diagnostic as text, without an empty line after it.
pub(crate) fn render(diagnostic: &Diagnostic, lookup: &Lookup<'_>, color: bool) -> String {
    let paint = Palette::new(diagnostic.severity, color);
    let Palette { severity, gutter, strong, reset, .. } = paint;
    let word = severity_word(diagnostic.severity);
    let mut out = format!(
        "{severity}{word}[{}]{reset}{strong}: {}{reset}\n",
        diagnostic.code.id(),
        escape(&diagnostic.message)
    );
    let mut shown: Option<(&str, usize)> = None;
    for label in &diagnostic.labels {
        let file = label.place.file.as_ref();
        let Some(source) = lookup(file) else {
            let _ = writeln!(out, "  {gutter}┌─{reset} {}", escape(file));
            message_line(&mut out, &label.message, paint);
            shown = None;
            continue;
        };
        let position = locate(source, label.place.start, label.place.end);
        let excerpt = Excerpt::new(&position);
        if shown != Some((file, position.line)) {
            let (line, column) = (position.line, position.column);
            let _ = writeln!(out, "  {gutter}┌─{reset} {}:{line}:{column}", escape(file));
            line_row(&mut out, &excerpt.line, paint);
        } else if excerpt.is_cut {
            line_row(&mut out, &excerpt.line, paint);
        }
        shown = Some((file, position.line));
        underline_row(&mut out, &excerpt, label, paint);
    }
    for note in &diagnostic.notes {
        figure(&mut out, "", note, paint);
    }
    for help in &diagnostic.help {
        figure(&mut out, "help: ", help, paint);
    }
    out
}

/// `error` or `warning`.
pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn line_row(out: &mut String, line: &str, paint: Palette) {
    let row = format!("  {}│{} {line}", paint.gutter, paint.reset);
    let _ = writeln!(out, "{}", row.trim_end());
}

fn message_line(out: &mut String, message: &str, paint: Palette) {
    if !message.is_empty() {
        let _ = writeln!(out, "  {}│{} {}", paint.gutter, paint.reset, escape(message));
    }
}

fn underline_row(out: &mut String, excerpt: &Excerpt, label: &Label, paint: Palette) {
    let mark = if label.primary { "^" } else { "-" };
    let color = if label.primary { paint.underline } else { paint.gutter };
    let dots = if excerpt.goes_on { "..." } else { "" };
    let gap = if label.message.is_empty() { "" } else { " " };
    let _ = writeln!(
        out,
        "  {}│{} {}{color}{}{dots}{gap}{}{}",
        paint.gutter,
        paint.reset,
        " ".repeat(excerpt.column),
        mark.repeat(excerpt.width),
        escape(&label.message),
        paint.reset,
    );
}

/// One `= …` line; further lines of the same text are set below the first.
fn figure(out: &mut String, head: &str, text: &str, paint: Palette) {
    let Palette { gutter, strong, reset, .. } = paint;
    for (k, line) in text.lines().enumerate() {
        let line = escape(line);
        let _ = if k == 0 {
            writeln!(out, "  {gutter}={reset} {strong}{head}{reset}{line}")
        } else {
            writeln!(out, "    {line}")
        };
    }
}

/// The part of a line that is shown, and what is underlined in it.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    line: String,
    /// Columns before the underline.
    column: usize,
    /// Columns of the underline, at least 1.
    width: usize,
    /// Whether the span goes on in the next line.
    goes_on: bool,
    is_cut: bool,
}

impl Excerpt {
    fn new(position: &Position<'_>) -> Self {
        let cells = cells(position.text);
        let columns = |cells: &[Cell]| cells.iter().map(|cell| cell.width).sum::<usize>();
        let first = cells.partition_point(|cell| cell.start < position.start);
        let last = cells.partition_point(|cell| cell.start < position.end).max(first);
        let goes_on = position.end > position.text.len() + 1;
        if columns(&cells) <= WIDTH {
            return Self {
                line: cells.iter().map(|cell| cell.text.as_str()).collect(),
                column: columns(&cells[..first]),
                width: columns(&cells[first..last]).max(1),
                goes_on,
                is_cut: false,
            };
        }
        let (from, to) = window(&cells, first);
        let head = if from > 0 { "…" } else { "" };
        let tail = if to < cells.len() { "…" } else { "" };
        let body: String = cells[from..to].iter().map(|cell| cell.text.as_str()).collect();
        Self {
            line: format!("{head}{body}{tail}"),
            column: columns(&cells[from..first]) + usize::from(from > 0),
            width: columns(&cells[first..last.min(to)]).max(1),
            goes_on: goes_on || last > to,
            is_cut: true,
        }
    }
}

/// The cells of a long line that are shown: the span with some context, at most [`WIDTH`] columns.
fn window(cells: &[Cell], first: usize) -> (usize, usize) {
    let mut from = first;
    let mut room = CONTEXT;
    while from > 0 && cells[from - 1].width <= room {
        room -= cells[from - 1].width;
        from -= 1;
    }
    let before: usize = cells[from..first].iter().map(|cell| cell.width).sum();
    let mut to = first;
    let mut room = WIDTH - before;
    while to < cells.len() && cells[to].width <= room {
        room -= cells[to].width;
        to += 1;
    }
    (from, to)
}
