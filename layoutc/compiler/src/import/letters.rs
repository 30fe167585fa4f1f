//! A letter for every axis, such that what operators mean by axes can be said by letters alone, and transpositions need not
//! be said at all.

use super::axes::Axes;
use super::call::Call;
use super::infer::{is_along_all, permutation};
use super::network::{Network, Operator, Tensor};
use super::operator::{Kind, Window};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;

/// The letters of a network.
#[derive(Debug)]
pub(super) struct Letters {
    /// Of each tensor, in ONNX's order of its axes.
    pub(super) of: Vec<String>,
    /// For each tensor the one that it is: itself, or what was transposed.
    pub(super) same: Vec<usize>,
    /// For each operator whether its letters are those that its kind asks for; else it goes by order.
    pub(super) is_named: Vec<bool>,
}

/// The most axes that a layout says by letters.
pub(super) const MAX_LETTERS: usize = 6;

/// The letters that axes have where no operator names them, by how many there are: those of the profile `onnx`.
pub(super) const USUAL: [&str; 6] = ["", "C", "NC", "NCW", "NCHW", "NCDHW"];

/// Gives letters to a network, and takes the transpositions out of it that can be said by letters.
///
/// # Errors
/// There are too few letters.
pub(super) fn letters(network: &mut Network<'_>) -> Result<Letters, Box<Diagnostic>> {
    let ranks: Vec<usize> = network.tensors.iter().map(Tensor::rank).collect();
    let mut axes = Axes::new(ranks.iter().copied());
    let mut is_named = vec![true; network.operators.len()];
    for (operator, slot) in network.operators.iter().zip(&mut is_named) {
        if let Kind::Window(window) = operator.kind {
            *slot = axes.attempt(|axes| windowed(axes, window, operator, &ranks));
        }
    }
    for (operator, slot) in network.operators.iter().zip(&mut is_named) {
        if operator.kind == Kind::Elementwise {
            *slot = axes.attempt(|axes| aligned(axes, network, operator, false));
            // A constant is free in any layout: that it cannot be alike is no matter.
            axes.attempt(|axes| aligned(axes, network, operator, true));
        }
    }
    let same = untransposed(&mut axes, network);
    let is_gone = |operator: &Operator<'_>| {
        operator.kind == Kind::Transpose
            && operator.outputs.first().is_some_and(|out| same.get(*out) != Some(out))
    };
    let mut kept = Vec::new();
    let mut named = Vec::new();
    for (operator, is_named) in network.operators.drain(..).zip(is_named) {
        if !is_gone(&operator) {
            kept.push(operator);
            named.push(is_named);
        }
    }
    network.operators = kept;
    Ok(Letters { of: usual(&mut axes, network)?, same, is_named: named })
}

/// Names axes as an operator does.
fn windowed(axes: &mut Axes, window: Window, operator: &Operator<'_>, ranks: &[usize]) -> bool {
    let rank = |tensor: &usize| ranks.get(*tensor).copied().unwrap_or(0);
    let operands = operator.inputs.iter().enumerate();
    let operands =
        operands.filter_map(|(k, operand)| Some((*operand, window.operand(k, rank(operand))?)));
    let results = operator.outputs.iter();
    let results = results.filter_map(|result| Some((*result, Window::result(rank(result))?)));
    let has_data =
        operator.inputs.first().is_some_and(|data| window.operand(0, rank(data)).is_some());
    let mut all = operands.chain(results);
    has_data
        && all.all(|(tensor, letters)| {
            letters.chars().enumerate().all(|(k, letter)| axes.name((tensor, k), letter))
        })
}

/// Makes the axes of operands and results one where they are aligned, the last with the last.
fn aligned(
    axes: &mut Axes,
    network: &Network<'_>,
    operator: &Operator<'_>,
    constants: bool,
) -> bool {
    let rank = |tensor: usize| network.tensors.get(tensor).map_or(0, Tensor::rank);
    let is_constant =
        |tensor: usize| network.tensors.get(tensor).is_some_and(|tensor| tensor.is_constant);
    let Some(first) = operator.outputs.first().copied() else { return false };
    let operands = operator.inputs.iter().enumerate();
    let operands = operands
        .filter(|(k, _)| *k == 0 || is_along_all(&operator.node.op_type))
        .map(|(_, operand)| *operand)
        .filter(|operand| is_constant(*operand) == constants);
    let mut more = operator.outputs.iter().skip(1);
    if more.any(|other| rank(*other) != rank(first)) {
        return false;
    }
    let others: Vec<usize> = operands.chain(operator.outputs.iter().skip(1).copied()).collect();
    others.into_iter().all(|other| {
        let (own, all) = (rank(other), rank(first));
        own <= all && (0..own).all(|k| axes.join((other, k), (first, all - own + k)))
    })
}

/// Takes transpositions for what they are where letters allow it; gives the tensor that each one is.
fn untransposed(axes: &mut Axes, network: &Network<'_>) -> Vec<usize> {
    let mut same: Vec<usize> = (0..network.tensors.len()).collect();
    // What the model gives is given once, and by its own name.
    let mut asked_for: Vec<usize> = Vec::new();
    for operator in network.operators.iter().filter(|operator| operator.kind == Kind::Transpose) {
        let ([from], [to]) = (operator.inputs.as_slice(), operator.outputs.as_slice()) else {
            continue;
        };
        let root = same.get(*from).copied().unwrap_or(*from);
        let is_output = network.outputs.contains(to);
        let is_known = network.outputs.contains(&root) || network.inputs.contains(&root);
        let is_asked = is_known || asked_for.contains(&root);
        let rank = network.tensors.get(*to).map_or(0, Tensor::rank);
        if (is_output && is_asked) || rank > MAX_LETTERS {
            continue;
        }
        let shaped = network.tensors.get(*from).map(|tensor| &tensor.shaped);
        let call = Call { node: operator.node, opset: 1, inputs: vec![shaped], outputs: 1 };
        let Ok(order) = permutation(&call) else { continue };
        let join = |axes: &mut Axes| {
            order.iter().enumerate().all(|(k, axis)| axes.join((*to, k), (*from, *axis)))
        };
        if axes.attempt(join) {
            same.get_mut(*to).into_iter().for_each(|slot| *slot = root);
            asked_for.extend(is_output.then_some(root));
        }
    }
    same
}

/// Letters for all other axes, the usual ones first; what is computed comes before constants.
fn usual(axes: &mut Axes, network: &Network<'_>) -> Result<Vec<String>, Box<Diagnostic>> {
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
        let message = "the axes that go together have more than 26 names";
        Box::new(Diagnostic::placeless(Code::ImportUnsupported, message))
    })
}
