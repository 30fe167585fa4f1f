//! Shape inference for reductions and normalizations.

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::error::{ShapeResult, listed, mismatch};

pub(super) fn reduce(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let given = call.parameter("axes", 1)?.filter(|axes| !axes.is_empty());
    let axes = match given {
        Some(axes) => OnnxCall::axes(&axes, rank)?,
        None if call.integer("noop_with_empty_axes") == Some(1) => Vec::new(),
        None => (0..rank).collect(),
    };
    Ok(ShapedTensor::new(input.dtype, reduced_shape(call, &input.shape, &axes)))
}

/// Result of `ArgMax` or `ArgMin`: `i64` positions along the reduced axis.
pub(super) fn arg(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = call.shape(0)?;
    let axis = call.own_axis(0, shape.len())?;
    Ok(ShapedTensor::new(Scalar::I64, reduced_shape(call, shape, &[axis])))
}

/// Shape of a reduction's result. `shape` is that of the operand, `axes` are the positions of the reduced axes. They
/// have extent 1, or are removed if the attribute `keepdims` is 0.
fn reduced_shape(call: &OnnxCall<'_>, shape: &[u64], axes: &[usize]) -> Vec<u64> {
    let keep_dims = call.integer("keepdims") != Some(0);
    let remaining = shape.iter().enumerate().filter(|(k, _)| keep_dims || !axes.contains(k));
    remaining.map(|(k, extent)| if axes.contains(&k) { 1 } else { *extent }).collect()
}

/// Results of `LayerNormalization`: the normalized tensor, the means, and the inverse standard deviations. The means
/// and the deviations have extent 1 along the normalized axes.
pub(super) fn layer_normalization(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let axis = call.own_axis(-1, input.shape.len())?;
    let one = |(k, extent): (usize, &u64)| if k < axis { *extent } else { 1 };
    let means: Vec<u64> = input.shape.iter().enumerate().map(one).collect();
    let dtype = call.dtype("stash_type")?.unwrap_or(Scalar::F32);
    let means = ShapedTensor::new(dtype, means);
    Ok(vec![input.unknown(), means.clone(), means])
}

/// Results of `BatchNormalization`: the normalized tensor, then the running mean, the running variance, the saved mean
/// and the saved variance of each channel, which a model requests only in training.
pub(super) fn batch_normalization(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let channels = input.shape.get(1).copied().unwrap_or(1);
    // Old models with `spatial=0` have statistics per element.
    let is_by_channel = call.integer("spatial") != Some(0);
    for k in (1..5).filter(|_| is_by_channel) {
        if call.shape(k)? != [channels] {
            let (own, shape) = (listed(call.shape(k)?), listed(&input.shape));
            return mismatch(format!("operand {k} of {own} does not fit {shape}"));
        }
    }
    [0, 3, 4, 3, 4].into_iter().map(|k| call.input(k).map(ShapedTensor::unknown)).collect()
}
