//! Constant folding of operators that copy elements to other positions, such as `Transpose`, `Slice` and `Gather`.

use super::{StridedView, size, spread, strides};
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::elements::ConstantElements;
use crate::import::infer::reshape::permutation;
use crate::import::infer::slicing::cuts;

/// Elements of the first result of an operator that copies elements of its operands to other positions, such as
/// `Slice`. `result` has the shape of that result. `NonZero`, whose result has the indices of elements, is folded here
/// too. `None` if the elements are not computed, for example for any other operator or an operand that is not constant.
pub(super) fn fold_movement(
    call: &OnnxCall<'_>,
    result: &ShapedTensor,
) -> Option<ConstantElements> {
    let first = call.optional(0)?;
    let known = first.known.as_ref()?;
    match call.node.op_type.as_str() {
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" => Some(known.clone()),
        "Expand" => spread(first, &result.shape),
        "Transpose" => {
            let own = strides(&first.shape)?;
            let axes = permutation(call).ok()?;
            let steps = axes.iter().map(|axis| own.get(*axis).copied()).collect::<Option<_>>()?;
            picked(known, &StridedView { shape: &result.shape, start: 0, steps })
        }
        "Slice" => slice(call, first, result),
        "Split" => split(call, 0, result),
        "Concat" => concat(call, result),
        "Tile" => tile(first, result),
        "Pad" => pad(call, first, result),
        "Gather" => gather(call, first),
        "GatherElements" => gather_elements(call, first),
        "GatherND" if call.integer("batch_dims").unwrap_or(0) == 0 => gather_nd(call, first),
        "ScatterND" if is_plain(call) => scatter_nd(call, first),
        "ScatterElements" | "Scatter" if is_plain(call) => scatter_elements(call, first),
        "Trilu" => trilu(call, first, result),
        "NonZero" => non_zero(first, result),
        _ => None,
    }
}

/// True if a scatter operator replaces elements by its updates (`reduction=none`); false if it combines them with its
/// updates, as `reduction=add` does.
fn is_plain(call: &OnnxCall<'_>) -> bool {
    call.word("reduction").is_none_or(|word| word == "none")
}

fn picked(known: &ConstantElements, part: &StridedView<'_>) -> Option<ConstantElements> {
    known.pick(part.places()?.into_iter())
}

fn slice(
    call: &OnnxCall<'_>,
    first: &ShapedTensor,
    result: &ShapedTensor,
) -> Option<ConstantElements> {
    let mut steps = strides(&first.shape)?;
    let mut start = 0_i64;
    for cut in cuts(call).ok()? {
        let step = steps.get_mut(cut.axis)?;
        start = start.checked_add(cut.start.checked_mul(*step)?)?;
        *step = step.checked_mul(cut.step)?;
    }
    picked(first.known.as_ref()?, &StridedView { shape: &result.shape, start, steps })
}

/// Elements of result `k` of `Split`, from 0. Without given sizes, each result takes `ceil(extent / results)` indices
/// along the axis until none are left: extent 5 in 4 results gives 2, 2, 1, 0. `None` for any other operator, or if the
/// data or the sizes are not constant.
pub(super) fn split(
    call: &OnnxCall<'_>,
    k: usize,
    result: &ShapedTensor,
) -> Option<ConstantElements> {
    if call.node.op_type != "Split" {
        return None;
    }
    let first = call.optional(0)?;
    let axis = call.own_axis(0, first.shape.len()).ok()?;
    let before: i64 = match call.parameter("split", 1).ok()? {
        Some(sizes) => {
            sizes.get(..k)?.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size))?
        }
        None => {
            let whole = i64::try_from(*first.shape.get(axis)?).ok()?;
            let parts = i64::try_from(call.outputs).ok()?.max(1);
            let size = whole.checked_add(parts - 1)? / parts;
            i64::try_from(k).ok()?.checked_mul(size)?.min(whole)
        }
    };
    let steps = strides(&first.shape)?;
    let start = before.checked_mul(*steps.get(axis)?)?;
    picked(first.known.as_ref()?, &StridedView { shape: &result.shape, start, steps })
}

fn concat(call: &OnnxCall<'_>, result: &ShapedTensor) -> Option<ConstantElements> {
    let axis = call.own_axis(1, result.shape.len()).ok()?;
    let outer = size(result.shape.get(..axis)?)?;
    let parts: Vec<&ConstantElements> =
        call.inputs.iter().map(|input| (*input)?.known.as_ref()).collect::<Option<_>>()?;
    let whole = ConstantElements::chain(&parts)?;
    let mut places = Vec::new();
    for row in 0..outer {
        let mut before = 0;
        for part in &parts {
            let len = part.len() / outer;
            places.extend((0..len).map(|k| Some(before + row * len + k)));
            before += part.len();
        }
    }
    whole.pick(places.into_iter())
}

fn tile(first: &ShapedTensor, result: &ShapedTensor) -> Option<ConstantElements> {
    let mut places = vec![0_usize];
    for (own, all) in first.shape.iter().zip(&result.shape) {
        let (own, all) = (usize::try_from(*own).ok()?, usize::try_from(*all).ok()?);
        places =
            places.iter().flat_map(|place| (0..all).map(move |k| place * own + k % own)).collect();
    }
    first.known.as_ref()?.pick(places.into_iter().map(Some))
}

/// Elements of the result of `Pad` in the mode `constant`: the operand's elements surrounded by a fill value, 0 if no
/// value is given. `None` for any other mode, before opset 11, and if the data or the pads are not constant.
fn pad(
    call: &OnnxCall<'_>,
    first: &ShapedTensor,
    result: &ShapedTensor,
) -> Option<ConstantElements> {
    let mode = call.word("mode").unwrap_or("constant");
    if mode != "constant" || call.opset < 11 {
        return None;
    }
    let rank = first.shape.len();
    let pads = call.parameter("pads", 1).ok()??;
    let axes = match call.optional(3) {
        Some(_) => OnnxCall::axes(&call.parameter("axes", 3).ok()??, rank).ok()?,
        None => (0..rank).collect(),
    };
    let mut before = vec![0_i64; rank];
    for (axis, pad) in axes.iter().zip(&pads) {
        *before.get_mut(*axis)? = *pad;
    }
    let known = first.known.as_ref()?;
    let fill = match (call.optional(2).and_then(|fill| fill.known.as_ref()), known) {
        (Some(fill), _) => fill.clone(),
        (None, ConstantElements::Integers(_)) => ConstantElements::Integers(vec![0]),
        (None, ConstantElements::Floats(_)) => ConstantElements::Floats(vec![0.0]),
    };
    let fill_place = known.len();
    let mut places = vec![Some(0_i64)];
    for ((own, all), before) in first.shape.iter().zip(&result.shape).zip(before) {
        let (own, all) = (i64::try_from(*own).ok()?, i64::try_from(*all).ok()?);
        let at = |place: Option<i64>, k: i64| {
            let k = k - before;
            place.filter(|_| (0..own).contains(&k)).map(|place| place * own + k)
        };
        places = places.iter().flat_map(|place| (0..all).map(move |k| at(*place, k))).collect();
    }
    let whole = ConstantElements::chain(&[known, &fill])?;
    whole.pick(places.into_iter().map(|place| match place {
        Some(place) => usize::try_from(place).ok(),
        None => Some(fill_place),
    }))
}

/// Position, from 0, of the index `index` along an axis of extent `extent`; a negative index counts from the end.
/// `None` if it is out of bounds.
fn counted(index: i64, extent: u64) -> Option<usize> {
    let extent = i64::try_from(extent).ok()?;
    let counted = if index < 0 { index.checked_add(extent)? } else { index };
    usize::try_from(counted).ok().filter(|_| counted < extent)
}

fn gather(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    let axis = call.own_axis(0, first.shape.len()).ok()?;
    let (outer, inner) = (size(first.shape.get(..axis)?)?, size(first.shape.get(axis + 1..)?)?);
    let own = *first.shape.get(axis)?;
    let indices = call.optional(1)?.known.as_ref()?.integers()?;
    let indices: Vec<usize> = indices.iter().map(|k| counted(*k, own)).collect::<Option<_>>()?;
    let own = usize::try_from(own).ok()?;
    let mut places = Vec::new();
    for row in 0..outer {
        for index in &indices {
            places.extend((0..inner).map(|k| Some((row * own + index) * inner + k)));
        }
    }
    first.known.as_ref()?.pick(places.into_iter())
}

/// Positions in the first operand of the elements that `GatherElements` reads or `ScatterElements` writes, one for each
/// index in the index tensor (operand 1). Such an element has the coordinates of the index in the index tensor, with
/// the coordinate along the attribute `axis` replaced by the index. `None` if the indices are not constant, out of
/// bounds, or of another rank than the operand.
fn along(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<Vec<usize>> {
    let axis = call.own_axis(0, first.shape.len()).ok()?;
    let indices = call.optional(1)?;
    if indices.shape.len() != first.shape.len() {
        return None;
    }
    let mut steps = strides(&first.shape)?;
    let step = usize::try_from(std::mem::replace(steps.get_mut(axis)?, 0)).ok()?;
    let own = *first.shape.get(axis)?;
    let places = StridedView { shape: &indices.shape, start: 0, steps }.places()?;
    let indices = indices.known.as_ref()?.integers()?;
    let all = places.into_iter().zip(indices);
    all.map(|(place, index)| Some(place? + counted(*index, own)? * step)).collect()
}

fn gather_elements(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    first.known.as_ref()?.pick(along(call, first)?.into_iter().map(Some))
}

/// Pair `(starts, elements)` for the slices that `GatherND` reads or `ScatterND` writes. `starts` are the positions of
/// the slices' first elements in the first operand; `elements` is the number of elements of each slice. `None` if the
/// indices are not constant, out of bounds, or without coordinates.
fn parts(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<(Vec<usize>, usize)> {
    let indices = call.optional(1)?;
    let depth = usize::try_from(*indices.shape.last()?).ok().filter(|depth| *depth > 0)?;
    let (taken, inner) = (first.shape.get(..depth)?, size(first.shape.get(depth..)?)?);
    let all = indices.known.as_ref()?.integers()?;
    let place = |index: &[i64]| {
        index.iter().zip(taken).try_fold(0_usize, |place, (k, own)| {
            place.checked_mul(usize::try_from(*own).ok()?)?.checked_add(counted(*k, *own)?)
        })
    };
    let places = all.chunks(depth).map(|index| place(index)?.checked_mul(inner));
    Some((places.collect::<Option<_>>()?, inner))
}

fn gather_nd(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    let (places, inner) = parts(call, first)?;
    let places = places.iter().flat_map(|place| (0..inner).map(move |k| Some(place + k)));
    first.known.as_ref()?.pick(places)
}

fn scatter_nd(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    let (places, inner) = parts(call, first)?;
    let places = places.iter().flat_map(|place| (0..inner).map(move |k| place + k));
    replaced(first, call.optional(2)?, places)
}

fn scatter_elements(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    replaced(first, call.optional(2)?, along(call, first)?.into_iter())
}

/// Elements of `first` after a scatter: element k of `updates` is stored at position `places[k]`, for k = 0, 1, …, so
/// that the last update of a position wins. `None` if the elements of either tensor are unknown, or if a position is
/// out of bounds.
fn replaced(
    first: &ShapedTensor,
    updates: &ShapedTensor,
    places: impl Iterator<Item = usize>,
) -> Option<ConstantElements> {
    let (known, updates) = (first.known.as_ref()?, updates.known.as_ref()?);
    let mut from: Vec<usize> = (0..known.len()).collect();
    for (k, place) in places.enumerate() {
        *from.get_mut(place)? = known.len() + k;
    }
    ConstantElements::chain(&[known, updates])?.pick(from.into_iter().map(Some))
}

/// Elements of the result of `Trilu`: the operand's elements on and above a diagonal (`upper=1`) or on and below it
/// (`upper=0`), and 0 elsewhere. Operand 1 shifts the diagonal to the right. `None` if an operand is not constant or
/// the rank is less than 2.
fn trilu(
    call: &OnnxCall<'_>,
    first: &ShapedTensor,
    result: &ShapedTensor,
) -> Option<ConstantElements> {
    let is_upper = call.integer("upper") != Some(0);
    let shift = match call.optional(1) {
        Some(shift) => *shift.known.as_ref()?.integers()?.first()?,
        None => 0,
    };
    let [.., rows, columns] = result.shape[..] else { return None };
    let (rows, columns) = (i64::try_from(rows).ok()?, i64::try_from(columns).ok()?);
    let known = first.known.as_ref()?;
    let zero = match known {
        ConstantElements::Integers(_) => ConstantElements::Integers(vec![0]),
        ConstantElements::Floats(_) => ConstantElements::Floats(vec![0.0]),
    };
    let zero_place = known.len();
    let is_inside = |place: usize| {
        let place = i64::try_from(place).ok()?;
        let (row, column) = (place / columns % rows, place % columns);
        let ahead = (column - row).cmp(&shift);
        Some(if is_upper { ahead.is_ge() } else { ahead.is_le() })
    };
    let places = (0..zero_place)
        .map(|place| is_inside(place).map(|is_inside| if is_inside { place } else { zero_place }));
    ConstantElements::chain(&[known, &zero])?.pick(places)
}

/// Elements of the result of `NonZero`: the indices of the nonzero elements, one row per axis.
fn non_zero(first: &ShapedTensor, result: &ShapedTensor) -> Option<ConstantElements> {
    let places = non_zeros(first.known.as_ref()?);
    let steps = strides(&first.shape)?;
    let mut indices = Vec::new();
    for (step, own) in steps.iter().zip(&first.shape) {
        let own = i64::try_from(*own).ok()?;
        for place in &places {
            indices.push(i64::try_from(*place).ok()? / step % own);
        }
    }
    (result.shape.len() == 2).then_some(ConstantElements::Integers(indices))
}

/// Row-major positions of the nonzero elements of `known`, ascending.
pub(in crate::import::infer) fn non_zeros(known: &ConstantElements) -> Vec<usize> {
    let all = 0..known.len();
    match known {
        ConstantElements::Integers(values) => all.filter(|k| values.get(*k) != Some(&0)).collect(),
        ConstantElements::Floats(values) => all.filter(|k| values.get(*k) != Some(&0.0)).collect(),
    }
}
