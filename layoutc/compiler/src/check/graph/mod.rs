//! Checks of operator graphs: resolves names, proves the candidate layouts of each tensor, and lists the choices of
//! each operator. The solver selects among them later; a graph whose layouts are only verified ([`Graph::is_fixed`]) is
//! verified here.

mod alternatives;
mod backend;
mod candidates;
mod choices;
mod condition;
mod layouts;
mod names;
mod operations;
mod projection;
mod resolve;
mod shapes;
mod tensor_types;
mod transpose;
mod transpose_choices;
mod transpose_layouts;
mod types;
mod verify;

pub(super) use backend::BackendDef;

use std::collections::BTreeMap;

use super::tensor::ManifestContext;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan, collect_all};
use crate::manifest::syntax::{GraphItem, Identifier, OperatorRule, OutputItem, SpannedText};
use crate::model::graph::{
    Graph, GraphNode, GraphTensor, LayoutCandidate, OutputRequirement, TensorRole,
};
use crate::solve;
use alternatives::{NodeContext, OperatorAlternatives, wants};
use layouts::{LayoutCache, is_any};
use names::ConditionName;
use resolve::{ResolvedGraph, resolve};
use tensor_types::GraphTensorType;

/// Checks the graphs of a manifest, and adds errors and warnings to `diagnostics`. Returns the graphs without errors in
/// textual order; a graph is also returned if its only error is that of [`solve::impossible`].
pub(super) fn check(place: ManifestContext<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Graph> {
    let Some(syntax) = place.files.syntax(place.file) else { return Vec::new() };
    let Some(scope) = place.scopes.get(place.file) else { return Vec::new() };
    diagnostics.extend(backend::faults(syntax, scope));
    let (mut graphs, mut uses) = (Vec::new(), Vec::new());
    let mut seen: BTreeMap<&str, &Identifier> = BTreeMap::new();
    for item in &syntax.graphs {
        if let Some(first) = seen.insert(item.name.value.as_str(), &item.name) {
            let at = |name: &Identifier| name.at(&syntax.file);
            let message = format!("two graphs are called `{}`", item.name.value);
            let error = Diagnostic::error(Code::NameDuplicate, message, at(&item.name), "");
            let error = error.with_label(at(first), "the first");
            diagnostics.push(error.help("give one of the two another name"));
            continue;
        }
        let checked = resolve(item, scope, &syntax.file)
            .and_then(|graph| one(item, &graph, place, &mut uses));
        match checked {
            Ok(graph) => {
                diagnostics.extend(solve::impossible(&graph).map(|fault| *fault));
                match verify::verify(&graph) {
                    found if found.is_empty() => graphs.push(graph),
                    found => diagnostics.extend(found),
                }
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    diagnostics.extend(names::unknown(uses));
    graphs
}

/// Facts about a graph that hold for every assignment of layouts.
struct GraphFacts {
    /// Type (axes and element type) of each tensor, by the tensor's position in the graph; `None` if it is invalid or
    /// has a symbolic extent.
    known: Vec<Option<GraphTensorType>>,
    /// Alternatives of each node, by the node's position in the graph.
    wants: Vec<OperatorAlternatives>,
    /// Axis order of each node that is a transposition which layoutc performs, by the node's position: axis `k` of the
    /// result is axis `order[k]` of the operand. `None` for any other node.
    orders: Vec<Option<Vec<usize>>>,
}

/// Checks the graph `item` and returns its model. `graph` is `item` with its names resolved. Adds the names in the
/// conditions (`when`) of alternatives to `uses`, for warnings.
fn one(
    item: &GraphItem,
    graph: &ResolvedGraph<'_>,
    place: ManifestContext<'_>,
    uses: &mut Vec<ConditionName>,
) -> CheckResult<Graph> {
    let mut layouts = LayoutCache::new(place);
    let known: Vec<Option<GraphTensorType>> =
        graph.tensors.iter().map(|item| layouts.known(item)).collect();
    let mut wants = all_wants(graph, &known)?;
    uses.extend(wants.iter_mut().flat_map(|wants| std::mem::take(&mut wants.uses)));
    let orders = operations::check(graph, &known, &wants)?;
    let facts = GraphFacts { known, wants, orders };
    let candidates = candidates::candidates(graph, &facts, &mut layouts)?;
    let (nodes, mut errors) = nodes(graph, &facts, &candidates, &layouts);
    let tensors = tensors(graph, candidates).map_err(|error| errors.push(error));
    let tensors = tensors.unwrap_or_default();
    if !errors.is_empty() {
        return Err(errors);
    }
    let is_result = |(tensor, k): (&GraphTensor, usize)| {
        let states = graph.tensors.get(k).is_some_and(|item| item.layout.is_some());
        matches!(tensor.role, TensorRole::Result { .. }).then_some(states)
    };
    let all_stated = tensors.iter().zip(0..).filter_map(is_result).all(|states| states);
    let is_off = graph.backend.as_ref().is_some_and(|backend| !backend.is_verified());
    let outputs = outputs(graph, &tensors);
    let name = item.name.value.clone();
    let place = item.name.at(graph.file);
    let is_fixed = !is_off && (all_stated || outputs.is_empty());
    Ok(Graph { name, place, tensors, nodes, outputs, is_fixed })
}

/// Pair `(nodes, errors)`: the nodes of the graph with their choices, and an error for each node without a choice, or
/// with too many or too costly ones.
fn nodes(
    graph: &ResolvedGraph<'_>,
    facts: &GraphFacts,
    candidates: &[Vec<LayoutCandidate>],
    layouts: &LayoutCache<'_>,
) -> (Vec<GraphNode>, Vec<Diagnostic>) {
    let (mut nodes, mut errors) = (Vec::new(), Vec::new());
    for (k, (node, wants)) in graph.nodes.iter().zip(&facts.wants).enumerate() {
        let order = facts.orders.get(k).and_then(Option::as_deref);
        let choices = match order {
            Some(order) => {
                transpose_choices::choices(graph, k, order, (facts, candidates), layouts)
            }
            None => choices::choices(graph, k, wants, candidates),
        };
        match choices {
            Ok(choices) => nodes.push(GraphNode {
                name: node.name.value.clone(),
                op: node.op.value.clone(),
                place: node.name.at(graph.file),
                inputs: graph.operands(k).to_vec(),
                outputs: graph.results(k).to_vec(),
                choices,
                is_elementwise: wants.rule == OperatorRule::Elementwise,
                shares_layout: matches!(
                    wants.rule,
                    OperatorRule::Elementwise | OperatorRule::ByLetter
                ),
                transposed: order.map(transpose::inverse),
            }),
            Err(error) => errors.push(error),
        }
    }
    (nodes, errors)
}

/// Alternatives of every node, by the node's position. `known` has the type of each tensor. `Err` has the fault of each
/// node with a faulty operator or condition, without duplicates.
fn all_wants(
    graph: &ResolvedGraph<'_>,
    known: &[Option<GraphTensorType>],
) -> CheckResult<Vec<OperatorAlternatives>> {
    let all = collect_all(graph.nodes.iter().enumerate().map(|(k, node)| {
        let reads = graph.operands(k).iter();
        let inputs: Vec<_> =
            reads.filter_map(|tensor| graph.tensors.get(*tensor).copied()).collect();
        let of = |tensors: &[usize]| -> Vec<Option<&GraphTensorType>> {
            tensors.iter().map(|tensor| known.get(*tensor)?.as_ref()).collect()
        };
        let (operands, results) = (of(graph.operands(k)), of(graph.results(k)));
        let (operands, results) = (operands.as_slice(), results.as_slice());
        let site = NodeContext { node, inputs: &inputs, operands, results, file: graph.file };
        Ok(wants(&site, graph.backend.as_ref())?)
    }));
    // Report a condition once for all nodes of its operator.
    all.map_err(|mut errors| {
        crate::base::diagnostic::sort(&mut errors);
        errors
    })
}

/// Tensors of the graph in order. Each has its candidate layouts, the position of the layout that the manifest declares
/// or pins, and the marks of forbidden candidates. `Err` for a pin that contradicts a declaration or an earlier pin,
/// and if `forbid` leaves a tensor without its declared layout or without any layout.
fn tensors(
    graph: &ResolvedGraph<'_>,
    candidates: Vec<Vec<LayoutCandidate>>,
) -> Result<Vec<GraphTensor>, Diagnostic> {
    let mut tensors = Vec::new();
    for ((item, role), candidates) in graph.tensors.iter().zip(&graph.roles).zip(candidates) {
        let mut tensor = GraphTensor {
            name: item.name.value.clone(),
            place: item.name.at(graph.file),
            role: *role,
            candidates,
            declared: None,
            is_pinned: false,
        };
        tensor.declared = stated(item.layout.as_ref(), &tensor);
        tensors.push(tensor);
    }
    for (position, pin) in &graph.pins {
        let Some(tensor) = tensors.get_mut(*position) else { continue };
        let found = stated(pin.layout.as_ref(), tensor);
        let place = || FileSpan::new(graph.file, pin.span.clone());
        if pin.forbid {
            let candidate = found.and_then(|k| tensor.candidates.get_mut(k));
            candidate.into_iter().for_each(|candidate| candidate.is_forbidden = true);
        } else {
            tensor.is_pinned = true;
            if let (Some(pinned), Some(own)) = (found, tensor.declared)
                && pinned != own
            {
                let (pinned, own) = (tensor.text(pinned), tensor.text(own));
                let message =
                    format!("`{}` is pinned to `{pinned}` and declared as `{own}`", tensor.name);
                let error = Diagnostic::error(Code::GraphPinned, message, place(), "");
                let error = error.with_label(tensor.place.clone(), "declared here");
                return Err(error.help("use the same layout in both"));
            }
            tensor.declared = found.or(tensor.declared);
        }
        let own = tensor.declared.and_then(|k| tensor.candidates.get(k));
        let none_left = tensor.candidates.iter().all(|candidate| candidate.is_forbidden);
        if none_left || own.is_some_and(|candidate| candidate.is_forbidden) {
            let which = if none_left { "every" } else { "the declared" };
            let message = format!("{which} layout of `{}` is forbidden", tensor.name);
            let error = Diagnostic::error(Code::GraphPinned, message, place(), "");
            let help = "remove this, or give the tensor a layout that is not forbidden";
            return Err(error.help(help));
        }
    }
    Ok(tensors)
}

/// Position, among the candidates of `tensor`, of the layout `text`. `None` without a text, for a text such as `****`,
/// which accepts any layout, or if no candidate has the text.
fn stated(text: Option<&SpannedText>, tensor: &GraphTensor) -> Option<usize> {
    tensor.find(&text.filter(|text| !is_any(&text.value))?.value)
}

fn outputs(graph: &ResolvedGraph<'_>, tensors: &[GraphTensor]) -> Vec<OutputRequirement> {
    let wanted = |(tensor, item): &(usize, &OutputItem)| {
        let candidate = tensors.get(*tensor).and_then(|found| stated(item.layout.as_ref(), found));
        let place = item.tensor.at(graph.file);
        OutputRequirement { tensor: *tensor, candidate, place }
    };
    graph.outputs.iter().map(wanted).collect()
}
