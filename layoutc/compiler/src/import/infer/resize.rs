//! Images made larger or smaller.

use crate::import::call::{Call, Shaped, extent};
use crate::import::elements::Values;
use crate::import::fault::{Shaping, Unshaped, listed, wrong};

/// By scales or to sizes, of some axes or all: (x, scales) before version 11, then (x, roi, scales, sizes).
pub(super) fn resize(call: &Call<'_>) -> Shaping<Shaped> {
    let input = call.input(0)?;
    let axes = match call.integers("axes").filter(|axes| !axes.is_empty()) {
        Some(axes) => Call::axes(axes, input.shape.len())?,
        None => (0..input.shape.len()).collect(),
    };
    let scales = call.optional(if call.opset < 11 { 1 } else { 2 });
    if call.optional(3).is_some_and(|sizes| sizes.shape != [0]) && call.opset >= 11 {
        let policy = call.word("keep_aspect_ratio_policy").unwrap_or("stretch");
        if policy != "stretch" {
            return Err(Unshaped::Operator);
        }
        let sizes = call.parameter("sizes", 3)?.unwrap_or_default();
        let sizes = sizes.into_iter().map(extent).collect::<Shaping<Vec<_>>>()?;
        return along(input, &axes, &sizes, |_, size| Ok(*size));
    }
    let Some(scales) = scales else { return wrong("neither scales nor sizes are given") };
    scaled(input, &axes, &floats(scales)?)
}

/// Scales are an operand since version 9.
pub(super) fn upsample(call: &Call<'_>) -> Shaping<Shaped> {
    let input = call.input(0)?;
    let scales = match call.attribute("scales") {
        Some(own) => own.floats.iter().copied().map(f64::from).collect(),
        None => floats(call.input(1)?)?,
    };
    let axes: Vec<usize> = (0..input.shape.len()).collect();
    scaled(input, &axes, &scales)
}

fn floats(scales: &Shaped) -> Shaping<Vec<f64>> {
    match &scales.known {
        Some(Values::Floats(scales)) => Ok(scales.clone()),
        Some(Values::Integers(_)) | None => {
            Err(Unshaped::Open("the scales are not a constant".to_owned()))
        }
    }
}

fn scaled(input: &Shaped, axes: &[usize], scales: &[f64]) -> Shaping<Shaped> {
    along(input, axes, scales, |size, scale| {
        let size = u32::try_from(size).map_or(f64::INFINITY, f64::from);
        let moved = (size * scale).floor();
        // Up to here every whole number is one of 64 bits exactly.
        if !(0.0..9_007_199_254_740_992.0).contains(&moved) {
            return wrong(format!("{size} times {scale} is no extent"));
        }
        // `{:.0}` of a whole number is that number.
        match format!("{moved:.0}").parse() {
            Ok(extent) => Ok(extent),
            Err(_) => wrong(format!("{size} times {scale} is no extent")),
        }
    })
}

fn along<T>(
    input: &Shaped,
    axes: &[usize],
    given: &[T],
    change: impl Fn(u64, &T) -> Shaping<u64>,
) -> Shaping<Shaped> {
    if axes.len() != given.len() {
        return wrong(format!("{} numbers do not fit {}", given.len(), listed(&input.shape)));
    }
    let mut shape = input.shape.clone();
    for (axis, given) in axes.iter().zip(given) {
        let Some(slot) = shape.get_mut(*axis) else { continue };
        *slot = change(*slot, given)?;
    }
    Ok(Shaped::new(input.dtype, shape))
}
