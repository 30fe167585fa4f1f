//! Choices of a transposition that layoutc performs: the result aliases the operand's buffer, or a conversion copies
//! it.

use super::GraphFacts;
use super::layouts::LayoutCache;
use super::resolve::ResolvedGraph;
use super::transpose::{inverse, rewritten};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::model::graph::{LayoutCandidate, OperatorChoice, OperatorLowering};

/// Choices of the transposition at position `node`, one for each pair (candidate of the operand, candidate of the
/// result), except pairs that need a conversion to an opaque layout. Aliases come first, and cost 0. Conversions cost
/// the number of bytes that they read and write. Axis `k` of the result is axis `order[k]` of the operand. The pair is
/// (facts about the graph, candidate layouts of each tensor by its position).
///
/// # Errors
/// No choice: the result requires an attribute that no conversion gives.
pub(super) fn choices(
    graph: &ResolvedGraph<'_>,
    node: usize,
    order: &[usize],
    (facts, candidates): (&GraphFacts, &[Vec<LayoutCandidate>]),
    layouts: &LayoutCache<'_>,
) -> Result<Vec<OperatorChoice>, Diagnostic> {
    let (from, to) = (graph.operands(node).first().copied(), graph.results(node).first().copied());
    let of = |tensor: Option<usize>| {
        tensor.and_then(|k| candidates.get(k)).map_or(&[][..], Vec::as_slice)
    };
    let known = |tensor: Option<usize>| tensor.and_then(|k| facts.known.get(k)?.as_ref());
    let (item, place) = (graph.nodes.get(node), inverse(order));
    let span = item.map_or(0..0, |item| item.op.span.clone());
    let stated = FileSpan::new(graph.file, span);
    let (mut free, mut paid) = (Vec::new(), Vec::new());
    for (has, own) in of(from).iter().enumerate() {
        let text = known(from)
            .zip(known(to))
            .and_then(|(own_axes, axes)| rewritten(&own.text, own_axes, axes, &place));
        for (gives, given) in of(to).iter().enumerate() {
            let is_alias = layouts.is_alias(own, given, &place, text.as_deref());
            if !is_alias && given.is_opaque() {
                continue;
            }
            let (lowering, cost) = if is_alias {
                (OperatorLowering::Alias, 0)
            } else {
                (OperatorLowering::Conversion, own.bytes.saturating_add(given.bytes))
            };
            let (inputs, outputs) = (vec![Some(has)], vec![gives]);
            let place = stated.clone();
            let list = if is_alias { &mut free } else { &mut paid };
            list.push(OperatorChoice { alternative: None, inputs, outputs, lowering, cost, place });
        }
    }
    free.append(&mut paid);
    if !free.is_empty() {
        return Ok(free);
    }
    let name = item.map_or("", |item| item.name.value.as_str());
    let message = format!("no conversion gives the result of `{name}` the required attributes");
    let error = Diagnostic::error(Code::GraphAlternative, message, stated, "");
    Err(error.help("give the operand the same attributes, or remove them"))
}
