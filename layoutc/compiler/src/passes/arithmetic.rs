//! Helper functions of arithmetic, for operations that C has no operator for, or an operator with undefined results for
//! some operands. The choice of a helper depends on the [`Shape`] of a value, which the loop IR and the template model
//! share.

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{ReduceOp, Value, ValueOp};
use crate::model::compute::MathFunction;

/// Operation of a helper function, which evaluates each operand once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ArithmeticHelper {
    /// Absolute value of a signed integer.
    Abs,
    /// Quotient of integers, rounded toward minus infinity; 0 if the divisor is 0.
    FloorDiv,
    /// Remainder of `FloorDiv`, which has the sign of the divisor; the dividend if the divisor is 0.
    FloorMod,
    /// `a < b ? a : b` of floats; `b` if `a` or `b` is NaN.
    Lesser,
    /// `a > b ? a : b` of floats; `b` if `a` or `b` is NaN.
    Greater,
    /// Minimum of two values, the second one if they are equal; if one of two floats is NaN, the other one.
    Min,
    /// Maximum of two values, the second one if they are equal; if one of two floats is NaN, the other one.
    Max,
    /// Conversion of an f64 to an f32, rounded to nearest.
    Round,
}

/// Element value as far as the choice of a helper depends on it. `V` is the type of the value and of its operands.
#[derive(Debug)]
pub enum Shape<'v, V> {
    /// Constant with its type and bit pattern.
    Constant(Dtype, u64),
    /// Index, integer or truth value that is converted to an arithmetic type, and never NaN.
    Integer,
    /// Variable, array element or buffer element.
    Place,
    /// Selection by a condition, with the values if it holds and if it does not.
    Select([&'v V; 2]),
    /// Operation on operands that a helper can compute, with the type of its result. [`helper`] chooses whether a
    /// helper or an operator computes it.
    Operation(ArithmeticHelper, Dtype, Vec<&'v V>),
    /// Any other value.
    Other,
}

/// Types of element values with a [`Shape`]: those of the loop IR and of the template model.
pub trait Shaped: Sized {
    /// Shape of the value.
    fn shape(&self) -> Shape<'_, Self>;
}

impl Shaped for Value {
    fn shape(&self) -> Shape<'_, Self> {
        match self {
            Self::Constant { dtype, bits } => Shape::Constant(*dtype, *bits),
            Self::Index { .. } => Shape::Integer,
            Self::Name { .. } | Self::Load { .. } | Self::Item { .. } => Shape::Place,
            Self::Select { then, otherwise, .. } => Shape::Select([then, otherwise]),
            Self::Binary { op, dtype, a, b } => {
                let helper = match op {
                    ValueOp::FloorDivide => ArithmeticHelper::FloorDiv,
                    ValueOp::Modulo => ArithmeticHelper::FloorMod,
                    ValueOp::Min => ArithmeticHelper::Min,
                    ValueOp::Max => ArithmeticHelper::Max,
                    _ => return Shape::Other,
                };
                Shape::Operation(helper, *dtype, vec![a, b])
            }
            Self::Call { function: MathFunction::Abs, dtype, args } => {
                Shape::Operation(ArithmeticHelper::Abs, *dtype, args.iter().collect())
            }
            Self::Convert { from, to, value } => Shape::conversion([*from, *to], value),
            _ => Shape::Other,
        }
    }
}

impl<'v, V> Shape<'v, V> {
    /// Shape of the conversion of `value` from the type `from` to the type `to` by a cast of the target language.
    pub(crate) fn conversion([from, to]: [Dtype; 2], value: &'v V) -> Self {
        match (from.scalar, to.scalar) {
            (Scalar::F64, Scalar::F32) => Self::Operation(ArithmeticHelper::Round, to, vec![value]),
            _ if is_float(from) => Self::Other,
            _ => Self::Integer,
        }
    }
}

/// Helper that computes a value, as the triple of the helper, the type of its result, and its operands in the order of
/// the call. Operands of a minimum or maximum may be swapped. `None` if an operator or a library function of the
/// language computes the value.
pub fn helper<V: Shaped>(value: &V) -> Option<(ArithmeticHelper, Dtype, Vec<&V>)> {
    use ArithmeticHelper as Helper;
    let Shape::Operation(helper, dtype, mut args) = value.shape() else { return None };
    let is_unsigned = matches!(dtype.scalar, Scalar::U32 | Scalar::U64);
    let chosen = match (helper, args.as_mut_slice()) {
        (Helper::FloorDiv | Helper::FloorMod, [_, b]) if is_unsigned && is_divisor(*b) => None,
        (Helper::Min | Helper::Max, [a, b]) if is_float(dtype) => {
            // Swapped operands give another result only for zeros of different sign, and `a` is not 0.
            let is_nonzero = |value: &V| float(value).is_some_and(|value| value.abs() > 0.0);
            let are_swapped = !never_nan(*b) && never_nan(*a) && is_nonzero(a);
            if are_swapped {
                std::mem::swap(a, b);
            }
            Some(if never_nan(*b) { helper.single() } else { helper })
        }
        (Helper::Abs, _) if !matches!(dtype.scalar, Scalar::I32 | Scalar::I64) => None,
        _ => Some(helper),
    };
    Some((chosen?, dtype, args))
}

/// Helper that updates an accumulator of type `dtype` with `value` by the operator `how`; its operands are the value,
/// then the accumulator. `None` for an operator other than `min=` and `max=`, and if `value` is a variable or an
/// element, which is evaluated twice at no cost.
pub fn update_helper<V: Shaped>(
    how: ReduceOp,
    dtype: Dtype,
    value: &V,
) -> Option<ArithmeticHelper> {
    let helper = match how {
        ReduceOp::Min => ArithmeticHelper::Min,
        ReduceOp::Max => ArithmeticHelper::Max,
        ReduceOp::Set | ReduceOp::Sum | ReduceOp::Product => return None,
    };
    let is_place = matches!(value.shape(), Shape::Place);
    (!is_place).then_some(if is_float(dtype) { helper.single() } else { helper })
}

impl ArithmeticHelper {
    /// Helper with one comparison, if the second of two floats is never NaN or is kept if it is NaN: `Lesser` for
    /// `Min`, `Greater` for `Max`, and any other helper itself.
    fn single(self) -> Self {
        match self {
            Self::Min => Self::Lesser,
            Self::Max => Self::Greater,
            other => other,
        }
    }
}

/// True if a float value is known never to be NaN, whatever the inputs.
pub(crate) fn never_nan<V: Shaped>(value: &V) -> bool {
    match value.shape() {
        Shape::Constant(..) => float(value).is_some_and(|value| !value.is_nan()),
        Shape::Integer => true,
        Shape::Select(both) => both.into_iter().all(never_nan),
        Shape::Operation(ArithmeticHelper::Min | ArithmeticHelper::Max, _, args) => {
            args.into_iter().any(never_nan)
        }
        Shape::Place | Shape::Operation(..) | Shape::Other => false,
    }
}

/// Value of a constant of type f32 or f64; `None` for any other value.
pub(crate) fn float<V: Shaped>(value: &V) -> Option<f64> {
    let Shape::Constant(dtype, bits) = value.shape() else { return None };
    match dtype.scalar {
        Scalar::F32 => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        Scalar::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// True if a divisor is a constant whose bit pattern is not 0.
fn is_divisor<V: Shaped>(value: &V) -> bool {
    matches!(value.shape(), Shape::Constant(_, 1..))
}

/// True for f32 and f64, the float types of arithmetic.
pub(crate) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype.scalar, Scalar::F32 | Scalar::F64)
}
