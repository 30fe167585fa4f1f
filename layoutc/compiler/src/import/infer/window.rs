//! Shape inference for convolutions and pooling: operators with a window that moves over the spatial axes.

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, extent, signed};
use crate::import::error::{ShapeResult, listed, mismatch};

/// Parameters of a window along one spatial axis, in elements.
struct WindowParams {
    kernel: i64,
    stride: i64,
    dilation: i64,
    /// Number of padding elements: before, after the data.
    pads: [i64; 2],
}

impl WindowParams {
    /// Number of elements that the dilated window spans: `(kernel - 1) * dilation + 1`.
    fn span(&self) -> ShapeResult<i64> {
        let steps = self.kernel.checked_sub(1).and_then(|steps| steps.checked_mul(self.dilation));
        check_overflow(steps.and_then(|steps| steps.checked_add(1)))
    }
}

/// Result of a convolution whose filter is operand 1, such as `Conv` or `DeformConv`.
pub(super) fn conv(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    Ok(ShapedTensor::new(data.dtype, conv_shape(call, &data.shape, call.shape(1)?)?))
}

/// Shape `[batch, features, spatial extents...]` of the result of a convolution. `data` has the shape
/// `[batch, channels, spatial extents...]`, and `filter` the shape `[features, channels / group, kernel extents...]`.
pub(super) fn conv_shape(
    call: &OnnxCall<'_>,
    data: &[u64],
    filter: &[u64],
) -> ShapeResult<Vec<u64>> {
    let [batch, channels, space @ ..] = data else {
        return mismatch(format!("{} has no channels", listed(data)));
    };
    let [features, own, kernel @ ..] = filter else {
        return mismatch(format!("the filter {} has no channels", listed(filter)));
    };
    let group = group(call)?;
    if own.checked_mul(group) != Some(*channels) || *features % group != 0 {
        let (filter, data) = (listed(filter), listed(data));
        return mismatch(format!("a filter of {filter} in {group} groups does not fit {data}"));
    }
    let mut shape = vec![*batch, *features];
    for (size, along) in space.iter().zip(moves(call, space.len(), Some(kernel))?) {
        shape.push(window_count(call, *size, &along, 0)?);
    }
    Ok(shape)
}

/// Result of `ConvTranspose`. Each spatial extent is the one in the attribute `output_shape`. Without that attribute it
/// is `stride * (extent - 1) + output_padding + span - pads`, `pads` being the sum of the padding on both sides, which
/// is 0 with `auto_pad=VALID`; with `auto_pad=SAME_UPPER` or `SAME_LOWER` it is `stride * extent`. Source: ONNX,
/// `ConvTranspose`.
pub(super) fn conv_transpose(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (data, filter) = (call.input(0)?, call.shape(1)?);
    let (batch, channels, space) = call.image(0)?;
    let [own, features, kernel @ ..] = filter else {
        return mismatch(format!("the filter {} has no channels", listed(filter)));
    };
    if *own != channels {
        let (filter, data) = (listed(filter), listed(&data.shape));
        return mismatch(format!("a filter of {filter} does not fit {data}"));
    }
    let mut shape = vec![batch, check_overflow(features.checked_mul(group(call)?))?];
    let moves = moves(call, space.len(), Some(kernel))?;
    let extra = call.integers("output_padding").unwrap_or(&[]);
    let output_shape = call.integers("output_shape").unwrap_or(&[]);
    let is_same = call.word("auto_pad").is_some_and(|word| word.starts_with("SAME"));
    let is_valid = call.word("auto_pad") == Some("VALID");
    for (k, (size, along)) in space.iter().zip(&moves).enumerate() {
        // Some models include batch and channels in `output_shape`.
        let requested = output_shape.get(k + output_shape.len().saturating_sub(space.len()));
        if let Some(requested) = requested {
            shape.push(extent(*requested)?);
            continue;
        }
        let size = signed(*size)?;
        let moved = if is_same {
            size.checked_mul(along.stride)
        } else {
            let pads = if is_valid { [0, 0] } else { along.pads };
            let ends = pads[0].checked_add(pads[1]);
            let steps = size.checked_sub(1).and_then(|steps| steps.checked_mul(along.stride));
            let extra = extra.get(k).copied().unwrap_or(0);
            let whole = steps.and_then(|steps| steps.checked_add(extra));
            let whole = whole.zip(along.span().ok()).and_then(|(a, b)| a.checked_add(b));
            whole.zip(ends).and_then(|(whole, ends)| whole.checked_sub(ends))
        };
        shape.push(extent(check_overflow(moved)?)?);
    }
    Ok(ShapedTensor::new(data.dtype, shape))
}

/// Results of a pooling operator: the pooled tensor, and for `MaxPool` the `i64` positions of the maxima, of the same
/// shape.
pub(super) fn pool(call: &OnnxCall<'_>) -> ShapeResult<Vec<ShapedTensor>> {
    let data = call.input(0)?;
    let (batch, channels, space) = call.image(0)?;
    let ceil = i64::from(call.integer("ceil_mode") == Some(1));
    let mut shape = vec![batch, channels];
    for (size, along) in space.iter().zip(moves(call, space.len(), None)?) {
        shape.push(window_count(call, *size, &along, ceil)?);
    }
    let mut results = vec![ShapedTensor::new(data.dtype, shape.clone())];
    if call.node.op_type == "MaxPool" {
        results.push(ShapedTensor::new(Scalar::I64, shape));
    }
    Ok(results)
}

pub(super) fn global_pool(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let data = call.input(0)?;
    let (batch, channels, space) = call.image(0)?;
    let mut shape = vec![batch, channels];
    shape.extend(space.iter().map(|_| 1));
    Ok(ShapedTensor::new(data.dtype, shape))
}

fn group(call: &OnnxCall<'_>) -> ShapeResult<u64> {
    match call.integer("group").unwrap_or(1) {
        group if group >= 1 => extent(group),
        group => mismatch(format!("invalid `group` {group}")),
    }
}

/// Parameters of the window along each of `rank` spatial axes, outermost first. The kernel extents are those of the
/// attribute `kernel_shape`, or without it those of `filter`, the spatial shape of the filter.
///
/// # Errors
/// `ShapeError::Mismatch` if there are neither, if an attribute or the filter does not fit `rank` axes, or if a kernel
/// extent, stride or dilation is less than 1.
fn moves(
    call: &OnnxCall<'_>,
    rank: usize,
    filter: Option<&[u64]>,
) -> ShapeResult<Vec<WindowParams>> {
    let list = |name: &str| call.integers(name).filter(|list| !list.is_empty());
    let kernel = match (list("kernel_shape"), filter) {
        (Some(kernel), _) => kernel.to_vec(),
        (None, Some(filter)) => filter.iter().copied().map(signed).collect::<ShapeResult<_>>()?,
        (None, None) => return mismatch("`kernel_shape` is missing"),
    };
    let fits = |name: &str, count: usize| list(name).is_none_or(|list| list.len() == count);
    let all_fit = fits("strides", rank) && fits("dilations", rank) && fits("pads", 2 * rank);
    if kernel.len() != rank || filter.is_some_and(|filter| filter.len() != rank) || !all_fit {
        return mismatch(format!("the window does not have {rank} axes"));
    }
    let at = |name: &str, k: usize, default| {
        list(name).and_then(|list| list.get(k)).copied().unwrap_or(default)
    };
    let mut moves = Vec::new();
    for (k, kernel) in kernel.into_iter().enumerate() {
        let (stride, dilation) = (at("strides", k, 1), at("dilations", k, 1));
        let pads = [at("pads", k, 0), at("pads", k + rank, 0)];
        if kernel < 1 || stride < 1 || dilation < 1 {
            return mismatch(format!(
                "invalid window: kernel {kernel}, stride {stride}, dilation {dilation}"
            ));
        }
        moves.push(WindowParams { kernel, stride, dilation, pads });
    }
    Ok(moves)
}

/// Number of window positions along an axis of extent `size`: `(size + pads - span) / stride + 1`, where `pads` is the
/// sum of the padding on both sides, 0 with `auto_pad=VALID`. The quotient is rounded down if `ceil` is 0, up if it is
/// 1; in that case a window that starts after the last element is not counted. With `auto_pad=SAME_UPPER` or
/// `SAME_LOWER` the number is `size / stride`, rounded up.
fn window_count(
    call: &OnnxCall<'_>,
    size: u64,
    along: &WindowParams,
    ceil: i64,
) -> ShapeResult<u64> {
    let size = signed(size)?;
    let auto = call.word("auto_pad").unwrap_or("NOTSET");
    if auto.starts_with("SAME") {
        let up = size.checked_add(along.stride - 1);
        return extent(check_overflow(up)? / along.stride);
    }
    let pads = if auto == "VALID" { [0, 0] } else { along.pads };
    let whole =
        check_overflow(size.checked_add(pads[0]).and_then(|whole| whole.checked_add(pads[1])))?;
    let rest = check_overflow(whole.checked_sub(along.span()?))?;
    if rest < 0 {
        return mismatch(format!("a window of {} is larger than {whole} elements", along.span()?));
    }
    let rest = check_overflow(rest.checked_add(ceil * (along.stride - 1)))?;
    let mut count = rest / along.stride + 1;
    // A window that would start after the last element does not count.
    let start = (count - 1).checked_mul(along.stride);
    if ceil == 1 && check_overflow(start)? >= check_overflow(size.checked_add(pads[0]))? {
        count -= 1;
    }
    extent(count)
}
