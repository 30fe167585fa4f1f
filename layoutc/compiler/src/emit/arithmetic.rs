//! Helper functions for arithmetic that C has no operator for, or an operator with undefined results for some operands.
//! Each function evaluates its operands once.

use std::collections::BTreeSet;

use super::dialect::Dialect;
use super::model::{ArithmeticUnit, ComputeUnit, Unit};
use super::{casts, element};
use crate::base::cast::{Cast, range};
use crate::base::dtype::{Dtype, Scalar};
use crate::emit::syntax::{Function, Gathering, Number, NumberOp, Stmt};

/// Operation of a helper function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Absolute value of a signed integer.
    Abs,
    /// Quotient of integers, rounded toward minus infinity.
    FloorDiv,
    /// Remainder of `FloorDiv`, which has the sign of the divisor.
    FloorMod,
    /// `a < b ? a : b` of floats; `b` if `a` or `b` is NaN.
    Lesser,
    /// `a > b ? a : b` of floats; `b` if `a` or `b` is NaN.
    Greater,
    /// Minimum of two values; if one of two floats is NaN, the other one.
    Min,
    /// Maximum of two values; if one of two floats is NaN, the other one.
    Max,
    /// Conversion of an f64 to an f32, rounded to nearest.
    Round,
}

impl Form {
    fn word(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::FloorDiv => "floor_div",
            Self::FloorMod => "floor_mod",
            Self::Lesser => "lesser",
            Self::Greater => "greater",
            Self::Min => "min",
            Self::Max => "max",
            Self::Round => "round",
        }
    }

    /// Name of the function for elements of type `element`, in manifest notation: `layoutc_min_f32`.
    pub(super) fn function(self, dialect: &Dialect, element: &str) -> String {
        format!("{}{}_{element}", dialect.helper, self.word())
    }
}

/// Call of a helper function.
pub(super) struct Helper<'n> {
    form: Form,
    element: &'n str,
    pub(super) args: Vec<&'n Number>,
}

impl Helper<'_> {
    /// Name of the called function.
    pub(super) fn called(&self, dialect: &Dialect) -> String {
        self.form.function(dialect, self.element)
    }
}

/// Helper call that computes `value` from its operands; `None` if an operator or library function of the language does.
pub(super) fn helper(value: &Number) -> Option<Helper<'_>> {
    match value {
        Number::Binary { op, element, a, b } => {
            let divides = || !(is_unsigned(element) && is_divisor(b));
            let (form, args) = match op {
                NumberOp::FloorDivide => (Some(Form::FloorDiv).filter(|_| divides()), [&**a, b]),
                NumberOp::Modulo => (Some(Form::FloorMod).filter(|_| divides()), [&**a, b]),
                NumberOp::Min => extremum([Form::Min, Form::Lesser], element, [a, b]),
                NumberOp::Max => extremum([Form::Max, Form::Greater], element, [a, b]),
                _ => (None, [&**a, b]),
            };
            Some(Helper { form: form?, element, args: args.to_vec() })
        }
        Number::Call { function, element, args }
            if function == "abs" && matches!(element.as_str(), "i32" | "i64") =>
        {
            Some(Helper { form: Form::Abs, element, args: args.iter().collect() })
        }
        Number::Convert { from, to, value } if from == "f64" && to == "f32" => {
            Some(Helper { form: Form::Round, element: to, args: vec![value] })
        }
        _ => None,
    }
}

/// Helper that updates a `min=` or `max=` accumulator with `value`; `None` for another reduce op, or if `value` is
/// simple enough to be evaluated twice.
pub(super) fn gathering(how: Gathering, value: &Number, element: &str) -> Option<Form> {
    let [integer, float] = match how {
        Gathering::Min => [Form::Min, Form::Lesser],
        Gathering::Max => [Form::Max, Form::Greater],
        Gathering::Set | Gathering::Sum | Gathering::Product => return None,
    };
    let is_simple =
        matches!(value, Number::Name { .. } | Number::Load { .. } | Number::Item { .. });
    (!is_simple).then_some(if is_float(element) { float } else { integer })
}

/// Helper of a minimum or maximum with the order of its operands. `single`, one comparison, is used for floats of which
/// one operand is never NaN, `whole` otherwise.
fn extremum<'n>(
    [whole, single]: [Form; 2],
    element: &str,
    [a, b]: [&'n Number; 2],
) -> (Option<Form>, [&'n Number; 2]) {
    if !is_float(element) {
        return (Some(whole), [a, b]);
    }
    if never_nan(b) {
        return (Some(single), [a, b]);
    }
    // Swapped operands give another result only for zeros of different sign, and `a` is not 0.
    if never_nan(a) && is_nonzero(a) {
        return (Some(single), [b, a]);
    }
    (Some(whole), [a, b])
}

/// True if a float value is never NaN, whatever the inputs.
fn never_nan(value: &Number) -> bool {
    match value {
        Number::Constant { .. } => float(value).is_some_and(|value| !value.is_nan()),
        Number::Index { .. } => true,
        Number::Select { then, otherwise, .. } => never_nan(then) && never_nan(otherwise),
        Number::Binary { op: NumberOp::Min | NumberOp::Max, a, b, .. } => {
            never_nan(a) || never_nan(b)
        }
        Number::Convert { from, .. } => !is_float(from),
        _ => false,
    }
}

/// Interval of the values of a float expression, inclusive; `may_be_nan` is true if the value may also be NaN.
#[derive(Clone, Copy)]
struct Bounds {
    low: f64,
    high: f64,
    may_be_nan: bool,
}

fn bounds(value: &Number) -> Bounds {
    if let Some(value) = float(value) {
        return Bounds { low: value, high: value, may_be_nan: value.is_nan() };
    }
    let all = Bounds { low: f64::NEG_INFINITY, high: f64::INFINITY, may_be_nan: !never_nan(value) };
    let Number::Binary { op: op @ (NumberOp::Min | NumberOp::Max), a, b, .. } = value else {
        return all;
    };
    let (a, b) = (bounds(a), bounds(b));
    // An operand that is never NaN bounds the minimum from above and the maximum from below.
    let high = |of: Bounds| if of.may_be_nan { f64::INFINITY } else { of.high };
    let low = |of: Bounds| if of.may_be_nan { f64::NEG_INFINITY } else { of.low };
    match op {
        NumberOp::Min => Bounds { low: a.low.min(b.low), high: high(a).min(high(b)), ..all },
        _ => Bounds { low: low(a).max(low(b)), high: a.high.max(b.high), ..all },
    }
}

/// True if the operand of a branch-free conversion to an integer is never NaN and always within the limits of the
/// destination type. False for conversions of another form.
pub(super) fn is_within(cast: &str, value: &Number) -> bool {
    let Some(cast) = Cast::parse(cast).filter(|cast| casts::is_to_integer_choice(*cast)) else {
        return false;
    };
    let Bounds { low, high, may_be_nan } = bounds(value);
    let (least, most) = range(cast.to().scalar);
    let limit = |limit: i128| i32::try_from(limit).map(f64::from);
    !may_be_nan
        && limit(least).is_ok_and(|least| low >= least)
        && limit(most).is_ok_and(|most| high <= most)
}

fn is_nonzero(value: &Number) -> bool {
    float(value).is_some_and(|value| value.abs() > 0.0)
}

/// Value of a constant of type f32 or f64; `None` for any other value.
fn float(value: &Number) -> Option<f64> {
    let Number::Constant { element, bits } = value else { return None };
    let bits = u64::from_str_radix(bits, 16).ok()?;
    match element.as_str() {
        "f32" => Some(f64::from(f32::from_bits(u32::try_from(bits).ok()?))),
        "f64" => Some(f64::from_bits(bits)),
        _ => None,
    }
}

/// True if a divisor is a nonzero constant.
fn is_divisor(value: &Number) -> bool {
    matches!(value, Number::Constant { bits, .. } if u64::from_str_radix(bits, 16).is_ok_and(|b| b != 0))
}

fn is_unsigned(element: &str) -> bool {
    matches!(element, "u32" | "u64")
}

fn is_float(element: &str) -> bool {
    matches!(element, "f32" | "f64")
}

/// Helper functions called by the kernels of the unit, each once, by form and element type.
pub(super) fn of(unit: &Unit, dialect: &Dialect) -> Vec<ArithmeticUnit> {
    let computes = unit.computes.iter();
    units(dialect, computes.flat_map(|compute| called(compute).collect::<Vec<_>>()))
}

/// Helper functions called by the reference implementations of kernels in the test program.
pub(super) fn of_tests(unit: &Unit, dialect: &Dialect) -> Vec<ArithmeticUnit> {
    let tests = unit.computes.iter().filter_map(|compute| compute.test.as_ref());
    units(dialect, tests.map(|test| &*test.plain))
}

fn called(compute: &ComputeUnit) -> impl Iterator<Item = &Function> {
    let kernels = compute.moves.iter().flat_map(|moves| &moves.kernels);
    compute.on_cores().chain(kernels.map(|kernel| &kernel.function)).map(|function| &**function)
}

fn units<'f>(
    dialect: &Dialect,
    functions: impl Iterator<Item = &'f Function>,
) -> Vec<ArithmeticUnit> {
    let mut found: BTreeSet<(Form, String)> = BTreeSet::new();
    for function in functions {
        for stmt in &function.body {
            stmt.walk(&mut |stmt| {
                if let Stmt::Gather { how, value, element, .. } = stmt {
                    let form = gathering(*how, value, element);
                    found.extend(form.map(|form| (form, element.clone())));
                }
            });
            stmt.numbers(&mut |number| {
                found.extend(helper(number).map(|one| (one.form, one.element.to_owned())));
            });
        }
    }
    found.into_iter().map(|(form, element)| unit_of(form, &element, dialect)).collect()
}

fn unit_of(form: Form, name: &str, dialect: &Dialect) -> ArithmeticUnit {
    let scalar = Dtype::of_plan(name).map(|dtype| dtype.scalar);
    let unsigned = match scalar {
        Some(Scalar::I32) => Some(Scalar::U32),
        Some(Scalar::I64) => Some(Scalar::U64),
        _ => None,
    };
    ArithmeticUnit {
        function: form.function(dialect, name),
        form: form.word().to_owned(),
        element: element::type_name(dialect, name, false),
        is_float: is_float(name),
        unsigned: unsigned.map(|scalar| (dialect.scalars)(scalar).to_owned()),
    }
}
