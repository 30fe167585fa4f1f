//! Summary of a build with one row per tensor, view and graph. For a tensor: the logical and the physical shape, the
//! verdict of the proof, the bytes and the padding.
//!
//! The values of tensors and views come from the JSON objects of `layoutc inspect`, so that the two commands print
//! equal values.

use std::time::Duration;

use layoutc_compiler::env::CompileStage;
use layoutc_compiler::model::graph::Graph;
use layoutc_compiler::model::{Tensor, View};
use layoutc_compiler::query::inspect::summary_json;
use layoutc_compiler::solve::{LayoutConversion, SolverOptions, solve};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::output::OutputStatus;
use crate::report::{counted, escape};

use super::{OutputSummary, WorkSpan};

/// Row of a tensor, view or graph in the summary. Sizes are JSON integers, or strings with expressions over symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TensorRow {
    name: String,
    file: String,
    dtype: String,
    logical: Vec<Value>,
    physical: Vec<Value>,
    verdict: String,
    bytes: Value,
    padding: PaddingAmount,
    /// Name of the base of a view: a tensor, or an earlier view. `None` for a tensor or graph.
    view_of: Option<String>,
    /// Values of a graph; of the other fields, only `name` and `file` are then used. `None` for a tensor or view.
    graph: Option<GraphRow>,
}

/// Values of a solved graph: its number of nodes, the number of conversions with a cost above 0, the total cost in
/// bytes, and a proven lower bound of the cost in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct GraphRow {
    nodes: usize,
    conversions: usize,
    cost: u64,
    lower_bound: u64,
}

/// Amount of padding in a tensor, in the unit that is known for its element type and shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum PaddingAmount {
    Bytes(u64),
    /// Number of padding elements as text, such as an expression over symbols.
    Elements(String),
    /// Numbers of padding elements (`empty`) and of all elements in memory (`all`), for elements whose size is not a
    /// whole number of bytes.
    Slots {
        empty: u64,
        all: u64,
    },
}

impl TensorRow {
    pub(crate) fn new(tensor: &Tensor) -> Self {
        Self::from_json(&summary_json(tensor), &tensor.file)
    }

    /// Row of a view of a tensor.
    pub(crate) fn view(view: &View) -> Self {
        Self { view_of: Some(view.of_name.clone()), ..Self::new(&view.tensor) }
    }

    /// Row of a graph, `None` if the solver finds no plan for it. A diagnostic that is reported elsewhere has the
    /// reason.
    pub(crate) fn graph(graph: &Graph) -> Option<Self> {
        let plan = solve(graph, &SolverOptions::default()).ok()?;
        let is_paid = |conversion: &&LayoutConversion| conversion.cost > 0;
        let found = GraphRow {
            nodes: graph.nodes.len(),
            conversions: plan.conversions.iter().filter(is_paid).count(),
            cost: plan.cost,
            lower_bound: plan.lower_bound,
        };
        let row = Self::from_json(&json!({ "name": graph.name }), &graph.place.file);
        Some(Self { graph: Some(found), ..row })
    }

    /// Row with the path of the manifest replaced by `file`, a path for display.
    pub(crate) fn of(self, file: String) -> Self {
        Self { file, ..self }
    }

    fn from_json(value: &Value, file: &str) -> Self {
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        let list = |key: &str| value[key].as_array().cloned().unwrap_or_default();
        Self {
            name: text("name"),
            file: file.to_owned(),
            dtype: text("dtype"),
            logical: list("axes").iter().map(|axis| axis["extent"].clone()).collect(),
            physical: list("physical_shape"),
            verdict: text("verdict"),
            bytes: value["bytes"].clone(),
            padding: padding(value),
            view_of: None,
            graph: None,
        }
    }

    /// Adds `rows` to `object`, the JSON object that `build` or `check` prints: tensors and views as the list
    /// `tensors`, graphs as the list `graphs`.
    pub(crate) fn add_to(object: &mut Value, rows: &[Self]) {
        let of = |graphs: bool| -> Vec<Value> {
            rows.iter().filter(|row| row.graph.is_some() == graphs).map(Self::json).collect()
        };
        object["tensors"] = of(false).into();
        object["graphs"] = of(true).into();
    }

    fn json(&self) -> Value {
        if let Some(GraphRow { nodes, conversions, cost, lower_bound }) = self.graph {
            return json!({
                "name": self.name,
                "file": self.file,
                "nodes": nodes,
                "conversions": conversions,
                "cost": cost,
                "lower_bound": lower_bound,
                "optimal": lower_bound >= cost,
            });
        }
        if let Some(of) = &self.view_of {
            return json!({
                "kind": "view",
                "name": self.name,
                "file": self.file,
                "of": of,
                "dtype": self.dtype,
                "shape": self.logical,
                "physical_shape": self.physical,
                "verdict": self.verdict,
            });
        }
        let padding = match &self.padding {
            PaddingAmount::Bytes(bytes) => ("padding_bytes", Value::from(*bytes)),
            PaddingAmount::Elements(elements) => {
                ("padding_elements", Value::from(elements.as_str()))
            }
            PaddingAmount::Slots { empty, .. } => ("padding_elements", Value::from(*empty)),
        };
        let mut object = json!({
            "name": self.name,
            "file": self.file,
            "dtype": self.dtype,
            "shape": self.logical,
            "physical_shape": self.physical,
            "verdict": self.verdict,
            "bytes": self.bytes,
        });
        object[padding.0] = padding.1;
        object
    }

    /// Path of the manifest that declares the tensor, view or graph.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    fn columns(&self) -> [String; 6] {
        if let Some(GraphRow { nodes, conversions, cost, lower_bound }) = &self.graph {
            return [
                escape(&self.name),
                "graph".to_owned(),
                counted(*nodes, "node"),
                if lower_bound >= cost { "optimal" } else { "not proven" }.to_owned(),
                format!("{} bytes", grouped(*cost)),
                counted(*conversions, "conversion"),
            ];
        }
        [
            escape(&self.name),
            self.dtype.clone(),
            format!("{} -> {}", shape(&self.logical), shape(&self.physical)),
            self.verdict.clone(),
            if self.view_of.is_some() { String::new() } else { bytes(&self.bytes) },
            self.view_of
                .as_ref()
                .map_or_else(|| self.padding_text(), |of| format!("view of {}", escape(of))),
        ]
    }

    fn padding_text(&self) -> String {
        match &self.padding {
            PaddingAmount::Bytes(0) => "no padding".to_owned(),
            PaddingAmount::Bytes(padding) => {
                let share = self.bytes.as_u64().map_or(String::new(), |all| percent(*padding, all));
                format!("{} padding{share}", grouped(*padding))
            }
            PaddingAmount::Elements(elements) if elements == "0" => "no padding".to_owned(),
            PaddingAmount::Elements(elements) => format!("{elements} elements padding"),
            PaddingAmount::Slots { empty, all } => {
                format!(
                    "{} of {} elements padding{}",
                    grouped(*empty),
                    grouped(*all),
                    percent(*empty, *all)
                )
            }
        }
    }
}

fn padding(tensor: &Value) -> PaddingAmount {
    let elements = &tensor["padding_elements"];
    let bits = tensor["element_bits"].as_u64();
    let logical = tensor["logical_elements"].as_u64();
    match (elements.as_u64(), tensor["bytes"].as_u64(), logical.zip(bits)) {
        (Some(0), _, _) => PaddingAmount::Bytes(0),
        (Some(empty), _, Some((logical, bits))) if bits % 8 != 0 => {
            PaddingAmount::Slots { empty, all: logical.saturating_add(empty) }
        }
        (Some(_), Some(all), Some((logical, bits))) => {
            let used = u128::from(logical) * u128::from(bits);
            let used = u64::try_from(used.div_ceil(8)).unwrap_or(u64::MAX);
            PaddingAmount::Bytes(all.saturating_sub(used))
        }
        (Some(elements), _, _) => PaddingAmount::Elements(elements.to_string()),
        (None, _, _) => PaddingAmount::Elements(elements.as_str().unwrap_or("?").to_owned()),
    }
}

/// Share of `part` in `all` as a percentage, rounded down to tenths, as text with a leading space: ` (25.0 %)`. A share
/// below 0.1 percent is ` (< 0.1 %)`, and so is any share if `all` is 0.
fn percent(part: u64, all: u64) -> String {
    let tenths = (u128::from(part) * 1000).checked_div(u128::from(all)).unwrap_or(0);
    match tenths {
        0 => " (< 0.1 %)".to_owned(),
        _ => format!(" ({}.{} %)", tenths / 10, tenths % 10),
    }
}

fn shape(extents: &[Value]) -> String {
    let extents: Vec<String> = extents.iter().map(plain).collect();
    format!("[{}]", extents.join(", "))
}

fn bytes(value: &Value) -> String {
    match value.as_u64() {
        Some(bytes) => format!("{} bytes", grouped(bytes)),
        None => format!("{} bytes", plain(value)),
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Decimal text of a value, with digits grouped by three from 10 000 on: `33 554 432`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

/// Table of `rows` as text with aligned columns and one row per line. The columns of a tensor are the name, element
/// type, shapes, verdict, bytes, and padding.
pub(crate) fn table(rows: &[TensorRow]) -> String {
    let rows: Vec<[String; 6]> = rows.iter().map(TensorRow::columns).collect();
    let width = |k: usize| rows.iter().map(|row| row[k].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut out = String::new();
    for row in &rows {
        let mut line = String::new();
        for (k, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[k] - cell.chars().count());
            // Sizes are right-aligned.
            let (left, right) = if k == 4 { (gap.as_str(), "") } else { ("", gap.as_str()) };
            line.extend([left, cell, right, "  "]);
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Counts of the outputs by status as text: `1 written, 2 unchanged`. A status without outputs is omitted. If there are
/// no outputs, the text is `0 written`.
pub(crate) fn counts(outputs: &OutputSummary) -> String {
    let mut parts = Vec::new();
    for status in [OutputStatus::Written, OutputStatus::Unchanged, OutputStatus::Removed] {
        let count = outputs.count(status);
        if count > 0 || (status == OutputStatus::Written && outputs.len() == 0) {
            parts.push(format!("{count} {}", status.word()));
        }
    }
    parts.join(", ")
}

/// Duration in milliseconds, rounded to the nearest multiple of 0.001.
pub(super) fn ms(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}

/// Duration of each stage as text, where `stages` has pairs of name and duration: `check 1.2 ms, emit 3.0 ms`.
pub(crate) fn stages_text(stages: &[(&str, Duration)]) -> String {
    let stage = |(name, took): &(&str, Duration)| format!("{name} {:.1} ms", ms(*took));
    stages.iter().map(stage).collect::<Vec<_>>().join(", ")
}

/// Table of durations as text. First one line per stage, with its duration and its share of `total`, the duration of
/// the build. Then one line per kind of task in `spans`, with the time of these tasks summed over all threads, and
/// their number.
pub(crate) fn stages_table(
    stages: &[(&str, Duration)],
    spans: &[WorkSpan],
    total: Duration,
) -> String {
    let all = total.as_secs_f64().max(1e-9);
    let mut out = String::new();
    for (name, took) in stages {
        let share = 100.0 * took.as_secs_f64() / all;
        out.push_str(&format!("{name:9}{:>10.1} ms{share:>7.1} %\n", ms(*took)));
    }
    for stage in CompileStage::ALL {
        let own: Vec<&WorkSpan> = spans.iter().filter(|span| span.stage == stage).collect();
        if !own.is_empty() {
            let took: Duration = own.iter().map(|span| span.end.saturating_sub(span.start)).sum();
            let pieces = counted(own.len(), "manifest");
            out.push_str(&format!(
                "  {:7}{:>10.1} ms  in {pieces}, all threads\n",
                stage.word(),
                ms(took)
            ));
        }
    }
    out
}

/// Duration of each stage in milliseconds as a JSON object, where `stages` has pairs of name and duration:
/// `{"check": 1.2, "emit": 3.0}`.
pub(crate) fn stages_json(stages: &[(&str, Duration)]) -> Value {
    let stage = |(name, took): &(&str, Duration)| ((*name).to_owned(), ms(*took).into());
    Value::Object(stages.iter().map(stage).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, shapes: [Value; 2], [elements, padding, bytes]: [Value; 3]) -> TensorRow {
        let [extent, physical] = shapes;
        let value = json!({
            "name": name, "dtype": "f32", "element_bits": 32, "axes": [{"name": "n", "extent": extent}],
            "physical_shape": [physical], "verdict": "padded",
            "logical_elements": elements, "padding_elements": padding, "bytes": bytes,
        });
        TensorRow::from_json(&value, "a.kdl")
    }

    #[test]
    fn rows_align_and_report_padding() {
        let rows = [
            row("a", [json!(3), json!(4)], [json!(3), json!(1), json!(16)]),
            row(
                "weights",
                [json!(100_000), json!(100_000)],
                [json!(100_000), json!(0), json!(400_000)],
            ),
            row(
                "t",
                [json!("batch"), json!("batch")],
                [json!("batch"), json!("0"), json!("batch * 4")],
            ),
        ];
        assert_eq!(
            table(&rows),
            "\
a        f32  [3] -> [4]            padded         16 bytes  4 padding (25.0 %)
weights  f32  [100000] -> [100000]  padded    400 000 bytes  no padding
t        f32  [batch] -> [batch]    padded  batch * 4 bytes  no padding
"
        );
    }

    #[test]
    fn json_rows_report_known_padding_in_bytes() {
        let row = row("a", [json!(3), json!(4)], [json!(3), json!(1), json!(16)]);
        assert_eq!(
            row.json().to_string(),
            r#"{"name":"a","file":"a.kdl","dtype":"f32","shape":[3],"physical_shape":[4],"verdict":"padded","bytes":16,"padding_bytes":4}"#
        );
    }

    #[test]
    fn sub_byte_padding_is_counted_in_elements() {
        let value = json!({
            "name": "a", "dtype": "u1", "element_bits": 1, "axes": [{"name": "n", "extent": 9}],
            "physical_shape": [16], "verdict": "padded",
            "logical_elements": 9, "padding_elements": 7, "bytes": 2,
        });
        let row = TensorRow::from_json(&value, "a.kdl");
        assert_eq!(row.padding_text(), "7 of 16 elements padding (43.7 %)");
        assert_eq!(row.json()["padding_elements"], 7);
    }

    #[test]
    fn a_small_padding_share_is_not_rounded_to_zero() {
        assert_eq!(percent(1, 1_000_000), " (< 0.1 %)");
        assert_eq!(percent(1, 3), " (33.3 %)");
        assert_eq!(percent(0, 0), " (< 0.1 %)");
    }
}
