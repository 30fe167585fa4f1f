//! Reports on tensors, views, kernels, relayouts, shardings and solved graphs, as JSON and as text.

mod gpu_schedule;
mod graph;
mod kernel;
mod pseudo_code;
mod relayout_report;
mod schedule_text;
mod sharding;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::print;
use layoutc_algebra::symbol::Axis;
use serde_json::{Value, json};

pub use self::graph::{dot, solution_json, solution_text};
pub use self::kernel::{KernelReport, LoopsReport, kernel_json, kernel_plan, kernel_text};
pub use self::relayout_report::{RelayoutReport, plans, view_plans};
pub use self::sharding::{ReshardReport, exchanges};

use crate::base::dtype::record::Field;
use crate::model::layout_names::{self, variable};
use crate::model::{Tensor, View};
use crate::plan::Cores;
use crate::query::notations;

/// Targets for which plans are reported.
#[derive(Debug, Clone, Copy)]
pub struct PlanTargets<'a> {
    /// Cores of the CPU that the loops of C use.
    pub cores: Cores,
    /// Names of the targets with GPU kernels; empty if no GPU schedules are reported.
    pub gpus: &'a [&'a str],
}

impl PlanTargets<'_> {
    /// True if all `tensors` are generated for one of the targets with GPU kernels.
    fn reach_gpu(&self, tensors: &[&Tensor]) -> bool {
        self.gpus.iter().any(|target| tensors.iter().all(|tensor| tensor.is_for(target)))
    }
}

/// Object of `inspect --format json` for a tensor that the manifest `file` declares. Extents and counts are numbers, or
/// strings if they depend on symbols. Strides are in elements, `alignment` is in bytes. The properties `fields`,
/// `domain`, `sharding`, `ring` and `pack_from` are present only if the tensor has a record type, a domain, a sharding,
/// a ring buffer, or another element type from which pack converts.
pub fn tensor_json(tensor: &Tensor, file: &str) -> Value {
    let layout = &tensor.layout;
    let text = |expr: &Expr| layout_names::layout_expr(expr, layout);
    let number = |expr: &Expr| number(expr, &text);
    let axes = |axes: &[Axis]| -> Vec<Value> {
        axes.iter().map(|axis| json!({"name": axis.name, "extent": number(&axis.extent)})).collect()
    };
    let numbers = |exprs: &[Expr]| exprs.iter().map(number).collect::<Vec<_>>();
    let texts = |exprs: &[Expr]| exprs.iter().map(text).collect::<Vec<_>>();
    let names = |var| variable(var, layout.logical(), layout.storage(), layout.symbols());
    let counts = tensor.counts();
    let mut object = json!({
        "kind": "tensor",
        "name": tensor.name,
        "file": file,
        "dtype": tensor.dtype.to_string(),
        "element_bits": tensor.dtype.element_bits(),
        "axes": axes(layout.logical()),
        "storage_axes": axes(layout.storage()),
        "axis_separators": layout.separators(),
        "physical_shape": numbers(layout.physical_shape()),
        "flattened": {
            "shape": numbers(layout.physical_shape()),
            "axis_separators": (0..layout.physical_shape().len().saturating_sub(1)).collect::<Vec<_>>(),
        },
        "storage_map": texts(layout.storage_map()),
        "physical_map": texts(layout.physical_map()),
        "inverse": layout.inverse().map(texts),
        "valid": layout.valid().map(|valid| print::predicate(valid, &names)),
        "verdict": layout.verdict().word(),
        "proof": layout.proof().word(),
        "strides": numbers(layout.strides()),
        "physical_strides": numbers(layout.physical_strides()),
        "logical_elements": number(layout.logical_elements()),
        "physical_elements": number(layout.physical_elements()),
        "padding_elements": number(&counts.padding_elements),
        "bytes": number(&counts.bytes),
        "alignment": layout.alignment_bytes(),
        "memory": tensor.memory_word(),
        "notations": notations_json(tensor),
    });
    if let Some(record) = tensor.dtype.record() {
        object["fields"] = record.fields().iter().map(field_json).collect();
    }
    if let Some(domain) = layout_names::domain(tensor) {
        object["domain"] = domain.into();
    }
    if let Some(sharded) = &tensor.sharded {
        object["sharding"] = sharding::json(tensor, sharded);
    }
    if let Some(ring) = &tensor.ring {
        let extent = ring.whole.get(ring.axis).map(|axis| number(&axis.extent));
        object["ring"] = json!({"axis": ring.name(), "held": ring.capacity, "extent": extent});
    }
    if let Some(logical) = tensor.pack_from {
        let cast = logical.pack.mode().word();
        object["pack_from"] = json!({"dtype": logical.dtype.to_string(), "cast": cast});
    }
    object
}

/// Texts of the layout in the notations of other tools, as a JSON object by notation; `null` for a notation that cannot
/// express the layout or the buffer's size.
fn notations_json(tensor: &Tensor) -> Value {
    let texts = notations::texts(tensor).into_iter();
    Value::Object(texts.map(|(notation, text)| (notation.word().to_owned(), text.into())).collect())
}

/// Object of `inspect --format json` for a view that the manifest `file` declares. It has the properties of a tensor
/// ([`tensor_json`]), and further the name of the base (`of`) and `writable`, which is false for a broadcast. It also
/// has `origin`, the offset of the first element, and `axis_strides`, the strides along the logical axes, both in
/// elements; they are null unless the offset is affine in the index.
pub fn view_json(view: &View, file: &str) -> Value {
    let mut object = tensor_json(&view.tensor, file);
    let text = |expr: &Expr| layout_names::layout_expr(expr, &view.tensor.layout);
    let affine = view.affine.as_ref();
    let strides = affine.map(|a| a.strides.iter().map(|s| number(s, &text)).collect::<Vec<_>>());
    object["kind"] = "view".into();
    object["of"] = view.of_name.as_str().into();
    object["writable"] = (!view.is_broadcast()).into();
    object["origin"] = affine.map_or(Value::Null, |affine| number(&affine.origin, &text));
    object["axis_strides"] = strides.into();
    object
}

/// JSON object of a record's field: name, element type, extents of an array field, offset and size in bytes.
fn field_json(field: &Field) -> Value {
    json!({
        "name": field.name,
        "dtype": field.dtype.to_string(),
        "counts": field.counts,
        "offset_bytes": field.offset,
        "bytes": field.bytes(),
    })
}

/// Short form of [`tensor_json`] for summaries of all tensors: name, element type, extents without names of axes,
/// physical shape, verdict, and numbers of elements and bytes.
pub fn summary_json(tensor: &Tensor) -> Value {
    let layout = &tensor.layout;
    let text = |expr: &Expr| layout_names::layout_expr(expr, layout);
    let number = |expr: &Expr| number(expr, &text);
    let counts = tensor.counts();
    json!({
        "name": tensor.name,
        "dtype": tensor.dtype.to_string(),
        "element_bits": tensor.dtype.element_bits(),
        "axes": layout.logical().iter().map(|axis| json!({"extent": number(&axis.extent)})).collect::<Vec<_>>(),
        "physical_shape": layout.physical_shape().iter().map(number).collect::<Vec<_>>(),
        "verdict": layout.verdict().word(),
        "logical_elements": number(layout.logical_elements()),
        "padding_elements": number(&counts.padding_elements),
        "bytes": number(&counts.bytes),
    })
}

/// JSON value of an expression: a number if the expression is a constant of at most 64 bits, otherwise the string that
/// `text` returns for it.
fn number(expr: &Expr, text: &dyn Fn(&Expr) -> String) -> Value {
    match expr.as_const().and_then(|value| i64::try_from(value).ok()) {
        Some(value) => Value::from(value),
        None => Value::from(text(expr)),
    }
}

/// Text report on a tensor in `file`, one property per line.
pub fn tensor_text(tensor: &Tensor, file: &str) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    if let Some(sharded) = &tensor.sharded {
        lines.extend(sharding::lines(tensor, sharded));
    }
    if let Some(ring) = &tensor.ring {
        let whole = layout_names::axes(&ring.whole, tensor.layout.symbols());
        lines.push(("whole", whole.join(", ")));
        lines.push((
            "ring",
            format!("{} neighbours along {} at a time", ring.capacity, ring.name()),
        ));
    }
    lines.extend(facts_of(tensor));
    lines.extend(memory_of(tensor));
    lines.extend(notations_of(tensor));
    format!("{} ({}, {file})\n{}", tensor.name, tensor.dtype, lines_text(&lines))
}

/// Text report on a view in `file`, one property per line.
pub fn view_text(view: &View, file: &str) -> String {
    let tensor = &view.tensor;
    let text = |expr: &Expr| layout_names::layout_expr(expr, &tensor.layout);
    let mut lines = facts_of(tensor);
    if let Some(affine) = &view.affine {
        let axes = tensor.layout.logical().iter().zip(&affine.strides);
        let steps: Vec<String> =
            axes.map(|(axis, stride)| format!("{} {}", axis.name, text(stride))).collect();
        lines.push(("origin", text(&affine.origin)));
        lines.push(("steps", steps.join(", ")));
    }
    if view.is_broadcast() {
        lines.retain(|(name, _)| !["inverse", "verdict"].contains(name));
        lines.push(("verdict", "broadcast: several elements share a slot, only read".to_owned()));
    }
    lines.extend(memory_of(tensor));
    let (name, dtype, of) = (&tensor.name, tensor.dtype, &view.of_name);
    format!("{name} ({dtype}, view of {of}, {file})\n{}", lines_text(&lines))
}

pub(super) fn lines_text(lines: &[(&str, String)]) -> String {
    let mut out = String::new();
    for (name, value) in lines {
        out.push_str(&format!("  {name:<15} {value}\n"));
    }
    out
}

/// Pairs (label, line) of a report for several lines of text. The first line has the label `label`, the others an empty
/// one.
fn labelled(
    label: &'static str,
    lines: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    lines.into_iter().enumerate().map(move |(k, line)| (if k == 0 { label } else { "" }, line))
}

fn facts_of(tensor: &Tensor) -> Vec<(&'static str, String)> {
    let layout = &tensor.layout;
    let text = |expr: &Expr| layout_names::layout_expr(expr, layout);
    let shape = |axes: &[Axis]| match layout_names::axes(axes, layout.symbols()).as_slice() {
        [] => "one element".to_owned(),
        axes => axes.join(", "),
    };
    let list = |exprs: &[Expr]| format!("[{}]", layout_names::list(exprs, layout.symbols()));
    let names = |var| variable(var, layout.logical(), layout.storage(), layout.symbols());
    let mut lines: Vec<(&str, String)> = vec![("axes", shape(layout.logical()))];
    for (axis, labels) in layout.logical().iter().zip(&tensor.labels) {
        if !labels.is_empty() {
            lines.push(("labels", format!("{}: {}", axis.name, labels.join(", "))));
        }
    }
    if let Some(domain) = layout_names::domain(tensor) {
        lines.push(("elements where", domain));
    }
    lines.extend([
        ("storage axes", shape(layout.storage())),
        ("physical shape", list(layout.physical_shape())),
    ]);
    if !layout.separators().is_empty() {
        lines.push(("separators", format!("{:?}", layout.separators())));
    }
    lines.push(("strides", list(layout.strides())));
    let map = layout.physical_map().iter().enumerate();
    lines.extend(labelled("map", map.map(|(k, index)| format!("p{k} = {}", text(index)))));
    match layout.inverse() {
        Some(inverse) => {
            let inverse = layout.logical().iter().zip(inverse);
            let inverse = inverse.map(|(axis, index)| format!("{} = {}", axis.name, text(index)));
            lines.extend(labelled("inverse", inverse));
        }
        None => lines.push(("inverse", "no expression: found by search".to_string())),
    }
    if let Some(valid) = layout.valid() {
        lines.push(("valid where", print::predicate(valid, &names)));
    }
    lines.push(("verdict", format!("{}, by {}", layout.verdict().word(), layout.proof().word())));
    lines
}

fn memory_of(tensor: &Tensor) -> Vec<(&'static str, String)> {
    let layout = &tensor.layout;
    let text = |expr: &Expr| layout_names::layout_expr(expr, layout);
    let (elements, slots) = (text(layout.logical_elements()), text(layout.physical_elements()));
    let bytes = text(&tensor.counts().bytes);
    let mut lines = vec![
        ("elements", format!("{elements} in {slots} slots")),
        ("bytes", format!("{bytes}, aligned to {}", layout.alignment_bytes())),
    ];
    if let Some(origin) = layout.origin() {
        let at = format!("offset {}, aligned to {}", text(&origin.offset), origin.alignment_bytes);
        lines.push(("first element", at));
    }
    lines.push(("memory", tensor.memory_word().to_string()));
    if let Some(logical) = tensor.pack_from {
        lines
            .push(("packed from", format!("{}, by {}", logical.dtype, logical.pack.mode().word())));
    }
    lines
}

/// Lines of a text report with the layout in the notations of other tools, as pairs (label, line). A line consists of
/// the keyword of a notation and the text. A notation that cannot express the layout or the buffer's size is left out.
fn notations_of(tensor: &Tensor) -> Vec<(&'static str, String)> {
    let texts = notations::texts(tensor).into_iter();
    let texts = texts.filter_map(|(notation, text)| Some(format!("{} {}", notation.word(), text?)));
    labelled("notations", texts).collect()
}
