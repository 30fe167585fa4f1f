//! Rendering of diagnostics as text for people.

use std::fmt::Write as _;

use layoutc_compiler::base::diagnostic::{Diagnostic, Label, Severity};

use super::source_line::{DiagnosticSource, SourceLine, block_head, locate};
use super::terminal_text::{TextCell, cells, escape};

/// Maximum width of the displayed part of a source line, in columns, without the marks of omitted parts.
const WIDTH: usize = 100;
/// Maximum number of columns that are displayed before the underlined part of a long line.
const CONTEXT: usize = 30;

/// Function from the name of a file in locations to the text of that file, `None` if the text is unknown.
pub(crate) type SourceLookup<'a> = dyn Fn(&str) -> Option<DiagnosticSource<'a>> + 'a;

/// Terminal escape sequences for the parts of a diagnostic, all empty without color.
#[derive(Debug, Clone, Copy)]
struct ReportPalette {
    severity: &'static str,
    underline: &'static str,
    gutter: &'static str,
    strong: &'static str,
    reset: &'static str,
}

impl ReportPalette {
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

/// Renders a diagnostic as text that ends with one line end. `lookup` returns the text of a file, or `None` if it is
/// unknown; a label in an unknown file has no source line. `color` adds terminal escape sequences. If a label lies in a
/// block, the first line of the block, such as `tensor x {`, is shown once as context.
pub fn render(diagnostic: &Diagnostic, lookup: &SourceLookup<'_>, color: bool) -> String {
    let paint = ReportPalette::new(diagnostic.severity, color);
    let ReportPalette { severity, strong, reset, .. } = paint;
    let word = severity_word(diagnostic.severity);
    let mut out = format!(
        "{severity}{word}[{}]{reset}{strong}: {}{reset}\n",
        diagnostic.code.id(),
        escape(&diagnostic.message)
    );
    let position = |label: &Label| {
        lookup(&label.place.file).map(|text| locate(text, label.place.start, label.place.end))
    };
    let positions: Vec<Option<SourceLine<'_>>> = diagnostic.labels.iter().map(position).collect();
    let last_line = positions.iter().flatten().map(|position| position.line).max().unwrap_or(1);
    let gutter = Gutter { width: last_line.to_string().len(), paint };
    let mut shown: Option<(&str, usize)> = None;
    let mut heads_shown: Vec<(&str, usize)> = Vec::new();
    for (label, position) in diagnostic.labels.iter().zip(&positions) {
        let file = label.place.file.as_ref();
        let Some(position) = position else {
            gutter.head(&mut out, &escape(file));
            gutter.message(&mut out, &label.message);
            shown = None;
            continue;
        };
        let excerpt = Excerpt::new(position);
        let (line, column) = (position.line, position.column);
        if shown != Some((file, line)) {
            gutter.head(&mut out, &format!("{}:{line}:{column}", escape(file)));
            let head = lookup(file).and_then(|source| block_head(source, label.place.start));
            let context = head.filter(|head| !heads_shown.contains(&(file, head.line)));
            heads_shown.push((file, head.map_or(line, |head| head.line)));
            if let Some(head) = context {
                gutter.source(&mut out, head.line, &Excerpt::new(&head).line);
                if head.line + 1 < line {
                    gutter.ellipsis(&mut out);
                }
            }
            gutter.source(&mut out, line, &excerpt.line);
        } else if excerpt.is_cut {
            gutter.source(&mut out, line, &excerpt.line);
        }
        shown = Some((file, line));
        gutter.underline(&mut out, &excerpt, label);
    }
    for note in &diagnostic.notes {
        gutter.note(&mut out, "", note);
    }
    for help in &diagnostic.help {
        gutter.note(&mut out, "help: ", help);
    }
    out
}

pub(crate) fn severity_word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// Left margin of a diagnostic, with right-aligned line numbers and a vertical rule.
#[derive(Clone, Copy)]
struct Gutter {
    width: usize,
    paint: ReportPalette,
}

impl Gutter {
    /// Writes the line with the location of a label, such as `a.kdl:4:28`.
    fn head(self, out: &mut String, location: &str) {
        let ReportPalette { gutter, reset, .. } = self.paint;
        let _ = writeln!(out, "{:1$} {gutter}┌─{reset} {location}", "", self.width);
    }

    /// Writes the source line `text` with its number `line`.
    fn source(self, out: &mut String, line: usize, text: &str) {
        let ReportPalette { gutter, reset, .. } = self.paint;
        let width = self.width;
        let row = format!("{gutter}{line:>width$} │{reset} {text}");
        let _ = writeln!(out, "{}", row.trim_end());
    }

    /// Writes a mark for omitted lines between two source lines.
    fn ellipsis(self, out: &mut String) {
        let ReportPalette { gutter, reset, .. } = self.paint;
        let _ = writeln!(out, "{gutter}...{reset}");
    }

    /// Writes the message of a label in a file whose text is unknown.
    fn message(self, out: &mut String, message: &str) {
        let ReportPalette { gutter, reset, .. } = self.paint;
        if !message.is_empty() {
            let _ = writeln!(out, "{:1$} {gutter}│{reset} {2}", "", self.width, escape(message));
        }
    }

    /// Writes the line below a source line: the underline of `label` within `excerpt`, and the message of the label.
    fn underline(self, out: &mut String, excerpt: &Excerpt, label: &Label) {
        let ReportPalette { underline, gutter, reset, .. } = self.paint;
        let (mark, color) = if label.primary { ("^", underline) } else { ("-", gutter) };
        let dots = if excerpt.goes_on { "..." } else { "" };
        let gap = if label.message.is_empty() { "" } else { " " };
        let _ = writeln!(
            out,
            "{:width$} {gutter}│{reset} {}{color}{}{dots}{gap}{}{reset}",
            "",
            " ".repeat(excerpt.column),
            mark.repeat(excerpt.width),
            escape(&label.message),
            width = self.width,
        );
    }

    /// Writes the note `text` after `= ` and `head`, which is `help: ` or empty. Further lines of `text` are aligned
    /// with the first.
    fn note(self, out: &mut String, head: &str, text: &str) {
        let ReportPalette { gutter, strong, reset, .. } = self.paint;
        for (k, line) in text.lines().enumerate() {
            let (line, width) = (escape(line), self.width);
            let _ = if k == 0 {
                writeln!(out, "{:width$} {gutter}={reset} {strong}{head}{reset}{line}", "")
            } else {
                writeln!(out, "{:width$}   {line}", "")
            };
        }
    }
}

/// Displayed part of a source line, and the underlined part within it.
#[derive(Debug, PartialEq, Eq)]
struct Excerpt {
    line: String,
    /// Number of columns before the underline.
    column: usize,
    /// Number of columns of the underline, at least 1.
    width: usize,
    /// True if the span of the label continues after the displayed part.
    goes_on: bool,
    is_cut: bool,
}

impl Excerpt {
    fn new(position: &SourceLine<'_>) -> Self {
        let cells = cells(position.text);
        let columns = |cells: &[TextCell]| cells.iter().map(|cell| cell.width).sum::<usize>();
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

/// Range `(from, to)` of the displayed cells of a long line, `to` exclusive. It has up to [`CONTEXT`] columns before
/// the cell at position `first`, where the span starts, and at most [`WIDTH`] columns in total.
fn window(cells: &[TextCell], first: usize) -> (usize, usize) {
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
