//! Shape inference for operators that split, concatenate, slice, pad, gather or repeat tensors.

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent, extents, signed};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

pub(super) fn concat(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let first = call.input(0)?;
    let axis = call.own_axis(1, first.shape.len())?;
    let mut shape = first.shape.clone();
    for k in 1..call.inputs.len() {
        let other = call.shape(k)?;
        let is_alike = |(k, (a, b)): (usize, (&u64, &u64))| k == axis || a == b;
        let fits = other.len() == shape.len() && shape.iter().zip(other).enumerate().all(is_alike);
        let (Some(slot), Some(more), true) = (shape.get_mut(axis), other.get(axis), fits) else {
            let (first, other) = (listed(&first.shape), listed(other));
            return mismatch(format!("cannot concatenate {first} and {other} along axis {axis}"));
        };
        *slot = check_overflow(slot.checked_add(*more))?;
    }
    Ok(ShapedTensor::new(first.dtype, shape))
}

pub(super) fn split(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let axis = call.own_axis(0, input.shape.len())?;
    let whole = input.shape.get(axis).copied().unwrap_or(0);
    let sizes = match call.parameter("split", 1)? {
        Some(sizes) => extents(sizes)?,
        None => {
            let count = check_overflow(u64::try_from(call.outputs).ok())?.max(1);
            // Equal parts; the last ones may be smaller or empty.
            let size = whole.div_ceil(count);
            (0..count).map(|k| size.min(whole.saturating_sub(k.saturating_mul(size)))).collect()
        }
    };
    let sum = sizes.iter().try_fold(0_u64, |sum, size| sum.checked_add(*size));
    if sizes.len() != call.outputs || sum != Some(whole) {
        return mismatch(format!("cannot split {whole} into {} parts of {sizes:?}", call.outputs));
    }
    let part = |size: u64| {
        let mut shape = input.shape.clone();
        shape.get_mut(axis).into_iter().for_each(|slot| *slot = size);
        ShapedTensor::new(input.dtype, shape)
    };
    Ok(sizes.into_iter().map(part).collect())
}

/// Range of a slice along one axis, with indices counted from 0. `start` is inclusive, `end` exclusive; `end` is -1 for
/// a negative step that includes index 0.
pub(super) struct SliceRange {
    pub(super) axis: usize,
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) step: i64,
}

/// Ranges of a `Slice`, one for each sliced axis, in the order of `starts`. Starts and ends are clamped to the extents.
/// An error if `starts`, `ends`, `axes` and `steps` are not constant or differ in number, if an axis is out of range or
/// occurs twice, or if a step is 0.
pub(super) fn cuts(call: &OnnxCall<'_>) -> ShapeResult<Vec<SliceRange>> {
    let shape = call.shape(0)?;
    let (Some(starts), Some(ends)) = (call.parameter("starts", 1)?, call.parameter("ends", 2)?)
    else {
        return mismatch("`starts` or `ends` is missing");
    };
    let axes = match call.parameter("axes", 3)? {
        Some(axes) => OnnxCall::axes(&axes, shape.len())?,
        None => (0..starts.len()).collect(),
    };
    let steps = call.parameter("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if ends.len() != starts.len() || axes.len() != starts.len() || steps.len() != starts.len() {
        return mismatch("the numbers of starts, ends, axes and steps differ");
    }
    let mut cuts = Vec::new();
    for (((axis, start), end), step) in axes.into_iter().zip(starts).zip(ends).zip(steps) {
        let Some(size) = shape.get(axis) else {
            return mismatch(format!("axis {axis} is out of range for rank {}", shape.len()));
        };
        let size = signed(*size)?;
        let counted = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        let (start, end) = match step {
            0 => return mismatch("a step is 0"),
            1.. => (counted(start).clamp(0, size), counted(end).clamp(0, size)),
            _ => (counted(start).clamp(0, (size - 1).max(0)), counted(end).clamp(-1, size)),
        };
        cuts.push(SliceRange { axis, start, end, step });
    }
    Ok(cuts)
}

pub(super) fn slice(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let mut shape = input.shape.clone();
    for cut in cuts(call)? {
        let reach = if cut.step > 0 { cut.end - cut.start } else { cut.start - cut.end };
        let reach = extent(reach.max(0))?;
        let Some(slot) = shape.get_mut(cut.axis) else { continue };
        *slot = if *slot == 0 { 0 } else { reach.div_ceil(cut.step.unsigned_abs()) };
    }
    Ok(ShapedTensor::new(input.dtype, shape))
}

pub(super) fn pad(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let rank = input.shape.len();
    let name = if call.opset < 2 { "paddings" } else { "pads" };
    let Some(pads) = call.parameter(name, 1)? else { return mismatch("`pads` is missing") };
    let axes = match call.optional(3) {
        Some(_) => OnnxCall::axes(&call.parameter("axes", 3)?.unwrap_or_default(), rank)?,
        None => (0..rank).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return mismatch(format!("{} pads for {} axes", pads.len(), axes.len()));
    }
    let (before, after) = pads.split_at_checked(axes.len()).unwrap_or_default();
    let mut shape = input.shape.clone();
    for ((axis, before), after) in axes.iter().zip(before).zip(after) {
        let Some(slot) = shape.get_mut(*axis) else { continue };
        let more =
            before.checked_add(*after).and_then(|more| more.checked_add(signed(*slot).ok()?));
        *slot = extent(check_overflow(more)?)?;
    }
    Ok(ShapedTensor::new(input.dtype, shape))
}

pub(super) fn gather(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (input, indices) = (call.input(0)?, call.shape(1)?);
    let axis = call.own_axis(0, input.shape.len())?;
    let (before, rest) = input.shape.split_at_checked(axis).unwrap_or_default();
    let shape = [before, indices, rest.get(1..).unwrap_or_default()].concat();
    Ok(ShapedTensor::new(input.dtype, shape))
}

/// Result of `GatherElements`: one element per index, with the shape of the indices.
pub(super) fn gather_elements(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    Ok(ShapedTensor::new(call.input(0)?.dtype, call.shape(1)?.to_vec()))
}

/// Result of `GatherND`: each vector along the last axis of the indices selects a slice of the operand. The first
/// `batch_dims` axes are batches.
pub(super) fn gather_nd(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (input, indices) = (call.input(0)?, call.shape(1)?);
    let Some((depth, outer)) = indices.split_last() else {
        return mismatch("the indices are empty");
    };
    let along = extent(call.integer("batch_dims").unwrap_or(0))?;
    let taken =
        check_overflow(depth.checked_add(along).and_then(|taken| usize::try_from(taken).ok()))?;
    let Some(rest) = input.shape.get(taken..) else {
        let (input, indices) = (listed(&input.shape), listed(indices));
        return mismatch(format!("indices {indices} select more axes than {input} has"));
    };
    Ok(ShapedTensor::new(input.dtype, [outer, rest].concat()))
}

/// Results of `TopK`: the selected elements, and their `i64` positions along the axis.
pub(super) fn top(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let input = call.input(0)?;
    let axis = call.own_axis(-1, input.shape.len())?;
    let count = match call.integer("k") {
        Some(count) => count,
        None => match call.parameter("K", 1)?.as_deref() {
            Some([count]) => *count,
            _ => return mismatch("`k` is missing"),
        },
    };
    let mut shape = input.shape.clone();
    let count = extent(count)?;
    shape.get_mut(axis).into_iter().for_each(|slot| *slot = count);
    Ok(vec![ShapedTensor::new(input.dtype, shape.clone()), ShapedTensor::new(Scalar::I64, shape)])
}

pub(super) fn tile(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    if call.opset < 6 {
        return Err(ShapeError::Operator);
    }
    let repeats = call.parameter("repeats", 1)?.unwrap_or_default();
    if repeats.len() != input.shape.len() {
        return mismatch(format!("{} repeats for shape {}", repeats.len(), listed(&input.shape)));
    }
    let mut shape = Vec::new();
    for (size, times) in input.shape.iter().zip(repeats) {
        shape.push(check_overflow(size.checked_mul(extent(times)?))?);
    }
    Ok(ShapedTensor::new(input.dtype, shape))
}
