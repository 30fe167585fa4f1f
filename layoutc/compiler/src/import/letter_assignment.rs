//! Assignment of letters to the axes of all tensors, so that operators refer to axes by letter, and a transposition is
//! a change of layout: axes `NCHW` of the operand are `NHWC` of the result.

use super::axis_relations::{AxisRelation, AxisRelations, relations};
use super::infer::permutation;
use super::letter_classes::LetterClasses;
use super::network::{NetworkOperator, NetworkTensor, OnnxNetwork};
use super::operator::{OnnxOperatorKind, WindowKind};
use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;

/// Letters that are assigned to the axes of a network's tensors, such as `NCHW`.
#[derive(Debug)]
pub(super) struct LetterAssignment {
    /// Letters of the axes of each tensor, one string for each tensor of the network, with the letters in ONNX's order
    /// of the axes.
    pub(super) of: Vec<String>,
    /// Entry `t` is the position of the tensor of which tensor `t` is a transposition that needs no operator; `t`
    /// itself if tensor `t` is no such transposition.
    pub(super) same: Vec<usize>,
    /// Permutations of the transpositions in `same`: axis `k` of tensor `t` is axis `order[t][k]` of the tensor
    /// `same[t]`. Copies of constants, which are the last tensors, have no entry.
    pub(super) order: Vec<Vec<usize>>,
    /// One entry for each operator. It is true if the axes of the operator's tensors have the letters that its kind
    /// requires, and false if the operator gets row-major layouts only. It is true and has no meaning for
    /// transpositions and row-major operators.
    pub(super) is_named: Vec<bool>,
}

/// Maximum rank of a tensor whose layout is written with letters. Tensors of higher rank are row-major.
pub(super) const MAX_LETTERS: usize = 6;

/// Default letters of the axes by rank (index 0 for scalars); none for other ranks. Those for ranks 2 to 5 are also in
/// the backend profile `onnx`.
pub(super) const USUAL: [&str; 6] = ["", "C", "NC", "NCW", "NCHW", "NCDHW"];

/// Assigns letters to the axes of all tensors of a network. Removes a transposition from the network if its result is
/// the operand in another layout, such as `NHWC` of `NCHW`. An elementwise operator, an operator by letter or a global
/// pooling reads a copy of a constant operand if the constant would need other letters for it than for another
/// operator.
///
/// # Errors
/// `import::unsupported` if an axis finds none of the 26 letters free.
pub(super) fn letters(network: &mut OnnxNetwork<'_>) -> Result<LetterAssignment, Box<Diagnostic>> {
    let ranks: Vec<usize> = network.tensors.iter().map(NetworkTensor::rank).collect();
    let mut axes = LetterClasses::new(ranks.iter().copied());
    let mut is_named = vec![true; network.operators.len()];
    for (operator, slot) in network.operators.iter().zip(&mut is_named) {
        if let OnnxOperatorKind::Window(window) = operator.kind {
            *slot = axes.attempt(|axes| windowed(axes, window, operator, &ranks));
        }
    }
    let related: Vec<Option<AxisRelations>> =
        network.operators.iter().map(|operator| relations(network, operator)).collect();
    for ((operator, related), slot) in network.operators.iter().zip(&related).zip(&mut is_named) {
        if matches!(operator.kind, OnnxOperatorKind::Elementwise | OnnxOperatorKind::ByLetter) {
            *slot = related
                .as_ref()
                .is_some_and(|related| axes.attempt(|axes| aligned(axes, network, related)));
        } else if let Some(related) = related {
            *slot = *slot && axes.attempt(|axes| aligned(axes, network, related));
        }
    }
    let TransposeAliases { same, order } = untransposed(&mut axes, network);
    for (k, related) in related.iter().enumerate() {
        if let (Some(related), Some(true)) = (related, is_named.get(k)) {
            constants(&mut axes, network, k, related);
        }
    }
    let is_gone = |operator: &NetworkOperator<'_>| {
        operator.kind == OnnxOperatorKind::Transpose
            && operator.outputs.first().is_some_and(|out| same.get(*out) != Some(out))
    };
    let mut remaining = Vec::new();
    let mut named = Vec::new();
    for (operator, is_named) in network.operators.drain(..).zip(is_named) {
        if !is_gone(&operator) {
            remaining.push(operator);
            named.push(is_named);
        }
    }
    network.operators = remaining;
    let of = assign_default_letters(&mut axes, network)?;
    // A copy of a constant is its own alias.
    let same = (0..of.len()).map(|k| same.get(k).copied().unwrap_or(k)).collect();
    Ok(LetterAssignment { of, same, order, is_named: named })
}

/// Gives the axes of a window operator's tensors the letters that its kind requires: `N`, `C`, `H`, `W`, … `ranks` has
/// the rank of each tensor of the network. Returns false, with `axes` changed in part, if a letter conflicts with those
/// that are assigned already, or if the kind has no letters for the rank of the data.
fn windowed(
    axes: &mut LetterClasses,
    window: WindowKind,
    operator: &NetworkOperator<'_>,
    ranks: &[usize],
) -> bool {
    let rank = |tensor: &usize| ranks.get(*tensor).copied().unwrap_or(0);
    let operands = operator.inputs.iter().filter_map(|operand| {
        Some((operand.tensor, window.operand(operand.slot, rank(&operand.tensor))?))
    });
    let results = operator.outputs.iter();
    let results = results.filter_map(|result| Some((*result, WindowKind::result(rank(result))?)));
    let has_data = operator.read(0).is_some_and(|data| window.operand(0, rank(&data)).is_some());
    let mut all = operands.chain(results);
    has_data
        && all.all(|(tensor, letters)| {
            letters.chars().enumerate().all(|(k, letter)| axes.name((tensor, k), letter))
        })
}

/// Joins the classes of the axes that correspond to each other in `related`, the correspondences of one operator's
/// operands and results, so that they get one letter. Constants are skipped. Returns false, with `axes` changed in
/// part, on a conflict: a class would get two letters, or two axes of one tensor would be in one class or get one
/// letter.
fn aligned(axes: &mut LetterClasses, network: &OnnxNetwork<'_>, related: &AxisRelations) -> bool {
    let mut others = related.others.iter();
    others.all(|other| network.is_constant(other.tensor) || joined(axes, other, related.whole))
}

fn joined(axes: &mut LetterClasses, other: &AxisRelation, whole: usize) -> bool {
    let mut pairs = other.axes.iter().enumerate().filter_map(|(k, axis)| Some((k, (*axis)?)));
    pairs.all(|(k, axis)| axes.join((other.tensor, k), (whole, axis)))
}

/// Joins the classes of the axes of the constants that the operator at position `operator` reads with the classes of
/// the corresponding axes in `related`. If that is impossible without a conflict, the operator gets a copy of the
/// constant as its operand, with letters of its own.
fn constants(
    axes: &mut LetterClasses,
    network: &mut OnnxNetwork<'_>,
    operator: usize,
    related: &AxisRelations,
) {
    for other in &related.others {
        let (tensor, whole) = (other.tensor, related.whole);
        if !network.is_constant(tensor) || axes.attempt(|axes| joined(axes, other, whole)) {
            continue;
        }
        let (Some(own), Some(slot)) = (network.tensors.get(tensor).cloned(), other.slot) else {
            continue;
        };
        let copy = network.tensors.len();
        axes.add(own.rank());
        network.tensors.push(own);
        joined(axes, &AxisRelation { tensor: copy, ..other.clone() }, whole);
        let operands = network.operators.get_mut(operator).map(|operator| &mut operator.inputs);
        let operand = operands.into_iter().flatten().find(|operand| operand.slot == slot);
        operand.into_iter().for_each(|operand| operand.tensor = copy);
    }
}

/// Transpositions that need no operator, because their result is the operand in another layout: `NHWC` of `NCHW`.
struct TransposeAliases {
    /// Entry `t` is the position of the tensor of which tensor `t` is such a transposition, directly or through other
    /// transpositions; `t` itself if tensor `t` is no such transposition.
    same: Vec<usize>,
    /// Permutations of the transpositions in `same`: axis `k` of tensor `t` is axis `order[t][k]` of the tensor
    /// `same[t]`.
    order: Vec<Vec<usize>>,
}

/// Finds the transpositions that need no operator, and joins the classes of their corresponding axes. A transposition
/// keeps its operator if, for example, its letters conflict, its rank exceeds [`MAX_LETTERS`], or its result is an
/// output and the tensor of which it would be another layout is an input, another output, or the source of another
/// output.
fn untransposed(axes: &mut LetterClasses, network: &OnnxNetwork<'_>) -> TransposeAliases {
    let mut same: Vec<usize> = (0..network.tensors.len()).collect();
    let mut orders: Vec<Vec<usize>> =
        network.tensors.iter().map(|tensor| (0..tensor.rank()).collect()).collect();
    // An output is produced once, under its own name.
    let mut requested: Vec<usize> = Vec::new();
    for operator in
        network.operators.iter().filter(|operator| operator.kind == OnnxOperatorKind::Transpose)
    {
        let (Some(from), [to]) = (operator.read(0), operator.outputs.as_slice()) else {
            continue;
        };
        let root = same.get(from).copied().unwrap_or(from);
        let is_output = network.outputs.contains(to);
        let is_known = network.outputs.contains(&root) || network.inputs.contains(&root);
        let is_requested = is_known || requested.contains(&root);
        if (is_output && is_requested) || network.rank(*to) > MAX_LETTERS {
            continue;
        }
        let Ok(order) = permutation(&network.call(operator)) else { continue };
        let join = |axes: &mut LetterClasses| {
            order.iter().enumerate().all(|(k, axis)| axes.join((*to, k), (from, *axis)))
        };
        if axes.attempt(join) {
            same.get_mut(*to).into_iter().for_each(|slot| *slot = root);
            let composed =
                orders.get(from).map(|own| compose_permutations(&order, own)).unwrap_or_default();
            if let Some(slot) = orders.get_mut(*to) {
                *slot = composed;
            }
            requested.extend(is_output.then_some(root));
        }
    }
    TransposeAliases { same, order: orders }
}

/// Composition of two permutations: entry `k` is `own[order[k]]`. `order` `[1, 0, 2]` and `own` `[2, 0, 1]` give
/// `[0, 2, 1]`.
pub(super) fn compose_permutations(order: &[usize], own: &[usize]) -> Vec<usize> {
    order.iter().filter_map(|axis| own.get(*axis)).copied().collect()
}

/// Assigns letters to the axes that have none: the default letter of the axis ([`USUAL`]) if it is free, else the first
/// free letter of the alphabet. Constants come after all other tensors. Returns the letters of each tensor, in the
/// order of the tensors.
///
/// # Errors
/// `import::unsupported` if no letter is free for an axis.
fn assign_default_letters(
    axes: &mut LetterClasses,
    network: &OnnxNetwork<'_>,
) -> Result<Vec<String>, Box<Diagnostic>> {
    let all = || network.tensors.iter().enumerate();
    let computed = all().filter(|(_, tensor)| !tensor.is_constant);
    for (tensor, found) in computed.chain(all()) {
        let usual = USUAL.get(found.rank()).copied().unwrap_or("");
        for k in 0..found.rank() {
            if axes.letter((tensor, k)).is_none() {
                let mut letters = usual.chars().skip(k).take(1).chain('A'..='Z');
                letters.any(|letter| axes.name((tensor, k), letter));
            }
        }
    }
    let letters = all().map(|(tensor, found)| {
        (0..found.rank()).map(|k| axes.letter((tensor, k))).collect::<Option<String>>()
    });
    letters.collect::<Option<Vec<_>>>().ok_or_else(|| {
        let message = "the axes of the model need more than 26 letters";
        Box::new(Diagnostic::without_span(Code::ImportUnsupported, message))
    })
}
