//! Resolution of the names of a graph: [`ResolvedGraph`] has tensors and nodes by position, nodes in topological order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backend::{self, Backend};
use super::projection::project_layout;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::check::scope::ManifestScope;
use crate::manifest::syntax::{
    GraphItem, GraphTensorItem, Identifier, NodeItem, OutputItem, PinItem,
};
use crate::model::graph::TensorRole;

/// Graph whose names are resolved to positions.
pub(super) struct ResolvedGraph<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) backend: Option<Backend>,
    /// Tensors of the graph: inputs and constants in textual order, then results in the order of the nodes.
    pub(super) tensors: Vec<&'a GraphTensorItem>,
    pub(super) roles: Vec<TensorRole>,
    /// Nodes in topological order.
    pub(super) nodes: Vec<&'a NodeItem>,
    /// Positions in `tensors` of the operands of each node, by the node's position in `nodes`.
    pub(super) reads: Vec<Vec<usize>>,
    /// Positions in `tensors` of the results of each node, by the node's position in `nodes`.
    pub(super) writes: Vec<Vec<usize>>,
    pub(super) outputs: Vec<(usize, &'a OutputItem)>,
    pub(super) pins: Vec<(usize, &'a PinItem)>,
}

impl<'a> ResolvedGraph<'a> {
    /// Positions in `tensors` of the operands of the node at position `node`; empty for an invalid position.
    pub(super) fn operands(&self, node: usize) -> &[usize] {
        self.reads.get(node).map_or(&[], Vec::as_slice)
    }

    /// Positions in `tensors` of the results of the node at position `node`; empty for an invalid position.
    pub(super) fn results(&self, node: usize) -> &[usize] {
        self.writes.get(node).map_or(&[], Vec::as_slice)
    }

    /// Number of axes of the tensor at position `tensor`; 0 for an invalid position.
    pub(super) fn rank(&self, tensor: usize) -> usize {
        self.tensors.get(tensor).map_or(0, |item| item.shape.axes.len())
    }

    pub(super) fn tensor_name(&self, tensor: usize) -> &'a str {
        self.tensors.get(tensor).map_or("", |item| &item.name.value)
    }

    pub(super) fn is_constant(&self, tensor: usize) -> bool {
        self.roles.get(tensor) == Some(&TensorRole::Constant)
    }

    /// Projection of the layout `text` of the tensor at position `from` to the axes of the tensor at position `to`:
    /// `NC16c` for `NCHW16c` if `to` has the axes N and C. `None` if there is no projection.
    pub(super) fn projected(&self, text: &str, from: usize, to: usize) -> Option<String> {
        if from == to {
            return Some(text.to_owned());
        }
        project_layout(text, self.tensors.get(from)?, self.tensors.get(to)?)
    }
}

/// Resolves the names of a graph.
///
/// # Errors
/// Unknown names, an unknown backend, or a cycle of operators; empty if the fault has been reported elsewhere.
pub(super) fn resolve<'a>(
    item: &'a GraphItem,
    scope: &ManifestScope,
    file: &'a Arc<str>,
) -> CheckResult<ResolvedGraph<'a>> {
    let mut errors = Vec::new();
    let backend = match &item.backend {
        None => None,
        Some(name) => Some(backend::find(name, scope, file).map_err(Vec::from_iter)?),
    };
    let nodes = in_order(item, file)?;
    let mut tensors: Vec<&GraphTensorItem> = item.tensors.iter().collect();
    let role = |item: &&GraphTensorItem| {
        if item.constant { TensorRole::Constant } else { TensorRole::Input }
    };
    let mut roles: Vec<TensorRole> = tensors.iter().map(role).collect();
    let mut writes = Vec::new();
    for (node, written) in nodes.iter().enumerate() {
        let start = tensors.len();
        tensors.extend(&written.outputs);
        roles.extend((0..written.outputs.len()).map(|result| TensorRole::Result { node, result }));
        writes.push((start..tensors.len()).collect());
    }
    let positions: BTreeMap<&str, usize> =
        tensors.iter().enumerate().map(|(k, item)| (item.name.value.as_str(), k)).collect();
    let mut find = |name: &Identifier| {
        let found = positions.get(name.value.as_str()).copied();
        if found.is_none() {
            let message = format!("the graph has no tensor `{}`", name.value);
            let error = Diagnostic::error(Code::NameUnknown, message, name.at(file), "");
            let known = positions.keys().copied();
            errors.push(error.nearest_or_all(&name.value, "tensors", known));
        }
        found
    };
    let mut reads = Vec::new();
    for node in &nodes {
        reads.push(node.inputs.iter().filter_map(&mut find).collect());
    }
    let outputs =
        item.outputs.iter().filter_map(|output| Some((find(&output.tensor)?, output))).collect();
    let pins = item.pins.iter().filter_map(|pin| Some((find(&pin.tensor)?, pin))).collect();
    if !errors.is_empty() {
        return Err(errors);
    }
    Ok(ResolvedGraph { file, backend, tensors, roles, nodes, reads, writes, outputs, pins })
}

/// Nodes in topological order. Of several nodes whose operands are all available, the first in the text comes first. A
/// cycle is an error.
fn in_order<'a>(item: &'a GraphItem, file: &Arc<str>) -> Result<Vec<&'a NodeItem>, Diagnostic> {
    let mut writer: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, node) in item.nodes.iter().enumerate() {
        writer.extend(node.outputs.iter().map(|tensor| (tensor.name.value.as_str(), k)));
    }
    let mut waits: Vec<usize> = Vec::new();
    let mut readers: Vec<Vec<usize>> = vec![Vec::new(); item.nodes.len()];
    for (k, node) in item.nodes.iter().enumerate() {
        let writers = node.inputs.iter().filter_map(|name| writer.get(name.value.as_str()));
        let writers: BTreeSet<usize> = writers.copied().collect();
        waits.push(writers.len());
        for before in writers {
            readers.get_mut(before).into_iter().for_each(|list| list.push(k));
        }
    }
    let mut ready: BTreeSet<usize> =
        waits.iter().enumerate().filter(|(_, count)| **count == 0).map(|(k, _)| k).collect();
    let mut order = Vec::new();
    while let Some(next) = ready.pop_first() {
        order.extend(item.nodes.get(next));
        for reader in readers.get(next).into_iter().flatten() {
            let Some(count) = waits.get_mut(*reader) else { continue };
            *count -= 1;
            if *count == 0 {
                ready.insert(*reader);
            }
        }
    }
    if order.len() == item.nodes.len() {
        return Ok(order);
    }
    let waiting = waits.iter().zip(&item.nodes).filter(|(count, _)| **count > 0);
    let names: Vec<&Identifier> = waiting.map(|(_, node)| &node.name).collect();
    let listed: Vec<&str> = names.iter().take(8).map(|name| name.value.as_str()).collect();
    let message = format!("cyclic dependency between operators: `{}`", listed.join("`, `"));
    let span = names.first().map_or(item.name.span.clone(), |name| name.span.clone());
    let error = Diagnostic::error(Code::GraphCycle, message, FileSpan::new(file, span), "");
    let help = "make each operator read only inputs, constants and results of earlier operators";
    Err(error.help(help))
}
