//! Reports on a solved graph: as JSON, as text and in Graphviz's DOT language.

mod dot;

use serde_json::{Map, Value, json};

pub use dot::dot;

use super::lines_text;
use crate::model::graph::{Graph, GraphNode, GraphTensor, OperatorLowering, TensorRole};
use crate::solve::{GraphPlan, LayoutConversion};

/// Object of `solve --format json` for one graph, with costs in bytes. The property `choices` has, for each operator
/// whose choice comes from an `accepts` node, the position of that node, from 0. The property `layouts` has the layout
/// in which each tensor is produced or passed to the graph; `inputs` repeats it for inputs without a declared layout.
pub fn solution_json(graph: &Graph, plan: &GraphPlan) -> Value {
    let all = || graph.tensors.iter().zip(&plan.stored);
    let stored = |(tensor, stored): (&GraphTensor, &usize)| {
        (tensor.name.clone(), Value::from(tensor.text(*stored)))
    };
    let is_open = |(tensor, _): &(&GraphTensor, &usize)| {
        tensor.role == TensorRole::Input && tensor.declared.is_none()
    };
    let inputs: Map<String, Value> = all().filter(is_open).map(stored).collect();
    let layouts: Map<String, Value> = all().map(stored).collect();
    let choices: Map<String, Value> = graph
        .nodes
        .iter()
        .zip(&plan.choices)
        .filter_map(|(node, choice)| {
            Some((node.name.clone(), Value::from(node.choices.get(*choice)?.alternative?)))
        })
        .collect();
    let list = |wanted: &dyn Fn(&LayoutConversion) -> bool| -> Vec<Value> {
        let wanted = plan.conversions.iter().filter(|conversion| wanted(conversion));
        wanted.filter_map(|conversion| conversion_json(graph, conversion)).collect()
    };
    let is_constant = |conversion: &LayoutConversion| {
        graph.tensors.get(conversion.tensor).is_some_and(GraphTensor::is_constant)
    };
    json!({
        "name": graph.name,
        "cost": plan.cost,
        "lower_bound": plan.lower_bound,
        "optimal": plan.is_optimal(),
        "inputs": inputs,
        "choices": choices,
        "conversions": list(&|c| !c.is_free && !is_constant(c)),
        "free": list(&|c| c.is_free && !is_constant(c)),
        "constants": list(&|c| is_constant(c)),
        "layouts": layouts,
        "transposes": transposes_json(graph, plan),
    })
}

/// JSON objects, one for each transposition that layoutc performs, as an alias or a conversion: the name of the
/// operator (`node`), the layouts of its operand (`from`) and its result (`to`), and the cost in bytes.
fn transposes_json(graph: &Graph, plan: &GraphPlan) -> Vec<Value> {
    let one = |(node, choice): (&GraphNode, &usize)| {
        let choice = node.choices.get(*choice).filter(|_| node.transposed.is_some())?;
        let text = |tensor: Option<&usize>, layout: Option<usize>| {
            Some(graph.tensors.get(*tensor?)?.text(layout?).to_owned())
        };
        let from = text(node.inputs.first(), choice.inputs.first().copied().flatten())?;
        let to = text(node.outputs.first(), choice.outputs.first().copied())?;
        Some(json!({ "node": node.name, "from": from, "to": to, "cost": choice.cost }))
    };
    graph.nodes.iter().zip(&plan.choices).filter_map(one).collect()
}

fn conversion_json(graph: &Graph, conversion: &LayoutConversion) -> Option<Value> {
    let tensor = graph.tensors.get(conversion.tensor)?;
    let (from, to) = (tensor.text(conversion.from), tensor.text(conversion.to));
    Some(json!({ "tensor": tensor.name, "from": from, "to": to, "cost": conversion.cost }))
}

/// Text report on a solved graph: inputs, operators, outputs, conversions and cost. An operator is listed with the
/// layouts of its operands and results. `file` is the manifest's name.
pub fn solution_text(graph: &Graph, plan: &GraphPlan, file: &str) -> String {
    let mut lines: Vec<(&str, String)> = Vec::new();
    let outside = graph.tensors.iter().zip(&plan.stored);
    for (tensor, stored) in outside.filter(|row| row.0.role == TensorRole::Input) {
        let chosen = if tensor.declared.is_none() { ", chosen" } else { "" };
        lines.push(("input", format!("{} {}{chosen}", tensor.name, tensor.text(*stored))));
    }
    for (node, choice) in graph.nodes.iter().zip(&plan.choices) {
        lines.push(("node", node_text(graph, node, *choice)));
    }
    for wanted in &graph.outputs {
        let Some(tensor) = graph.tensors.get(wanted.tensor) else { continue };
        let stored = plan.stored.get(wanted.tensor).copied().unwrap_or(0);
        let layout = tensor.text(wanted.candidate.unwrap_or(stored));
        lines.push(("output", format!("{} {layout}", tensor.name)));
    }
    for conversion in &plan.conversions {
        let Some(tensor) = graph.tensors.get(conversion.tensor) else { continue };
        let how = match (conversion.is_free, tensor.is_constant()) {
            (true, _) => "no byte moves".to_owned(),
            (false, true) => "once, when it is loaded".to_owned(),
            (false, false) => format!("{} bytes", conversion.cost),
        };
        let (from, to) = (tensor.text(conversion.from), tensor.text(conversion.to));
        lines.push(("convert", format!("{} {from} -> {to}, {how}", tensor.name)));
    }
    lines.push(("cost", format!("{} bytes, {}", plan.cost, proof(plan))));
    format!("{} (graph, {file})\n{}", graph.name, lines_text(&lines))
}

/// Text on the proof of a plan: `proven least` if the cost equals the lower bound. Otherwise it has the lower bound in
/// bytes, and the difference between cost and bound in percent of the cost.
fn proof(plan: &GraphPlan) -> String {
    if plan.is_optimal() {
        return "proven least".to_owned();
    }
    let rest = u128::from(plan.cost.saturating_sub(plan.lower_bound)) * 10_000;
    let share = rest.checked_div(u128::from(plan.cost)).unwrap_or(0);
    let bound = plan.lower_bound;
    format!("proven to be at least {bound}, a gap of {}.{:02} %", share / 100, share % 100)
}

/// Line of a text report for one operator: `c1 = conv(x NHWC, w OHWI) -> y NHWC, alternative 0, 100352 bytes`.
fn node_text(graph: &Graph, node: &GraphNode, choice: usize) -> String {
    let Some(choice) = node.choices.get(choice) else { return node.name.clone() };
    let tensor = |k: &usize, layout: Option<usize>| {
        let Some(tensor) = graph.tensors.get(*k) else { return String::new() };
        match layout {
            Some(layout) => format!("{} {}", tensor.name, tensor.text(layout)),
            None => tensor.name.clone(),
        }
    };
    let reads: Vec<String> =
        node.inputs.iter().zip(&choice.inputs).map(|(k, layout)| tensor(k, *layout)).collect();
    let writes: Vec<String> = node
        .outputs
        .iter()
        .zip(&choice.outputs)
        .map(|(k, layout)| tensor(k, Some(*layout)))
        .collect();
    let mut text =
        format!("{} = {}({}) -> {}", node.name, node.op, reads.join(", "), writes.join(", "));
    if let Some(k) = choice.alternative.filter(|_| node.choices.len() > 1) {
        text.push_str(&format!(", alternative {k}"));
    }
    match choice.lowering {
        OperatorLowering::Alias => text.push_str(", no byte moves"),
        OperatorLowering::Conversion => {
            text.push_str(&format!(", converted, {} bytes", choice.cost));
        }
        OperatorLowering::Operator if choice.cost > 0 => {
            text.push_str(&format!(", {} bytes", choice.cost));
        }
        OperatorLowering::Operator => {}
    }
    text
}
