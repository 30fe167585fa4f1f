//! Resolution of a graph: tensors and nodes by position, nodes in topological order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::backend::{self, Backend};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::check::scope::{ManifestScope, nearest_or_all};
use crate::manifest::syntax::{
    GraphItem, GraphTensorItem, Identifier, NodeItem, OutputItem, PinItem,
};
use crate::model::graph::TensorRole;

/// A graph with names resolved to positions.
pub(super) struct ResolvedGraph<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) backend: Option<Backend>,
    /// Inputs and constants, then results in the order of the nodes.
    pub(super) tensors: Vec<&'a GraphTensorItem>,
    pub(super) roles: Vec<TensorRole>,
    /// The nodes in topological order.
    pub(super) nodes: Vec<&'a NodeItem>,
    /// Positions of the operands in `tensors`, for each node.
    pub(super) reads: Vec<Vec<usize>>,
    /// Positions of the results in `tensors`, for each node.
    pub(super) writes: Vec<Vec<usize>>,
    pub(super) outputs: Vec<(usize, &'a OutputItem)>,
    pub(super) pins: Vec<(usize, &'a PinItem)>,
}

/// Resolves the names of a graph.
///
/// # Errors
/// Unknown names, an unknown backend, or a cycle of operators.
pub(super) fn resolve<'a>(
    item: &'a GraphItem,
    scope: &ManifestScope,
    file: &'a Arc<str>,
) -> Result<ResolvedGraph<'a>, Vec<Diagnostic>> {
    let mut errors = Vec::new();
    let backend = match &item.backend {
        None => None,
        Some(name) => match backend::find(name, scope, file) {
            Ok(def) => Some(def),
            Err(error) => return Err(error.map(|error| *error).into_iter().collect()),
        },
    };
    let nodes = in_order(item, file).map_err(|error| vec![*error])?;
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
            errors.push(unknown(name, &positions, file));
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

fn unknown(name: &Identifier, positions: &BTreeMap<&str, usize>, file: &Arc<str>) -> Diagnostic {
    let message = format!("the graph has no tensor `{}`", name.value);
    let place = FileSpan::new(file, name.span.clone());
    let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
    let known: Vec<&str> = positions.keys().copied().collect();
    nearest_or_all(&mut error, &name.value, "tensors", &known);
    error
}

/// The nodes in topological order, stable with respect to the text.
fn in_order<'a>(
    item: &'a GraphItem,
    file: &Arc<str>,
) -> Result<Vec<&'a NodeItem>, Box<Diagnostic>> {
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
    Err(Box::new(
        error.help(
            "make each operator read only inputs, constants and results of earlier operators",
        ),
    ))
}
