//! What is known of a tensor, as JSON for tools and as text for people.

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Axis, Proof, Verdict};
use layoutc_algebra::print;
use serde_json::{Value, json};

use crate::model::{Memory, Tensor};
use crate::wording::{self, variable};

/// The object of `inspect --format json`, of a tensor in `file`. Extents and counts that depend on symbols are strings.
pub fn tensor_json(tensor: &Tensor, file: &str) -> Value {
    let layout = &tensor.layout;
    let text = |expr: &Expr| wording::expr(expr, layout);
    let number = |expr: &Expr| number(expr, &text);
    let axes = |axes: &[Axis]| -> Vec<Value> {
        axes.iter().map(|axis| json!({"name": axis.name, "extent": number(&axis.extent)})).collect()
    };
    let numbers = |exprs: &[Expr]| exprs.iter().map(number).collect::<Vec<_>>();
    let texts = |exprs: &[Expr]| exprs.iter().map(text).collect::<Vec<_>>();
    let names = |var| variable(var, &layout.logical, &layout.storage, &layout.symbols);
    let counts = tensor.counts();
    json!({
        "kind": "tensor",
        "name": tensor.name,
        "file": file,
        "dtype": tensor.dtype.to_string(),
        "element_bits": tensor.dtype.element_bits(),
        "axes": axes(&layout.logical),
        "storage_axes": axes(&layout.storage),
        "axis_separators": layout.separators,
        "physical_shape": numbers(&layout.physical_shape),
        "flattened": {
            "shape": numbers(&layout.physical_shape),
            "axis_separators": (0..layout.physical_shape.len().saturating_sub(1)).collect::<Vec<_>>(),
        },
        "storage_map": texts(&layout.storage_map),
        "physical_map": texts(&layout.physical_map),
        "inverse": layout.inverse.as_deref().map(texts),
        "valid": layout.valid.as_ref().map(|valid| print::predicate(valid, &names)),
        "verdict": verdict(tensor),
        "proof": proof(tensor),
        "strides": numbers(&layout.strides),
        "physical_strides": numbers(&layout.physical_strides),
        "logical_elements": number(&layout.logical_elements),
        "physical_elements": number(&layout.physical_elements),
        "padding_elements": number(&counts.padding_elements),
        "bytes": number(&counts.bytes),
        "alignment": layout.alignment_bytes,
        "memory": memory(tensor.memory),
        "notations": {"tvm": null, "xla": null, "onednn": null, "cute": null, "glow": null},
    })
}

/// What a summary needs of that object.
pub fn summary_json(tensor: &Tensor) -> Value {
    let layout = &tensor.layout;
    let text = |expr: &Expr| wording::expr(expr, layout);
    let number = |expr: &Expr| number(expr, &text);
    let counts = tensor.counts();
    json!({
        "name": tensor.name,
        "dtype": tensor.dtype.to_string(),
        "element_bits": tensor.dtype.element_bits(),
        "axes": layout.logical.iter().map(|axis| json!({"extent": number(&axis.extent)})).collect::<Vec<_>>(),
        "physical_shape": layout.physical_shape.iter().map(number).collect::<Vec<_>>(),
        "verdict": verdict(tensor),
        "logical_elements": number(&layout.logical_elements),
        "padding_elements": number(&counts.padding_elements),
        "bytes": number(&counts.bytes),
    })
}

/// An integer as a JSON number, anything else as the expression's text.
fn number(expr: &Expr, text: &dyn Fn(&Expr) -> String) -> Value {
    match expr.as_const().and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Value::from(value),
        None => Value::from(text(expr)),
    }
}

/// `bijective` or `padded`.
pub fn verdict(tensor: &Tensor) -> &'static str {
    match tensor.layout.verdict {
        Verdict::Bijective => "bijective",
        Verdict::Padded => "padded",
    }
}

/// `digits` or `enumeration`.
pub fn proof(tensor: &Tensor) -> &'static str {
    match tensor.layout.proof {
        Proof::Digits => "digits",
        Proof::Enumeration => "enumeration",
    }
}

/// The word for a memory.
pub(crate) fn memory(memory: Memory) -> &'static str {
    match memory {
        Memory::Global => "global",
        Memory::Constant => "constant",
        Memory::Image2d => "texture",
        Memory::Image2dArray => "image2d-array",
        Memory::Shared => "shared",
        Memory::Local => "local",
        Memory::None => "none",
    }
}

/// The same for people: one fact a line.
pub fn tensor_text(tensor: &Tensor, file: &str) -> String {
    let layout = &tensor.layout;
    let text = |expr: &Expr| wording::expr(expr, layout);
    let shape = |axes: &[Axis]| {
        let parts: Vec<String> =
            axes.iter().map(|axis| format!("{} {}", axis.name, text(&axis.extent))).collect();
        if parts.is_empty() { "one element".to_string() } else { parts.join(", ") }
    };
    let list =
        |exprs: &[Expr]| format!("[{}]", exprs.iter().map(text).collect::<Vec<_>>().join(", "));
    let names = |var| variable(var, &layout.logical, &layout.storage, &layout.symbols);
    let counts = tensor.counts();
    let mut lines: Vec<(&str, String)> = vec![
        ("axes", shape(&layout.logical)),
        ("storage axes", shape(&layout.storage)),
        ("physical shape", list(&layout.physical_shape)),
    ];
    if !layout.separators.is_empty() {
        lines.push(("separators", format!("{:?}", layout.separators)));
    }
    lines.push(("strides", list(&layout.strides)));
    for (k, index) in layout.physical_map.iter().enumerate() {
        lines.push((if k == 0 { "map" } else { "" }, format!("p{k} = {}", text(index))));
    }
    match &layout.inverse {
        Some(inverse) => {
            for (k, (axis, index)) in layout.logical.iter().zip(inverse).enumerate() {
                lines.push((
                    if k == 0 { "inverse" } else { "" },
                    format!("{} = {}", axis.name, text(index)),
                ));
            }
        }
        None => lines.push(("inverse", "no expression: found by search".to_string())),
    }
    if let Some(valid) = &layout.valid {
        lines.push(("valid where", print::predicate(valid, &names)));
    }
    lines.push(("verdict", format!("{}, by {}", verdict(tensor), proof(tensor))));
    lines.push((
        "elements",
        format!("{} in {} slots", text(&layout.logical_elements), text(&layout.physical_elements)),
    ));
    lines
        .push(("bytes", format!("{}, aligned to {}", text(&counts.bytes), layout.alignment_bytes)));
    lines.push(("memory", memory(tensor.memory).to_string()));
    let mut out = format!("{} ({}, {file})\n", tensor.name, tensor.dtype);
    for (name, value) in lines {
        out.push_str(&format!("  {name:<15} {value}\n"));
    }
    out
}
