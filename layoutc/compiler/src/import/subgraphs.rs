//! Shape inference for operators with subgraphs: `If`, `Loop`, `Scan` and others.
//!
//! An `If` with a constant condition is replaced by the operators of the branch that is taken. Any other operator
//! remains one node; tensors outside of its subgraphs that the subgraphs read become further operands. The subgraphs of
//! `If`, `Loop` and `Scan` (from opset 9 on) are evaluated, but only for the shapes of the results.

use std::collections::BTreeSet;

use super::call::ShapedTensor;
use super::error::{ShapeError, ShapeResult, listed};
use super::network::{NetworkOperand, NetworkOperator};
use super::operator::{OnnxOperatorKind, is_standard};
use super::proto;
use super::shape_inference::{InferResult, OnnxScope, ShapeInference};
use crate::base::codes::Code;

/// Results of an evaluated subgraph (`results`), and the positions in the network of the tensors outside the subgraph
/// that it returns or that its operators read as data (`read`), ascending without duplicates. Operands that are
/// constant parameters, such as shapes, are not listed.
pub(super) struct SubgraphSummary {
    pub(super) results: Vec<ShapedTensor>,
    pub(super) read: Vec<usize>,
    /// One entry for each result: the position, among the subgraph's inputs, of the input that the result returns
    /// unchanged; `None` if the result is no input.
    pub(super) same: Vec<Option<usize>>,
}

impl<'a> ShapeInference<'a> {
    /// Adds an operator with subgraphs to the network: as one node, or as the operators of a taken branch.
    pub(super) fn with_bodies(&mut self, node: &'a proto::OnnxNode) -> InferResult<()> {
        let inputs = self.operands(node)?;
        let graph = |name: &str| {
            let own = node.attribute.iter().find(|attribute| attribute.name == name);
            own.and_then(|attribute| attribute.g.as_deref())
        };
        if let (true, "If", Some(yes), Some(no)) =
            (is_standard(node), node.op_type.as_str(), graph("then_branch"), graph("else_branch"))
        {
            return self.branches(node, &inputs, yes, no);
        }
        let (found, read) = match (node.op_type.as_str(), graph("body")) {
            ("Loop", Some(body)) if is_standard(node) => self.infer_loop(&inputs, body)?,
            ("Scan", Some(body)) if is_standard(node) && self.network.opset >= 9 => {
                self.infer_scan(node, &inputs, body)?
            }
            ("SequenceMap", _) => (Err(ShapeError::NotTensor("sequences of tensors")), Vec::new()),
            _ => (self.inferred(node, &inputs), self.free_names(node)),
        };
        let results = self.or_declared(node, found)?;
        self.opaque(node, &inputs, &read, results)
    }

    /// Positions of the tensors outside the subgraphs of an operator that are named as operands in the subgraphs; may
    /// contain duplicates.
    fn free_names(&self, node: &proto::OnnxNode) -> Vec<usize> {
        let mut read = Vec::new();
        let mut rest: Vec<&proto::OnnxGraph> =
            node.attribute.iter().flat_map(proto::OnnxAttribute::bodies).collect();
        while let Some(body) = rest.pop() {
            for inner in &body.node {
                let known = inner.input.iter().filter_map(|name| self.position(name));
                read.extend(known);
                rest.extend(inner.attribute.iter().flat_map(proto::OnnxAttribute::bodies));
            }
        }
        read
    }

    /// Adds an operator to the network as one row-major node. `inputs` are its operands, `read` the positions of the
    /// tensors that its subgraphs read, and `results` its results. The tensors in `read` that are no operands yet
    /// become further operands. The elements of the results become unknown.
    fn opaque(
        &mut self,
        node: &'a proto::OnnxNode,
        inputs: &[Option<usize>],
        read: &[usize],
        results: Vec<ShapedTensor>,
    ) -> InferResult<()> {
        let given = inputs.iter().enumerate();
        let given =
            given.filter_map(|(slot, tensor)| Some(NetworkOperand { slot, tensor: (*tensor)? }));
        let mut operands: Vec<NetworkOperand> = given.collect();
        let mut known: BTreeSet<usize> = operands.iter().map(|operand| operand.tensor).collect();
        let others = read.iter().copied().filter(|position| known.insert(*position));
        let others = others.enumerate();
        operands
            .extend(others.map(|(k, tensor)| NetworkOperand { slot: inputs.len() + k, tensor }));
        let mut written = Vec::new();
        for (name, shaped) in node.output.iter().zip(results) {
            written.push(self.add(name, ShapedTensor { known: None, ..shaped }, false)?);
        }
        let (kind, inputs, outputs) = (OnnxOperatorKind::RowMajor, operands, written);
        let parameters = Vec::new();
        self.network.operators.push(NetworkOperator { node, kind, inputs, parameters, outputs });
        Ok(())
    }

    fn branches(
        &mut self,
        node: &'a proto::OnnxNode,
        inputs: &[Option<usize>],
        yes: &'a proto::OnnxGraph,
        no: &'a proto::OnnxGraph,
    ) -> InferResult<()> {
        let condition = inputs.first().copied().flatten().and_then(|k| self.shaped(k));
        if let Some(truth) = condition.and_then(ShapedTensor::number) {
            return self.inline_branch(node, if truth == 0 { no } else { yes });
        }
        let (yes, no) = (self.body(yes, Vec::new()), self.body(no, Vec::new()));
        let (found, read) = match (yes, no) {
            (Err(fault), Err(_)) => return Err(fault),
            (Ok(body), Err(fault)) | (Err(fault), Ok(body)) => match fault.code {
                // A branch with mismatched shapes is never taken.
                Code::ImportOperands => (Ok(body.results), body.read),
                Code::ImportShape => {
                    let message = format!("in one of the branches {}", fault.message);
                    (Err(ShapeError::DataDependent(message)), body.read)
                }
                _ => return Err(fault),
            },
            (Ok(yes), Ok(no)) => {
                let read = [yes.read, no.read].concat();
                (merge_branches(yes.results, &no.results), read)
            }
        };
        let results = self.or_declared(node, found)?;
        self.opaque(node, inputs, &read, results)
    }

    /// Adds the operators of `branch`, the taken branch, to the network instead of the `If` operator `node`.
    fn inline_branch(
        &mut self,
        node: &'a proto::OnnxNode,
        branch: &'a proto::OnnxGraph,
    ) -> InferResult<()> {
        let before = self.network.tensors.len();
        self.scopes.push(OnnxScope::default());
        self.own(branch)?;
        let given = branch.output.iter().map(|output| self.output(output));
        let given = given.collect::<InferResult<Vec<_>>>()?;
        self.scopes.pop();
        for (name, position) in node.output.iter().zip(given) {
            self.call(name, position)?;
            // The result takes the name used in the enclosing graph.
            if let Some(tensor) = self.network.tensors.get_mut(position)
                && position >= before
                && !name.is_empty()
            {
                tensor.name = name;
            }
        }
        self.network.folded += 1;
        Ok(())
    }

    /// Adds the constants and operators of a graph to the network, with names in the innermost scope.
    fn own(&mut self, graph: &'a proto::OnnxGraph) -> InferResult<()> {
        let options = super::ImportOptions::default();
        self.declared.extend(super::extents::declared(graph, &options));
        self.constants(graph)?;
        graph.node.iter().try_for_each(|node| self.operator(node))
    }

    /// Results of a subgraph whose inputs are `operands`, in order: shapes, element types and known elements. The
    /// tensors and operators of the subgraph are added to the network for the evaluation and removed again, also after
    /// an error.
    pub(super) fn body(
        &mut self,
        graph: &'a proto::OnnxGraph,
        operands: Vec<ShapedTensor>,
    ) -> InferResult<SubgraphSummary> {
        let (tensors, operators) = (self.network.tensors.len(), self.network.operators.len());
        let (folded, depth) = (self.network.folded, self.scopes.len());
        self.scopes.push(OnnxScope::default());
        let found = self.within(graph, operands, tensors, operators);
        self.scopes.truncate(depth);
        self.network.tensors.truncate(tensors);
        self.network.operators.truncate(operators);
        self.network.folded = folded;
        found
    }

    fn within(
        &mut self,
        graph: &'a proto::OnnxGraph,
        operands: Vec<ShapedTensor>,
        tensors: usize,
        operators: usize,
    ) -> InferResult<SubgraphSummary> {
        let mut own = Vec::new();
        for (input, shaped) in graph.input.iter().zip(operands) {
            own.push(self.add(&input.name, shaped, false)?);
        }
        self.own(graph)?;
        let given = graph.output.iter().map(|output| self.output(output));
        let given = given.collect::<InferResult<Vec<_>>>()?;
        let inner = self.network.operators.get(operators..).unwrap_or_default();
        let read = inner.iter().flat_map(NetworkOperator::reads).chain(given.iter().copied());
        let mut read: Vec<usize> = read.filter(|position| *position < tensors).collect();
        read.sort_unstable();
        read.dedup();
        let results = given.iter().filter_map(|position| self.shaped(*position).cloned());
        let same = given.iter().map(|position| own.iter().position(|own| own == position));
        Ok(SubgraphSummary { results: results.collect(), read, same: same.collect() })
    }
}

/// Results of an `If` from the results of its branches.
///
/// # Errors
/// [`ShapeError::DataDependent`] if the shape or element type of a result differs between the branches.
fn merge_branches(yes: Vec<ShapedTensor>, no: &[ShapedTensor]) -> ShapeResult<Vec<ShapedTensor>> {
    let is_alike =
        |(a, b): &(&ShapedTensor, &ShapedTensor)| a.dtype == b.dtype && a.shape == b.shape;
    if let Some((a, b)) = yes.iter().zip(no).find(|pair| !is_alike(pair)) {
        let (a, b) = (listed(&a.shape), listed(&b.shape));
        let message = "the taken branch is known only when the model runs";
        return Err(ShapeError::DataDependent(format!(
            "{message}, and the branches produce {a} and {b}"
        )));
    }
    Ok(yes)
}
