//! Rendering of the trace of an index through the steps of a layout. As text, it has one block per step, with the
//! arithmetic in columns. As JSON, it is one object.

use std::fmt::Write as _;

use layoutc_compiler::query::trace::{IndexTrace, TraceStep, TraceTerm};
use serde_json::{Map, Value, json};

use super::json::{integer, integers};
use super::terminal_text::escape;

/// Terminal escape sequences for the parts of a trace, all empty without color.
#[derive(Debug, Clone, Copy)]
struct TracePalette {
    name: &'static str,
    strong: &'static str,
    faint: &'static str,
    reset: &'static str,
}

impl TracePalette {
    fn new(is_colored: bool) -> Self {
        if !is_colored {
            return Self { name: "", strong: "", faint: "", reset: "" };
        }
        Self { name: "\x1b[36m", strong: "\x1b[1m", faint: "\x1b[2m", reset: "\x1b[0m" }
    }
}

/// Trace of an index as text with one block per step; the last line gives the offset. `is_colored` adds terminal escape
/// sequences.
pub(crate) fn text(trace: &IndexTrace, is_colored: bool) -> String {
    let paint = TracePalette::new(is_colored);
    let TracePalette { strong, faint, reset, .. } = paint;
    let index: Vec<String> = trace.logical.iter().map(ToString::to_string).collect();
    let mut out = format!("{strong}{}[{}]{reset}", trace.tensor, index.join(", "));
    for (k, (name, value)) in trace.symbols.iter().enumerate() {
        let word = if k == 0 { " where " } else { ", " };
        let _ = write!(out, "{word}{name} = {value}");
    }
    out.push('\n');
    for step in &trace.steps {
        let _ = writeln!(out, "  {strong}{}{reset}", escape(&step.line));
        if let Some(note) = &step.note {
            let _ = writeln!(out, "      {faint}{}{reset}", escape(note));
        }
        if step.is_map {
            block(&mut out, &step.axes, paint);
        }
    }
    let _ = writeln!(out, "  {strong}physical{reset}");
    block(&mut out, &trace.physical, paint);
    let [name, expr, numbers, value] = cells(&trace.offset);
    let _ = writeln!(out, "  {strong}{name}{reset}{expr}{numbers} = {strong}{value}{reset}");
    out
}

/// Maximum width of a row on one line, in columns of the terminal, without its indentation and its extent.
const WIDEST: usize = 100;

/// Writes one row per axis to `out`, where `terms` has the values along each axis: columns for the name, the
/// expression, the expression with numbers, the value and the extent. If the columns before the extent are together
/// wider than [`WIDEST`], every row is split into several lines.
fn block(out: &mut String, terms: &[TraceTerm], paint: TracePalette) {
    let TracePalette { name, strong, faint, reset } = paint;
    let rows: Vec<[String; 4]> = terms.iter().map(cells).collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(String::len).max().unwrap_or(0)
    };
    let (names, values) = (width(0), width(3));
    let stacks = (0..4).map(width).sum::<usize>() > WIDEST;
    let (exprs, numbers) = if stacks { (0, 0) } else { (width(1), width(2)) };
    for (row, term) in rows.iter().zip(terms) {
        let [own, expr, number, value] = row;
        let line = |cell: &str| match cell {
            "" => String::new(),
            cell => format!("{cell}\n      {:names$}", ""),
        };
        let (expr, number) = if stacks {
            (line(expr), line(number))
        } else {
            (format!("{expr:exprs$}"), format!("{number:numbers$}"))
        };
        let _ = write!(out, "      {name}{own:names$}{reset}{expr}{number} = ");
        let _ = write!(out, "{strong}{value:>values$}{reset}");
        if let Some(extent) = term.extent {
            let _ = write!(out, "  {faint}of {extent}{reset}");
        }
        out.push('\n');
    }
}

/// First four columns of the row of `term`: the name, the expression, the expression with numbers, the value. The
/// second and the third are empty if they would repeat the text of another column.
fn cells(term: &TraceTerm) -> [String; 4] {
    let value = term.value.to_string();
    let is_new = |text: &str| text != term.name && text != value;
    let equal = |text: &str| if is_new(text) { format!(" = {text}") } else { String::new() };
    let numbers = Some(&term.numbers).filter(|numbers| **numbers != term.expr);
    let numbers = numbers.map_or_else(String::new, |numbers| equal(numbers));
    [term.name.clone(), equal(&term.expr), numbers, value]
}

/// Trace of an index as one line of JSON, including the line end.
pub(crate) fn json(trace: &IndexTrace) -> String {
    let terms = |terms: &[TraceTerm]| terms.iter().map(term).collect::<Vec<_>>();
    let step = |step: &TraceStep| json!({ "step": step.line, "axes": terms(&step.axes) });
    let symbols: Map<String, Value> =
        trace.symbols.iter().map(|(name, value)| (name.clone(), integer(*value))).collect();
    let (expr, value) = (&trace.offset.expr, integer(trace.offset.value));
    let object = json!({
        "tensor": trace.tensor,
        "symbols": symbols,
        "logical": integers(&trace.logical),
        "steps": trace.steps.iter().map(step).collect::<Vec<_>>(),
        "physical": terms(&trace.physical),
        "offset": { "expr": expr, "value": value },
    });
    format!("{object}\n")
}

fn term(term: &TraceTerm) -> Value {
    json!({
        "name": term.name,
        "expr": term.expr,
        "value": integer(term.value),
        "extent": term.extent.map(integer),
    })
}
