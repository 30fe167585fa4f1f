//! Self-contained HTML page of a picture: cells with tooltips, a slider through the steps of the layout, a search.

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::map::{IndexMap, MapItem};
use serde_json::{Map, Value, json};

use super::json::{integer, integers};
use super::memory::MemorySlot;
use super::palette::{PALETTE, TileColor};
use super::{GridCell, GridElement, GridLine, Picture};
use crate::check::StepRecord;
use crate::model::Tensor;
use crate::query::locate::NamedLocateError;
use crate::query::trace::{self, IndexTrace, TraceTerm};

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Text of a self-contained HTML page with the picture of `tensor`. `steps` are the recorded layout steps of the
/// tensor; empty for a view, whose map is then shown as one step.
///
/// # Errors
/// [`NamedLocateError`] if an element of the picture cannot be traced ([`trace::trace`]).
pub fn page(
    picture: &Picture,
    tensor: &Tensor,
    steps: &[StepRecord],
) -> Result<String, NamedLocateError> {
    let whole = whole(tensor);
    let steps = if steps.is_empty() { whole.as_slice() } else { steps };
    let symbols = picture.symbols.iter().cloned().collect();
    let trace_of = |element: &GridElement| trace::trace(tensor, steps, &symbols, &element.logical);
    let first = picture.grid.elements().next().map(trace_of).transpose()?;
    let mut cells = Vec::new();
    for row in &picture.grid.cells {
        let row =
            row.iter().map(|one| cell(picture, one, &trace_of)).collect::<Result<Vec<_>, _>>()?;
        cells.push(Value::Array(row));
    }
    let data = data(picture, first.as_ref(), &cells);
    // Escaped, so that a name cannot close the script element.
    let data = data.to_string().replace('<', "\\u003c");
    let title = picture.title().replace('&', "&amp;").replace('<', "&lt;");
    let dark = format!("@media (prefers-color-scheme: dark) {{\n{}}}\n", colors(|c| c.dark));
    let style = format!("{STYLE}{}{dark}", colors(|color| color.light));
    Ok(PAGE
        .replace("<!--TITLE-->", &title)
        .replace("/*STYLE*/", &style)
        .replace("/*SCRIPT*/", &SCRIPT.replace("/*DATA*/", &data)))
}

fn colors(of: fn(&TileColor) -> u32) -> String {
    let one = |(k, color)| format!(".c{k} {{ background: #{:06x}; }}\n", of(color));
    PALETTE.iter().enumerate().map(one).collect()
}

/// Trace steps for a tensor without recorded steps, such as a view: one step with the map from the logical to the
/// storage axes. Empty if the map is the identity.
fn whole(tensor: &Tensor) -> Vec<StepRecord> {
    let layout = &tensor.layout;
    let is_identity = |(k, index): (u32, &Expr)| index.as_var() == Some(Var::Axis(k));
    let is_plain = layout.storage().len() == layout.logical().len();
    if is_plain && (0..).zip(layout.storage_map()).all(is_identity) {
        return Vec::new();
    }
    let before = |var| match var {
        Var::Axis(k) => Some(Expr::var(Var::Storage(k))),
        _ => None,
    };
    let item = |(axis, index): (&layoutc_algebra::symbol::Axis, &Expr)| {
        let index = index.substitute(&before).ok()?;
        Some(MapItem { name: axis.name.clone(), index, extent: None, span: 0..0 })
    };
    let items: Option<Vec<MapItem>> =
        layout.storage().iter().zip(layout.storage_map()).map(item).collect();
    let Some(items) = items else { return Vec::new() };
    let (separators, place) = (layout.separators().to_vec(), tensor.places.layout.clone());
    let maps = vec![IndexMap { items, separators: separators.clone() }];
    let axes = layout.storage().to_vec();
    let line = "the map of the view".to_owned();
    vec![StepRecord { line, maps, note: None, axes, separators, place, within: None }]
}

fn cell(
    picture: &Picture,
    cell: &GridCell,
    trace_of: &dyn Fn(&GridElement) -> Result<IndexTrace, NamedLocateError>,
) -> Result<Value, NamedLocateError> {
    let element = match cell {
        GridCell::Outside => return Ok(Value::Null),
        GridCell::Padding { offset } => return Ok(json!({ "padding": integer(*offset) })),
        GridCell::Element(element) => element,
    };
    let values =
        |terms: &[TraceTerm]| terms.iter().map(|term| integer(term.value)).collect::<Value>();
    let traced = trace_of(element)?;
    Ok(json!({
        "index": integers(&element.logical),
        "storage": integers(&element.storage),
        "color": element.color,
        "label": picture.label(element),
        "steps": traced.steps.iter().map(|step| values(&step.axes)).collect::<Value>(),
        "physical": values(&traced.physical),
        "offset": integer(element.offset),
    }))
}

fn data(picture: &Picture, first: Option<&IndexTrace>, cells: &[Value]) -> Value {
    let terms = |terms: &[TraceTerm]| -> Value {
        let one = |term: &TraceTerm| json!({ "name": term.name, "expr": term.expr, "extent": term.extent.map(integer) });
        terms.iter().map(one).collect()
    };
    let steps = first.iter().flat_map(|traced| &traced.steps);
    let step = |step: &trace::TraceStep| {
        json!({
            "line": step.line, "note": step.note, "isMap": step.is_map, "axes": terms(&step.axes),
        })
    };
    let symbols: Map<String, Value> =
        picture.symbols.iter().map(|(name, value)| (name.clone(), integer(*value))).collect();
    let axes: Vec<Value> = picture
        .logical
        .iter()
        .map(|(name, extent)| json!({ "name": name, "extent": integer(*extent) }))
        .collect();
    let (grid, memory) = (&picture.grid, &picture.memory);
    let rows: Vec<Value> = memory
        .rows
        .iter()
        .map(|row| {
            json!({
                "label": label(picture, row), "offset": integer(row.offset), "rule": rank(row.rule),
                "slots": row.slots.iter().map(slot).collect::<Value>(),
            })
        })
        .collect();
    json!({
        "tensor": picture.tensor,
        "symbols": symbols,
        "axes": axes,
        "drawn": [picture.frame.rows, picture.frame.columns],
        "frame": picture.frame_text(),
        "memoryText": picture.memory_text(),
        "coloredBy": picture.colored_by,
        "labelAxes": picture.label_axes(),
        "storage": picture.storage_text(),
        "rows": integers(&grid.rows),
        "columns": integers(&grid.columns),
        "rowRules": grid.row_rules.iter().map(|rule| rank(*rule)).collect::<Value>(),
        "columnRules": grid.column_rules.iter().map(|rule| rank(*rule)).collect::<Value>(),
        "cells": cells,
        "steps": steps.map(step).collect::<Value>(),
        "physical": first.map(|traced| terms(&traced.physical)),
        "offset": first.map(|traced| &traced.offset.expr),
        "memory": {
            "isMatrix": memory.is_matrix,
            "step": integer(memory.step),
            "columns": integers(&memory.columns),
            "columnRules": memory.column_rules.iter().map(|rule| rank(*rule)).collect::<Value>(),
            "numbers": integers(&memory.row_numbers),
            "rows": rows,
        },
    })
}

fn label(picture: &Picture, row: &super::MemoryRow) -> String {
    if !picture.memory.is_matrix {
        return row.offset.to_string();
    }
    let leading = row.first.split_last().map(|(_, leading)| leading).unwrap_or_default();
    leading.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn rank(rule: GridLine) -> u8 {
    match rule {
        GridLine::None => 0,
        GridLine::Part => 1,
        GridLine::Tile => 2,
        GridLine::Separator => 3,
    }
}

fn slot(slot: &MemorySlot) -> Value {
    match slot {
        MemorySlot::Element(element) => {
            json!({ "index": integers(&element.logical), "color": element.color })
        }
        MemorySlot::Other { logical } => {
            json!({ "other": logical.as_deref().map_or(json!([]), integers) })
        }
        MemorySlot::Padding => json!("padding"),
        MemorySlot::Unknown => json!("unknown"),
        MemorySlot::End => Value::Null,
    }
}
