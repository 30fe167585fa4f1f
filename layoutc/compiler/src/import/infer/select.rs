//! Shape inference for operators that select elements, and for operators whose result shapes depend on data.

use super::fold::non_zeros;
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, check_overflow, count, extent};
use crate::import::elements::{ConstantElements, whole};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Result of `OneHot`: the shape of the indices with an axis of extent `depth` inserted.
pub(super) fn one_hot(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let indices = call.shape(0)?;
    let depth = match call.input(1)?.known.as_ref() {
        Some(ConstantElements::Integers(depth)) => depth.first().copied(),
        Some(ConstantElements::Floats(depth)) => depth.first().copied().and_then(whole),
        None => return not_constant("depth"),
    };
    let Some(depth) = depth else { return mismatch("`depth` is not a number") };
    let axis = call.own_axis(-1, indices.len() + 1)?;
    let mut shape = indices.to_vec();
    shape.insert(axis, extent(depth)?);
    Ok(ShapedTensor::new(call.input(2)?.dtype, shape))
}

/// Result of `NonZero`: `[rank, number of nonzero elements]`. An error if the elements are not constant.
pub(super) fn non_zero(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    let Some(known) = &input.known else {
        return data_dependent("the number of nonzero elements");
    };
    let rank = check_overflow(u64::try_from(input.shape.len()).ok())?;
    let found = check_overflow(u64::try_from(non_zeros(known).len()).ok())?;
    Ok(ShapedTensor::new(Scalar::I64, vec![rank, found]))
}

/// Error for a result whose extent depends on data; `what` names the extent.
pub(super) fn data_dependent<T>(what: &str) -> ShapeResult<T> {
    Err(ShapeError::DataDependent(format!("{what} is known only when the model runs")))
}

fn not_constant<T>(name: &str) -> ShapeResult<T> {
    Err(ShapeError::DataDependent(format!("operand 1, `{name}`, is not a constant")))
}

/// Result of `Compress`: elements selected by a constant condition along `axis`, or from the flattened tensor without
/// `axis`.
pub(super) fn compress(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let (input, condition) = (call.input(0)?, call.input(1)?);
    let Some(known) = &condition.known else {
        return not_constant("condition");
    };
    let taken = |whole: u64| {
        let places = non_zeros(known).into_iter().filter_map(|place| u64::try_from(place).ok());
        check_overflow(u64::try_from(places.filter(|place| *place < whole).count()).ok())
    };
    let Some(axis) = call.integer("axis") else {
        return Ok(ShapedTensor::new(input.dtype, vec![taken(count(&input.shape)?)?]));
    };
    let axis = OnnxCall::axis(axis, input.shape.len())?;
    let mut shape = input.shape.clone();
    let Some(slot) = shape.get_mut(axis) else { return mismatch("the axis is out of range") };
    *slot = taken(*slot)?;
    Ok(ShapedTensor::new(input.dtype, shape))
}

/// Result of `Det`: one determinant per matrix of a batch, so the last two axes are removed.
pub(super) fn det(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    match input.shape.as_slice() {
        [outer @ .., rows, columns] if rows == columns => {
            Ok(ShapedTensor::new(input.dtype, outer.to_vec()))
        }
        shape => mismatch(format!("{} is not the shape of square matrices", listed(shape))),
    }
}

/// Result of `Multinomial`: `[batch, sample_size]`.
pub(super) fn multinomial(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let [batch, _] = call.shape(0)? else {
        return mismatch(format!("{} is not the shape of a matrix", listed(call.shape(0)?)));
    };
    let samples = extent(call.integer("sample_size").unwrap_or(1))?;
    Ok(ShapedTensor::new(call.dtype("dtype")?.unwrap_or(Scalar::I32), vec![*batch, samples]))
}

/// Result of `TfIdfVectorizer`: one value per n-gram index, for each row.
pub(super) fn tf_idf(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let last = call.integers("ngram_indexes").unwrap_or_default().iter().max();
    let parts = extent(check_overflow(last.copied().unwrap_or(-1).checked_add(1))?)?;
    let shape = match call.shape(0)? {
        [rows, _] => vec![*rows, parts],
        _ => vec![parts],
    };
    Ok(ShapedTensor::new(Scalar::F32, shape))
}
