//! Helper functions for arithmetic on elements in generated code: names and definitions, and the properties of values
//! by which the printer decides whether to call one.

use super::dialect::Dialect;
use super::model::ArithmeticUnit;
use super::{casts, element};
use crate::base::cast::{Cast, range};
use crate::base::dtype::{Dtype, Scalar};
use crate::emit::syntax::{Value, ValueOp};
use crate::passes::{ArithmeticHelper, Requirements, Shape, Shaped, float, is_float, never_nan};

impl Shaped for Value {
    fn shape(&self) -> Shape<'_, Self> {
        let operation = |helper, element: &str, args| {
            Dtype::of_plan(element)
                .map_or(Shape::Other, |dtype| Shape::Operation(helper, dtype, args))
        };
        match self {
            Self::Constant { element, bits } => {
                let (dtype, bits) = (Dtype::of_plan(element), u64::from_str_radix(bits, 16));
                let known = dtype.zip(bits.ok());
                known.map_or(Shape::Other, |(dtype, bits)| Shape::Constant(dtype, bits))
            }
            Self::Index { .. } => Shape::Integer,
            Self::Name { .. } | Self::Load { .. } | Self::Item { .. } => Shape::Place,
            Self::Select { then, otherwise, .. } => Shape::Select([then, otherwise]),
            Self::Binary { op, element, a, b } => {
                let helper = match op {
                    ValueOp::FloorDivide => ArithmeticHelper::FloorDiv,
                    ValueOp::Modulo => ArithmeticHelper::FloorMod,
                    ValueOp::Min => ArithmeticHelper::Min,
                    ValueOp::Max => ArithmeticHelper::Max,
                    _ => return Shape::Other,
                };
                operation(helper, element, vec![&**a, b])
            }
            Self::Call { function, element, args } if function == "abs" => {
                operation(ArithmeticHelper::Abs, element, args.iter().collect())
            }
            Self::Convert { from, to, value } => {
                let types = Dtype::of_plan(from).zip(Dtype::of_plan(to));
                types.map_or(Shape::Other, |(from, to)| Shape::conversion([from, to], value))
            }
            _ => Shape::Other,
        }
    }
}

/// Interval of the values of a float expression, inclusive; `may_be_nan` is true if the value may also be NaN.
#[derive(Clone, Copy)]
struct ValueRange {
    low: f64,
    high: f64,
    may_be_nan: bool,
}

fn value_range(value: &Value) -> ValueRange {
    if let Some(value) = float(value) {
        return ValueRange { low: value, high: value, may_be_nan: value.is_nan() };
    }
    let all =
        ValueRange { low: f64::NEG_INFINITY, high: f64::INFINITY, may_be_nan: !never_nan(value) };
    let Shape::Operation(op @ (ArithmeticHelper::Min | ArithmeticHelper::Max), _, args) =
        value.shape()
    else {
        return all;
    };
    let [a, b] = args.as_slice() else { return all };
    let (a, b) = (value_range(a), value_range(b));
    // An operand that is never NaN bounds the minimum from above and the maximum from below.
    let high = |of: ValueRange| if of.may_be_nan { f64::INFINITY } else { of.high };
    let low = |of: ValueRange| if of.may_be_nan { f64::NEG_INFINITY } else { of.low };
    match op {
        ArithmeticHelper::Min => {
            ValueRange { low: a.low.min(b.low), high: high(a).min(high(b)), ..all }
        }
        _ => ValueRange { low: low(a).max(low(b)), high: a.high.max(b.high), ..all },
    }
}

/// True if `value`, the operand of the conversion named `cast`, is known never to be NaN and always to be within the
/// limits of the destination type. False if the form of the conversion is not `to_integer_choice`.
pub(super) fn is_within(cast: &str, value: &Value) -> bool {
    let Some(cast) = Cast::parse(cast).filter(|cast| casts::is_to_integer_choice(*cast)) else {
        return false;
    };
    let ValueRange { low, high, may_be_nan } = value_range(value);
    let (least, most) = range(cast.to().scalar);
    let limit = |limit: i128| i32::try_from(limit).map(f64::from);
    !may_be_nan
        && limit(least).is_ok_and(|least| low >= least)
        && limit(most).is_ok_and(|most| high <= most)
}

fn word(helper: ArithmeticHelper) -> &'static str {
    match helper {
        ArithmeticHelper::Abs => "abs",
        ArithmeticHelper::FloorDiv => "floor_div",
        ArithmeticHelper::FloorMod => "floor_mod",
        ArithmeticHelper::Lesser => "lesser",
        ArithmeticHelper::Greater => "greater",
        ArithmeticHelper::Min => "min",
        ArithmeticHelper::Max => "max",
        ArithmeticHelper::Round => "round",
    }
}

/// Name of a helper function for a type: `layoutc_min_f32`.
pub(super) fn function(dialect: &Dialect, helper: ArithmeticHelper, dtype: Dtype) -> String {
    format!("{}{}_{dtype}", dialect.helper, word(helper))
}

/// Helper functions to define, sorted by operation and by the name of the type.
pub(super) fn of(needs: &Requirements, dialect: &Dialect) -> Vec<ArithmeticUnit> {
    let mut all: Vec<_> = needs.arithmetic.iter().copied().collect();
    all.sort_by_cached_key(|(helper, dtype)| (*helper, dtype.to_string()));
    let unit = |(helper, dtype): (ArithmeticHelper, Dtype)| {
        let unsigned = match dtype.scalar {
            Scalar::I32 => Some(Scalar::U32),
            Scalar::I64 => Some(Scalar::U64),
            _ => None,
        };
        ArithmeticUnit {
            function: function(dialect, helper, dtype),
            form: word(helper).to_owned(),
            element: element::type_name(dialect, &dtype.to_string(), false),
            is_float: is_float(dtype),
            unsigned: unsigned.map(|scalar| (dialect.scalars)(scalar).to_owned()),
        }
    };
    all.into_iter().map(unit).collect()
}
