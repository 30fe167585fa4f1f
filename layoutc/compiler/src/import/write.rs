//! The network as a manifest.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::letters::{Letters, MAX_LETTERS, USUAL};
use super::names::{Names, Reserved};
use super::network::{Network, Operator};
use super::operator::{Kind, axis, is_standard};
use super::{Asked, Imported, proto};
use crate::dtype::Dtype;

/// What a layout is called that has no letter, or too many.
const ROW_MAJOR: &str = "row-major";

/// The manifest of a network.
pub(super) fn write(
    network: &Network<'_>,
    letters: &Letters,
    asked: &Asked<'_>,
    is_reserved: &Reserved<'_>,
) -> Imported {
    let mut graphs = Names::new(is_reserved, 'g', "model");
    let graph = graphs.give(asked.name, network.name);
    let mut writer = Writer {
        network,
        letters,
        names: tensor_names(network, letters, is_reserved),
        nodes: Names::new(is_reserved, 'n', "node"),
        written: BTreeSet::new(),
        text: String::new(),
    };
    writer.all(&graph, asked);
    let is_transposed = |(k, same): (usize, &usize)| k != *same;
    Imported {
        text: writer.text,
        graph,
        nodes: network.operators.len(),
        tensors: writer.written.len(),
        transposes: letters.same.iter().enumerate().filter(|one| is_transposed(*one)).count(),
        folded: network.folded,
    }
}

/// The names of tensors. One that is several by transposition has the name that the model's user knows.
fn tensor_names(
    network: &Network<'_>,
    letters: &Letters,
    is_reserved: &Reserved<'_>,
) -> Vec<String> {
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
    let mut names = Names::new(is_reserved, 't', "tensor");
    let mut all = vec![String::new(); own.len()];
    let is_root = |k: &usize| letters.same.get(*k) == Some(k);
    // What the user knows comes first, so that it keeps its name.
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

struct Writer<'a> {
    network: &'a Network<'a>,
    letters: &'a Letters,
    names: Vec<String>,
    nodes: Names<'a>,
    /// The tensors that were written.
    written: BTreeSet<usize>,
    text: String,
}

impl Writer<'_> {
    fn all(&mut self, graph: &str, asked: &Asked<'_>) {
        if !asked.file.is_empty() {
            let file: String = asked.file.chars().filter(|c| !c.is_control()).collect();
            self.text.push_str(&format!("// Imported from {file}.\n"));
        }
        for file in asked.uses {
            self.text.push_str(&format!("use {}\n", quoted(file)));
        }
        self.text.push_str(&format!("graph {graph} backend={} {{\n", word(asked.backend)));
        for input in &self.network.inputs {
            self.tensor("    input", *input, true);
        }
        for (k, operator) in self.network.operators.iter().enumerate() {
            self.text.push('\n');
            for operand in &operator.inputs {
                let is_constant = self.network.tensors.get(*operand).is_some_and(|t| t.is_constant);
                if is_constant && !self.written.contains(operand) {
                    self.tensor("    constant", *operand, true);
                }
            }
            self.operator(k, operator);
        }
        if !self.network.outputs.is_empty() {
            self.text.push('\n');
        }
        for output in &self.network.outputs {
            if self.network.tensors.get(*output).is_some_and(|tensor| tensor.is_constant)
                && !self.written.contains(output)
            {
                self.tensor("    constant", *output, true);
            }
            let (name, layout) = (self.name(*output).to_owned(), self.layout(*output));
            self.text.push_str(&format!("    output {name} layout={layout}\n"));
        }
        self.text.push_str("}\n");
    }

    /// `input x dtype=f32 layout=NCHW { shape { N 1; C 3 } }`
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
        self.text.push_str(&format!("{head} {name} dtype={dtype}{layout} {{ {shape} }}\n"));
    }

    fn operator(&mut self, k: usize, operator: &Operator<'_>) {
        let node = operator.node;
        let hint = operator.outputs.first().map_or("", |out| self.name(*out)).to_owned();
        let name = self.nodes.give(&node.name, &format!("{}_{hint}", node.op_type));
        let op = match node.domain.as_str() {
            _ if is_standard(node) => node.op_type.clone(),
            domain => format!("{domain}::{}", node.op_type),
        };
        let mut head = format!("    node {name} op={}", word(&op));
        for (key, value) in properties(node, operator, &self.letters.of) {
            let _written = write!(head, " {key}={value}");
        }
        self.text.push_str(&format!("{head} {{\n"));
        if !operator.inputs.is_empty() {
            let names: Vec<&str> = operator.inputs.iter().map(|k| self.name(*k)).collect();
            let names = names.join(" ");
            self.text.push_str(&format!("        in {names}\n"));
        }
        for output in &operator.outputs {
            self.tensor("        out", *output, false);
        }
        if !self.is_usual(k, operator) {
            let side = |list: &[usize]| {
                list.iter().map(|tensor| self.layout(*tensor)).collect::<Vec<_>>().join(" ")
            };
            let (reads, gives) = (side(&operator.inputs), side(&operator.outputs));
            self.text.push_str(&format!("        accepts {{ in {reads}; out {gives} }}\n"));
        }
        self.text.push_str("    }\n");
    }

    /// Whether the profile says what an operator accepts.
    fn is_usual(&self, k: usize, operator: &Operator<'_>) -> bool {
        let is_default = |tensor: &usize| {
            let letters = self.letters.of.get(*tensor).map_or("", String::as_str);
            letters.len() < 2 || USUAL.contains(&letters)
        };
        match operator.kind {
            Kind::Transpose => true,
            Kind::Elementwise | Kind::Window(_) => {
                self.letters.is_named.get(k).copied().unwrap_or(false)
            }
            Kind::RowMajor => operator.inputs.iter().chain(&operator.outputs).all(is_default),
        }
    }

    fn name(&self, tensor: usize) -> &str {
        let root = self.letters.same.get(tensor).copied().unwrap_or(tensor);
        self.names.get(root).map_or("", String::as_str)
    }

    /// Row-major, as ONNX has it.
    fn layout(&self, tensor: usize) -> String {
        let letters = self.letters.of.get(tensor).cloned().unwrap_or_default();
        if (1..=MAX_LETTERS).contains(&letters.len()) { letters } else { ROW_MAJOR.to_owned() }
    }
}

/// Attributes that are whole numbers, lists of them, or words. A list of one number all over is that number; the axis of an
/// operator that takes any layout is its letter.
fn properties(
    node: &proto::Node,
    operator: &Operator<'_>,
    letters: &[String],
) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for attribute in &node.attribute {
        let is_key = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let key = attribute.name.as_str();
        let starts = key.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_said = key == "axis" && operator.kind == Kind::Elementwise;
        if !starts || !key.chars().all(is_key) || key == "op" || key.len() > 64 || is_said {
            continue;
        }
        let value = match (attribute.i, attribute.ints.as_slice(), &attribute.s) {
            (Some(value), _, _) => value.to_string(),
            (None, [first, rest @ ..], _) if rest.iter().all(|one| one == first) => {
                first.to_string()
            }
            (None, [_, ..], _) if attribute.ints.len() <= 64 => {
                let list: Vec<String> = attribute.ints.iter().map(i64::to_string).collect();
                format!("\"{}\"", list.join(","))
            }
            (None, [], Some(text)) => match std::str::from_utf8(text) {
                Ok(text) if text.len() <= 256 && !text.is_empty() => word(text),
                _ => continue,
            },
            _ => continue,
        };
        if all.iter().all(|(known, _)| known != key) {
            all.push((key.to_owned(), value));
        }
    }
    if operator.kind == Kind::Elementwise
        && let Some(axis) = axis(node)
    {
        let first = operator.inputs.first().and_then(|tensor| letters.get(*tensor));
        let own = letter(first.map_or("", String::as_str), axis);
        all.push(("axis".to_owned(), own.unwrap_or_else(|| axis.to_string())));
    }
    all
}

fn letter(letters: &str, axis: i64) -> Option<String> {
    let rank = i64::try_from(letters.len()).ok()?;
    let at = if axis < 0 { axis.checked_add(rank)? } else { axis };
    letters.chars().nth(usize::try_from(at).ok()?).map(String::from)
}

/// A text as KDL has it: bare where that is possible.
fn word(text: &str) -> String {
    let is_bare = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["true", "false", "null", "inf", "nan"].contains(&text);
    if is_bare {
        return text.to_owned();
    }
    quoted(text)
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                let _written = write!(quoted, "\\u{{{:x}}}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
