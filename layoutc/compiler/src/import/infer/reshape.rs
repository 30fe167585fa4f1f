//! Shape inference for operators that keep the elements and change the axes: `Reshape`, `Transpose`, `Squeeze`.

use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, count, extent};
use crate::import::error::{ShapeResult, listed, mismatch};

pub(super) fn flatten(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let (axis, rank) = (call.integer("axis").unwrap_or(1), input.shape.len());
    // `axis == rank` is valid.
    let at =
        if i64::try_from(rank).ok() == Some(axis) { rank } else { OnnxCall::axis(axis, rank)? };
    let (rows, columns) = input.shape.split_at_checked(at).unwrap_or((&input.shape, &[]));
    Ok(ShapedTensor::new(input.dtype, vec![count(rows)?, count(columns)?]))
}

pub(super) fn reshape(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let Some(requested) = call.parameter("shape", 1)? else {
        return mismatch("the shape is missing");
    };
    let keeps_zero = call.integer("allowzero") == Some(1);
    let mut shape = Vec::new();
    let mut open = None;
    for (k, value) in requested.iter().enumerate() {
        shape.push(match value {
            0 if !keeps_zero => match input.shape.get(k) {
                Some(extent) => *extent,
                None => {
                    return mismatch(format!(
                        "axis {k} is out of range for shape {}",
                        listed(&input.shape)
                    ));
                }
            },
            -1 if open.is_none() => {
                open = Some(k);
                1
            }
            value => extent(*value)?,
        });
    }
    let (all, others) = (count(&input.shape)?, count(&shape)?);
    if let Some(slot) = open.and_then(|k| shape.get_mut(k)) {
        let fits = others > 0 && all % others == 0;
        *slot = if fits { all / others } else { 0 };
    }
    if count(&shape)? != all {
        return mismatch(format!(
            "{} does not have as many elements as {requested:?}",
            listed(&input.shape)
        ));
    }
    Ok(ShapedTensor::new(input.dtype, shape))
}

pub(super) fn squeeze(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let axes = match call.parameter("axes", 1)? {
        Some(axes) => OnnxCall::axes(&axes, input.shape.len())?,
        None => (0..input.shape.len()).filter(|k| input.shape.get(*k) == Some(&1)).collect(),
    };
    if let Some(axis) = axes.iter().find(|k| input.shape.get(**k) != Some(&1)) {
        return mismatch(format!("axis {axis} of {} is not 1", listed(&input.shape)));
    }
    let remaining = input.shape.iter().enumerate().filter(|(k, _)| !axes.contains(k));
    Ok(ShapedTensor::new(input.dtype, remaining.map(|(_, extent)| *extent).collect()))
}

pub(super) fn unsqueeze(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let Some(axes) = call.parameter("axes", 1)? else { return mismatch("`axes` is missing") };
    let rank = input.shape.len() + axes.len();
    let axes = OnnxCall::axes(&axes, rank)?;
    let mut old = input.shape.iter().copied();
    let shape = (0..rank).map(|k| if axes.contains(&k) { 1 } else { old.next().unwrap_or(1) });
    Ok(ShapedTensor::new(input.dtype, shape.collect()))
}

/// Permutation of a `Transpose`, in the attribute `perm`: axis `k` of the result is axis `permutation[k]` of the
/// operand. Without the attribute the axes are reversed. An error if the attribute is not a permutation of the
/// operand's axes.
pub(in crate::import) fn permutation(call: &OnnxCall<'_>) -> ShapeResult<Vec<usize>> {
    let rank = call.shape(0)?.len();
    let Some(axes) = call.integers("perm") else { return Ok((0..rank).rev().collect()) };
    let axes = OnnxCall::axes(axes, rank)?;
    if axes.len() != rank {
        return mismatch(format!("`perm` has {} axes for {rank}", axes.len()));
    }
    Ok(axes)
}

pub(super) fn transpose(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let axes = permutation(call)?;
    let shape = axes.iter().filter_map(|axis| input.shape.get(*axis)).copied().collect();
    Ok(ShapedTensor::new(input.dtype, shape))
}

pub(super) fn depth_to_space(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (input, block) = (call.input(0)?, extent(call.integer("blocksize").unwrap_or(0))?);
    let square = check_overflow(block.checked_mul(block))?;
    let [n, c, h, w] = input.shape[..] else {
        return mismatch(format!("{} does not have rank 4", listed(&input.shape)));
    };
    if square == 0 || c % square != 0 {
        return mismatch(format!("{c} channels do not form blocks of {block} x {block}"));
    }
    let (h, w) = (check_overflow(h.checked_mul(block))?, check_overflow(w.checked_mul(block))?);
    Ok(ShapedTensor::new(input.dtype, vec![n, c / square, h, w]))
}

pub(super) fn space_to_depth(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (input, block) = (call.input(0)?, extent(call.integer("blocksize").unwrap_or(0))?);
    let [n, c, h, w] = input.shape[..] else {
        return mismatch(format!("{} does not have rank 4", listed(&input.shape)));
    };
    if block == 0 || h % block != 0 || w % block != 0 {
        return mismatch(format!("blocks of {block} do not divide {h} x {w}"));
    }
    let channels = c.checked_mul(block).and_then(|c| c.checked_mul(block));
    Ok(ShapedTensor::new(input.dtype, vec![n, check_overflow(channels)?, h / block, w / block]))
}
