//! Inlining of the functions that a model defines: each call is replaced by the function's operators, whose names are
//! made unique.

use std::collections::BTreeMap;

use prost::Message;

use super::error::shown;
use super::limits::{MAX_DEPTH, MAX_PARTS};
use super::proto::{OnnxAttribute, OnnxFunction, OnnxGraph, OnnxModel, OnnxNode};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Maximum total size of the inlined function bodies, in bytes of their protobuf encoding. Beyond it the import fails.
const MAX_BYTES: usize = 1 << 30;

type InlineResult<T> = Result<T, Box<Diagnostic>>;

/// Key of a function in an ONNX model: domain, name and overload. An operator with the same key is a call.
type FunctionKey = (String, String, String);

/// Inlines all function calls of the model, including those in functions and subgraphs, and removes the functions. If
/// the model states no version of the standard operator set, it gets the first one that a function states.
///
/// # Errors
/// `limit::graph` if functions and subgraphs are nested more than [`MAX_DEPTH`] deep, or if the inlined bodies exceed
/// [`MAX_PARTS`] or [`MAX_BYTES`].
pub(super) fn inline(model: &mut OnnxModel) -> InlineResult<()> {
    if model.functions.is_empty() {
        return Ok(());
    }
    let functions = std::mem::take(&mut model.functions);
    let is_own = |set: &super::proto::OnnxOpset| ["", "ai.onnx"].contains(&set.domain.as_str());
    if !model.opset_import.iter().any(is_own) {
        // Without an own opset the model uses that of its functions.
        let sets = functions.iter().flat_map(|function| &function.opset_import);
        model.opset_import.extend(sets.filter(|set| is_own(set)).take(1).cloned());
    }
    let key = |function: &OnnxFunction| {
        (function.domain.clone(), function.name.clone(), function.overload.clone())
    };
    let functions = functions.into_iter().map(|function| (key(&function), function)).collect();
    let mut inliner = FunctionInliner { functions, calls: 0, parts: 0, bytes: 0 };
    if let Some(graph) = &mut model.graph {
        inliner.graph(graph, 0)?;
    }
    Ok(())
}

struct FunctionInliner {
    functions: BTreeMap<FunctionKey, OnnxFunction>,
    calls: usize,
    /// Size of all function bodies inlined so far, as counted by [`parts`]: operators, operands, results, attributes
    /// and initializers of subgraphs. The import fails above [`MAX_PARTS`].
    parts: usize,
    /// Total size of the function bodies inlined so far, in bytes of their protobuf encoding.
    bytes: usize,
}

impl FunctionInliner {
    fn graph(&mut self, graph: &mut OnnxGraph, depth: usize) -> InlineResult<()> {
        if depth > MAX_DEPTH {
            return Err(excess(format!("functions are nested more than {MAX_DEPTH} deep")));
        }
        let mut nodes = Vec::new();
        for mut node in std::mem::take(&mut graph.node) {
            for attribute in &mut node.attribute {
                for body in attribute.g.as_deref_mut().into_iter().chain(&mut attribute.graphs) {
                    self.graph(body, depth + 1)?;
                }
            }
            let key = (node.domain.clone(), node.op_type.clone(), node.overload.clone());
            let Some(function) = self.functions.get(&key) else {
                nodes.push(node);
                continue;
            };
            self.parts = self.parts.saturating_add(parts(&function.node));
            self.bytes = self.bytes.saturating_add(function.encoded_len());
            if self.parts > MAX_PARTS || self.bytes > MAX_BYTES {
                return Err(excess(
                    "the model's functions are too large after inlining".to_owned(),
                ));
            }
            self.calls += 1;
            let written = called(function, &node, self.calls);
            let mut body = OnnxGraph { node: written, ..OnnxGraph::default() };
            self.graph(&mut body, depth + 1)?;
            nodes.append(&mut body.node);
        }
        graph.node = nodes;
        Ok(())
    }
}

fn excess(message: String) -> Box<Diagnostic> {
    Box::new(Diagnostic::without_span(Code::LimitGraph, message))
}

/// Size of a list of operators, compared with [`MAX_PARTS`]: 1 for each operator, plus 1 for each of its operands,
/// results and attributes, and each initializer of its subgraphs. Operators in subgraphs count in the same way.
fn parts(nodes: &[OnnxNode]) -> usize {
    let own = |node: &OnnxNode| {
        let bodies = node.attribute.iter().flat_map(OnnxAttribute::bodies);
        let inner: usize = bodies.map(|body| parts(&body.node) + body.initializer.len()).sum();
        1 + node.input.len() + node.output.len() + node.attribute.len() + inner
    };
    nodes.iter().map(own).sum()
}

/// Operators that replace the call `call` of a function: the operators of its body, renamed, with the attributes of the
/// call. An input of the function gets the name of the call's operand, empty if that is omitted; an output that the
/// call requests gets the name of the result. Any other name gets the prefix `conv1.3/`: the call's name (or operator
/// type, if it has no name) and `number`, which is unique for each call. An added `Identity` produces each requested
/// output that is also an input of the function or an earlier output.
fn called(function: &OnnxFunction, call: &OnnxNode, number: usize) -> Vec<OnnxNode> {
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (k, name) in function.input.iter().enumerate() {
        names.insert(name, call.input.get(k).map_or("", String::as_str));
    }
    let mut written = Vec::new();
    for (name, given) in function.output.iter().zip(&call.output) {
        if given.is_empty() {
            continue;
        }
        if let Some(same) = names.get(name.as_str()) {
            written.push(OnnxNode {
                input: vec![(*same).to_owned()],
                output: vec![given.clone()],
                op_type: "Identity".to_owned(),
                ..OnnxNode::default()
            });
        } else {
            names.insert(name, given);
        }
    }
    let place = if call.name.is_empty() { shown(&call.op_type) } else { shown(&call.name) };
    let prefix = format!("{place}.{number}/");
    let given = function.attribute_proto.iter().chain(&call.attribute);
    let given = given.map(|attribute| (attribute.name.as_str(), attribute)).collect();
    let mut renamer = CallRenamer { names, prefix, given };
    let mut nodes = function.node.clone();
    nodes.iter_mut().for_each(|node| renamer.node(node));
    nodes.append(&mut written);
    nodes
}

struct CallRenamer<'a> {
    /// Names of the function's inputs and outputs, mapped to the names of the operands and results of the call.
    names: BTreeMap<&'a str, &'a str>,
    /// Prefix for all names that are not in `names`: `conv1.3/`.
    prefix: String,
    /// Attributes of the call by name; for an attribute that the call does not set, the function's default value.
    given: BTreeMap<&'a str, &'a OnnxAttribute>,
}

impl CallRenamer<'_> {
    fn rename(&self, name: &mut String) {
        match self.names.get(name.as_str()) {
            Some(given) => (*given).clone_into(name),
            None if name.is_empty() => {}
            None => name.insert_str(0, &self.prefix),
        }
    }

    fn node(&mut self, node: &mut OnnxNode) {
        node.input.iter_mut().chain(&mut node.output).for_each(|name| self.rename(name));
        let attributes = std::mem::take(&mut node.attribute);
        for attribute in attributes {
            let Some(mut attribute) = self.attribute(attribute) else { continue };
            for body in attribute.g.as_deref_mut().into_iter().chain(&mut attribute.graphs) {
                self.graph(body);
            }
            node.attribute.push(attribute);
        }
    }

    /// Attribute of an operator in the body, with its value. An attribute that refers to one of the function
    /// (`ref_attr_name`) keeps its name and gets the value of that one; `None` if neither the call nor the function has
    /// a value. An attribute without a reference is unchanged.
    fn attribute(&self, attribute: OnnxAttribute) -> Option<OnnxAttribute> {
        if attribute.ref_attr_name.is_empty() {
            return Some(attribute);
        }
        let given = *self.given.get(attribute.ref_attr_name.as_str())?;
        Some(OnnxAttribute { name: attribute.name, ..given.clone() })
    }

    fn graph(&mut self, graph: &mut OnnxGraph) {
        graph.node.iter_mut().for_each(|node| self.node(node));
        graph.initializer.iter_mut().for_each(|tensor| self.rename(&mut tensor.name));
        let values = graph.input.iter_mut().chain(&mut graph.output).chain(&mut graph.value_info);
        values.for_each(|value| self.rename(&mut value.name));
    }
}
