//! Shape inference for `Resize` and `Upsample`.

use std::cmp::Ordering;

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extents};
use crate::import::elements::{ConstantElements, rounded, whole};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Result of `Resize` by scales or to sizes. Operands: (x, scales) before opset 11, then (x, roi, scales, sizes).
pub(super) fn resize(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let axes = match call.integers("axes").filter(|axes| !axes.is_empty()) {
        Some(axes) => OnnxCall::axes(axes, input.shape.len())?,
        None => (0..input.shape.len()).collect(),
    };
    let scales = call.optional(if call.opset < 11 { 1 } else { 2 });
    if call.optional(3).is_some_and(|sizes| sizes.shape != [0]) && call.opset >= 11 {
        let policy = call.word("keep_aspect_ratio_policy").unwrap_or("stretch");
        let sizes = extents(call.parameter("sizes", 3)?.unwrap_or_default())?;
        return match policy {
            "not_larger" => in_ratio(input, &axes, &sizes, Ordering::Less),
            "not_smaller" => in_ratio(input, &axes, &sizes, Ordering::Greater),
            _ => along(input, &axes, &sizes, |_, size| Ok(*size)),
        };
    }
    let Some(scales) = scales else { return mismatch("neither scales nor sizes are given") };
    scaled(input, &axes, &floats(scales)?)
}

/// Result of `Upsample`. The scales are an operand from opset 9 on, an attribute before.
pub(super) fn upsample(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let scales = match call.attribute("scales") {
        Some(own) => own.floats.iter().copied().map(f64::from).collect(),
        None => floats(call.input(1)?)?,
    };
    let axes: Vec<usize> = (0..input.shape.len()).collect();
    scaled(input, &axes, &scales)
}

fn floats(scales: &ShapedTensor) -> ShapeResult<Vec<f64>> {
    match &scales.known {
        Some(ConstantElements::Floats(scales)) => Ok(scales.clone()),
        Some(ConstantElements::Integers(_)) | None => {
            Err(ShapeError::DataDependent("the scales are not a constant".to_owned()))
        }
    }
}

/// Result of `Resize` that keeps the aspect ratio. All `axes` are scaled by one ratio: of the ratios of requested size
/// (`sizes`) to extent, the least if `wanted` is `Less`, the greatest if `Greater`. A new extent is rounded to the
/// nearest integer, halves up.
fn in_ratio(
    input: &ShapedTensor,
    axes: &[usize],
    sizes: &[u64],
    wanted: Ordering,
) -> ShapeResult<ShapedTensor> {
    let mut scale: Option<(u128, u128)> = None;
    for (axis, size) in axes.iter().zip(sizes) {
        let own = u128::from(input.shape.get(*axis).copied().unwrap_or(0).max(1));
        let size = u128::from(*size);
        // All factors are below 2^64, so the products are below 2^128.
        if scale.is_none_or(|(a, b)| (size * b).cmp(&(a * own)) == wanted) {
            scale = Some((size, own));
        }
    }
    let Some((size, own)) = scale else { return mismatch("the sizes are empty") };
    along(input, axes, sizes, |extent, _| {
        let twice = check_overflow(
            u128::from(extent).checked_mul(2).and_then(|twice| twice.checked_mul(size)),
        )?;
        let halves = check_overflow(twice.checked_add(own))?;
        check_overflow(u64::try_from(halves / (2 * own)).ok())
    })
}

fn scaled(input: &ShapedTensor, axes: &[usize], scales: &[f64]) -> ShapeResult<ShapedTensor> {
    along(input, axes, scales, |size, scale| {
        // ONNX multiplies in `f32`, where 10 * 0.7 is 7.
        let size = u32::try_from(size).map_or(f64::INFINITY, f64::from);
        let moved = rounded(size * scale, Scalar::F32).unwrap_or(f64::INFINITY).floor();
        match whole(moved).and_then(|extent| u64::try_from(extent).ok()) {
            Some(extent) => Ok(extent),
            None => mismatch(format!("{size} * {scale} is not a valid extent")),
        }
    })
}

fn along<T>(
    input: &ShapedTensor,
    axes: &[usize],
    given: &[T],
    change: impl Fn(u64, &T) -> ShapeResult<u64>,
) -> ShapeResult<ShapedTensor> {
    if axes.len() != given.len() {
        return mismatch(format!(
            "{} scales or sizes for shape {}",
            given.len(),
            listed(&input.shape)
        ));
    }
    let mut shape = input.shape.clone();
    for (axis, given) in axes.iter().zip(given) {
        let Some(slot) = shape.get_mut(*axis) else { continue };
        *slot = change(*slot, given)?;
    }
    Ok(ShapedTensor::new(input.dtype, shape))
}
