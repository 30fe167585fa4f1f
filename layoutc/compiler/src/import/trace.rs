//! The shape of every tensor of a model, operator by operator; what is known before the model runs is worked out.

use std::collections::{BTreeMap, BTreeSet};

use super::Asked;
use super::call::{Call, Shaped, extent};
use super::elements::{Values, scalar, values};
use super::fault::{Refused, Unshaped, error, listed, shown};
use super::infer::infer;
use super::network::{Network, Operator, Tensor};
use super::operator::{is_identity, is_parameter, is_pure, is_unread, kind};
use super::proto;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// The most axes of a tensor: each has a letter.
pub(super) const MAX_RANK: usize = 26;

/// The most elements that are known at a time, of all tensors together.
const MAX_ALL_KNOWN: usize = 1 << 22;

/// A step that ends with a diagnostic.
type Step<T> = Result<T, Box<Diagnostic>>;

/// The network of a model.
pub(super) fn trace<'a>(
    model: &'a proto::Model,
    asked: &Asked<'_>,
) -> Result<Network<'a>, Refused> {
    let Some(graph) = &model.graph else {
        return Err(Box::new(error(Code::ImportMalformed, "the file has no graph")).into());
    };
    are_asked_for(graph, asked)?;
    let mut tracer = Tracer {
        opset: opset(model),
        declared: declared(graph, asked),
        outputs: graph.output.iter().map(|output| output.name.as_str()).collect(),
        by_name: BTreeMap::new(),
        untyped: BTreeMap::new(),
        known: 0,
        network: Network {
            name: &graph.name,
            tensors: Vec::new(),
            operators: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            folded: 0,
        },
    };
    tracer.constants(graph)?;
    tracer.inputs(graph, asked)?;
    for node in &graph.node {
        tracer.operator(node)?;
    }
    tracer.outputs(graph)?;
    Ok(tracer.network)
}

/// The version of ONNX's own operators; 1 where a model does not say.
fn opset(model: &proto::Model) -> i64 {
    let own = |set: &&proto::OperatorSet| ["", "ai.onnx"].contains(&set.domain.as_str());
    model.opset_import.iter().find(own).map_or(1, |set| set.version)
}

/// Whether the model has the names that were given.
fn are_asked_for(graph: &proto::Graph, asked: &Asked<'_>) -> Result<(), Refused> {
    let dims = graph.input.iter().flat_map(dims);
    let names: BTreeSet<&str> = dims.filter_map(|dim| dim.dim_param.as_deref()).collect();
    let inputs: BTreeSet<&str> = graph.input.iter().map(|input| input.name.as_str()).collect();
    let there = |names: &BTreeSet<&str>| match names.len() {
        0 => "there is none".to_owned(),
        _ => {
            let names: Vec<String> = names.iter().take(8).map(|name| shown(name)).collect();
            format!("there is `{}`", names.join("`, `"))
        }
    };
    for (name, _) in asked.sizes {
        if !names.contains(name.as_str()) {
            let line = format!("`--set {name}=…`: no input has an extent of that name");
            return Err(Refused::Asked(format!("{line}; {}", there(&names))));
        }
    }
    for (name, _) in asked.shapes {
        if !inputs.contains(name.as_str()) {
            let line = format!("`--shape {name}=…`: the model has no input of that name");
            return Err(Refused::Asked(format!("{line}; {}", there(&inputs))));
        }
    }
    Ok(())
}

fn tensor_type(value: &proto::ValueInfo) -> Option<&proto::TensorType> {
    value.r#type.as_ref()?.tensor_type.as_ref()
}

/// The extents of an input or a result; none where the model has no shape for it.
fn dims(value: &proto::ValueInfo) -> &[proto::Dimension] {
    let shape = tensor_type(value).and_then(|of| of.shape.as_ref());
    shape.map_or(&[], |shape| &shape.dim)
}

/// An extent, where the model or the user says it. ONNX leaves one open with a name, and models also with 0 or -1.
fn size(dim: &proto::Dimension, asked: &Asked<'_>) -> Option<u64> {
    if let Some(name) = &dim.dim_param {
        return asked.sizes.iter().find(|(known, _)| known == name).map(|(_, size)| *size);
    }
    dim.dim_value.and_then(|value| u64::try_from(value).ok()).filter(|size| *size > 0)
}

/// The shapes that the model itself says of results.
fn declared<'a>(graph: &'a proto::Graph, asked: &Asked<'_>) -> BTreeMap<&'a str, Shaped> {
    let one = |value: &'a proto::ValueInfo| {
        let own = tensor_type(value)?;
        let shape = own.shape.as_ref()?.dim.iter().map(|dim| size(dim, asked));
        let shape = shape.collect::<Option<Vec<_>>>()?;
        Some((value.name.as_str(), Shaped::new(scalar(own.elem_type)?, shape)))
    };
    graph.value_info.iter().chain(&graph.output).filter_map(one).collect()
}

struct Tracer<'a> {
    opset: i64,
    declared: BTreeMap<&'a str, Shaped>,
    outputs: BTreeSet<&'a str>,
    by_name: BTreeMap<&'a str, usize>,
    /// Tensors of element types that there are none of here, with the number of the type.
    untyped: BTreeMap<&'a str, i32>,
    /// How many elements are known.
    known: usize,
    network: Network<'a>,
}

impl<'a> Tracer<'a> {
    fn add(&mut self, name: &'a str, mut shaped: Shaped, is_constant: bool) -> Step<usize> {
        if shaped.shape.len() > MAX_RANK {
            let message = format!("`{}` has {} axes", shown(name), shaped.shape.len());
            let found = error(Code::ImportUnsupported, message);
            return Err(Box::new(found.note(format!("the most are {MAX_RANK}"))));
        }
        self.known += shaped.known.as_ref().map_or(0, Values::len);
        if self.known > MAX_ALL_KNOWN {
            shaped.known = None;
        }
        let position = self.network.tensors.len();
        if !name.is_empty() && self.by_name.insert(name, position).is_some() {
            let message = format!("two tensors are called `{}`", shown(name));
            return Err(Box::new(error(Code::ImportMalformed, message)));
        }
        self.network.tensors.push(Tensor { name, shaped, is_constant });
        Ok(position)
    }

    fn constants(&mut self, graph: &'a proto::Graph) -> Step<()> {
        for tensor in &graph.initializer {
            let Some(dtype) = scalar(tensor.data_type) else {
                self.untyped.insert(&tensor.name, tensor.data_type);
                continue;
            };
            let shape: Result<Vec<u64>, _> = tensor.dims.iter().copied().map(extent).collect();
            let Ok(shape) = shape else {
                let name = shown(&tensor.name);
                let message = format!("the constant `{name}` has the shape {:?}", tensor.dims);
                return Err(Box::new(error(Code::ImportMalformed, message)));
            };
            let count = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
            let known = count.and_then(|count| values(tensor, dtype, count));
            self.add(&tensor.name, Shaped { dtype, shape, known }, true)?;
        }
        Ok(())
    }

    fn inputs(&mut self, graph: &'a proto::Graph, asked: &Asked<'_>) -> Result<(), Refused> {
        let mut open = Vec::new();
        for input in &graph.input {
            // Until version 4 of the format constants are inputs too.
            if self.by_name.contains_key(input.name.as_str()) {
                continue;
            }
            let name = shown(&input.name);
            let Some(own) = tensor_type(input) else {
                let message = format!("the input `{name}` is no tensor");
                return Err(Box::new(error(Code::ImportUnsupported, message)).into());
            };
            let Some(dtype) = scalar(own.elem_type) else {
                self.untyped.insert(&input.name, own.elem_type);
                continue;
            };
            let given = asked.shapes.iter().find(|(known, _)| *known == input.name);
            let own = own.shape.as_ref().map(|shape| shape.dim.as_slice());
            let shape = match (given, own) {
                (Some((_, shape)), Some(own)) if own.len() != shape.len() => {
                    let (asked, own) = (listed(shape), own.len());
                    let line = format!("`--shape {name}=…`: {asked} for {own} axes");
                    return Err(Refused::Asked(line));
                }
                (Some((_, shape)), _) => shape.clone(),
                (None, None) => {
                    open.push(format!("the shape of `{name}`"));
                    continue;
                }
                (None, Some(own)) => {
                    open.extend(own.iter().enumerate().filter_map(|(k, dim)| {
                        let is_open = size(dim, asked).is_none();
                        let what = dim.dim_param.as_ref().map_or_else(
                            || format!("axis {k} of `{name}`"),
                            |param| format!("`{}`", shown(param)),
                        );
                        is_open.then_some(what)
                    }));
                    own.iter().filter_map(|dim| size(dim, asked)).collect()
                }
            };
            let position = self.add(&input.name, Shaped::new(dtype, shape), false)?;
            self.network.inputs.push(position);
        }
        open.dedup();
        let mut seen = BTreeSet::new();
        open.retain(|what| seen.insert(what.clone()));
        if open.is_empty() { Ok(()) } else { Err(Box::new(open_error(&open, graph)).into()) }
    }

    fn operator(&mut self, node: &'a proto::Node) -> Step<()> {
        let is_body = |attribute: &proto::Attribute| attribute.has_graph();
        if node.attribute.iter().any(is_body) {
            let op = shown(&node.op_type);
            let message = format!("`{op}` runs a graph of its own, which no graph here can say");
            let found = error(Code::ImportUnsupported, message).note(place(node));
            let help = "a model without control flow can be had by exporting with fixed shapes";
            return Err(Box::new(found.help(help)));
        }
        let inputs = node.input.iter().map(|name| self.operand(node, name));
        let inputs = inputs.collect::<Step<Vec<Option<usize>>>>()?;
        let outputs = node.output.iter().rposition(|name| !name.is_empty()).map_or(0, |k| k + 1);
        let results = self.results(node, &inputs, outputs)?;
        let is_output =
            node.output.first().is_some_and(|name| self.outputs.contains(name.as_str()));
        if let (Some(Some(operand)), Some(name), true, false) =
            (inputs.first(), node.output.first(), is_identity(node), is_output)
        {
            self.by_name.insert(name, *operand);
            return Ok(());
        }
        let read = inputs.iter().enumerate().filter(|(k, _)| !is_unread(node, *k));
        let read = read.filter_map(|(k, operand)| Some((k, (*operand)?)));
        let read: Vec<(usize, usize)> = read.collect();
        let is_constant =
            |k: &usize| self.network.tensors.get(*k).is_some_and(|tensor| tensor.is_constant);
        let is_made_here = is_pure(node)
            && (read.iter().all(|(_, operand)| is_constant(operand))
                || results.iter().all(|one| one.known.is_some()));
        let is_data =
            |(k, operand): &&(usize, usize)| !is_parameter(node, *k) || !is_constant(operand);
        let data: Vec<usize> = read.iter().filter(is_data).map(|(_, operand)| *operand).collect();
        let mut written = Vec::new();
        for (name, shaped) in node.output.iter().zip(results) {
            written.push(self.add(name, shaped, is_made_here)?);
        }
        if is_made_here {
            self.network.folded += usize::from(node.op_type != "Constant");
        } else {
            let operator = Operator { node, kind: kind(node), inputs: data, outputs: written };
            self.network.operators.push(operator);
        }
        Ok(())
    }

    /// What an operand's name stands for; `None` where it is left out.
    fn operand(&self, node: &proto::Node, name: &str) -> Step<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        if let Some(position) = self.by_name.get(name) {
            return Ok(Some(*position));
        }
        let name_shown = shown(name);
        let found = match self.untyped.get(name) {
            Some(number) => {
                let message = format!("`{name_shown}` has elements of type {number} of ONNX");
                error(Code::ImportUnsupported, message).note("there is no such element type here")
            }
            None => {
                let message = format!("nothing before it gives `{name_shown}`");
                error(Code::ImportOperands, message)
            }
        };
        Err(Box::new(found.note(place(node))))
    }

    /// The shapes of an operator's results: by its own rules, else as the model says.
    fn results(
        &self,
        node: &proto::Node,
        inputs: &[Option<usize>],
        outputs: usize,
    ) -> Step<Vec<Shaped>> {
        let shaped = |k: &Option<usize>| Some(&self.network.tensors.get((*k)?)?.shaped);
        let inputs: Vec<Option<&Shaped>> = inputs.iter().map(shaped).collect();
        let call = Call { node, opset: self.opset, inputs, outputs };
        let fault = match infer(&call) {
            Ok(results) => return Ok(results),
            Err(Unshaped::Wrong(message)) => {
                let found = error(Code::ImportOperands, message).note(place(node));
                return Err(Box::new(found));
            }
            Err(Unshaped::Elements(number)) => {
                let op = shown(&node.op_type);
                let message = format!("`{op}` gives elements of type {number} of ONNX");
                let found = error(Code::ImportUnsupported, message).note(place(node));
                return Err(Box::new(found.note("there is no such element type here")));
            }
            Err(fault) => fault,
        };
        let names = node.output.iter().take(outputs);
        let declared = names.map(|name| self.declared.get(name.as_str()).cloned());
        if let Some(declared) = declared.collect::<Option<Vec<_>>>() {
            return Ok(declared);
        }
        let op = shown(&node.op_type);
        let (message, note) = match fault {
            Unshaped::Open(reason) => {
                (format!("what `{op}` gives has no size before the model runs"), Some(reason))
            }
            Unshaped::Operator | Unshaped::Wrong(_) | Unshaped::Elements(_) => {
                let message = format!(
                    "`{op}` is no operator that layoutc knows, and the model does not say what it gives"
                );
                (message, None)
            }
        };
        let mut found = error(Code::ImportShape, message).note(place(node));
        found.notes.extend(note);
        let help = "`onnx.shape_inference.infer_shapes` adds the shapes that it can work out";
        Err(Box::new(found.help(help)))
    }

    fn outputs(&mut self, graph: &'a proto::Graph) -> Step<()> {
        for output in &graph.output {
            let Some(position) = self.by_name.get(output.name.as_str()) else {
                let message = format!("nothing gives the output `{}`", shown(&output.name));
                return Err(Box::new(error(Code::ImportOperands, message)));
            };
            if !self.network.outputs.contains(position) {
                self.network.outputs.push(*position);
            }
        }
        Ok(())
    }
}

fn open_error(open: &[String], graph: &proto::Graph) -> Diagnostic {
    let most = 8;
    let mut listed = open.iter().take(most).cloned().collect::<Vec<_>>().join(", ");
    if open.len() > most {
        listed.push_str(&format!(" and {} more", open.len() - most));
    }
    let mut found = error(Code::ImportShape, format!("the model leaves extents open: {listed}"));
    let params = graph.input.iter().flat_map(dims).find_map(|dim| dim.dim_param.as_ref());
    found.help.extend(params.map(|name| format!("say them: `--set {}=1`", shown(name))));
    let help = "or give an input's whole shape: `--shape NAME=1,3,224,224`";
    found.help(help)
}

/// ``in `conv1` (Conv), which gives `y` ``
pub(super) fn place(node: &proto::Node) -> String {
    let op = shown(&node.op_type);
    let gives = node.output.first().map(|name| shown(name)).unwrap_or_default();
    if node.name.is_empty() {
        format!("in the `{op}` that gives `{gives}`")
    } else {
        format!("in `{}`, the `{op}` that gives `{gives}`", shown(&node.name))
    }
}
