//! Shape inference for operators that generate tensors from shapes, scalars and attributes.

use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor, count, extent, extents, signed};
use crate::import::elements::{
    ConstantElements, MAX_KNOWN, element_type, float, rounded, values, whole,
};
use crate::import::error::{ShapeError, ShapeResult, listed, mismatch};

/// Result of `Shape`: a vector of the extents of the operand from axis `start` to axis `end` (exclusive).
pub(super) fn shape(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = call.shape(0)?;
    let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
    let at = |name: &str, default: i64| {
        let at = call.integer(name).unwrap_or(default);
        let counted = if at < 0 { at.saturating_add(rank) } else { at };
        usize::try_from(counted.clamp(0, rank)).unwrap_or(0)
    };
    let part = shape.get(at("start", 0)..at("end", rank)).unwrap_or_default();
    let extents = part.iter().copied().map(signed).collect::<ShapeResult<Vec<_>>>()?;
    Ok(vector(extents))
}

pub(super) fn size(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let size = signed(count(call.shape(0)?)?)?;
    Ok(ShapedTensor::integer(Scalar::I64, size))
}

fn vector(values: Vec<i64>) -> ShapedTensor {
    let shape = vec![u64::try_from(values.len()).unwrap_or(u64::MAX)];
    ShapedTensor { dtype: Scalar::I64, shape, known: Some(ConstantElements::Integers(values)) }
}

pub(super) fn constant(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    if let Some(tensor) = call.attribute("value").and_then(|attribute| attribute.t.as_ref()) {
        let dtype = element_type(tensor.data_type)?;
        let shape = extents(tensor.dims.iter().copied())?;
        let known = values(tensor, dtype, count(&shape)?);
        return Ok(ShapedTensor { dtype, shape, known });
    }
    if let Some(value) = call.integer("value_int") {
        return Ok(ShapedTensor::integer(Scalar::I64, value));
    }
    if let Some(value) = call.attribute("value_float").and_then(|attribute| attribute.f) {
        let known = Some(ConstantElements::Floats(vec![f64::from(value)]));
        return Ok(ShapedTensor { dtype: Scalar::F32, shape: Vec::new(), known });
    }
    if let Some(values) = call.integers("value_ints") {
        return Ok(vector(values.to_vec()));
    }
    if let Some(own) = call.attribute("value_floats") {
        let values: Vec<f64> = own.floats.iter().copied().map(f64::from).collect();
        let shape = vec![u64::try_from(values.len()).unwrap_or(u64::MAX)];
        let known = Some(ConstantElements::Floats(values));
        return Ok(ShapedTensor { dtype: Scalar::F32, shape, known });
    }
    Err(ShapeError::Operator)
}

pub(super) fn constant_of_shape(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let Some(requested) = call.parameter("shape", 0)? else {
        return mismatch("the shape is missing");
    };
    let shape = extents(requested)?;
    let all = usize::try_from(count(&shape)?).ok().filter(|all| *all <= MAX_KNOWN);
    let Some(value) = call.attribute("value").and_then(|attribute| attribute.t.as_ref()) else {
        let known = all.map(|all| ConstantElements::Floats(vec![0.0; all]));
        return Ok(ShapedTensor { dtype: Scalar::F32, shape, known });
    };
    let dtype = element_type(value.data_type)?;
    let known = all.zip(values(value, dtype, 1)).and_then(|(all, one)| match one {
        ConstantElements::Integers(one) => {
            Some(ConstantElements::Integers(vec![*one.first()?; all]))
        }
        ConstantElements::Floats(one) => Some(ConstantElements::Floats(vec![*one.first()?; all])),
    });
    Ok(ShapedTensor { dtype, shape, known })
}

/// Result of `OptionalHasElement`: a `bool` scalar that is true if the operand is present.
#[expect(clippy::unnecessary_wraps, reason = "rules have one signature")]
pub(super) fn truth(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let truth = i64::from(call.optional(0).is_some());
    Ok(ShapedTensor::integer(Scalar::Bool, truth))
}

/// Result of `EyeLike`: a matrix with the shape of the operand, ones on a diagonal. An error if the operand does not
/// have rank 2.
pub(super) fn eye_like(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = call.shape(0)?;
    if shape.len() != 2 {
        return mismatch(format!("{} is not the shape of a matrix", listed(shape)));
    }
    like(call)
}

/// Result of a random generator: a tensor with the shape in the attribute `shape`.
pub(super) fn random(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let shape = extents(call.integers("shape").unwrap_or_default().iter().copied())?;
    Ok(ShapedTensor::new(call.dtype("dtype")?.unwrap_or(Scalar::F32), shape))
}

/// Result of a random generator: a tensor with the shape of the operand.
pub(super) fn like(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let input = call.input(0)?;
    Ok(ShapedTensor::new(call.dtype("dtype")?.unwrap_or(input.dtype), input.shape.clone()))
}

/// Result of `Range`: `ceil((limit - start) / step)` numbers from `start`, excluding `limit`. The operands are (start,
/// limit, step).
pub(super) fn range(call: &OnnxCall<'_>) -> ShapeResult<ShapedTensor> {
    let dtype = call.input(0)?.dtype;
    let one = |k: usize| match call.input(k)?.known.as_ref() {
        Some(known) if known.len() == 1 => Ok(known),
        _ => Err(ShapeError::DataDependent(format!("operand {k} is not a constant number"))),
    };
    match (one(0)?, one(1)?, one(2)?) {
        (
            ConstantElements::Integers(start),
            ConstantElements::Integers(limit),
            ConstantElements::Integers(step),
        ) => {
            let first = |values: &[i64]| values.first().copied().unwrap_or(0);
            whole_range(dtype, first(start), first(limit), first(step))
        }
        (
            ConstantElements::Floats(start),
            ConstantElements::Floats(limit),
            ConstantElements::Floats(step),
        ) => {
            let first = |values: &[f64]| values.first().copied().unwrap_or(0.0);
            float_range(dtype, first(start), first(limit), first(step))
        }
        _ => mismatch("start, limit and step have different element types"),
    }
}

fn whole_range(dtype: Scalar, start: i64, limit: i64, step: i64) -> ShapeResult<ShapedTensor> {
    if step == 0 {
        return mismatch("a step is 0");
    }
    let (from, to) = if step > 0 { (start, limit) } else { (limit, start) };
    let reach = extent(to.checked_sub(from).unwrap_or(i64::MAX).max(0))?;
    let all = reach.div_ceil(step.unsigned_abs());
    let value = |k: i64| start.checked_add(k.checked_mul(step)?);
    let known = few(all).and_then(|all| (0..all).map(value).collect::<Option<Vec<_>>>());
    Ok(ShapedTensor { dtype, shape: vec![all], known: known.map(ConstantElements::Integers) })
}

fn float_range(dtype: Scalar, start: f64, limit: f64, step: f64) -> ShapeResult<ShapedTensor> {
    let count = ((limit - start) / step).ceil().max(0.0);
    let Some(all) = whole(count).and_then(|count| u64::try_from(count).ok()) else {
        return mismatch(format!("invalid range from {start} to {limit} with step {step}"));
    };
    let value = |k: i64| rounded(start + float(k)? * step, dtype);
    let known = few(all).and_then(|all| (0..all).map(value).collect::<Option<Vec<_>>>());
    Ok(ShapedTensor { dtype, shape: vec![all], known: known.map(ConstantElements::Floats) })
}

fn few(all: u64) -> Option<i64> {
    let is_few = usize::try_from(all).is_ok_and(|all| all <= MAX_KNOWN);
    i64::try_from(all).ok().filter(|_| is_few)
}
