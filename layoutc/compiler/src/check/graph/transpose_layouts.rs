//! Propagation of layouts through transpositions: a layout that the operand (or the result) must have is translated to
//! a layout of the result (or the operand), so that the result can alias the operand.

use std::collections::BTreeSet;

use super::GraphFacts;
use super::candidates::{
    LayoutConstraint, LayoutSharing, MAX_LAYOUTS, SharingConstraint, add, propagate_sharing,
};
use super::resolve::ResolvedGraph;
use super::tensor_types::GraphTensorType;
use super::transpose::{inverse, rewritten};
use crate::manifest::syntax::SpannedText;

/// Number of constraints of one tensor at which translation stops: if a tensor of a class has this many, no translated
/// layouts are added to the class.
const MAX_SPREAD: usize = 8;

/// Direction of a transposition: from the operand to the result, or back. `from` and `to` are the positions of the two
/// tensors in the graph, `own` and `other` their types. Axis `p` of `own` is axis `place[p]` of `other`.
pub(super) struct TransposeEdge<'a> {
    pub(super) from: usize,
    to: usize,
    own: &'a GraphTensorType,
    other: &'a GraphTensorType,
    place: Vec<usize>,
}

/// Both directions of each transposition of the graph that layoutc performs: from the operand to the result, then back.
pub(super) fn sides<'a>(
    graph: &ResolvedGraph<'_>,
    facts: &'a GraphFacts,
) -> Vec<TransposeEdge<'a>> {
    let mut sides = Vec::new();
    for (node, order) in facts.orders.iter().enumerate() {
        let Some(order) = order else { continue };
        let ([from], [to]) = (graph.operands(node), graph.results(node)) else { continue };
        let known = |tensor: usize| facts.known.get(tensor).and_then(Option::as_ref);
        let (Some(own), Some(other)) = (known(*from), known(*to)) else { continue };
        let ((from, to), place) = ((*from, *to), order.clone());
        sides.push(TransposeEdge { from, to, own, other, place: inverse(order) });
        sides.push(TransposeEdge { from: to, to: from, own: other, other: own, place });
    }
    sides
}

/// Propagates constraints across transpositions, and to all tensors that must have an equal layout, until no constraint
/// is new. `sides` are the directions of the transpositions, `bound` the sharing constraints, and `demands` the
/// constraints of each tensor. Propagation adds constraints to a tensor up to [`MAX_LAYOUTS`].
pub(super) fn propagate_layouts(
    graph: &ResolvedGraph<'_>,
    sides: &[TransposeEdge<'_>],
    bound: &[SharingConstraint],
    demands: &mut [Vec<LayoutConstraint>],
) {
    let before: Vec<usize> = demands.iter().map(Vec::len).collect();
    let classes = EquivalenceClasses::new(bound, demands.len());
    let mut is_new = true;
    while is_new {
        is_new = false;
        for side in sides.iter().chain(sides.iter().rev()) {
            is_new |= propagate_edge(side, &classes, demands);
        }
        if is_new {
            propagate_sharing(graph, bound, demands);
        }
    }
    for (list, before) in demands.iter_mut().zip(before) {
        list.truncate(before.max(MAX_LAYOUTS));
    }
}

/// Translates the constraints of the tensor `side.from` to the axes of `side.to`, and adds them to all tensors in the
/// class of `side.to`, which must have equal layouts. A class in which a tensor has [`MAX_SPREAD`] constraints gets no
/// more. Returns true if a constraint is new.
fn propagate_edge(
    side: &TransposeEdge<'_>,
    classes: &EquivalenceClasses,
    demands: &mut [Vec<LayoutConstraint>],
) -> bool {
    let Some(alike) = classes.of(side.to) else { return false };
    let required = demands.get(side.from).into_iter().flatten();
    let translated = required.filter_map(|demand| {
        let value = rewritten(&demand.text.value, side.own, side.other, &side.place)?;
        let text = SpannedText { value, ..demand.text.clone() };
        Some(LayoutConstraint::derived(text, demand.place.clone()))
    });
    let mut is_new = false;
    for demand in translated.collect::<Vec<_>>() {
        let mut own = demands.get(side.to).into_iter().flatten();
        let is_there = own.any(|known| known.text.value == demand.text.value);
        let lists = alike.iter().filter_map(|tensor| demands.get(*tensor));
        let is_full = lists.map(Vec::len).max() >= Some(MAX_SPREAD);
        if is_there || is_full {
            continue;
        }
        is_new = true;
        alike.iter().for_each(|tensor| add(demands, *tensor, demand.clone()));
    }
    is_new
}

/// Classes of tensors that must have equal layouts: the transitive closure of the sharing constraints with the relation
/// [`LayoutSharing::Same`]. Constraints with [`LayoutSharing::Projection`] join no classes.
struct EquivalenceClasses {
    /// Index in `members` of the class of each tensor, by the tensor's position.
    own: Vec<usize>,
    members: Vec<BTreeSet<usize>>,
}

impl EquivalenceClasses {
    fn new(bound: &[SharingConstraint], count: usize) -> Self {
        let mut own: Vec<usize> = (0..count).collect();
        let mut members: Vec<BTreeSet<usize>> = (0..count).map(|tensor| [tensor].into()).collect();
        for (tensors, _) in bound.iter().filter(|(_, how)| *how == LayoutSharing::Same) {
            let classes: BTreeSet<usize> =
                tensors.iter().filter_map(|tensor| own.get(*tensor).copied()).collect();
            let size = |class: &&usize| members.get(**class).map_or(0, BTreeSet::len);
            let Some(largest) = classes.iter().max_by_key(size).copied() else { continue };
            for other in classes.into_iter().filter(|other| *other != largest) {
                let moved = members.get_mut(other).map(std::mem::take).unwrap_or_default();
                for tensor in &moved {
                    own.get_mut(*tensor).into_iter().for_each(|class| *class = largest);
                }
                members.get_mut(largest).into_iter().for_each(|all| all.extend(&moved));
            }
        }
        Self { own, members }
    }

    /// Positions of the tensors in the class of `tensor`, including itself; `None` for an invalid position.
    fn of(&self, tensor: usize) -> Option<&BTreeSet<usize>> {
        self.members.get(*self.own.get(tensor)?)
    }
}
