//! JSON form of a picture, as `show --format json` prints it.

use serde_json::{Map, Number, Value, json};

use super::memory::MemorySlot;
use super::{GridCell, GridElement, Picture};

/// Object of `show --format json`: the slice, its cells with offsets, and the drawn memory.
pub fn json(picture: &Picture) -> Value {
    let name =
        |axis: Option<usize>| axis.and_then(|axis| picture.logical.get(axis)).map(|axis| &axis.0);
    let fixed: Map<String, Value> = picture
        .frame
        .fixed_axes()
        .filter_map(|axis| {
            let index = picture.frame.at.get(axis)?;
            Some((name(Some(axis))?.clone(), integer(*index)))
        })
        .collect();
    let grid = &picture.grid;
    let cells: Vec<Vec<Value>> =
        grid.cells.iter().map(|row| row.iter().map(cell).collect()).collect();
    let memory = &picture.memory;
    let rows: Vec<Value> = memory
        .rows
        .iter()
        .map(|row| {
            let slots: Vec<Value> = row.slots.iter().map(slot).collect();
            json!({ "physical": integers(&row.first), "offset": integer(row.offset), "slots": slots })
        })
        .collect();
    let symbols: Map<String, Value> =
        picture.symbols.iter().map(|(name, value)| (name.clone(), integer(*value))).collect();
    json!({
        "version": 1,
        "kind": "picture",
        "tensor": picture.tensor,
        "symbols": symbols,
        "at": fixed,
        "colored_by": picture.colored_by,
        "rows": { "axis": name(picture.frame.rows), "indices": integers(&grid.rows) },
        "columns": { "axis": name(picture.frame.columns), "indices": integers(&grid.columns) },
        "cells": cells,
        "memory": {
            "width": integer(memory.width),
            "rows": integer(memory.row_count),
            "columns": integers(&memory.columns),
            "drawn": rows,
        },
    })
}

fn cell(cell: &GridCell) -> Value {
    match cell {
        GridCell::Element(one) => element(one),
        GridCell::Padding { offset } => json!({ "kind": "padding", "offset": integer(*offset) }),
        GridCell::Outside => Value::Null,
    }
}

fn slot(slot: &MemorySlot) -> Value {
    match slot {
        MemorySlot::Element(one) => {
            json!({ "kind": "element", "logical": integers(&one.logical), "color": one.color })
        }
        MemorySlot::Other { logical } => {
            json!({ "kind": "other", "logical": logical.as_deref().map(integers) })
        }
        MemorySlot::Padding => json!({ "kind": "padding" }),
        MemorySlot::Unknown => json!({ "kind": "unknown" }),
        MemorySlot::End => Value::Null,
    }
}

fn element(element: &GridElement) -> Value {
    json!({
        "kind": "element",
        "logical": integers(&element.logical),
        "storage": integers(&element.storage),
        "physical": integers(&element.physical),
        "offset": integer(element.offset),
        "color": element.color,
    })
}

pub(super) fn integers(values: &[i128]) -> Value {
    values.iter().map(|value| integer(*value)).collect()
}

/// Integer as a JSON number; as a string if it exceeds 64 bits.
pub(super) fn integer(value: i128) -> Value {
    Number::from_i128(value).map_or_else(|| Value::from(value.to_string()), Value::Number)
}
