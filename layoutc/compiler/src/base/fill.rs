//! Bit patterns of fill values: exact for integers, rounded to nearest, ties to even, for floats.

pub(crate) mod record;

use thiserror::Error;

use crate::base::dtype::{Dtype, Scalar};

/// Value that pack (the generated conversion from dense to laid-out memory) writes to the padding of a tensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fill {
    /// Value to write, converted to the tensor's element type.
    Value(FillValue),
    /// No value: padding keeps its contents.
    Nothing,
}

/// Number to write to padding, as the manifest gives it, before the conversion to the tensor's element type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FillValue {
    /// Integer, such as 0 or -1.
    Integer(i128),
    /// Number with a fraction or an exponent, infinity or NaN.
    Float(f64),
}

/// Reason why an element type cannot represent a fill value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FillError {
    /// The value is less than the least or greater than the greatest value of the element type. For an integer type,
    /// also infinity and NaN.
    #[error("it is out of range")]
    Range,
    /// Value with a fraction, for an integer type.
    #[error("it is not a whole number")]
    Fraction,
    /// The value is infinity, NaN, zero or negative, and the element type has no such value.
    #[error("the type has no such value")]
    Missing,
}

/// Format of a binary float type; the leading bit of a normal number is implicit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatFormat {
    pub(crate) exponent_bits: u32,
    pub(crate) mantissa_bits: u32,
    pub(crate) bias: i32,
    /// Bit pattern of the greatest finite value.
    pub(crate) greatest: u64,
    pub(crate) infinity: Option<u64>,
    pub(crate) nan: Option<u64>,
    pub(crate) signed: bool,
    /// True if the bit pattern of a negative zero (sign bit only) is the only NaN of the type.
    pub(crate) unsigned_zero: bool,
}

/// Bit pattern of one scalar of `dtype` with the fill value, in the low bits: the real part of a complex number, any
/// lane of a vector. 0 for [`Fill::Nothing`]. For a record of at most 8 bytes, the bytes of the record in little-endian
/// order; for a larger record, 1 if any bit of the record is set, otherwise 0.
///
/// # Errors
/// [`FillError`] if the type cannot represent the value.
pub fn bits(dtype: Dtype, fill: Fill) -> Result<u64, FillError> {
    if let Some(record) = dtype.record() {
        let bytes = record::bytes(record, fill)?;
        return Ok(match bytes.as_slice() {
            short if short.len() <= 8 => {
                short.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
            }
            long => long.iter().any(|byte| *byte != 0).into(),
        });
    }
    match fill {
        Fill::Nothing => Ok(0),
        Fill::Value(value) => match format(dtype.scalar) {
            Some(format) => float_bits(&format, value),
            None => integer_bits(dtype, value),
        },
    }
}

/// Bytes of one scalar of `dtype` with the fill value (see [`bits`]), the lowest first. For `c128`, only the 8 bytes of
/// the real part; for a record, all of its bytes.
///
/// # Errors
/// [`FillError`] if the type cannot represent the value.
pub fn bytes(dtype: Dtype, fill: Fill) -> Result<Vec<u8>, FillError> {
    if let Some(record) = dtype.record() {
        return record::bytes(record, fill);
    }
    let bytes = usize::try_from(dtype.scalar_bits().div_ceil(8)).unwrap_or(8);
    Ok(bits(dtype, fill)?.to_le_bytes().into_iter().take(bytes).collect())
}

/// Hexadecimal digits of one scalar of `dtype`, the most significant first: `3c00` for 1 in `f16`, `3` for 3 in `i4`.
/// `bytes` are the bytes of the scalar as [`bytes()`] returns them, the lowest first.
pub fn digits(dtype: Dtype, bytes: &[u8]) -> String {
    let digit = |text: String, byte: &u8| format!("{text}{byte:02x}");
    let digits = bytes.iter().rev().fold(String::new(), digit);
    digits.chars().skip(usize::from(dtype.scalar_bits() <= 4)).collect()
}

/// Fill value of a tensor of type `dtype` whose manifest gives none: `value`, the default of the project. If `value` is
/// 0 and the type has no zero, it is the least value of the type, such as 2^-127 of `f8e8m0fnu`; all its bits are 0.
pub(crate) fn default_fill(dtype: Dtype, value: FillValue) -> FillValue {
    let is_zero = match value {
        FillValue::Integer(value) => value == 0,
        FillValue::Float(value) => value == 0.0,
    };
    match format(dtype.scalar) {
        Some(format) if is_zero && !format.signed => {
            FillValue::Float(2.0_f64.powi(format.bias.saturating_neg()))
        }
        _ => value,
    }
}

/// Float format of a scalar type; for a complex type, the format of its real and of its imaginary part. `None` for
/// integers, `bool` and records.
pub(crate) fn format(scalar: Scalar) -> Option<FloatFormat> {
    let ieee = |exponent_bits: u32, mantissa_bits: u32| {
        let infinity = ((1_u64 << exponent_bits) - 1) << mantissa_bits;
        FloatFormat {
            exponent_bits,
            mantissa_bits,
            bias: (1 << (exponent_bits - 1)) - 1,
            greatest: infinity - 1,
            infinity: Some(infinity),
            nan: Some(infinity | (1 << (mantissa_bits - 1))),
            signed: true,
            unsigned_zero: false,
        }
    };
    // Compared with IEEE 754, the all-ones exponent is finite: no infinity, and the bias is one greater.
    let fnuz = |exponent_bits: u32, mantissa_bits: u32| {
        let sign = 1_u64 << (exponent_bits + mantissa_bits);
        let like = ieee(exponent_bits, mantissa_bits);
        FloatFormat {
            bias: like.bias + 1,
            greatest: sign - 1,
            infinity: None,
            nan: Some(sign),
            unsigned_zero: true,
            ..like
        }
    };
    let finite = |exponent_bits: u32, mantissa_bits: u32| FloatFormat {
        greatest: (1 << (exponent_bits + mantissa_bits)) - 1,
        infinity: None,
        nan: None,
        ..ieee(exponent_bits, mantissa_bits)
    };
    Some(match scalar {
        Scalar::F64 | Scalar::C128 => ieee(11, 52),
        Scalar::F32 | Scalar::C64 => ieee(8, 23),
        Scalar::F16 => ieee(5, 10),
        Scalar::Bf16 => ieee(8, 7),
        Scalar::F8e5m2 => ieee(5, 2),
        Scalar::F8e4m3fn => {
            FloatFormat { greatest: 0x7E, infinity: None, nan: Some(0x7F), ..ieee(4, 3) }
        }
        Scalar::F8e4m3fnuz => fnuz(4, 3),
        Scalar::F8e5m2fnuz => fnuz(5, 2),
        Scalar::F6e2m3fn => finite(2, 3),
        Scalar::F6e3m2fn => finite(3, 2),
        Scalar::F4e2m1fn => finite(2, 1),
        Scalar::F8e8m0fnu => FloatFormat {
            exponent_bits: 8,
            mantissa_bits: 0,
            bias: 127,
            greatest: 0xFE,
            infinity: None,
            nan: Some(0xFF),
            signed: false,
            unsigned_zero: false,
        },
        Scalar::I64
        | Scalar::I32
        | Scalar::I16
        | Scalar::I8
        | Scalar::I6
        | Scalar::I5
        | Scalar::I4
        | Scalar::I3
        | Scalar::I2
        | Scalar::U64
        | Scalar::U32
        | Scalar::U16
        | Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1
        | Scalar::Bool
        | Scalar::Record(_) => return None,
    })
}

/// True if `scalar` is a signed integer type.
pub fn is_signed(scalar: Scalar) -> bool {
    use Scalar::{I2, I3, I4, I5, I6, I8, I16, I32, I64};
    matches!(scalar, I64 | I32 | I16 | I8 | I6 | I5 | I4 | I3 | I2)
}

fn integer_bits(dtype: Dtype, value: FillValue) -> Result<u64, FillError> {
    let value = match value {
        FillValue::Integer(value) => value,
        FillValue::Float(value) => exact_integer(value)?,
    };
    let width = dtype.scalar_bits();
    let signed = is_signed(dtype.scalar);
    let (low, high) = if signed {
        (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1)
    } else if dtype.scalar == Scalar::Bool {
        (0, 1)
    } else {
        (0, (1_i128 << width) - 1)
    };
    if value < low || value > high {
        return Err(FillError::Range);
    }
    u64::try_from(value & ((1_i128 << width) - 1)).map_err(|_| FillError::Range)
}

/// Integer equal to `value`. `Err(Fraction)` if `value` has a fraction; `Err(Range)` for infinity, NaN and an exponent
/// beyond every integer type.
fn exact_integer(value: f64) -> Result<i128, FillError> {
    let parts = unpack_float(value).ok_or(FillError::Range)?;
    let (mut mantissa, mut exponent) = (parts.mantissa, parts.exponent);
    while exponent < 0 && mantissa & 1 == 0 && mantissa != 0 {
        mantissa >>= 1;
        exponent += 1;
    }
    if exponent < 0 && mantissa != 0 {
        return Err(FillError::Fraction);
    }
    if exponent > 70 {
        return Err(FillError::Range);
    }
    let magnitude = i128::try_from(mantissa).map_err(|_| FillError::Range)?;
    let magnitude = if mantissa == 0 { 0 } else { magnitude << exponent };
    Ok(if parts.negative { -magnitude } else { magnitude })
}

/// Finite number `(-1)^negative * mantissa * 2^exponent`.
struct UnpackedFloat {
    negative: bool,
    mantissa: u128,
    exponent: i32,
}

/// Sign, mantissa and exponent of `value`, not normalized; `None` for infinity and NaN.
fn unpack_float(value: f64) -> Option<UnpackedFloat> {
    if !value.is_finite() {
        return None;
    }
    let bits = value.to_bits();
    let field = i32::try_from((bits >> 52) & 0x7FF).ok()?;
    let fraction = u128::from(bits & ((1 << 52) - 1));
    let mantissa = if field == 0 { fraction } else { fraction | (1 << 52) };
    Some(UnpackedFloat {
        negative: value.is_sign_negative(),
        mantissa,
        exponent: field.max(1) - 1075,
    })
}

fn float_bits(format: &FloatFormat, value: FillValue) -> Result<u64, FillError> {
    let sign = |negative: bool| {
        if negative && format.signed {
            1_u64 << (format.exponent_bits + format.mantissa_bits)
        } else {
            0
        }
    };
    let parts = match value {
        FillValue::Integer(value) => {
            UnpackedFloat { negative: value < 0, mantissa: value.unsigned_abs(), exponent: 0 }
        }
        FillValue::Float(value) if value.is_nan() => return format.nan.ok_or(FillError::Missing),
        FillValue::Float(value) if value.is_infinite() => {
            let infinity = format.infinity.ok_or(FillError::Missing)?;
            return Ok(infinity | sign(value.is_sign_negative()));
        }
        FillValue::Float(value) => unpack_float(value).ok_or(FillError::Missing)?,
    };
    if !format.signed && (parts.negative || parts.mantissa == 0) {
        return Err(FillError::Missing);
    }
    let magnitude = round(format, &parts)?;
    if magnitude > format.greatest {
        return Err(FillError::Range);
    }
    if format.unsigned_zero && magnitude == 0 {
        return Ok(0);
    }
    Ok(magnitude | sign(parts.negative))
}

/// Bit pattern, without the sign, of `parts.mantissa * 2^parts.exponent`, rounded to nearest, ties to even. A result
/// above `format.greatest` encodes no finite value. `Err(Range)` if the exponent of the number's leading bit is above
/// `format.bias + 1`. Also `Err(Range)` if the format has no mantissa bits, and thus no zero, and the number rounds to
/// 0.
fn round(format: &FloatFormat, parts: &UnpackedFloat) -> Result<u64, FillError> {
    if parts.mantissa == 0 {
        return Ok(0);
    }
    let size = i32::try_from(u128::BITS - parts.mantissa.leading_zeros()).unwrap_or(i32::MAX);
    let mantissa_bits = i32::try_from(format.mantissa_bits).unwrap_or(0);
    // Exponent of the leading bit, clamped to that of the least normal number if there are subnormal ones.
    let least = if format.mantissa_bits == 0 { -format.bias } else { 1 - format.bias };
    let leading = parts.exponent + size - 1;
    let exponent = leading.max(least);
    if exponent > format.bias + 1 {
        return Err(FillError::Range);
    }
    // `units` is the mantissa in units in the last place.
    let shift = exponent - mantissa_bits - parts.exponent;
    let units = if shift <= 0 {
        parts.mantissa << u32::try_from(-shift).unwrap_or(0)
    } else {
        let shift = u32::try_from(shift).unwrap_or(u32::MAX);
        if shift > 127 {
            0
        } else {
            let truncated = parts.mantissa >> shift;
            let rest = parts.mantissa & ((1 << shift) - 1);
            let half = 1_u128 << (shift - 1);
            // Without mantissa bits the exponent field decides a tie.
            let odd =
                if mantissa_bits == 0 { (exponent - least) & 1 == 1 } else { truncated & 1 == 1 };
            truncated + u128::from(rest > half || (rest == half && odd))
        }
    };
    if format.mantissa_bits == 0 && leading < least && units == 0 {
        return Err(FillError::Range);
    }
    let units = u64::try_from(units).map_err(|_| FillError::Range)?;
    let field = u64::try_from(exponent - least).unwrap_or(0);
    if format.mantissa_bits == 0 {
        // The value is a power of two: 1 unit is 2^exponent, and 2 units are 2^(exponent + 1).
        return Ok(field + units.saturating_sub(1));
    }
    Ok((field << format.mantissa_bits) + units)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, value: FillValue) -> Result<u64, FillError> {
        bits(Dtype::parse(name).unwrap(), Fill::Value(value))
    }

    #[test]
    fn floats_get_the_bits_of_the_nearest_value() {
        let cases = [
            ("f32", 1.5, 0x3FC0_0000),
            ("f64", -0.1, 0xBFB9_9999_9999_999A),
            ("f16", 1.0, 0x3C00),
            ("f16", 65504.0, 0x7BFF),
            ("f16", 65519.9, 0x7BFF),
            ("f16", 5.960_464_477_539_063e-8, 1),
            ("f16", 2.0_f64.powi(-25), 0),
            ("f16", 1.000_001 * 2.0_f64.powi(-25), 1),
            ("bf16", 1.003_906_25, 0x3F80),
            ("bf16", 1.011_718_75, 0x3F82),
            ("f8e4m3fn", 448.0, 0x7E),
            ("f8e4m3fn", 463.0, 0x7E),
            ("f8e5m2", 57344.0, 0x7B),
            ("f8e5m2", f64::NEG_INFINITY, 0xFC),
            ("f8e8m0fnu", 1.0, 127),
            ("f8e8m0fnu", 2.0_f64.powi(-127), 0),
            ("f8e8m0fnu", 3.0, 128),
            ("f8e8m0fnu", 6.0, 130),
            ("f4e2m1fn", -6.0, 0xF),
            ("f4e2m1fn", 0.5, 1),
            ("f4e2m1fn", 2.5, 4),
            ("f6e2m3fn", -7.5, 0x3F),
            ("f6e2m3fn", 0.125, 1),
            ("f6e3m2fn", 28.0, 0x1F),
            ("f6e3m2fn", 0.0625, 1),
            ("f8e4m3fnuz", 240.0, 0x7F),
            ("f8e4m3fnuz", -1.0, 0xC0),
            ("f8e4m3fnuz", -0.0, 0),
            ("f8e4m3fnuz", -1e-9, 0),
            ("f8e4m3fnuz", f64::NAN, 0x80),
            ("f8e5m2fnuz", 57344.0, 0x7F),
        ];
        for (name, value, expected) in cases {
            assert_eq!(of(name, FillValue::Float(value)), Ok(expected), "{name} {value}");
        }
        for value in [0.1_f32, 3.3e-39, -1e38, 16_777_217.0] {
            let bits = of("f32", FillValue::Float(f64::from(value)));
            assert_eq!(bits, Ok(u64::from(value.to_bits())));
        }
    }

    #[test]
    fn default_fill_is_representable_in_every_type() {
        for name in ["f64", "f16", "f8e4m3fn", "f8e8m0fnu", "f4e2m1fn", "i8", "u1", "bool", "c64"] {
            let dtype = Dtype::parse(name).unwrap();
            for zero in [FillValue::Integer(0), FillValue::Float(0.0)] {
                assert_eq!(bits(dtype, Fill::Value(default_fill(dtype, zero))), Ok(0), "{name}");
            }
            let one = default_fill(dtype, FillValue::Integer(1));
            assert_eq!(one, FillValue::Integer(1), "{name}");
        }
    }

    #[test]
    fn unrepresentable_fill_values_are_refused() {
        assert_eq!(of("u8", FillValue::Integer(256)), Err(FillError::Range));
        assert_eq!(of("i4", FillValue::Integer(-8)), Ok(8));
        assert_eq!(of("i4", FillValue::Integer(8)), Err(FillError::Range));
        assert_eq!(of("i3", FillValue::Integer(-4)), Ok(4));
        assert_eq!(of("i3", FillValue::Integer(4)), Err(FillError::Range));
        assert_eq!(of("u6", FillValue::Integer(63)), Ok(63));
        assert_eq!(of("f6e3m2fn", FillValue::Float(f64::NAN)), Err(FillError::Missing));
        assert_eq!(of("f8e4m3fnuz", FillValue::Integer(256)), Err(FillError::Range));
        assert_eq!(of("f8e5m2fnuz", FillValue::Float(f64::INFINITY)), Err(FillError::Missing));
        assert_eq!(of("i32", FillValue::Float(0.5)), Err(FillError::Fraction));
        assert_eq!(of("i32", FillValue::Float(-2.0)), Ok(0xFFFF_FFFE));
        assert_eq!(of("f16", FillValue::Integer(65520)), Err(FillError::Range));
        assert_eq!(of("f8e4m3fn", FillValue::Float(465.0)), Err(FillError::Range));
        assert_eq!(of("f8e4m3fn", FillValue::Float(f64::INFINITY)), Err(FillError::Missing));
        assert_eq!(of("f8e8m0fnu", FillValue::Integer(0)), Err(FillError::Missing));
        assert_eq!(of("bool", FillValue::Integer(2)), Err(FillError::Range));
    }
}
