//! Printing of an inferred network as the text of a manifest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::kdl_text::{quoted, word};
use super::letter_assignment::{LetterAssignment, MAX_LETTERS, USUAL};
use super::name_map::map;
use super::names::ManifestNamer;
use super::network::{NetworkOperator, OnnxNetwork};
use super::operator::{OnnxOperatorKind, is_standard};
use super::properties::properties;
use super::{ImportOptions, ImportedGraph};
use crate::base::dtype::Dtype;

/// Name of the row-major layout, for tensors without letters or with more than [`MAX_LETTERS`] axes.
const ROW_MAJOR: &str = "row-major";

/// Manifest for a network: its text, and counts and names for reports.
pub(super) fn write(
    network: &OnnxNetwork<'_>,
    letters: &LetterAssignment,
    options: &ImportOptions<'_>,
) -> ImportedGraph {
    let mut graphs = ManifestNamer::new('g', "model");
    let graph = graphs.give(options.name, network.name);
    let mut writer = ManifestWriter {
        network,
        letters,
        names: tensor_names(network, letters),
        nodes: ManifestNamer::new('n', "node"),
        aliases: aliases(letters),
        node_names: Vec::new(),
        written: BTreeSet::new(),
        text: String::new(),
    };
    writer.all(&graph, options);
    let is_transposed = |(k, same): (usize, &usize)| k != *same;
    ImportedGraph {
        graph,
        nodes: network.operators.len(),
        tensors: writer.written.len(),
        transposes: letters.same.iter().enumerate().filter(|one| is_transposed(*one)).count(),
        folded: network.folded,
        assumed: Vec::new(),
        text: writer.text.clone(),
        map: map(network, letters, &writer.names, &writer.node_names, &|tensor| {
            writer.written.contains(&tensor)
        }),
    }
}

/// Transpositions that need no operator, by the tensor that they transpose: the key is the position of that tensor, the
/// value lists the positions of its transpositions. A tensor without transpositions has no entry.
fn aliases(letters: &LetterAssignment) -> BTreeMap<usize, Vec<usize>> {
    let mut aliases: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, root) in letters.same.iter().enumerate().filter(|(k, root)| k != *root) {
        aliases.entry(*root).or_default().push(k);
    }
    aliases
}

/// Manifest names of the tensors, by position in the network. A transposition that needs no operator has an empty name:
/// it shares the name of the tensor that it transposes. If that transposition is an output of the model, the name comes
/// from the output.
fn tensor_names(network: &OnnxNetwork<'_>, letters: &LetterAssignment) -> Vec<String> {
    let mut own: Vec<&str> = network.tensors.iter().map(|tensor| tensor.name).collect();
    for output in &network.outputs {
        let root = letters.same.get(*output).copied().unwrap_or(*output);
        let is_known = network.inputs.contains(&root) || network.outputs.contains(&root);
        if let (false, Some(name)) = (is_known, network.tensors.get(*output).map(|t| t.name))
            && let Some(slot) = own.get_mut(root)
        {
            *slot = name;
        }
    }
    let mut names = ManifestNamer::new('t', "tensor");
    let mut all = vec![String::new(); own.len()];
    let is_root = |k: &usize| letters.same.get(*k) == Some(k);
    // Inputs and outputs come first, so that they keep their names.
    let known = network.inputs.iter().chain(&network.outputs).copied();
    let known = known.map(|k| letters.same.get(k).copied().unwrap_or(k));
    for k in known.chain(0..own.len()).filter(is_root) {
        if let (Some(slot), Some(name)) = (all.get_mut(k), own.get(k))
            && slot.is_empty()
        {
            *slot = names.give(name, "");
        }
    }
    all
}

struct ManifestWriter<'a> {
    network: &'a OnnxNetwork<'a>,
    letters: &'a LetterAssignment,
    names: Vec<String>,
    nodes: ManifestNamer,
    /// Transpositions that need no operator, by the tensor that they transpose: the key is the position of that tensor,
    /// the value lists the positions of its transpositions. A tensor without transpositions has no entry.
    aliases: BTreeMap<usize, Vec<usize>>,
    /// Names of the nodes in the manifest, by position of the operator.
    node_names: Vec<String>,
    /// Positions of the tensors that are printed already.
    written: BTreeSet<usize>,
    text: String,
}

impl ManifestWriter<'_> {
    fn all(&mut self, graph: &str, options: &ImportOptions<'_>) {
        if !options.file.is_empty() {
            let file: String = options.file.chars().filter(|c| !c.is_control()).collect();
            self.text.push_str(&format!("// Imported from {file}.\n"));
        }
        for file in options.uses {
            self.text.push_str(&format!("use {}\n", quoted(file)));
        }
        self.text.push_str(&format!("graph {graph} backend={} {{\n", word(options.backend)));
        for input in &self.network.inputs {
            self.tensor("    input", *input, true);
        }
        for (k, operator) in self.network.operators.iter().enumerate() {
            self.text.push('\n');
            for operand in operator.reads() {
                if self.network.is_constant(operand) && !self.written.contains(&operand) {
                    self.tensor("    constant", operand, true);
                }
            }
            self.operator(k, operator);
        }
        if !self.network.outputs.is_empty() {
            self.text.push('\n');
        }
        for output in &self.network.outputs {
            if self.network.is_constant(*output) && !self.written.contains(output) {
                self.tensor("    constant", *output, true);
            }
            let (name, layout) = (self.name(*output).to_owned(), self.layout(*output));
            self.text.push_str(&format!("    output {name} layout={layout}\n"));
        }
        self.text.push_str("}\n");
    }

    /// Prints the declaration of the tensor at position `tensor`, such as
    /// `input x dtype=f32 layout=NC { shape { N 1; C 3 } }`, after a comment with its names in the model. `head` is the
    /// indented keyword, here `input`. `has_layout` is false for results of operators, which are printed without a
    /// layout.
    fn tensor(&mut self, head: &str, tensor: usize, has_layout: bool) {
        self.written.insert(tensor);
        let Some(found) = self.network.tensors.get(tensor) else { return };
        let dtype = Dtype { scalar: found.shaped.dtype, lanes: 1 };
        let letters = self.letters.of.get(tensor).map_or("", String::as_str);
        let axes = letters.chars().zip(&found.shaped.shape);
        let axes: Vec<String> = axes.map(|(letter, extent)| format!("{letter} {extent}")).collect();
        let shape = if axes.is_empty() {
            "shape {}".to_owned()
        } else {
            format!("shape {{ {} }}", axes.join("; "))
        };
        let layout = if has_layout && !axes.is_empty() {
            format!(" layout={}", self.layout(tensor))
        } else {
            String::new()
        };
        let name = self.name(tensor).to_owned();
        if let Some(names) = self.model_names(tensor, &name) {
            let indent = head.len() - head.trim_start().len();
            self.text.push_str(&format!("{:indent$}// {names}\n", ""));
        }
        self.text.push_str(&format!("{head} {name} dtype={dtype}{layout} {{ {shape} }}\n"));
    }

    fn operator(&mut self, k: usize, operator: &NetworkOperator<'_>) {
        let node = operator.node;
        let hint = operator.outputs.first().map_or("", |out| self.name(*out)).to_owned();
        let name = self.nodes.give(&node.name, &format!("{}_{hint}", node.op_type));
        let op = match node.domain.as_str() {
            _ if is_standard(node) => node.op_type.clone(),
            domain => format!("{domain}::{}", node.op_type),
        };
        let mut head = format!("    node {name} op={}", word(&op));
        for (key, value) in properties(self.network, self.letters, operator) {
            let _written = write!(head, " {key}={value}");
        }
        if node.name != name && !node.name.is_empty() {
            self.text.push_str(&format!("    // {}\n", quoted(&node.name)));
        }
        self.text.push_str(&format!("{head} {{\n"));
        self.node_names.push(name);
        if !operator.inputs.is_empty() {
            let names: Vec<&str> = operator.reads().map(|k| self.name(k)).collect();
            let names = names.join(" ");
            self.text.push_str(&format!("        in {names}\n"));
        }
        for output in &operator.outputs {
            self.tensor("        out", *output, false);
        }
        if !self.is_usual(k, operator) {
            let side = |list: &mut dyn Iterator<Item = usize>| {
                list.map(|tensor| self.layout(tensor)).collect::<Vec<_>>().join(" ")
            };
            let reads = side(&mut operator.reads());
            let gives = side(&mut operator.outputs.iter().copied());
            self.text.push_str(&format!("        accepts {{ in {reads}; out {gives} }}\n"));
        }
        self.text.push_str("    }\n");
    }

    /// True if the operator at position `k`, `operator`, accepts the layouts that the backend profile `onnx` sets for
    /// it, whatever the backend of the graph is. Its node is then printed without `accepts`.
    fn is_usual(&self, k: usize, operator: &NetworkOperator<'_>) -> bool {
        let is_default = |tensor: usize| {
            let letters = self.letters.of.get(tensor).map_or("", String::as_str);
            letters.len() < 2 || USUAL.contains(&letters)
        };
        match operator.kind {
            OnnxOperatorKind::Transpose => true,
            OnnxOperatorKind::Elementwise
            | OnnxOperatorKind::ByLetter
            | OnnxOperatorKind::Window(_) => self.letters.is_named.get(k).copied().unwrap_or(false),
            OnnxOperatorKind::RowMajor => {
                operator.reads().chain(operator.outputs.iter().copied()).all(is_default)
            }
        }
    }

    fn name(&self, tensor: usize) -> &str {
        let root = self.letters.same.get(tensor).copied().unwrap_or(tensor);
        self.names.get(root).map_or("", String::as_str)
    }

    /// Text of the comment that lists the names in the model of a tensor and of its transpositions:
    /// `"conv1:0"; as NHWC "transpose"`. The tensor's own name is omitted if it equals `name`, its name in the
    /// manifest. `None` if there is nothing to list.
    fn model_names(&self, tensor: usize, name: &str) -> Option<String> {
        let mut notes = Vec::new();
        let aliases = self.aliases.get(&tensor).into_iter().flatten();
        let own = self.network.tensors.get(tensor).map_or("", |tensor| tensor.name);
        if own != name && !own.is_empty() {
            notes.push(quoted(own));
        }
        for alias in aliases {
            let own = self.network.tensors.get(*alias).map_or("", |tensor| tensor.name);
            notes.push(format!("as {} {}", self.layout(*alias), quoted(own)));
        }
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// Text of the row-major layout of a tensor: its letters, such as `NCHW`; `row-major` for a scalar, or above
    /// [`MAX_LETTERS`] axes.
    fn layout(&self, tensor: usize) -> String {
        let letters = self.letters.of.get(tensor).cloned().unwrap_or_default();
        if (1..=MAX_LETTERS).contains(&letters.len()) { letters } else { ROW_MAJOR.to_owned() }
    }
}
