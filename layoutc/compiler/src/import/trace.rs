//! The shape of every tensor of a model, operator by operator; what is known before the model runs is worked out.

use std::collections::{BTreeMap, BTreeSet};

use super::Asked;
use super::call::{Call, Shaped, extent};
use super::elements::{Values, scalar, values};
use super::extents::{are_asked_for, declared, given, tensor_type, told_open};
use super::fault::{Refused, Unshaped, shown};
use super::infer::infer;
use super::network::{Network, Operand, Operator, Tensor};
use super::operator::{is_identity, is_parameter, is_pure, is_unread, kind};
use super::proto;
use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// The most axes of a tensor: each has a letter.
const MAX_RANK: usize = 26;

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
        return Err(Box::new(Diagnostic::placeless(
            Code::ImportMalformed,
            "the file has no graph",
        ))
        .into());
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
            opset: opset(model),
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
            let found = Diagnostic::placeless(Code::ImportUnsupported, message);
            return Err(Box::new(found.note(format!("the most are {MAX_RANK}"))));
        }
        self.known += shaped.known.as_ref().map_or(0, Values::len);
        if self.known > MAX_ALL_KNOWN {
            shaped.known = None;
        }
        let position = self.network.tensors.len();
        if !name.is_empty() && self.by_name.insert(name, position).is_some() {
            let message = format!("two tensors are called `{}`", shown(name));
            return Err(Box::new(Diagnostic::placeless(Code::ImportMalformed, message)));
        }
        self.network.tensors.push(Tensor { name, shaped, is_constant, is_stored: false });
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
                return Err(Box::new(Diagnostic::placeless(Code::ImportMalformed, message)));
            };
            let count = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
            let known = count.and_then(|count| values(tensor, dtype, count));
            let position = self.add(&tensor.name, Shaped { dtype, shape, known }, true)?;
            let stored = self.network.tensors.get_mut(position).into_iter();
            stored.for_each(|tensor| tensor.is_stored = true);
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
            let Some(own) = tensor_type(input) else {
                let message = format!("the input `{}` is no tensor", shown(&input.name));
                return Err(
                    Box::new(Diagnostic::placeless(Code::ImportUnsupported, message)).into()
                );
            };
            let Some(dtype) = scalar(own.elem_type) else {
                self.untyped.insert(&input.name, own.elem_type);
                continue;
            };
            let shape = given(input, asked, &mut open)?;
            let position = self.add(&input.name, Shaped::new(dtype, shape), false)?;
            self.network.inputs.push(position);
        }
        match told_open(&open, graph) {
            None => Ok(()),
            Some(error) => Err(Box::new(error).into()),
        }
    }

    fn operator(&mut self, node: &'a proto::Node) -> Step<()> {
        let is_body = |attribute: &proto::Attribute| attribute.has_graph();
        if node.attribute.iter().any(is_body) {
            let op = shown(&node.op_type);
            let message = format!("`{op}` runs a graph of its own, which no graph here can say");
            let found = Diagnostic::placeless(Code::ImportUnsupported, message).note(place(node));
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
        let is_known = |operand: usize| {
            let tensor = self.network.tensors.get(operand);
            tensor.is_some_and(|tensor| tensor.is_constant && tensor.shaped.known.is_some())
        };
        let operands = read.iter().map(|(slot, tensor)| Operand { slot: *slot, tensor: *tensor });
        let (parameters, inputs): (Vec<_>, Vec<_>) =
            operands.partition(|one| is_parameter(node, one.slot) && is_known(one.tensor));
        let mut written = Vec::new();
        for (name, shaped) in node.output.iter().zip(results) {
            written.push(self.add(name, shaped, is_made_here)?);
        }
        if is_made_here {
            self.network.folded += usize::from(node.op_type != "Constant");
        } else {
            let outputs = written;
            let operator = Operator { node, kind: kind(node), inputs, parameters, outputs };
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
            Some(number) => untyped(&format!("`{name_shown}` has"), i64::from(*number)),
            None => {
                let message = format!("nothing before it gives `{name_shown}`");
                Diagnostic::placeless(Code::ImportOperands, message)
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
        let (message, reason) = match infer(&call) {
            Ok(results) => return Ok(results),
            Err(Unshaped::Wrong(message)) => {
                let found = Diagnostic::placeless(Code::ImportOperands, message).note(place(node));
                return Err(Box::new(found));
            }
            Err(Unshaped::Elements(number)) => {
                let message = format!("`{}` gives", shown(&node.op_type));
                return Err(Box::new(untyped(&message, number).note(place(node))));
            }
            Err(Unshaped::Open(reason)) => {
                let op = shown(&node.op_type);
                (format!("what `{op}` gives has no size before the model runs"), Some(reason))
            }
            Err(Unshaped::Operator) => {
                let op = shown(&node.op_type);
                let message = format!(
                    "`{op}` is no operator that layoutc knows, and the model does not say what it gives"
                );
                (message, None)
            }
        };
        let names = node.output.iter().take(outputs);
        let declared = names.map(|name| self.declared.get(name.as_str()).cloned());
        if let Some(declared) = declared.collect::<Option<Vec<_>>>() {
            return Ok(declared);
        }
        let mut found = Diagnostic::placeless(Code::ImportShape, message).note(place(node));
        found.notes.extend(reason);
        let help = "`onnx.shape_inference.infer_shapes` adds the shapes that it can work out";
        Err(Box::new(found.help(help)))
    }

    fn outputs(&mut self, graph: &'a proto::Graph) -> Step<()> {
        for output in &graph.output {
            let Some(position) = self.by_name.get(output.name.as_str()) else {
                let message = format!("nothing gives the output `{}`", shown(&output.name));
                return Err(Box::new(Diagnostic::placeless(Code::ImportOperands, message)));
            };
            if !self.network.outputs.contains(position) {
                self.network.outputs.push(*position);
            }
        }
        Ok(())
    }
}

/// Elements of a type that there is none of here; `what`: `` `x` has ``.
fn untyped(what: &str, number: i64) -> Diagnostic {
    let message = format!("{what} elements of type {number} of ONNX");
    let found = Diagnostic::placeless(Code::ImportUnsupported, message);
    found.note("there is no such element type here")
}

/// ``in `conv1` (Conv), which gives `y` ``
fn place(node: &proto::Node) -> String {
    let op = shown(&node.op_type);
    let gives = node.output.first().map(|name| shown(name)).unwrap_or_default();
    if node.name.is_empty() {
        format!("in the `{op}` that gives `{gives}`")
    } else {
        format!("in `{}`, the `{op}` that gives `{gives}`", shown(&node.name))
    }
}
