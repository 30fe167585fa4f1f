//! Elements that are known before the model runs: what is computed from shapes and constants.

use super::parts::cuts;
use crate::dtype::Scalar;
use crate::import::call::{Call, Shaped, count, extent, signed};
use crate::import::elements::{MAX_KNOWN, Values, scalar, values};
use crate::import::fault::{Shaping, Unshaped, wrong};

/// The extents of an operand, from `start` to `end`.
pub(super) fn shape(call: &Call<'_>) -> Shaping<Shaped> {
    let shape = call.shape(0)?;
    let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
    let at = |name: &str, default: i64| {
        let at = call.integer(name).unwrap_or(default);
        let counted = if at < 0 { at.saturating_add(rank) } else { at };
        usize::try_from(counted.clamp(0, rank)).unwrap_or(0)
    };
    let part = shape.get(at("start", 0)..at("end", rank)).unwrap_or_default();
    let extents = part.iter().copied().map(signed).collect::<Shaping<Vec<_>>>()?;
    Ok(vector(extents))
}

pub(super) fn size(call: &Call<'_>) -> Shaping<Shaped> {
    let size = signed(count(call.shape(0)?)?)?;
    let known = Some(Values::Integers(vec![size]));
    Ok(Shaped { dtype: Scalar::I64, shape: Vec::new(), known })
}

fn vector(values: Vec<i64>) -> Shaped {
    let shape = vec![u64::try_from(values.len()).unwrap_or(u64::MAX)];
    Shaped { dtype: Scalar::I64, shape, known: Some(Values::Integers(values)) }
}

pub(super) fn constant(call: &Call<'_>) -> Shaping<Shaped> {
    if let Some(tensor) = call.attribute("value").and_then(|attribute| attribute.t.as_ref()) {
        let Some(dtype) = scalar(tensor.data_type) else {
            return Err(Unshaped::Elements(tensor.data_type.into()));
        };
        let shape = tensor.dims.iter().copied().map(extent).collect::<Shaping<Vec<_>>>()?;
        let known = values(tensor, dtype, count(&shape)?);
        return Ok(Shaped { dtype, shape, known });
    }
    let scalar = |dtype, values| Ok(Shaped { dtype, shape: Vec::new(), known: Some(values) });
    if let Some(value) = call.integer("value_int") {
        return scalar(Scalar::I64, Values::Integers(vec![value]));
    }
    if let Some(value) = call.attribute("value_float").and_then(|attribute| attribute.f) {
        return scalar(Scalar::F32, Values::Floats(vec![f64::from(value)]));
    }
    if let Some(values) = call.integers("value_ints") {
        return Ok(vector(values.to_vec()));
    }
    if let Some(own) = call.attribute("value_floats") {
        let values: Vec<f64> = own.floats.iter().copied().map(f64::from).collect();
        let shape = vec![u64::try_from(values.len()).unwrap_or(u64::MAX)];
        return Ok(Shaped { dtype: Scalar::F32, shape, known: Some(Values::Floats(values)) });
    }
    Err(Unshaped::Operator)
}

pub(super) fn constant_of_shape(call: &Call<'_>) -> Shaping<Shaped> {
    let Some(asked) = call.parameter("shape", 0)? else { return wrong("the shape is missing") };
    let shape = asked.into_iter().map(extent).collect::<Shaping<Vec<_>>>()?;
    let all = usize::try_from(count(&shape)?).ok().filter(|all| *all <= MAX_KNOWN);
    let Some(value) = call.attribute("value").and_then(|attribute| attribute.t.as_ref()) else {
        let known = all.map(|all| Values::Floats(vec![0.0; all]));
        return Ok(Shaped { dtype: Scalar::F32, shape, known });
    };
    let Some(dtype) = scalar(value.data_type) else {
        return Err(Unshaped::Elements(value.data_type.into()));
    };
    let known = all.zip(values(value, dtype, 1)).and_then(|(all, one)| match one {
        Values::Integers(one) => Some(Values::Integers(vec![*one.first()?; all])),
        Values::Floats(one) => Some(Values::Floats(vec![*one.first()?; all])),
    });
    Ok(Shaped { dtype, shape, known })
}

pub(super) fn range(call: &Call<'_>) -> Shaping<Shaped> {
    let one = |k: usize| {
        let input = call.input(k)?;
        match input.known.as_ref().and_then(Values::integers) {
            Some([value]) => Ok(*value),
            _ => Err(Unshaped::Open(format!("operand {k} is not a constant integer"))),
        }
    };
    let (start, limit, step) = (one(0)?, one(1)?, one(2)?);
    if step == 0 {
        return wrong("a step is 0");
    }
    let (from, to) = if step > 0 { (start, limit) } else { (limit, start) };
    let reach = extent(to.checked_sub(from).unwrap_or(i64::MAX).max(0))?;
    let all = reach.div_ceil(step.unsigned_abs());
    let few =
        i64::try_from(all).ok().filter(|all| usize::try_from(*all).is_ok_and(|n| n <= MAX_KNOWN));
    let value = |k: i64| start.checked_add(k.checked_mul(step)?);
    let known = few.and_then(|all| (0..all).map(value).collect::<Option<Vec<_>>>());
    Ok(Shaped { dtype: call.input(0)?.dtype, shape: vec![all], known: known.map(Values::Integers) })
}

/// The elements of the one result of an operator whose operands are all known; `result` has its shape.
pub(super) fn fold(call: &Call<'_>, result: &Shaped) -> Option<Values> {
    let all = count(&result.shape).ok().and_then(|all| usize::try_from(all).ok())?;
    if all > MAX_KNOWN {
        return None;
    }
    let known = |k: usize| call.optional(k)?.known.as_ref();
    let integers = |k: usize| known(k)?.integers();
    let op = call.node.op_type.as_str();
    let folded = match op {
        "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten" => known(0)?.clone(),
        "Cast" => cast(known(0)?, result.dtype)?,
        "Floor" | "Ceil" => match known(0)? {
            Values::Floats(values) if op == "Floor" => floats(values, f64::floor),
            Values::Floats(values) => floats(values, f64::ceil),
            Values::Integers(_) => return None,
        },
        "Concat" if result.shape.len() == 1 => {
            let parts: Option<Vec<&[i64]>> = (0..call.inputs.len()).map(integers).collect();
            Values::Integers(parts?.concat())
        }
        "Gather" if call.shape(0).ok()?.len() == 1 => {
            let (from, len) = (integers(0)?, i64::try_from(integers(0)?.len()).ok()?);
            let at = |k: &i64| {
                let counted = if *k < 0 { k.checked_add(len)? } else { *k };
                from.get(usize::try_from(counted).ok()?).copied()
            };
            Values::Integers(integers(1)?.iter().map(at).collect::<Option<_>>()?)
        }
        "Slice" if result.shape.len() == 1 => {
            let [cut] = <[_; 1]>::try_from(cuts(call).ok()?).ok()?;
            let from = integers(0)?;
            let at = |k: usize| {
                let k = cut.start.checked_add(i64::try_from(k).ok()?.checked_mul(cut.step)?)?;
                from.get(usize::try_from(k).ok()?).copied()
            };
            Values::Integers((0..all).map(at).collect::<Option<_>>()?)
        }
        "ReduceProd" if result.shape.iter().all(|extent| *extent == 1) => {
            let product = integers(0)?.iter().try_fold(1_i64, |all, one| all.checked_mul(*one));
            Values::Integers(vec![product?])
        }
        "Where" => {
            let (truth, a, b) = (
                spread(integers(0)?, all)?,
                spread(integers(1)?, all)?,
                spread(integers(2)?, all)?,
            );
            let pick = |((truth, a), b): ((i64, i64), i64)| if truth == 0 { b } else { a };
            Values::Integers(truth.into_iter().zip(a).zip(b).map(pick).collect())
        }
        _ => binary(op, known(0)?, known(1)?, all).filter(|_| call.inputs.len() == 2)?,
    };
    (folded.len() == all).then_some(folded)
}

fn floats(values: &[f64], change: impl Fn(f64) -> f64) -> Values {
    Values::Floats(values.iter().copied().map(change).collect())
}

/// One number for each element: of as many, or one for all. Shapes that are broadcast otherwise are not folded.
fn spread<T: Copy>(values: &[T], all: usize) -> Option<Vec<T>> {
    match values {
        [one] => Some(vec![*one; all]),
        values => (values.len() == all).then(|| values.to_vec()),
    }
}

fn cast(values: &Values, to: Scalar) -> Option<Values> {
    Some(match (values, to) {
        (Values::Integers(values), Scalar::I64 | Scalar::I32) => Values::Integers(values.clone()),
        (Values::Integers(values), Scalar::Bool) => {
            Values::Integers(values.iter().map(|value| i64::from(*value != 0)).collect())
        }
        (Values::Integers(values), Scalar::F32 | Scalar::F64) => {
            let exact = |value: &i64| i32::try_from(*value).ok().map(f64::from);
            Values::Floats(values.iter().map(exact).collect::<Option<_>>()?)
        }
        (Values::Floats(values), Scalar::I64 | Scalar::I32) => {
            // A whole number is printed as it is.
            let whole = |value: &f64| format!("{:.0}", value.trunc()).parse::<i64>().ok();
            Values::Integers(values.iter().map(whole).collect::<Option<_>>()?)
        }
        (Values::Floats(values), Scalar::F32 | Scalar::F64) => Values::Floats(values.clone()),
        _ => return None,
    })
}

fn binary(op: &str, a: &Values, b: &Values, all: usize) -> Option<Values> {
    match (a, b) {
        (Values::Integers(a), Values::Integers(b)) => {
            let one = |(a, b): (i64, i64)| match op {
                "Add" => a.checked_add(b),
                "Sub" => a.checked_sub(b),
                "Mul" => a.checked_mul(b),
                "Div" => a.checked_div(b),
                "Max" => Some(a.max(b)),
                "Min" => Some(a.min(b)),
                "Equal" => Some(i64::from(a == b)),
                "Less" => Some(i64::from(a < b)),
                "Greater" => Some(i64::from(a > b)),
                _ => None,
            };
            let pairs = spread(a, all)?.into_iter().zip(spread(b, all)?);
            Some(Values::Integers(pairs.map(one).collect::<Option<_>>()?))
        }
        (Values::Floats(a), Values::Floats(b)) => {
            let one = |(a, b): (f64, f64)| match op {
                "Add" => Some(a + b),
                "Sub" => Some(a - b),
                "Mul" => Some(a * b),
                "Div" => Some(a / b),
                _ => None,
            };
            let pairs = spread(a, all)?.into_iter().zip(spread(b, all)?);
            Some(Values::Floats(pairs.map(one).collect::<Option<_>>()?))
        }
        _ => None,
    }
}
