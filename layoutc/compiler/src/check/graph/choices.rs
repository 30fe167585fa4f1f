//! Choices of a node: each selects an alternative of the node's operator, a candidate layout for every result, and for
//! every operand a candidate layout or none, which accepts any.

use std::borrow::Cow;

use layoutc_algebra::notation::{Notation, glow};

use super::alternatives::{Alternative, LayoutRequirement, OperandSlot, OperatorAlternatives};
use super::layouts::{ROW_MAJOR, is_any, notation, string};
use super::projection::names;
use super::resolve::ResolvedGraph;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::check::faults::counted;
use crate::manifest::syntax::{CostItem, GraphTensorItem};
use crate::model::graph::{LayoutCandidate, OperatorChoice, OperatorLowering};

/// Maximum number of choices of one node. A node with more is an error.
const MAX_CHOICES: usize = 4096;

/// Maximum cost of an operator, in bytes. A higher cost is an error. Sums of many costs fit 64 bits.
const MAX_COST: u64 = 1 << 50;

/// Choices of the node at position `node`, in the order of the alternatives `wants`. `candidates` has the candidate
/// layouts of each tensor, by the position of the tensor in the graph.
///
/// # Errors
/// No choice, more than [`MAX_CHOICES`], or a cost above [`MAX_COST`].
pub(super) fn choices(
    graph: &ResolvedGraph<'_>,
    node: usize,
    wants: &OperatorAlternatives,
    candidates: &[Vec<LayoutCandidate>],
) -> Result<Vec<OperatorChoice>, Diagnostic> {
    let (mut choices, mut refused) = (Vec::new(), wants.refused.clone());
    for alternative in &wants.alternatives {
        let before = choices.len();
        let fault = add_choices(graph, node, alternative, candidates, &mut choices)?;
        if choices.len() == before {
            let name = match alternative.number {
                Some(k) => format!("alternative {k}"),
                None => "the operator".to_owned(),
            };
            let fault =
                fault.unwrap_or_else(|| "requires no layout that all tensors can have".to_owned());
            refused.push(format!("{name} {fault}"));
        }
    }
    let Some(item) = graph.nodes.get(node).filter(|_| choices.is_empty()) else {
        return Ok(choices);
    };
    let message =
        format!("no alternative of `{}` fits the tensors of `{}`", item.op.value, item.name.value);
    let place = item.name.at(graph.file);
    let mut error = Diagnostic::error(Code::GraphAlternative, message, place, "");
    error = error.with_label(wants.place.clone(), "accepted layouts");
    error.notes.extend(refused);
    error.add_note(format!("the node reads {}", tensors(graph, node)));
    let help = if item.accepts.is_empty() {
        "declare the layouts in the node: `accepts { in …; out … }`"
    } else {
        "write a layout for each tensor, with one letter per axis"
    };
    Err(error.help(help))
}

/// Text of a node's operands and results with their axes, for notes:
/// `` `x` (N, H, W, C), `w` (O, H, W, I) and writes `y` (N, H, W, C) ``.
fn tensors(graph: &ResolvedGraph<'_>, node: usize) -> String {
    let shown = |positions: &[usize]| {
        let items = positions.iter().filter_map(|k| graph.tensors.get(*k));
        let one =
            |item: &&GraphTensorItem| format!("`{}` ({})", item.name.value, names(item).join(", "));
        let all: Vec<String> = items.map(one).collect();
        if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
    };
    format!("{} and writes {}", shown(graph.operands(node)), shown(graph.results(node)))
}

/// Adds the choices of `alternative` of the node at position `node` to `choices`; `candidates` has the candidate
/// layouts of each tensor. Returns a reason why a layout, or the whole alternative, is rejected, as the end of a
/// sentence: "requires `NHWC`, which `x` cannot have". `None` if there is none. Choices may be added in both cases.
/// `Err` if a limit is exceeded.
fn add_choices(
    graph: &ResolvedGraph<'_>,
    node: usize,
    alternative: &Alternative,
    candidates: &[Vec<LayoutCandidate>],
    choices: &mut Vec<OperatorChoice>,
) -> Result<Option<String>, Diagnostic> {
    let slots: Vec<OperandSlot<'_>> = alternative.slots(graph, node).collect();
    let find = |tensor: usize, text: &str| {
        let list = candidates.get(tensor)?;
        list.iter().position(|candidate| candidate.text == text)
    };
    for slot in &slots {
        if let LayoutRequirement::Text(text, _) = slot.want
            && find(slot.tensor, &text.value).is_none()
        {
            let (text, name) = (&text.value, graph.tensor_name(slot.tensor));
            return Ok(Some(format!("requires `{text}`, which `{name}` cannot have")));
        }
    }
    let whole = whole(graph, &slots);
    let texts = bound_texts(graph, &slots, whole, candidates);
    let mut fault = texts.is_empty().then(|| {
        "requires one layout for all, and no candidate names by letters the axes that are in different orders".to_owned()
    });
    for text in texts {
        let mut inputs: Vec<Vec<Option<usize>>> = Vec::new();
        let mut outputs: Vec<Vec<usize>> = Vec::new();
        let mut is_possible = true;
        for slot in &slots {
            let wanted = match (slot.want, text) {
                (LayoutRequirement::Text(own, _), _) => Some(Some(Cow::from(own.value.as_str()))),
                (LayoutRequirement::Same, Some(text)) if !is_exempt(graph, slot, &slots) => {
                    Some(Some(Cow::from(text)))
                }
                (LayoutRequirement::Projection, Some(text)) if !is_apart(graph, slot, whole) => {
                    Some(whole.and_then(|k| graph.projected(text, k, slot.tensor)).map(Cow::from))
                }
                (
                    LayoutRequirement::Same
                    | LayoutRequirement::Projection
                    | LayoutRequirement::Any,
                    _,
                ) => None,
            };
            let candidate = wanted.as_ref().map(|wanted| find(slot.tensor, wanted.as_deref()?));
            if candidate == Some(None) {
                let whole = whole.map_or("", |tensor| graph.tensor_name(tensor));
                let own = graph.tensor_name(slot.tensor);
                fault = Some(match wanted.flatten() {
                    Some(text) => {
                        format!("requires one layout for all, and `{own}` cannot have `{text}`")
                    }
                    None => format!(
                        "requires one layout for all, and no projection of the layout of `{whole}` fits `{own}`"
                    ),
                });
                is_possible = false;
            }
            let candidate = candidate.flatten();
            if slot.is_result {
                let all = candidates.get(slot.tensor).map_or(0, Vec::len);
                outputs.push(candidate.map_or_else(|| (0..all).collect(), |one| vec![one]));
            } else {
                let own = candidates.get(slot.tensor).map_or(&[][..], Vec::as_slice);
                inputs.push(match slot.want {
                    LayoutRequirement::Text(required, _) => alike(own, &required.value),
                    LayoutRequirement::Same
                    | LayoutRequirement::Projection
                    | LayoutRequirement::Any => vec![candidate],
                });
            }
        }
        if is_possible {
            let inputs = product(&inputs);
            for outputs in product(&outputs) {
                let cost = cost(graph, node, alternative, &outputs, candidates)?;
                for inputs in &inputs {
                    choices.push(OperatorChoice {
                        alternative: alternative.number,
                        inputs: inputs.clone(),
                        outputs: outputs.clone(),
                        lowering: OperatorLowering::Operator,
                        cost,
                        place: alternative.place.clone(),
                    });
                }
                if choices.len() > MAX_CHOICES {
                    let name = graph.nodes.get(node).map(|item| &item.name);
                    let shown = name.map_or("", |name| name.value.as_str());
                    let message = format!("`{shown}` has more than {MAX_CHOICES} choices");
                    let span = name.map_or(0..0, |name| name.span.clone());
                    let place = FileSpan::new(graph.file, span);
                    let error = Diagnostic::error(Code::LimitGraph, message, place, "");
                    let help = "declare the layouts of its results, or remove alternatives";
                    return Err(error.help(help));
                }
            }
        }
    }
    Ok(fault)
}

/// Positions in `candidates` of the layouts that satisfy the required layout `text`: those with the text `text`, and,
/// if it contains `*` (any axis), those without `*` that Glow's comparison accepts for it. Each is `Some`, because
/// `None` stands for an operand without a requirement.
fn alike(candidates: &[LayoutCandidate], text: &str) -> Vec<Option<usize>> {
    let required = candidates.iter().find(|candidate| candidate.text == text);
    let has_star =
        |text: &str| string(text).is_some_and(|s| s.dims().iter().any(glow::GlowAxis::is_any));
    let does = |own: &LayoutCandidate| {
        own.text == text
            || (has_star(text)
                && !has_star(&own.text)
                && required.and_then(|required| own.glow_satisfaction(required))
                    == Some(glow::Satisfaction::Satisfied))
    };
    let all = candidates.iter().enumerate().filter(|(_, own)| does(own));
    all.map(|(k, _)| Some(k)).collect()
}

/// True if the operand of `slot` need not have the layout that the tensors of the node share
/// ([`LayoutRequirement::Same`]). It need not if it is a constant, which is converted at no cost; if its rank is at
/// most 1; or if its rank is less than that of a result. Always false for results. `slots` are all operands and results
/// of the node.
fn is_exempt(graph: &ResolvedGraph<'_>, slot: &OperandSlot<'_>, slots: &[OperandSlot<'_>]) -> bool {
    let rank = graph.rank(slot.tensor);
    let is_broadcast = slots.iter().any(|other| other.is_result && graph.rank(other.tensor) > rank);
    !slot.is_result && (graph.is_constant(slot.tensor) || is_broadcast || rank <= 1)
}

/// Position of the tensor whose layout is projected to the other tensors of a node. It is the tensor of highest rank
/// among those with a projection requirement; of equal ranks, a result precedes operands. Operands that are constants
/// are not considered. `None` if there is no such tensor.
fn whole(graph: &ResolvedGraph<'_>, slots: &[OperandSlot<'_>]) -> Option<usize> {
    let is_part = |slot: &&OperandSlot<'_>| matches!(slot.want, LayoutRequirement::Projection);
    let is_bound = |slot: &&OperandSlot<'_>| slot.is_result || !graph.is_constant(slot.tensor);
    let rank = |slot: &&OperandSlot<'_>| (graph.rank(slot.tensor), slot.is_result);
    slots.iter().filter(is_part).filter(is_bound).rev().max_by_key(rank).map(|slot| slot.tensor)
}

/// True if the operand of `slot` need not have a projection of the layout of the tensor at position `whole`: it is a
/// constant, or has an axis that this tensor does not have. Always false for results.
fn is_apart(graph: &ResolvedGraph<'_>, slot: &OperandSlot<'_>, whole: Option<usize>) -> bool {
    let items = whole.and_then(|k| graph.tensors.get(k)).zip(graph.tensors.get(slot.tensor));
    let lacks = items.is_some_and(|(whole, own)| {
        let names = names(whole);
        self::names(own).iter().any(|name| !names.contains(name))
    });
    !slot.is_result && (graph.is_constant(slot.tensor) || lacks)
}

/// Texts of the layouts that the tensors of a node may share, if an alternative requires them to share one. For a
/// projection, these are the texts of the candidates of the tensor at position `whole`, whose layout is projected to
/// the others. The list is `[None]` if no tensors must share a layout, and empty if there is no such text.
fn bound_texts<'c>(
    graph: &ResolvedGraph<'_>,
    slots: &[OperandSlot<'_>],
    whole: Option<usize>,
    candidates: &'c [Vec<LayoutCandidate>],
) -> Vec<Option<&'c str>> {
    let is_alike = |slot: &&OperandSlot<'_>| match slot.want {
        LayoutRequirement::Same => !is_exempt(graph, slot, slots),
        LayoutRequirement::Projection => whole == Some(slot.tensor),
        LayoutRequirement::Text(..) | LayoutRequirement::Any => false,
    };
    let alike: Vec<&OperandSlot<'_>> = slots.iter().filter(is_alike).collect();
    if alike.is_empty() {
        return vec![None];
    }
    // A layout that names axes by position is one layout only if all tensors have their axes in one order.
    let mut orders =
        alike.iter().filter_map(|slot| graph.tensors.get(slot.tensor)).map(|t| names(t));
    let first = orders.next();
    let has_one_order = orders.all(|order| Some(&order) == first.as_ref());
    let mut texts: Vec<Option<&str>> = Vec::new();
    for slot in alike {
        for candidate in candidates.get(slot.tensor).into_iter().flatten() {
            let text = Some(candidate.text.as_str());
            let is_one = has_one_order || is_by_letter(&candidate.text);
            if !texts.contains(&text) && !is_any(&candidate.text) && is_one {
                texts.push(text);
            }
        }
    }
    texts
}

/// True if a layout text names every axis by a letter, in the notation of Glow or TVM: `NHWC`, `NCHW16c`, but not
/// `row-major` or `N**C`.
fn is_by_letter(text: &str) -> bool {
    let has_letters = matches!(notation(text).0, Notation::Glow | Notation::Tvm);
    has_letters && text != ROW_MAJOR && !text.contains('*')
}

/// Cartesian product of the lists, truncated to [`MAX_CHOICES`] + 1 elements.
fn product<T: Copy>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut all: Vec<Vec<T>> = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|head| {
                list.iter().map(move |one| head.iter().copied().chain([*one]).collect())
            })
            .take(MAX_CHOICES + 1)
            .collect();
    }
    all
}

/// Cost of an alternative in bytes: the declared `cost`, or the declared `cost-per-byte` times the total size of the
/// results, rounded down, or 0. `outputs` has the candidate of each result, which determines its size.
fn cost(
    graph: &ResolvedGraph<'_>,
    node: usize,
    alternative: &Alternative,
    outputs: &[usize],
    candidates: &[Vec<LayoutCandidate>],
) -> Result<u64, Diagnostic> {
    let cost = match &alternative.cost {
        None => Some(0),
        Some(CostItem::Bytes(number)) => u64::try_from(number.value).ok(),
        Some(CostItem::PerByte(share)) => {
            let written = graph.results(node).iter().zip(outputs);
            let bytes: u128 = written
                .filter_map(|(tensor, k)| candidates.get(*tensor)?.get(*k))
                .map(|candidate| u128::from(candidate.bytes))
                .sum();
            let digits = u128::try_from(share.digits).ok();
            let one = 10_u128.checked_pow(share.places);
            let product = digits.and_then(|digits| digits.checked_mul(bytes));
            let cost = product.zip(one).and_then(|(product, one)| product.checked_div(one));
            cost.and_then(|cost| u64::try_from(cost).ok())
        }
    };
    cost.filter(|cost| *cost <= MAX_COST).ok_or_else(|| {
        let message = "the cost is too large";
        let place = alternative.place.clone();
        let error = Diagnostic::error(Code::LimitGraph, message, place, "");
        let all = counted(&outputs.len(), "result");
        let error = error.note(format!("the largest cost of {all} is {MAX_COST} bytes"));
        error.help("declare a smaller `cost` or `cost-per-byte`")
    })
}
