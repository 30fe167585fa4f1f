//! Shape inference for image operators: sampling, `Col2Im`, regions of interest, cropping.

use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent, extents, signed};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Result of `GridSample`: `[batch, channels, grid points...]`, one sampled element per grid point.
pub(super) fn grid_sample(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (data, grid) = (call.input(0)?, call.shape(1)?);
    let shape = match (data.shape.as_slice(), grid) {
        ([batch, channels, space @ ..], [other, points @ .., axes])
            if points.len() == space.len()
                && usize::try_from(*axes).ok() == Some(space.len())
                && batch == other =>
        {
            [&[*batch, *channels], points].concat()
        }
        (shape, grid) => {
            let (shape, grid) = (listed(shape), listed(grid));
            return mismatch(format!("cannot sample {shape} by the grid {grid}"));
        }
    };
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of `AffineGrid`: `[batch, spatial extents..., number of spatial axes]`, one point per element of an image.
pub(super) fn affine_grid(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let size = extents(call.parameter("size", 1)?.unwrap_or_default())?;
    let [batch, _, space @ ..] = size.as_slice() else {
        return mismatch(format!("{} is not the size of an image", listed(&size)));
    };
    let axes = check_overflow(u64::try_from(space.len()).ok())?;
    Ok(ShapedTensor::new(call.input(0)?.dtype, [&[*batch], space, &[axes]].concat()))
}

/// Result of `Col2Im`, which adds up overlapping blocks to an image: `[batch, channels, spatial extents...]`, with the
/// spatial extents in operand 1.
pub(super) fn col2im(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    let image = call.parameter("image_shape", 1)?.unwrap_or_default();
    let block = call.parameter("block_shape", 2)?.unwrap_or_default();
    let size = block.iter().try_fold(1_u64, |size, own| size.checked_mul((*own).try_into().ok()?));
    let ([batch, all, _], Some(size @ 1..)) = (data.shape.as_slice(), size) else {
        let shape = listed(&data.shape);
        return mismatch(format!("{shape} is not the shape of columns of {block:?} blocks"));
    };
    if all % size != 0 {
        return mismatch(format!("{all} elements do not form blocks of {block:?}"));
    }
    let mut shape = vec![*batch, all / size];
    shape.extend(extents(image)?);
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of `MaxRoiPool`: the regions of an image, pooled to the size in `pooled_shape`.
pub(super) fn max_roi_pool(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    regions(call, call.integers("pooled_shape").unwrap_or_default())
}

/// Result of `RoiAlign`: the regions of an image, sampled to `output_height` × `output_width`.
pub(super) fn roi_align(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let size = |name: &str| call.integer(name).unwrap_or(1);
    regions(call, &[size("output_height"), size("output_width")])
}

/// Result of an operator on regions of an image: `[regions, channels, size...]`. The number of regions is the first
/// extent of operand 1. `size` has one extent per spatial axis.
fn regions(call: &OnnxCall<'_>, size: &[i64]) -> ShapeResult<ShapedTensor> {
    let (data, regions) = (call.input(0)?, call.shape(1)?);
    let ([_, channels, _, _], [count, _]) = (data.shape.as_slice(), regions) else {
        let (shape, regions) = (listed(&data.shape), listed(regions));
        return mismatch(format!("{shape} does not support regions {regions}"));
    };
    let mut shape = vec![*count, *channels];
    shape.extend(extents(size.iter().copied())?);
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of `MaxUnpool`. Each spatial extent is the one in the operand `output_shape`, or without that operand
/// `(extent - 1) * stride + kernel - pads`, `pads` being the sum of the padding on both sides. Source: ONNX,
/// `MaxUnpool`.
pub(super) fn max_unpool(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    if call.optional(2).is_some() {
        let shape = extents(call.parameter("output_shape", 2)?.unwrap_or_default())?;
        return Ok(ShapedTensor::new(data.dtype, shape));
    }
    let (batch, channels, space) = call.image(0)?;
    let kernel = call.integers("kernel_shape").unwrap_or_default();
    if kernel.len() != space.len() {
        return mismatch(format!("the window does not have {} axes", space.len()));
    }
    let at = |name: &str, k: usize, default: i64| {
        call.integers(name).and_then(|list| list.get(k)).copied().unwrap_or(default)
    };
    let mut shape = vec![batch, channels];
    for (k, (size, kernel)) in space.iter().zip(kernel).enumerate() {
        let steps = signed(*size)?.checked_sub(1);
        let whole = steps.and_then(|steps| steps.checked_mul(at("strides", k, 1)));
        let whole = whole.and_then(|whole| whole.checked_add(*kernel));
        let whole = whole.and_then(|whole| whole.checked_sub(at("pads", k, 0)));
        let whole = whole.and_then(|whole| whole.checked_sub(at("pads", k + space.len(), 0)));
        shape.push(extent(check_overflow(whole)?)?);
    }
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Result of `CenterCropPad`: the operand's shape, with the extents in operand 1 for the axes in the attribute `axes`,
/// or for all axes without the attribute.
pub(super) fn center_crop_pad(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    let rank = data.shape.len();
    let sizes = call.parameter("shape", 1)?.unwrap_or_default();
    let axes = match call.integers("axes") {
        Some(axes) => OnnxCall::axes(axes, rank)?,
        None => (0..rank).collect(),
    };
    if axes.len() != sizes.len() {
        return mismatch(format!("{} sizes for {} axes", sizes.len(), axes.len()));
    }
    let mut shape = data.shape.clone();
    for (axis, size) in axes.iter().zip(sizes) {
        let Some(slot) = shape.get_mut(*axis) else { continue };
        *slot = extent(size)?;
    }
    Ok(ShapedTensor::new(data.dtype, shape))
}
