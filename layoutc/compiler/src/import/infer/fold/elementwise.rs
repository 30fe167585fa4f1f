//! Constant folding of elementwise ONNX operators, with broadcasting.

use std::cmp::Ordering;

use super::{size, spread};
use crate::base::dtype::Scalar;
use crate::import::call::{OnnxCall, ShapedTensor};
use crate::import::elements::{ConstantElements, MAX_KNOWN, float, whole};

/// Maximum number of operands of a `Sum`, `Mean`, `Max` or `Min` that is folded; those with more are left unfolded.
const MAX_OPERANDS: usize = 64;

/// Elements of the result of an elementwise operator. `result` has the shape and the element type of the result, and
/// `all` is its number of elements. `None` if the elements are not computed, for example for any other operator or an
/// operand that is not constant.
pub(super) fn elementwise(
    call: &OnnxCall<'_>,
    result: &ShapedTensor,
    all: usize,
) -> Option<ConstantElements> {
    let op = call.node.op_type.as_str();
    let first = call.optional(0)?;
    if let Some(folded) = unary(call, op, first.known.as_ref()?, result.dtype) {
        return Some(folded);
    }
    match op {
        "Clip" => clip(call, first),
        "Where" => {
            let truth = spread(first, &result.shape)?;
            let (a, b) = (
                spread(call.optional(1)?, &result.shape)?,
                spread(call.optional(2)?, &result.shape)?,
            );
            let truth = truth.integers()?;
            let place = |(k, truth): (usize, &i64)| Some(if *truth == 0 { all + k } else { k });
            ConstantElements::chain(&[&a, &b])?.pick(truth.iter().enumerate().map(place))
        }
        "Sum" | "Mean" | "Max" | "Min" if call.inputs.len() <= MAX_OPERANDS => {
            let mut folded = spread(first, &result.shape)?;
            let joined = if op == "Mean" { "Sum" } else { op };
            for input in call.inputs.iter().skip(1) {
                folded = binary(call, joined, &folded, &spread((*input)?, &result.shape)?)?;
            }
            match (op, folded) {
                ("Mean", ConstantElements::Floats(sums)) => {
                    let count = float(i64::try_from(call.inputs.len()).ok()?)?;
                    Some(ConstantElements::Floats(
                        sums.into_iter().map(|sum| sum / count).collect(),
                    ))
                }
                ("Mean", ConstantElements::Integers(_)) => None,
                (_, folded) => Some(folded),
            }
        }
        _ if call.inputs.len() == 2 && call.opset >= 7 => {
            let (a, b) = (spread(first, &result.shape)?, spread(call.optional(1)?, &result.shape)?);
            binary(call, op, &a, &b)
        }
        _ => None,
    }
}

/// Elements of the result of `And` or `Or` if one constant operand determines them, although the other one is unknown:
/// `And` with a constant of which all elements are false, `Or` with one of which all are true. `None` otherwise, and
/// for more than [`MAX_KNOWN`] elements.
pub(super) fn decided(call: &OnnxCall<'_>, result: &ShapedTensor) -> Option<ConstantElements> {
    let deciding = match call.node.op_type.as_str() {
        "And" => 0,
        "Or" => 1,
        _ => return None,
    };
    let all = size(&result.shape).filter(|all| *all <= MAX_KNOWN)?;
    let mut known =
        call.inputs.iter().flatten().filter_map(|input| input.known.as_ref()?.integers());
    let is_decided = known.any(|values| values.iter().all(|value| *value == deciding));
    is_decided.then(|| ConstantElements::Integers(vec![deciding; all]))
}

fn unary(
    call: &OnnxCall<'_>,
    op: &str,
    known: &ConstantElements,
    to: Scalar,
) -> Option<ConstantElements> {
    match (op, known) {
        ("Cast" | "CastLike", known) => cast(known, to),
        ("Not", ConstantElements::Integers(values)) => Some(ConstantElements::Integers(
            values.iter().map(|value| i64::from(*value == 0)).collect(),
        )),
        ("IsNaN" | "IsInf", ConstantElements::Floats(values)) => {
            let is_counted = |name: &str| call.integer(name) != Some(0);
            let is = |value: &f64| match op {
                "IsNaN" => value.is_nan(),
                _ if *value > 0.0 => value.is_infinite() && is_counted("detect_positive"),
                _ => value.is_infinite() && is_counted("detect_negative"),
            };
            Some(ConstantElements::Integers(
                values.iter().map(|value| i64::from(is(value))).collect(),
            ))
        }
        (_, ConstantElements::Integers(values)) => {
            let one = |value: &i64| match op {
                "Neg" => value.checked_neg(),
                "Abs" => value.checked_abs(),
                "Sign" => Some(value.signum()),
                "Relu" => Some((*value).max(0)),
                "BitwiseNot" if to != Scalar::Bool => Some(!value),
                _ => None,
            };
            Some(ConstantElements::Integers(values.iter().map(one).collect::<Option<_>>()?))
        }
        (_, ConstantElements::Floats(values)) => {
            let change: fn(f64) -> f64 = match op {
                "Neg" => |value| -value,
                "Abs" => f64::abs,
                "Floor" => f64::floor,
                "Ceil" => f64::ceil,
                "Round" => f64::round_ties_even,
                "Sqrt" => f64::sqrt,
                "Exp" => f64::exp,
                "Log" => f64::ln,
                "Sin" => f64::sin,
                "Cos" => f64::cos,
                "Reciprocal" => f64::recip,
                "Relu" => |value| if value < 0.0 { 0.0 } else { value },
                "Sign" => |value| if value == 0.0 { value } else { value.signum() },
                _ => return None,
            };
            Some(ConstantElements::Floats(values.iter().copied().map(change).collect()))
        }
    }
}

fn clip(call: &OnnxCall<'_>, first: &ShapedTensor) -> Option<ConstantElements> {
    let bound = |k: usize| call.optional(k).map(|bound| bound.known.as_ref());
    Some(match first.known.as_ref()? {
        ConstantElements::Integers(values) => {
            let bound = |k: usize, none: i64| match bound(k) {
                Some(known) => known?.integers()?.first().copied(),
                None => Some(none),
            };
            let (least, most) = (bound(1, i64::MIN)?, bound(2, i64::MAX)?);
            ConstantElements::Integers(
                values.iter().map(|value| (*value).max(least).min(most)).collect(),
            )
        }
        ConstantElements::Floats(values) if call.opset >= 11 => {
            let bound = |k: usize, none: f64| match bound(k) {
                Some(known) => known?.floats()?.first().copied(),
                None => Some(none),
            };
            let (least, most) = (bound(1, f64::NEG_INFINITY)?, bound(2, f64::INFINITY)?);
            let is_number = values.iter().chain([&least, &most]).all(|value| !value.is_nan());
            let one = |value: &f64| value.max(least).min(most);
            is_number.then(|| ConstantElements::Floats(values.iter().map(one).collect()))?
        }
        ConstantElements::Floats(_) => return None,
    })
}

fn cast(values: &ConstantElements, to: Scalar) -> Option<ConstantElements> {
    let is_float = matches!(to, Scalar::F32 | Scalar::F64);
    Some(match (values, to) {
        (ConstantElements::Integers(values), Scalar::Bool) => {
            ConstantElements::Integers(values.iter().map(|value| i64::from(*value != 0)).collect())
        }
        (ConstantElements::Floats(values), Scalar::Bool) => ConstantElements::Integers(
            values.iter().map(|value| i64::from(*value != 0.0)).collect(),
        ),
        (ConstantElements::Integers(_), _) if is_float => {
            ConstantElements::Floats(values.floats()?)
        }
        (ConstantElements::Floats(values), _) if is_float => {
            ConstantElements::Floats(values.clone())
        }
        (ConstantElements::Integers(values), _) => ConstantElements::Integers(values.clone()),
        (ConstantElements::Floats(values), _) => {
            ConstantElements::Integers(values.iter().copied().map(whole).collect::<Option<_>>()?)
        }
    })
}

/// Elements of the result of the binary operator `op`, for operands `a` and `b` of equal length. `None` if the operator
/// is not supported for these types, or if a value cannot be computed, for example because of an overflow.
fn binary(
    call: &OnnxCall<'_>,
    op: &str,
    a: &ConstantElements,
    b: &ConstantElements,
) -> Option<ConstantElements> {
    match (a, b) {
        (ConstantElements::Integers(a), ConstantElements::Integers(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| integers(call, op, *a, *b));
            Some(ConstantElements::Integers(pairs.collect::<Option<_>>()?))
        }
        (ConstantElements::Floats(a), ConstantElements::Floats(b)) => {
            if let Some(compare) = compared(op) {
                let pairs = a.iter().zip(b).map(|(a, b)| i64::from(compare(a, b)));
                return Some(ConstantElements::Integers(pairs.collect()));
            }
            let change = floats(call, op)?;
            Some(ConstantElements::Floats(a.iter().zip(b).map(|(a, b)| change(*a, *b)).collect()))
        }
        // The exponent may have another type.
        (ConstantElements::Floats(_), ConstantElements::Integers(_)) if op == "Pow" => {
            binary(call, op, a, &ConstantElements::Floats(b.floats()?))
        }
        (ConstantElements::Integers(_), ConstantElements::Floats(_)) if op == "Pow" => {
            let power = binary(call, op, &ConstantElements::Floats(a.floats()?), b)?;
            let ConstantElements::Floats(power) = power else { return None };
            Some(ConstantElements::Integers(power.into_iter().map(whole).collect::<Option<_>>()?))
        }
        _ => None,
    }
}

fn integers(call: &OnnxCall<'_>, op: &str, a: i64, b: i64) -> Option<i64> {
    let truth = |truth: bool| Some(i64::from(truth));
    match op {
        "Add" | "Sum" => a.checked_add(b),
        "Sub" => a.checked_sub(b),
        "Mul" => a.checked_mul(b),
        "Div" => a.checked_div(b),
        "Mod" if call.integer("fmod") == Some(1) => a.checked_rem(b),
        // The result has the sign of the divisor.
        "Mod" => {
            let rest = a.checked_rem(b)?;
            Some(if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest })
        }
        "Pow" => a.checked_pow(u32::try_from(b).ok()?),
        "Max" => Some(a.max(b)),
        "Min" => Some(a.min(b)),
        "Equal" => truth(a == b),
        "Less" => truth(a < b),
        "LessOrEqual" => truth(a <= b),
        "Greater" => truth(a > b),
        "GreaterOrEqual" => truth(a >= b),
        "And" | "BitwiseAnd" => Some(a & b),
        "Or" | "BitwiseOr" => Some(a | b),
        "Xor" | "BitwiseXor" => Some(a ^ b),
        "BitShift" => {
            let bits = u32::try_from(b).ok()?;
            match call.word("direction") {
                Some("RIGHT") if a >= 0 => Some(a.checked_shr(bits).unwrap_or(0)),
                Some("LEFT") => a.checked_mul(1_i64.checked_shl(bits).filter(|one| *one > 0)?),
                _ => None,
            }
        }
        _ => None,
    }
}

fn compared(op: &str) -> Option<fn(&f64, &f64) -> bool> {
    Some(match op {
        "Equal" => |a, b| a.partial_cmp(b).is_some_and(Ordering::is_eq),
        "Less" => |a, b| a < b,
        "LessOrEqual" => |a, b| a <= b,
        "Greater" => |a, b| a > b,
        "GreaterOrEqual" => |a, b| a >= b,
        _ => return None,
    })
}

fn floats(call: &OnnxCall<'_>, op: &str) -> Option<fn(f64, f64) -> f64> {
    Some(match op {
        "Add" | "Sum" => |a, b| a + b,
        "Sub" => |a, b| a - b,
        "Mul" => |a, b| a * b,
        "Div" => |a, b| a / b,
        "Pow" => f64::powf,
        "Mod" if call.integer("fmod") == Some(1) => |a, b| a % b,
        "Max" => |a, b| if a.is_nan() || a > b { a } else { b },
        "Min" => |a, b| if a.is_nan() || a < b { a } else { b },
        _ => return None,
    })
}
