//! Candidate layouts of each tensor of a graph. A layout is a candidate of a tensor if the manifest declares it, if a
//! node that writes or reads the tensor requires it, or if it propagates from another tensor, for example through an
//! operator that accepts any layout. A tensor without one gets a default.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::GraphFacts;
use super::alternatives::{Alternative, LayoutRequirement, OperandSlot, OperatorAlternatives};
use super::layouts::{LayoutCache, ROW_MAJOR, is_any, string};
use super::projection::names;
use super::resolve::ResolvedGraph;
use super::transpose_layouts;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan, collect_all};
use crate::manifest::syntax::{GraphTensorItem, SpannedText};
use crate::model::Tensor;
use crate::model::graph::{Compatibility, LayoutCandidate};

/// Maximum number of candidate layouts of one tensor. A tensor whose declarations and operators need more is an error;
/// propagation through transpositions adds none beyond this number.
pub(super) const MAX_LAYOUTS: usize = 12;

/// Layout that is to be a candidate of a tensor. `place` is the location that it comes from.
#[derive(Clone)]
pub(super) struct LayoutConstraint {
    pub(super) text: SpannedText,
    pub(super) place: FileSpan,
    /// True if the manifest declares the layout for this tensor. A declared layout that is invalid is an error; any
    /// other layout that is invalid is skipped.
    pub(super) is_stated: bool,
}

impl LayoutConstraint {
    /// Creates the constraint for a layout that the manifest does not declare for the tensor: an operator requires it,
    /// or it follows from layouts of other tensors.
    pub(super) fn derived(text: SpannedText, place: FileSpan) -> Self {
        Self { text, place, is_stated: false }
    }
}

/// Candidate layouts of each tensor, by the tensor's position. `facts` has the alternatives of the nodes, `layouts`
/// checks tensors in their candidate layouts.
///
/// # Errors
/// A declared layout that is invalid for its tensor, a tensor that is invalid or has no constant size, or one with more
/// than [`MAX_LAYOUTS`] candidates.
pub(super) fn candidates(
    graph: &ResolvedGraph<'_>,
    facts: &GraphFacts,
    layouts: &mut LayoutCache<'_>,
) -> CheckResult<Vec<Vec<LayoutCandidate>>> {
    let mut demands = stated(graph);
    add_requirements(graph, &facts.wants, &mut demands);
    let bound = bound(graph, &facts.wants);
    orders(graph, &bound, &mut demands);
    propagate_sharing(graph, &bound, &mut demands);
    let sides = transpose_layouts::sides(graph, facts);
    for side in &sides {
        fall_back(graph, side.from, layouts, &mut demands);
    }
    if !sides.is_empty() {
        propagate_sharing(graph, &bound, &mut demands);
        transpose_layouts::propagate_layouts(graph, &sides, &bound, &mut demands);
    }
    let tensors = graph.tensors.iter().zip(demands);
    collect_all(tensors.map(|(item, demands)| of_tensor(graph, item, demands, layouts)))
}

pub(super) fn add(demands: &mut [Vec<LayoutConstraint>], tensor: usize, demand: LayoutConstraint) {
    let Some(list) = demands.get_mut(tensor) else { return };
    if !list.iter().any(|known| known.text.value == demand.text.value) {
        list.push(demand);
    }
}

/// Constraints for the layouts that the manifest declares, by the position of the tensor: those of tensors, of outputs
/// and of pins.
fn stated(graph: &ResolvedGraph<'_>) -> Vec<Vec<LayoutConstraint>> {
    let mut demands: Vec<Vec<LayoutConstraint>> =
        graph.tensors.iter().map(|_| Vec::new()).collect();
    let demand = |text: &SpannedText| {
        let place = text.at(graph.file);
        LayoutConstraint { text: text.clone(), place, is_stated: true }
    };
    let own = graph.tensors.iter().map(|item| item.layout.as_ref()).enumerate();
    let wanted = graph.outputs.iter().map(|(tensor, item)| (*tensor, item.layout.as_ref()));
    let pinned = graph.pins.iter().map(|(tensor, item)| (*tensor, item.layout.as_ref()));
    for (tensor, text) in own.chain(wanted).chain(pinned) {
        if let Some(text) = text.filter(|text| !is_any(&text.value)) {
            add(&mut demands, tensor, demand(text));
        }
    }
    demands
}

fn add_requirements(
    graph: &ResolvedGraph<'_>,
    wants: &[OperatorAlternatives],
    demands: &mut [Vec<LayoutConstraint>],
) {
    for (node, wants) in wants.iter().enumerate() {
        for alternative in &wants.alternatives {
            for slot in alternative.slots(graph, node) {
                let LayoutRequirement::Text(text, file) = slot.want else { continue };
                add(demands, slot.tensor, LayoutConstraint::derived(text.clone(), text.at(file)));
            }
        }
    }
}

/// Relation between the layouts of the tensors of one sharing constraint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayoutSharing {
    /// All tensors have equal layouts.
    Same,
    /// Each tensor has the projection of one layout to its axes: `NC16c` of `NCHW16c` for a tensor of N and C.
    Projection,
}

/// Sharing constraint, as a pair (tensors, relation): the positions of the tensors that an alternative requires to
/// share a layout, and the relation between their layouts.
pub(super) type SharingConstraint = (BTreeSet<usize>, LayoutSharing);

/// Sharing constraints of all nodes, one for each alternative. The set of tensors is empty for an alternative that
/// requires no tensors to share a layout.
fn bound(graph: &ResolvedGraph<'_>, wants: &[OperatorAlternatives]) -> Vec<SharingConstraint> {
    let of_node = |(node, wants): (usize, &OperatorAlternatives)| {
        let alike = |alternative: &Alternative| {
            let one = |slot: OperandSlot<'_>| match slot.want {
                LayoutRequirement::Same => Some((slot.tensor, LayoutSharing::Same)),
                LayoutRequirement::Projection => Some((slot.tensor, LayoutSharing::Projection)),
                LayoutRequirement::Text(..) | LayoutRequirement::Any => None,
            };
            let alike: Vec<_> = alternative.slots(graph, node).filter_map(one).collect();
            let how = alike.first().map_or(LayoutSharing::Same, |first| first.1);
            (alike.iter().map(|one| one.0).collect(), how)
        };
        wants.alternatives.iter().map(alike).collect::<Vec<_>>()
    };
    wants.iter().enumerate().flat_map(of_node).collect()
}

/// Adds a layout of letters, such as `NHWC`, to `demands` for tensors that must have equal layouts but declare the same
/// axes in different orders; constants do not count. A layout like `row-major` goes by the positions of axes and would
/// differ among them; `NHWC`, from the axes `N, H, W, C` of one of them, is the same layout for all. Adds nothing if
/// the name of an axis is not a single letter. `demands` has the constraints of each tensor.
fn orders(
    graph: &ResolvedGraph<'_>,
    bound: &[SharingConstraint],
    demands: &mut [Vec<LayoutConstraint>],
) {
    for (tensors, _) in bound.iter().filter(|(_, how)| *how == LayoutSharing::Same) {
        let open = tensors.iter().filter(|tensor| !graph.is_constant(**tensor));
        let items: Vec<Vec<&str>> =
            open.filter_map(|tensor| graph.tensors.get(*tensor)).map(|item| names(item)).collect();
        let Some(first) = items.iter().max_by_key(|names| names.len()) else { continue };
        let is_other = |names: &&Vec<&str>| {
            names.len() == first.len()
                && *names != first
                && names.iter().all(|name| first.contains(name))
        };
        let has_letters = first.iter().all(|name| name.len() == 1);
        if !has_letters || !items.iter().any(|names| is_other(&names)) {
            continue;
        }
        let value = first.concat();
        let span = tensors.iter().find_map(|k| graph.tensors.get(*k)).map(|t| t.name.span.clone());
        let text = SpannedText { value, span: span.unwrap_or_default(), quoted: false };
        let place = text.at(graph.file);
        let demand = LayoutConstraint::derived(text, place);
        tensors.iter().for_each(|tensor| add(demands, *tensor, demand.clone()));
    }
}

/// Copies each constraint of a tensor to all tensors with which it shares a layout by the sharing constraints `bound`;
/// for [`LayoutSharing::Projection`], projected to the axes of the other tensor. Repeated until `demands`, the
/// constraints of each tensor by its position, has no new ones.
pub(super) fn propagate_sharing(
    graph: &ResolvedGraph<'_>,
    bound: &[SharingConstraint],
    demands: &mut [Vec<LayoutConstraint>],
) {
    loop {
        let count = |demands: &[Vec<LayoutConstraint>]| demands.iter().map(Vec::len).sum::<usize>();
        let before = count(demands);
        // A forward and a backward sweep complete a chain in one iteration.
        for (tensors, how) in bound.iter().chain(bound.iter().rev()) {
            let mut texts: Vec<(usize, SpannedText, FileSpan)> = Vec::new();
            for tensor in tensors {
                for demand in demands.get(*tensor).into_iter().flatten() {
                    let is_known = |known: &(usize, SpannedText, FileSpan)| {
                        known.1.value == demand.text.value
                            && (*how == LayoutSharing::Same || known.0 == *tensor)
                    };
                    if !texts.iter().any(is_known) {
                        texts.push((*tensor, demand.text.clone(), demand.place.clone()));
                    }
                }
            }
            for tensor in tensors {
                for (from, text, place) in &texts {
                    let text = match how {
                        LayoutSharing::Same => Some(text.value.clone()),
                        LayoutSharing::Projection => graph.projected(&text.value, *from, *tensor),
                    }
                    .map(|value| SpannedText { value, ..text.clone() });
                    let Some(text) = text else { continue };
                    add(demands, *tensor, LayoutConstraint::derived(text, place.clone()));
                }
            }
        }
        if count(demands) == before {
            return;
        }
    }
}

/// Adds the layout of [`fallback`] to `demands` for the tensor at position `tensor`, if this tensor has no constraint
/// yet. Adds nothing if the tensor is invalid.
fn fall_back(
    graph: &ResolvedGraph<'_>,
    tensor: usize,
    layouts: &mut LayoutCache<'_>,
    demands: &mut [Vec<LayoutConstraint>],
) {
    let is_open = demands.get(tensor).is_some_and(Vec::is_empty);
    let Some(item) = graph.tensors.get(tensor).filter(|_| is_open) else { return };
    if let Ok((demand, _)) = fallback(graph, item, layouts) {
        add(demands, tensor, demand);
    }
}

fn of_tensor(
    graph: &ResolvedGraph<'_>,
    item: &GraphTensorItem,
    demands: Vec<LayoutConstraint>,
    layouts: &mut LayoutCache<'_>,
) -> CheckResult<Vec<LayoutCandidate>> {
    let mut found: Vec<(LayoutConstraint, Tensor)> = Vec::new();
    for demand in demands {
        let text = here(graph, item, &demand);
        match layouts.tensor(item, &text) {
            Ok(tensor) => found.push((demand, tensor)),
            Err(errors) if demand.is_stated => return Err(errors),
            Err(_) => {}
        }
    }
    if found.is_empty() {
        found.push(fallback(graph, item, layouts)?);
    }
    if found.len() > MAX_LAYOUTS {
        let message = format!("`{}` has {} candidate layouts", item.name.value, found.len());
        let place = item.name.at(graph.file);
        let error = Diagnostic::error(Code::LimitGraph, message, place, "");
        let more = found.len().saturating_sub(MAX_LAYOUTS);
        let help = format!("remove {more} of them: drop alternatives of its nodes");
        return Err(error.note(format!("the limit is {MAX_LAYOUTS}")).help(help).into());
    }
    let mut candidates = Vec::new();
    for (demand, tensor) in found {
        candidates.push(LayoutCandidate {
            bytes: bytes(graph, item, &tensor)?,
            string: string(&demand.text.value),
            text: demand.text.value,
            place: demand.place,
            tensor,
            is_forbidden: false,
            fits: Vec::new(),
        });
    }
    let fits = |has: &LayoutCandidate, layouts: &mut LayoutCache<'_>| {
        candidates.iter().map(|required| layouts.fit(item, has, required)).collect()
    };
    let fits: Vec<Vec<Compatibility>> = candidates.iter().map(|has| fits(has, layouts)).collect();
    for (candidate, fits) in candidates.iter_mut().zip(fits) {
        candidate.fits = fits;
    }
    Ok(candidates)
}

/// Layout text of the constraint `demand`, with a span in the manifest of the graph. If the text is from another
/// manifest, such as that of a backend, the span is that of the tensor's name.
fn here(
    graph: &ResolvedGraph<'_>,
    item: &GraphTensorItem,
    demand: &LayoutConstraint,
) -> SpannedText {
    if Arc::ptr_eq(&demand.place.file, graph.file) {
        return demand.text.clone();
    }
    SpannedText { span: item.name.span.clone(), ..demand.text.clone() }
}

/// Pair (constraint, checked tensor) for the tensor `item` if it has no constraints. The layout is the default of the
/// backend for the rank of the tensor, or row-major if the backend has none or it is invalid for the tensor. `Err` if
/// the tensor is invalid in row-major too.
fn fallback(
    graph: &ResolvedGraph<'_>,
    item: &GraphTensorItem,
    layouts: &mut LayoutCache<'_>,
) -> CheckResult<(LayoutConstraint, Tensor)> {
    let default = graph.backend.as_ref().and_then(|def| def.default_layout(item.shape.axes.len()));
    let default = default.map(|found| found.0.value.as_str()).filter(|text| !is_any(text));
    let mut in_layout = |value: &str| {
        let span = item.name.span.clone();
        let text = SpannedText { value: value.to_owned(), span, quoted: false };
        let tensor = layouts.tensor(item, &text)?;
        Ok((LayoutConstraint::derived(text, item.name.at(graph.file)), tensor))
    };
    default.and_then(|text| in_layout(text).ok()).map_or_else(|| in_layout(ROW_MAJOR), Ok)
}

fn bytes(graph: &ResolvedGraph<'_>, item: &GraphTensorItem, tensor: &Tensor) -> CheckResult<u64> {
    let bytes = tensor.counts().bytes.as_const().and_then(|bytes| u64::try_from(bytes).ok());
    bytes.ok_or_else(|| {
        let message = format!("the extents of `{}` are not all constant", item.name.value);
        let place = FileSpan::new(graph.file, item.shape.span.clone());
        let error = Diagnostic::error(Code::GraphExtent, message, place, "");
        vec![error.help("write the extents that the graph runs with: costs are in bytes")]
    })
}
