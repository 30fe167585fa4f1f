//! Shape inference for Fourier transforms and window functions.

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, extent, signed};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Value of the constant integer operand `k`; `None` if the operand is omitted, an error if it is not constant.
fn number(call: &OnnxCall<'_>, k: usize) -> ShapeResult<Option<i64>> {
    let Some(input) = call.optional(k) else { return Ok(None) };
    let message = || ShapeError::DataDependent(format!("operand {k} is not a constant integer"));
    input.number().map(Some).ok_or_else(message)
}

/// Result of `DFT`. The last axis holds the real and imaginary parts: its extent is 2, or 1 for the real result of a
/// one-sided inverse.
pub(super) fn dft(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    let axis = match call.opset {
        ..20 => call.integer("axis").unwrap_or(1),
        20.. => number(call, 2)?.unwrap_or(-2),
    };
    let axis = OnnxCall::axis(axis, data.shape.len())?;
    let is_set = |name: &str| call.integer(name) == Some(1);
    let mut shape = data.shape.clone();
    let Some(slot) = shape.get_mut(axis) else { return mismatch("the axis is out of range") };
    let length = match number(call, 1)? {
        Some(length) => extent(length)?,
        // A one-sided inverse extends half a spectrum to the full length.
        None if is_set("onesided") && is_set("inverse") => slot.saturating_sub(1).saturating_mul(2),
        None => *slot,
    };
    let is_half = is_set("onesided") && !is_set("inverse");
    *slot = if is_half { length / 2 + 1 } else { length };
    if let Some(last) = shape.last_mut() {
        *last = if is_set("onesided") && is_set("inverse") { 1 } else { 2 };
    }
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of `STFT`: `[batch, frames, frequencies, 2]`, with real and imaginary parts last.
pub(super) fn stft(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    let [batch, whole, ..] = data.shape.as_slice() else {
        return mismatch(format!("{} is not the shape of a signal", listed(&data.shape)));
    };
    let Some(step) = number(call, 1)? else { return mismatch("the step is missing") };
    let length = match (number(call, 3)?, call.optional(2).map(|window| window.shape.as_slice())) {
        (Some(length), _) => length,
        (None, Some([length])) => signed(*length)?,
        (None, Some(other)) => {
            return mismatch(format!("{} is not the shape of a window", listed(other)));
        }
        (None, None) => signed(*whole)?,
    };
    let rest = signed(*whole)?.checked_sub(length).filter(|rest| *rest >= 0);
    let (Some(rest), 1.., 1..) = (rest, step, length) else {
        return mismatch(format!(
            "frames of length {length} with step {step} do not fit a signal of length {whole}"
        ));
    };
    let bins = if call.integer("onesided") == Some(0) { length } else { length / 2 + 1 };
    let shape = vec![*batch, extent(rest / step + 1)?, extent(bins)?, 2];
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of a window function such as `HannWindow`: a vector whose length is the value of operand 0.
pub(super) fn window(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let Some(size) = number(call, 0)? else { return mismatch("the size is missing") };
    let dtype = call.dtype("output_datatype")?.unwrap_or(Scalar::F32);
    Ok(ShapedTensor::new(dtype, vec![extent(size)?]))
}

/// Result of `MelWeightMatrix`: `[frequencies, mel bins]`.
pub(super) fn mel(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (Some(bins), Some(length)) = (number(call, 0)?, number(call, 1)?) else {
        return mismatch("the number of bins or the length is missing");
    };
    let dtype = call.dtype("output_datatype")?.unwrap_or(Scalar::F32);
    Ok(ShapedTensor::new(dtype, vec![extent(length)? / 2 + 1, extent(bins)?]))
}
