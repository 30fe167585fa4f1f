//! Shape inference for recurrent networks: LSTM, GRU, RNN.

use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Order of the axes in the weight tensor of a recurrent operator.
pub(super) enum WeightOrder {
    /// `[directions, gates * units, inputs]`, the order of ONNX's own operators.
    UnitsFirst,
    /// `[directions, inputs, gates * units]`, the order of some operators of ONNX Runtime.
    UnitsLast,
}

/// Results of a recurrent operator: the output of each step, then `states` final states. `gates` is the number of gates
/// of a unit: 4 for an LSTM, 3 for a GRU. `weights` is the order of the axes of the weight tensor, of which one has
/// extent `gates * units`.
pub(super) fn recurrent(
    call: &OnnxCall<'_>,
    gates: u64,
    states: usize,
    weights: &WeightOrder,
) -> ShapeResult<Vec<ShapedTensor>> {
    let (data, own, repeated) = (call.input(0)?, call.shape(1)?, call.shape(2)?);
    let is_batch_first = call.integer("layout") == Some(1);
    let (steps, batch, inputs) = match data.shape[..] {
        [batch, steps, inputs] if is_batch_first => (steps, batch, inputs),
        [steps, batch, inputs] => (steps, batch, inputs),
        _ => return mismatch(format!("{} does not have rank 3", listed(&data.shape))),
    };
    let directions = match call.word("direction") {
        Some("bidirectional") => 2,
        _ => 1,
    };
    let (units, wanted) = match (repeated, weights) {
        ([_, rows, units], WeightOrder::UnitsFirst) => (*units, [directions, *rows, inputs]),
        ([_, units, columns], WeightOrder::UnitsLast) => (*units, [directions, inputs, *columns]),
        _ => return mismatch(format!("{} does not have rank 3", listed(repeated))),
    };
    let rows = if matches!(weights, WeightOrder::UnitsFirst) { wanted[1] } else { wanted[2] };
    if own != wanted || check_overflow(units.checked_mul(gates))? != rows {
        let (own, repeated, data) = (listed(own), listed(repeated), listed(&data.shape));
        return mismatch(format!("weights of {own} and {repeated} do not fit {data}"));
    }
    if let Some(hidden_size) = call.integer("hidden_size")
        && extent(hidden_size)? != units
    {
        return mismatch(format!(
            "`hidden_size` is {hidden_size}, but the weights have {units} units"
        ));
    }
    let state =
        if is_batch_first { [batch, directions, units] } else { [directions, batch, units] };
    for k in 5..5 + states {
        if let Some(initial) = call.optional(k).filter(|initial| initial.shape != state) {
            let (own, state) = (listed(&initial.shape), listed(&state));
            return mismatch(format!("operand {k} of {own} does not match the state {state}"));
        }
    }
    let all = if is_batch_first {
        vec![batch, steps, directions, units]
    } else {
        vec![steps, directions, batch, units]
    };
    let mut results = vec![ShapedTensor::new(data.dtype, all)];
    results.extend((0..states).map(|_| ShapedTensor::new(data.dtype, state.to_vec())));
    Ok(results)
}
