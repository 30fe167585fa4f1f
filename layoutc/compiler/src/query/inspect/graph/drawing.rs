//! Solved graph as boxes and arrows: operators, external tensors and conversions, with layouts and bytes on the arrows.

use std::collections::BTreeMap;

use crate::model::graph::{Graph, GraphTensor, OperatorLowering, TensorRole};
use crate::solve::{GraphPlan, LayoutConversion};

/// Kind of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BoxKind {
    Input,
    Constant,
    Operator,
    Conversion,
    Output,
}

#[derive(Debug)]
pub(super) struct GraphBox {
    pub(super) kind: BoxKind,
    pub(super) title: String,
    pub(super) below: String,
}

/// Arrow between two boxes, by position.
#[derive(Debug)]
pub(super) struct GraphArrow {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
}

/// Drawing of a graph. A box follows the boxes with arrows to it.
#[derive(Debug, Default)]
pub(super) struct GraphDrawing {
    pub(super) boxes: Vec<GraphBox>,
    pub(super) arrows: Vec<GraphArrow>,
    /// Box that produces a tensor in a layout.
    producers: BTreeMap<(usize, usize), usize>,
}

impl GraphDrawing {
    pub(super) fn new(graph: &Graph, plan: &GraphPlan) -> Self {
        let mut drawing = Self::default();
        for (k, tensor) in graph.tensors.iter().enumerate() {
            let kind = match tensor.role {
                TensorRole::Input => BoxKind::Input,
                TensorRole::Constant => BoxKind::Constant,
                TensorRole::Result { .. } => continue,
            };
            let here = drawing.add(kind, &tensor.name, &shape(tensor));
            drawing.given(plan, k, tensor, here);
        }
        for (k, node) in graph.nodes.iter().enumerate() {
            let choice = plan.choices.get(k).and_then(|choice| node.choices.get(*choice));
            let below = match choice {
                Some(choice) if choice.lowering == OperatorLowering::Alias => {
                    format!("{}, no byte moves", node.op)
                }
                Some(choice) if choice.cost > 0 => format!("{}, {}", node.op, bytes(choice.cost)),
                _ => node.op.clone(),
            };
            let is_moved =
                choice.is_some_and(|choice| choice.lowering == OperatorLowering::Conversion);
            let kind = if is_moved { BoxKind::Conversion } else { BoxKind::Operator };
            let here = drawing.add(kind, &node.name, &below);
            for (slot, read) in node.inputs.iter().enumerate() {
                let required = choice.and_then(|choice| choice.inputs.get(slot).copied().flatten());
                drawing.arrow(graph, plan, *read, required, here);
            }
            for written in &node.outputs {
                if let Some(tensor) = graph.tensors.get(*written) {
                    drawing.given(plan, *written, tensor, here);
                }
            }
        }
        for wanted in &graph.outputs {
            let name = graph.tensors.get(wanted.tensor).map_or("", |tensor| &tensor.name);
            let here = drawing.add(BoxKind::Output, name, "output");
            drawing.arrow(graph, plan, wanted.tensor, wanted.candidate, here);
        }
        drawing
    }

    fn add(&mut self, kind: BoxKind, title: &str, below: &str) -> usize {
        self.boxes.push(GraphBox { kind, title: title.to_owned(), below: below.to_owned() });
        self.boxes.len() - 1
    }

    /// Adds the conversions of a tensor after the box that produces it.
    fn given(&mut self, plan: &GraphPlan, position: usize, tensor: &GraphTensor, from: usize) {
        let stored = plan.stored.get(position).copied().unwrap_or(0);
        self.producers.insert((position, stored), from);
        let conversions: Vec<LayoutConversion> = plan.conversions_of(position).copied().collect();
        for conversion in conversions {
            let Some(giver) = self.producers.get(&(position, conversion.from)).copied() else {
                continue;
            };
            if conversion.is_free {
                self.producers.insert((position, conversion.to), giver);
                continue;
            }
            let is_constant = tensor.is_constant();
            let below = if is_constant { "once".to_owned() } else { bytes(conversion.cost) };
            let here = self.add(
                BoxKind::Conversion,
                &format!("to {}", tensor.text(conversion.to)),
                &below,
            );
            self.link(tensor, conversion.from, giver, here);
            self.producers.insert((position, conversion.to), here);
        }
    }

    fn arrow(
        &mut self,
        graph: &Graph,
        plan: &GraphPlan,
        tensor: usize,
        required: Option<usize>,
        to: usize,
    ) {
        let stored = plan.stored.get(tensor).copied().unwrap_or(0);
        let layout = required.unwrap_or(stored);
        let giver = self.producers.get(&(tensor, layout)).copied();
        if let (Some(shown), Some(giver)) = (graph.tensors.get(tensor), giver) {
            self.link(shown, layout, giver, to);
        }
    }

    fn link(&mut self, tensor: &GraphTensor, layout: usize, from: usize, to: usize) {
        let size = tensor.candidates.get(layout).map_or(0, |candidate| candidate.bytes);
        let label = format!("{} {}, {}", tensor.name, tensor.text(layout), bytes(size));
        self.arrows.push(GraphArrow { from, to, label });
    }
}

/// `1x56x56x64 f32`
fn shape(tensor: &GraphTensor) -> String {
    let Some(candidate) = tensor.candidates.first() else { return String::new() };
    let layout = &candidate.tensor.layout;
    let extents: Vec<String> = layout
        .logical()
        .iter()
        .map(|axis| axis.extent.as_const().map_or_else(|| "?".to_owned(), |n| n.to_string()))
        .collect();
    format!("{} {}", extents.join("x"), candidate.tensor.dtype)
}

/// Bytes in binary units with at most one decimal: `784 KiB`.
fn bytes(bytes: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|(unit, _)| bytes >= *unit);
    let Some((unit, name)) = unit else { return format!("{bytes} B") };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    if tenths.is_multiple_of(10) || tenths >= 1000 {
        format!("{} {name}", tenths / 10)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

/// Graph in Graphviz's DOT language.
pub fn dot(graph: &Graph, plan: &GraphPlan) -> String {
    let drawing = GraphDrawing::new(graph, plan);
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text =
        format!("digraph \"{}\" {{\n  node [fontname=\"sans-serif\"]\n", quoted(&graph.name));
    for (k, shown) in drawing.boxes.iter().enumerate() {
        let style = match shown.kind {
            BoxKind::Operator => "shape=box",
            BoxKind::Input | BoxKind::Output => "shape=ellipse",
            BoxKind::Constant => "shape=ellipse style=dashed",
            BoxKind::Conversion => "shape=box style=\"rounded,filled\" fillcolor=\"#ffd9a0\"",
        };
        let (title, below) = (quoted(&shown.title), quoted(&shown.below));
        text.push_str(&format!("  n{k} [{style} label=\"{title}\\n{below}\"]\n"));
    }
    for arrow in &drawing.arrows {
        let label = quoted(&arrow.label);
        text.push_str(&format!("  n{} -> n{} [label=\"{label}\"]\n", arrow.from, arrow.to));
    }
    text + "}\n"
}
