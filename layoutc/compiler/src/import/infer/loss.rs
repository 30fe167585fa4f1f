//! Shape inference for losses and optimizer steps.

use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Results of a loss. The first is the loss: one value per target if `reduction` is `none`, else a scalar. The second
/// are the log probabilities, with the shape of operand 0.
pub(super) fn loss(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let (scores, targets) = (call.input(0)?, call.shape(1)?);
    let [batch, _, space @ ..] = scores.shape.as_slice() else {
        return mismatch(format!("{} has no classes", listed(&scores.shape)));
    };
    if targets != [&[*batch], space].concat() {
        let (targets, scores) = (listed(targets), listed(&scores.shape));
        return mismatch(format!("targets {targets} do not fit {scores}"));
    }
    let is_whole = call.word("reduction") == Some("none");
    let shape = if is_whole { targets.to_vec() } else { Vec::new() };
    Ok(vec![ShapedTensor::new(scores.dtype, shape), scores.unknown()])
}

/// Results of an optimizer step: the new values of the tensors, then the new values of their states. The operands are
/// the learning rate, the step count, the tensors, their gradients, and `states` states of each tensor.
pub(super) fn step(call: &OnnxCall<'_>, states: usize) -> ShapeResult<Vec<ShapedTensor>> {
    let own = call.inputs.get(2..).unwrap_or_default();
    let kinds = states + 2;
    let tensors = own.len() / kinds;
    if tensors == 0 || own.len() % kinds != 0 {
        let count = own.len();
        let message = format!("{count} operands do not form tensors with {states} states each");
        return mismatch(message);
    }
    let kept = (2..2 + tensors).chain(2 + 2 * tensors..2 + kinds * tensors);
    kept.map(|k| call.input(k).map(ShapedTensor::unknown)).collect()
}
