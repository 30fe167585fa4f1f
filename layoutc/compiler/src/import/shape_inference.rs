//! Shape inference and constant folding of an ONNX model, operator by operator, in execution order.

use std::collections::{BTreeMap, BTreeSet};

use super::ImportOptions;
use super::call::{OnnxCall, ShapedTensor, extents};
use super::elements::{ConstantElements, element_type_name, scalar, values};
use super::error::{ImportError, ShapeError, ShapeResult, shown};
use super::extents::{
    check_option_names, declared, given, no_tensor, open_extents_warning, tensor_type,
};
use super::infer::infer;
use super::network::{NetworkOperand, NetworkOperator, NetworkTensor, OnnxNetwork};
use super::operator::{is_identity, is_parameter, is_pure, is_unread, kind};
use super::proto;
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Maximum rank of a tensor, as each axis needs a letter of its own. A model with a tensor of higher rank is refused.
const MAX_RANK: usize = 26;

/// Maximum total number of constant elements that are kept for all tensors. Elements of further tensors are unknown.
const MAX_ALL_KNOWN: usize = 1 << 22;

/// Maximum number of operators and operands that are processed, added up; the import fails beyond it. Those of a
/// subgraph count each time that the subgraph is evaluated.
const MAX_STEPS: usize = 8_000_000;

pub(super) type InferResult<T> = Result<T, Box<Diagnostic>>;

/// Infers the network of a model: its operators and tensors with known shapes. `opset` is the version of the standard
/// operator set.
///
/// # Errors
/// [`ImportError::InvalidOption`] if an option names no input or dimension parameter, or gives a shape of the wrong
/// rank. [`ImportError::Faulty`] if the model is malformed, unsupported or too large, or if the shape of a tensor is
/// unknown.
pub(super) fn trace<'a>(
    graph: &'a proto::OnnxGraph,
    opset: i64,
    options: &ImportOptions<'_>,
) -> Result<OnnxNetwork<'a>, ImportError> {
    check_option_names(graph, options)?;
    let mut tracer = ShapeInference {
        declared: declared(graph, options),
        outputs: graph.output.iter().map(|output| output.name.as_str()).collect(),
        scopes: vec![OnnxScope::default()],
        known: 0,
        steps: 0,
        network: OnnxNetwork {
            name: &graph.name,
            opset,
            tensors: Vec::new(),
            operators: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            folded: 0,
        },
    };
    tracer.constants(graph)?;
    tracer.inputs(graph, options)?;
    for node in &graph.node {
        tracer.operator(node)?;
    }
    tracer.outputs(graph)?;
    Ok(tracer.network)
}

/// Names of the tensors in one graph or subgraph, mapped to positions in the network. A name that is missing is looked
/// up in the enclosing graphs.
#[derive(Default)]
pub(super) struct OnnxScope<'a> {
    by_name: BTreeMap<&'a str, usize>,
    /// Names whose type is not a supported tensor type, with the reason: `string elements`.
    untyped: BTreeMap<&'a str, String>,
}

pub(super) struct ShapeInference<'a> {
    pub(super) declared: BTreeMap<&'a str, ShapedTensor>,
    outputs: BTreeSet<&'a str>,
    pub(super) scopes: Vec<OnnxScope<'a>>,
    /// Number of constant elements of all tensors added so far. Above [`MAX_ALL_KNOWN`], elements of further tensors
    /// are unknown.
    pub(super) known: usize,
    /// Number of operators and operands processed so far; the import fails above [`MAX_STEPS`].
    steps: usize,
    pub(super) network: OnnxNetwork<'a>,
}

impl<'a> ShapeInference<'a> {
    pub(super) fn add(
        &mut self,
        name: &'a str,
        mut shaped: ShapedTensor,
        is_constant: bool,
    ) -> InferResult<usize> {
        if shaped.shape.len() > MAX_RANK {
            let message = format!("`{}` has {} axes", shown(name), shaped.shape.len());
            let found = Diagnostic::without_span(Code::ImportUnsupported, message);
            return Err(Box::new(found.note(format!("the maximum rank is {MAX_RANK}"))));
        }
        self.known += shaped.known.as_ref().map_or(0, ConstantElements::len);
        if self.known > MAX_ALL_KNOWN {
            shaped.known = None;
        }
        let position = self.network.tensors.len();
        self.call(name, position)?;
        self.network.tensors.push(NetworkTensor { name, shaped, is_constant, is_stored: false });
        Ok(position)
    }

    /// Gives the tensor at `position` of the network the name `name` in the innermost graph. No effect if `name` is
    /// empty.
    ///
    /// # Errors
    /// `import::malformed` if the graph has the name already.
    pub(super) fn call(&mut self, name: &'a str, position: usize) -> InferResult<()> {
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        if !name.is_empty() && scope.by_name.insert(name, position).is_some() {
            let message = format!("duplicate tensor name `{}`", shown(name));
            return Err(Box::new(Diagnostic::without_span(Code::ImportMalformed, message)));
        }
        Ok(())
    }

    /// Records the reason why a name in the innermost graph has no supported type, for a message when the name is used.
    fn refuse(&mut self, name: &'a str, reason: String) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.untyped.insert(name, reason);
        }
    }

    pub(super) fn constants(&mut self, graph: &'a proto::OnnxGraph) -> InferResult<()> {
        for tensor in &graph.initializer {
            let Some(dtype) = scalar(tensor.data_type) else {
                self.refuse(&tensor.name, element_type_name(tensor.data_type.into()));
                continue;
            };
            let Ok(shape) = extents(tensor.dims.iter().copied()) else {
                let name = shown(&tensor.name);
                let message = format!("the constant `{name}` has the shape {:?}", tensor.dims);
                return Err(Box::new(Diagnostic::without_span(Code::ImportMalformed, message)));
            };
            let count = shape.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
            let known = count.and_then(|count| values(tensor, dtype, count));
            let position = self.add(&tensor.name, ShapedTensor { dtype, shape, known }, true)?;
            let stored = self.network.tensors.get_mut(position).into_iter();
            stored.for_each(|tensor| tensor.is_stored = true);
        }
        Ok(())
    }

    fn inputs(
        &mut self,
        graph: &'a proto::OnnxGraph,
        options: &ImportOptions<'_>,
    ) -> Result<(), ImportError> {
        let mut open = Vec::new();
        for input in &graph.input {
            // Before IR version 4 constants are listed as inputs too.
            if self.scopes.iter().any(|scope| scope.by_name.contains_key(input.name.as_str())) {
                continue;
            }
            let Some(own) = tensor_type(input) else {
                let message = format!("the input `{}` {}", shown(&input.name), no_tensor(input));
                let found = Diagnostic::without_span(Code::ImportUnsupported, message);
                let help = "graphs support only tensors; export a model with tensor inputs";
                return Err(Box::new(found.help(help)).into());
            };
            let Some(dtype) = scalar(own.elem_type) else {
                self.refuse(&input.name, element_type_name(own.elem_type.into()));
                continue;
            };
            let shape = given(input, options, &mut open)?;
            let position = self.add(&input.name, ShapedTensor::new(dtype, shape), false)?;
            self.network.inputs.push(position);
        }
        match open_extents_warning(&open, graph) {
            None => Ok(()),
            Some(error) => Err(Box::new(error).into()),
        }
    }

    pub(super) fn operator(&mut self, node: &'a proto::OnnxNode) -> InferResult<()> {
        self.steps += 1 + node.input.len();
        if self.steps > MAX_STEPS {
            let message = format!(
                "operators have more than {MAX_STEPS} operands, counted per loop iteration"
            );
            return Err(Box::new(Diagnostic::without_span(Code::LimitGraph, message)));
        }
        if node.attribute.iter().any(|attribute| attribute.bodies().next().is_some()) {
            return self.with_bodies(node);
        }
        let inputs = self.operands(node)?;
        let results = self.or_declared(node, self.inferred(node, &inputs))?;
        let is_output =
            node.output.first().is_some_and(|name| self.outputs.contains(name.as_str()));
        if let (Some(Some(operand)), Some(name), true, false) =
            (inputs.first(), node.output.first(), is_identity(node), is_output)
        {
            return self.call(name, *operand);
        }
        let read = inputs.iter().enumerate().filter(|(k, _)| !is_unread(node, *k));
        let read = read.filter_map(|(k, operand)| Some((k, (*operand)?)));
        let read: Vec<(usize, usize)> = read.collect();
        let is_made_here = is_pure(node)
            && (read.iter().all(|(_, operand)| self.network.is_constant(*operand))
                || results.iter().all(|one| one.known.is_some()));
        let is_known = |operand: usize| {
            self.network.is_constant(operand)
                && self.shaped(operand).is_some_and(|shaped| shaped.known.is_some())
        };
        let operands =
            read.iter().map(|(slot, tensor)| NetworkOperand { slot: *slot, tensor: *tensor });
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
            let operator = NetworkOperator { node, kind: kind(node), inputs, parameters, outputs };
            self.network.operators.push(operator);
        }
        Ok(())
    }

    /// Positions in the network of the operands of an operator, in order; `None` for an omitted operand.
    ///
    /// # Errors
    /// `import::operands` if no earlier operator produces an operand, `import::unsupported` if its type is not
    /// supported.
    pub(super) fn operands(&self, node: &proto::OnnxNode) -> InferResult<Vec<Option<usize>>> {
        node.input.iter().map(|name| self.operand(node, name)).collect()
    }

    fn operand(&self, node: &proto::OnnxNode, name: &str) -> InferResult<Option<usize>> {
        if name.is_empty() {
            return Ok(None);
        }
        for scope in self.scopes.iter().rev() {
            if let Some(position) = scope.by_name.get(name) {
                return Ok(Some(*position));
            }
            if let Some(reason) = scope.untyped.get(name) {
                let found = untyped(&format!("`{}` has", shown(name)), reason);
                return Err(Box::new(found.note(place(node))));
            }
        }
        let message = format!("no earlier operator produces `{}`", shown(name));
        let found = Diagnostic::without_span(Code::ImportOperands, message);
        Err(Box::new(found.note(place(node))))
    }

    /// Position in the network of the tensor called `name`. A subgraph is searched before the graph that encloses it.
    /// `None` if there is no tensor of that name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find_map(|scope| scope.by_name.get(name).copied())
    }

    pub(super) fn shaped(&self, position: usize) -> Option<&ShapedTensor> {
        self.network.tensors.get(position).map(|tensor| &tensor.shaped)
    }

    /// Results of an operator by shape inference from its operands. `inputs` has their positions in the network; `None`
    /// stands for an omitted operand.
    pub(super) fn inferred(
        &self,
        node: &proto::OnnxNode,
        inputs: &[Option<usize>],
    ) -> ShapeResult<Vec<ShapedTensor>> {
        let inputs = inputs.iter().map(|position| self.shaped((*position)?)).collect();
        infer(&OnnxCall { node, opset: self.network.opset, inputs, outputs: outputs(node) })
    }

    /// Results `found` of an operator by shape inference. If the operator has no shape rule, or if its shapes depend on
    /// data, the results have the shapes that the model declares instead.
    ///
    /// # Errors
    /// `import::shape` if the model does not declare the shapes, `import::operands` for a mismatch of the operands,
    /// `import::unsupported` for types that graphs do not support.
    pub(super) fn or_declared(
        &self,
        node: &proto::OnnxNode,
        found: ShapeResult<Vec<ShapedTensor>>,
    ) -> InferResult<Vec<ShapedTensor>> {
        let op = shown(&node.op_type);
        let (message, reason) = match found {
            Ok(results) => return Ok(results),
            Err(ShapeError::Mismatch(message)) => {
                let found =
                    Diagnostic::without_span(Code::ImportOperands, message).note(place(node));
                return Err(Box::new(found));
            }
            Err(ShapeError::ElementType(number)) => {
                let found = untyped(&format!("`{op}` produces"), &element_type_name(number));
                return Err(Box::new(found.note(place(node))));
            }
            Err(ShapeError::NotTensor(kind)) => {
                let message = format!("`{op}` operates on {kind}, but graphs support only tensors");
                let found = Diagnostic::without_span(Code::ImportUnsupported, message);
                return Err(Box::new(found.note(place(node))));
            }
            Err(ShapeError::DataDependent(reason)) => (
                format!("the result shapes of `{op}` are unknown before the model runs"),
                Some(reason),
            ),
            Err(ShapeError::Operator) => {
                let message = format!(
                    "unknown operator `{op}`, and the model does not declare its result shapes"
                );
                (message, None)
            }
        };
        let outputs = outputs(node);
        let names = node.output.iter().take(outputs);
        let declared = names.map(|name| self.declared.get(name.as_str()).cloned());
        if let Some(declared) = declared.collect::<Option<Vec<_>>>() {
            return Ok(declared);
        }
        let mut found = Diagnostic::without_span(Code::ImportShape, message).note(place(node));
        found.notes.extend(reason);
        let help = "`onnx.shape_inference.infer_shapes` adds the shapes that it can infer";
        Err(Box::new(found.help(help)))
    }

    fn outputs(&mut self, graph: &'a proto::OnnxGraph) -> InferResult<()> {
        let mut known = BTreeSet::new();
        for output in &graph.output {
            let position = self.output(output)?;
            if known.insert(position) {
                self.network.outputs.push(position);
            }
        }
        Ok(())
    }

    /// Position in the network of the tensor that is an output of the model or of a subgraph.
    ///
    /// # Errors
    /// `import::operands` if no operator produces it, `import::unsupported` if its type is not supported.
    pub(super) fn output(&self, output: &proto::OnnxValueInfo) -> InferResult<usize> {
        self.position(&output.name).ok_or_else(|| {
            let name = shown(&output.name);
            let reason = self
                .scopes
                .iter()
                .rev()
                .find_map(|scope| scope.untyped.get(output.name.as_str()).map(String::as_str));
            Box::new(match reason {
                Some(reason) => untyped(&format!("the output `{name}` has"), reason),
                None => {
                    let message = format!("no operator produces the output `{name}`");
                    Diagnostic::without_span(Code::ImportOperands, message)
                }
            })
        })
    }
}

/// Number of results that an operator's node requests, including omitted results that precede used ones.
pub(super) fn outputs(node: &proto::OnnxNode) -> usize {
    node.output.iter().rposition(|name| !name.is_empty()).map_or(0, |k| k + 1)
}

/// Error for an unsupported element type. `what` begins the message: `` `x` has ``; `elements` ends it:
/// `string elements`.
fn untyped(what: &str, elements: &str) -> Diagnostic {
    let found = Diagnostic::without_span(Code::ImportUnsupported, format!("{what} {elements}"));
    found.note("layoutc has no such element type")
}

/// Description of an operator for messages: ``in `conv1`, the `Conv` that produces `y` ``.
pub(super) fn place(node: &proto::OnnxNode) -> String {
    let op = shown(&node.op_type);
    let gives = node.output.first().map(|name| shown(name)).unwrap_or_default();
    if node.name.is_empty() {
        format!("in the `{op}` that produces `{gives}`")
    } else {
        format!("in `{}`, the `{op}` that produces `{gives}`", shown(&node.name))
    }
}
