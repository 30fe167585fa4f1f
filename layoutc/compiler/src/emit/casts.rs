//! Element conversion functions that a unit has to define: those that its relayouts, kernels and tests call, and the
//! functions that these are composed of.

use std::collections::BTreeSet;

use super::dialect::{Dialect, Subnormals};
use super::model::{CastFloat, CastSide, CastUnit};
use super::{element, float_bits};
use crate::base::cast::{Cast, CastMode, overflow_bits, range};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::emit::syntax::Spelling;

/// Conversions to define for those that are called, each after the conversions that it is composed of.
pub(super) fn defined(called: &BTreeSet<Cast>) -> Vec<Cast> {
    let mut all: Vec<Cast> = Vec::new();
    for cast in called {
        for part in cast.decompose().into_iter().flatten().chain([*cast]) {
            if !all.contains(&part) {
                all.push(part);
            }
        }
    }
    all
}

/// Name of a conversion function: `layoutc_cast_f32_to_f16`.
pub(super) fn function(dialect: &Dialect, cast: Cast) -> String {
    format!("{}cast_{}", dialect.structure, cast.name())
}

/// Algorithm of a conversion, a value of `CastUnit::form`.
pub(super) fn form(cast: Cast, dialect: &Dialect) -> &'static str {
    let [from, to] = [cast.from(), cast.to()].map(|dtype| fill::format(dtype.scalar));
    match (from, to) {
        _ if cast.decompose().is_some() => "parts",
        _ if is_plain(cast, dialect) => "plain",
        (None, Some(_)) => "from_integer",
        (Some(_), None) if is_to_integer_choice(cast) => "to_integer_choice",
        (Some(_), None) => "to_integer",
        (Some(_), Some(_)) if is_choice(cast) && cast.is_lossless() => "widen_choice",
        (Some(_), Some(_)) if is_choice(cast) => "narrow_choice",
        (Some(_), Some(_)) if cast.is_lossless() => "widen",
        (Some(_), Some(_)) => "narrow",
        (None, None) if cast.is_lossless() => "plain",
        (None, None) if cast.mode() == CastMode::Saturate => "clamp",
        (None, None) => "wrap",
    }
}

/// True if the [`form`] of the conversion is `to_integer_choice`: from f32 to an integer type of at most 16 bits.
pub(super) fn is_to_integer_choice(cast: Cast) -> bool {
    is_choice(cast) && fill::format(cast.to().scalar).is_none()
}

/// True if the form of a conversion is one of those named `…_choice`, which compilers can vectorize: from f32 to f16,
/// bf16, f8e4m3fn, f8e5m2, f4e2m1fn or an integer type of at most 16 bits, or from one of these float types to f32.
/// Their float arithmetic relies on the default rounding mode, to nearest.
fn is_choice(cast: Cast) -> bool {
    let is_single = |dtype: Dtype| dtype.scalar == Scalar::F32;
    let is_small = |dtype: Dtype| {
        let small = [Scalar::F16, Scalar::Bf16, Scalar::F8e4m3fn, Scalar::F8e5m2, Scalar::F4e2m1fn];
        small.contains(&dtype.scalar)
    };
    let (from, to) = (cast.from(), cast.to());
    let is_integer = fill::format(to.scalar).is_none() && to.element_bits() <= 16;
    is_single(from) && (is_small(to) || is_integer) || is_small(from) && is_single(to)
}

/// True if a cast of the target language is the conversion: to f32 or f64, from an integer type, or from f32 or f64 if
/// casts of the language preserve subnormal numbers. False if the result is clamped to the finite values. Processors
/// round such a conversion to nearest, ties to even, in one instruction.
fn is_plain(cast: Cast, dialect: &Dialect) -> bool {
    let is_float = |dtype: Dtype| matches!(dtype.scalar, Scalar::F32 | Scalar::F64);
    let (from, to) = (cast.from(), cast.to());
    let is_integer = fill::format(from.scalar).is_none();
    let is_infinite =
        cast.mode() == CastMode::Round || cast.is_lossless() || cast.never_overflows();
    let is_kept = is_integer || is_float(from) && dialect.subnormals == Subnormals::Preserved;
    is_float(to) && is_kept && is_infinite
}

/// Template model of a conversion function.
pub(super) fn unit(cast: Cast, dialect: &Dialect) -> CastUnit {
    let (from, to) = (cast.from(), cast.to());
    let (name, form) = (function(dialect, cast), form(cast, dialect));
    let is_wide = match form {
        "to_integer" => to.element_bits() > 32,
        _ => from.element_bits().max(to.element_bits()) > 32,
    };
    let (word, signed_word) =
        if is_wide { (Scalar::U64, Scalar::I64) } else { (Scalar::U32, Scalar::I32) };
    let word_bits: u32 = if is_wide { 64 } else { 32 };
    let [source, target] = [from, to].map(|dtype| fill::format(dtype.scalar));
    let (source_bits, source_bias) = source.map_or((0, 0), |f| (f.mantissa_bits, f.bias));
    let (target_bits, target_bias) = target.map_or((0, 0), |f| (f.mantissa_bits, f.bias));
    let from_bits = if form == "from_integer" { word_bits.saturating_sub(1) } else { source_bits };
    let limits = match form {
        "clamp" => limits(cast, dialect),
        "to_integer" | "to_integer_choice" => float_limits(cast, dialect),
        _ => Limits::default(),
    };
    let single = Dtype { scalar: Scalar::F32, lanes: 1 };
    let single_bits = float_bits::names(single, dialect);
    let [to_bits, of_bits] =
        single_bits.map_or_else(Default::default, |names| [names.to_bits, names.of_bits]);
    let choice = choice(cast, form);
    let unit = match form {
        "to_integer" => float_literal(f64::from(choice.unit), from, dialect),
        _ => float_literal(f64::from(choice.unit), single, dialect),
    };
    CastUnit {
        cast: cast.name(),
        guard: name.to_ascii_uppercase(),
        name,
        doc: cast.doc(),
        form: form.to_owned(),
        parts: cast.decompose().into_iter().flatten().map(|part| function(dialect, part)).collect(),
        from: side(from, dialect),
        to: side(to, dialect),
        word: (dialect.scalars)(word).to_owned(),
        signed_word: (dialect.scalars)(signed_word).to_owned(),
        word_bits,
        top_field: i64::from(word_bits) - 2 + i64::from(target_bias),
        dropped: from_bits.saturating_sub(target_bits),
        shift: target_bits.saturating_sub(source_bits),
        shift_only: matches!(form, "widen" | "widen_choice") && source_bias == target_bias,
        least: i64::from(source_bias) - i64::from(target_bias) + 1,
        beyond: format!("0x{:X}", target.map_or(0, |format| overflow_bits(&format, cast.mode()))),
        may_overflow: !cast.never_overflows(),
        low: limits.low,
        high: limits.high,
        low_result: limits.low_result,
        high_result: limits.high_result,
        single_bits: to_bits,
        single_of_bits: of_bits,
        rebias: format!("0x{:X}", choice.rebias),
        unit,
        unit_bits: format!("0x{:X}", choice.unit.to_bits()),
    }
}

/// Constants of the forms `to_integer` and `…_choice`; 0 in any other form.
#[derive(Default)]
struct Choice {
    /// Difference of the exponent biases of the two types, shifted to the exponent field of an f32; 0 for forms with
    /// integers.
    rebias: u32,
    /// `widen_choice`: least positive value of the source. `narrow_choice`: f32 whose last mantissa bit has the weight
    /// of the least positive value of the destination. `to_integer_choice`: f32 whose last mantissa bit has the weight
    /// 1. `to_integer`: 0.5.
    unit: f32,
}

fn choice(cast: Cast, form: &str) -> Choice {
    let (small, places) = match form {
        "widen_choice" => (cast.from(), 0),
        "narrow_choice" => (cast.to(), 23),
        "to_integer" => return Choice { rebias: 0, unit: 0.5 },
        // 1.5 · 2^23: the sum with a negative number keeps this exponent, so that its last mantissa bit is still 1.
        "to_integer_choice" => return Choice { rebias: 0, unit: 12_582_912.0 },
        _ => return Choice::default(),
    };
    let Some(format) = fill::format(small.scalar) else { return Choice::default() };
    let rebias = u32::try_from(127_i32.saturating_sub(format.bias)).unwrap_or(0) << 23;
    Choice { rebias, unit: 2.0_f32.powi(1 - format.bias - mantissa_bits(&format) + places) }
}

fn mantissa_bits(format: &fill::FloatFormat) -> i32 {
    i32::try_from(format.mantissa_bits).unwrap_or(0)
}

/// Least and greatest source floats that are within the limits of the destination integer type, and these limits as
/// integers of 32 or 64 bits, all as literals.
fn float_limits(cast: Cast, dialect: &Dialect) -> Limits {
    let (from, to) = (cast.from(), cast.to());
    let (least, most) = range(to.scalar);
    let mantissa = fill::format(from.scalar).map_or(0, |format| format.mantissa_bits + 1);
    // `most` is `2^k - 1`: the bits that fit the mantissa are kept.
    let dropped = most.count_ones().saturating_sub(mantissa);
    let high = most >> dropped << dropped;
    #[expect(clippy::cast_precision_loss, reason = "a mantissa holds its ones")]
    let literal = |value: i128| Some(float_literal(value as f64, from, dialect));
    let word = match (to.element_bits() > 32, fill::is_signed(to.scalar)) {
        (true, true) => Scalar::I64,
        (true, false) => Scalar::U64,
        (false, true) => Scalar::I32,
        (false, false) => Scalar::U32,
    };
    let word = Dtype { scalar: word, lanes: 1 };
    Limits {
        low: literal(least),
        high: literal(high),
        low_result: integer_literal(least, word, dialect),
        high_result: integer_literal(most, word, dialect),
    }
}

/// Literal of a value of type `dtype`, which is f32 or f64.
fn float_literal(value: f64, dtype: Dtype, dialect: &Dialect) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "it is an f32")]
    let bits = match dtype.scalar {
        Scalar::F32 => format!("{:x}", (value as f32).to_bits()),
        _ => format!("{:x}", value.to_bits()),
    };
    element::literal(dialect, &dtype.to_string(), &bits, Spelling::Number)
}

/// Bounds of a clamped conversion as literals: least and greatest source value that is not clamped (`None` if no source
/// value is less, or greater), and the results for values below and above.
#[derive(Default)]
struct Limits {
    low: Option<String>,
    high: Option<String>,
    low_result: String,
    high_result: String,
}

fn limits(cast: Cast, dialect: &Dialect) -> Limits {
    let (from, to) = (cast.from(), cast.to());
    let ((low, high), (least, most)) = (range(from.scalar), range(to.scalar));
    Limits {
        low: (low < least).then(|| integer_literal(least, from, dialect)),
        high: (high > most).then(|| integer_literal(most, from, dialect)),
        low_result: integer_literal(least, to, dialect),
        high_result: integer_literal(most, to, dialect),
    }
}

/// Literal of an integer of type `dtype`.
fn integer_literal(value: i128, dtype: Dtype, dialect: &Dialect) -> String {
    let bits = u64::try_from(value & i128::from(u64::MAX)).unwrap_or(0) & mask(dtype);
    element::literal(dialect, &dtype.to_string(), &format!("{bits:x}"), Spelling::Number)
}

/// Mask of all bits of an element.
fn mask(dtype: Dtype) -> u64 {
    u64::MAX >> 64_u32.saturating_sub(dtype.element_bits()).min(63)
}

fn side(dtype: Dtype, dialect: &Dialect) -> CastSide {
    let (to_bits, of_bits) = float_bits::names(dtype, dialect)
        .map_or_else(Default::default, |names| (names.to_bits, names.of_bits));
    let float = fill::format(dtype.scalar).map(|format| {
        let ieee = format.infinity.is_some();
        let last = format.infinity.unwrap_or(format.greatest);
        CastFloat {
            mantissa_bits: format.mantissa_bits,
            bias: i64::from(format.bias),
            sign_shift: format.exponent_bits.saturating_add(format.mantissa_bits),
            greatest: format!("0x{:X}", format.greatest),
            last: format!("0x{last:X}"),
            nan: format!("0x{:X}", format.nan.unwrap_or(format.greatest)),
            ieee,
            has_nan: format.nan.is_some(),
            unsigned_zero: format.unsigned_zero,
        }
    });
    CastSide {
        dtype: dtype.to_string(),
        element: element::type_name(dialect, &dtype.to_string(), false),
        bits_type: (dialect.scalars)(holder(dtype)).to_owned(),
        to_bits,
        of_bits,
        mask: format!("0x{:X}", mask(dtype)),
        most: format!("0x{:X}", range(dtype.scalar).1),
        signed: fill::is_signed(dtype.scalar),
        float,
    }
}

/// Unsigned type of the same width as an element, at least 8 bits.
pub(super) fn holder(dtype: Dtype) -> Scalar {
    match dtype.element_bits() {
        64 => Scalar::U64,
        32 => Scalar::U32,
        16 => Scalar::U16,
        _ => Scalar::U8,
    }
}
