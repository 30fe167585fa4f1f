//! Drawing of a solved graph in Graphviz's DOT language. Each operator is a box, each input, constant and output an
//! ellipse, and each conversion that moves bytes a filled box. Edges are labeled with the name, layout and size of the
//! tensor that they pass.

use std::collections::BTreeMap;

use super::proof;
use crate::model::graph::{Graph, GraphTensor, OperatorLowering, TensorRole};
use crate::solve::{GraphPlan, LayoutConversion};

const BOX: &str = "shape=box";
const ELLIPSE: &str = "shape=ellipse";
const DASHED: &str = "shape=ellipse style=dashed";
const FILLED: &str = "shape=box style=\"rounded,filled\" fillcolor=\"#ffd9a0\"";

/// Text of a solved graph in Graphviz's DOT language, with costs in bytes. Edges point from producer to reader.
pub fn dot(graph: &Graph, plan: &GraphPlan) -> String {
    let mut drawing =
        Drawing { graph, plan, nodes: Vec::new(), edges: Vec::new(), producers: BTreeMap::new() };
    for (k, tensor) in graph.tensors.iter().enumerate() {
        let style = match tensor.role {
            TensorRole::Input => ELLIPSE,
            TensorRole::Constant => DASHED,
            TensorRole::Result { .. } => continue,
        };
        let node = drawing.node(style, &tensor.name, &shape(tensor));
        drawing.conversions(k, tensor, node);
    }
    for (node, choice) in graph.nodes.iter().zip(&plan.choices) {
        let Some(choice) = node.choices.get(*choice) else { continue };
        let below = match choice.lowering {
            OperatorLowering::Alias => format!("{}, no byte moves", node.op),
            _ if choice.cost > 0 => format!("{}, {} bytes", node.op, choice.cost),
            _ => node.op.clone(),
        };
        let is_conversion = choice.lowering == OperatorLowering::Conversion;
        let here = drawing.node(if is_conversion { FILLED } else { BOX }, &node.name, &below);
        for (slot, read) in node.inputs.iter().enumerate() {
            drawing.read(*read, choice.inputs.get(slot).copied().flatten(), here);
        }
        for written in &node.outputs {
            if let Some(tensor) = graph.tensors.get(*written) {
                drawing.conversions(*written, tensor, here);
            }
        }
    }
    for wanted in &graph.outputs {
        let name = graph.tensors.get(wanted.tensor).map_or("", |tensor| &tensor.name);
        let here = drawing.node(ELLIPSE, name, "output");
        drawing.read(wanted.tensor, wanted.candidate, here);
    }
    let (name, nodes, edges) =
        (quoted(&graph.name), drawing.nodes.concat(), drawing.edges.concat());
    let (cost, proof) = (plan.cost, proof(plan));
    format!(
        "digraph \"{name}\" {{\n  \
         graph [label=\"{name}: {cost} bytes, {proof}\" labelloc=t fontname=\"sans-serif\"]\n  \
         node [fontname=\"sans-serif\"]\n  \
         edge [fontname=\"sans-serif\" fontsize=10]\n\
         {nodes}{edges}}}\n"
    )
}

/// Drawing in Graphviz's DOT language under construction: lines of nodes and of edges, in order of addition.
struct Drawing<'g> {
    graph: &'g Graph,
    plan: &'g GraphPlan,
    nodes: Vec<String>,
    edges: Vec<String>,
    /// Numbers of the DOT nodes that produce tensors. The key is the position of the tensor, and the position of the
    /// layout among its candidates.
    producers: BTreeMap<(usize, usize), usize>,
}

impl Drawing<'_> {
    /// Adds a DOT node with the attributes `style` and a label of two lines, `title` and `below`. Returns the number of
    /// the node.
    fn node(&mut self, style: &str, title: &str, below: &str) -> usize {
        let (number, title, below) = (self.nodes.len(), quoted(title), quoted(below));
        self.nodes.push(format!("  n{number} [{style} label=\"{title}\\n{below}\"]\n"));
        number
    }

    /// Draws the conversions of `tensor`, the tensor at `position`: for each that moves bytes, a DOT node and an edge
    /// to it from the node of the source layout. `from` is the number of the DOT node of the operator, input or
    /// constant that the tensor comes from. Records the DOT nodes that produce the layouts of the tensor, which
    /// [`Self::read`] needs, even if there are no conversions.
    fn conversions(&mut self, position: usize, tensor: &GraphTensor, from: usize) {
        self.producers.insert((position, self.stored(position)), from);
        let plan = self.plan;
        for LayoutConversion { from, to, cost, is_free, .. } in plan.conversions_of(position) {
            let Some(producer) = self.producers.get(&(position, *from)).copied() else { continue };
            let mut here = producer;
            if !is_free {
                let below =
                    if tensor.is_constant() { "once".to_owned() } else { format!("{cost} bytes") };
                here = self.node(FILLED, &format!("to {}", tensor.text(*to)), &below);
                self.edge(tensor, *from, producer, here);
            }
            self.producers.insert((position, *to), here);
        }
    }

    /// Adds an edge that passes the tensor at `position` to the DOT node with the number `to`. `required` is the
    /// position of the candidate layout that `to` reads; `None`: the layout in which the tensor is produced.
    fn read(&mut self, position: usize, required: Option<usize>, to: usize) {
        let layout = required.unwrap_or(self.stored(position));
        let producer = self.producers.get(&(position, layout)).copied();
        if let (Some(tensor), Some(producer)) = (self.graph.tensors.get(position), producer) {
            self.edge(tensor, layout, producer, to);
        }
    }

    fn edge(&mut self, tensor: &GraphTensor, layout: usize, from: usize, to: usize) {
        let bytes = tensor.candidates.get(layout).map_or(0, |candidate| candidate.bytes);
        let label = quoted(&format!("{} {}, {bytes} bytes", tensor.name, tensor.text(layout)));
        self.edges.push(format!("  n{from} -> n{to} [label=\"{label}\"]\n"));
    }

    fn stored(&self, position: usize) -> usize {
        self.plan.stored.get(position).copied().unwrap_or(0)
    }
}

fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Extents, outermost first, and element type of a tensor: `1x56x56x64 f32`; `?` for a symbolic extent.
fn shape(tensor: &GraphTensor) -> String {
    let Some(candidate) = tensor.candidates.first() else { return String::new() };
    let extent = |axis: &layoutc_algebra::symbol::Axis| {
        axis.extent.as_const().map_or_else(|| "?".to_owned(), |n| n.to_string())
    };
    let extents: Vec<String> = candidate.tensor.layout.logical().iter().map(extent).collect();
    format!("{} {}", extents.join("x"), candidate.tensor.dtype)
}
