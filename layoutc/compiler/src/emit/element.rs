//! Types and literals of elements in the target languages.

use super::dialect::Dialect;
use super::record;
use crate::base::dtype::{Dtype, Scalar};
use crate::emit::syntax::Spelling;

/// Name of the type of an element in `dialect`. `element` is its type in manifest notation; any other text is returned
/// unchanged. If `in_buffer` is true, the result is the type of a buffer's items: a byte type for elements of fewer
/// than 8 bits.
pub(super) fn type_name(dialect: &Dialect, element: &str, in_buffer: bool) -> String {
    let Some(dtype) = Dtype::of_plan(element) else { return element.to_owned() };
    if in_buffer && dtype.element_bits() < 8 {
        return (dialect.scalars)(Scalar::U8).to_owned();
    }
    if let Some(record) = dtype.record() {
        return record::name(dialect, record);
    }
    if dtype.lanes == 1 {
        return (dialect.scalars)(dtype.scalar).to_owned();
    }
    (dialect.own_type)(dtype).unwrap_or_else(|| format!("{}{dtype}", dialect.structure))
}

/// Pair (name, member declarations) of the structure that represents an element type; `None` for a built-in type.
pub(super) fn structure(dialect: &Dialect, dtype: Dtype) -> Option<(String, String)> {
    if let Some(record) = dtype.record() {
        return Some((record::name(dialect, record), record::members(dialect, record)));
    }
    let name = format!("{}{dtype}", dialect.structure);
    if dtype.lanes > 1 {
        let scalar = (dialect.scalars)(dtype.scalar);
        let own = (dialect.own_type)(dtype).is_some();
        return (!own).then(|| (name, format!("{scalar} lane[{}];", dtype.lanes)));
    }
    // A complex type that is not built in has the name of its structure.
    if (dialect.scalars)(dtype.scalar) != name {
        return None;
    }
    match dtype.scalar {
        Scalar::C64 => Some((name, "float re, im;".to_owned())),
        Scalar::C128 => Some((name, "double re, im;".to_owned())),
        _ => None,
    }
}

/// Literal of an element as an initializer. `element` is its type in manifest notation, and `bits` are the hexadecimal
/// bits of each lane, or of the whole record. `spelling` is the form of each lane, and has no effect on a record. The
/// bits of an unknown type are returned unchanged.
pub(super) fn literal(dialect: &Dialect, element: &str, bits: &str, spelling: Spelling) -> String {
    let Some(dtype) = Dtype::of_plan(element) else { return bits.to_owned() };
    if let Some(record) = dtype.record() {
        return record::literal(dialect, record, bits);
    }
    let value = u64::from_str_radix(bits, 16).unwrap_or(0);
    let scalar = match spelling {
        Spelling::Number => scalar_literal(dialect, dtype.scalar, value),
        Spelling::Bits => {
            let digits = format!("0x{}", bits.to_ascii_uppercase());
            unsigned_literal(dialect, dtype.scalar, value, digits)
        }
    };
    if dtype.lanes == 1 {
        return scalar;
    }
    let own = (dialect.own_type)(dtype);
    if let (true, Some(own)) = (dialect.splat, &own) {
        return format!("({own})({scalar})");
    }
    let lanes = (0..dtype.lanes).map(|_| scalar.clone()).collect::<Vec<_>>().join(", ");
    let [open, close] = dialect.brackets;
    let list = [open, &lanes, close].concat();
    if own.is_some() { list } else { [open, &list, close].concat() }
}

/// Literal of a scalar with these bits. For a complex number, they are the bits of the real part, and the imaginary
/// part is 0. Empty for a record.
pub(super) fn scalar_literal(dialect: &Dialect, scalar: Scalar, bits: u64) -> String {
    let single = |bits: u64| {
        single_literal(dialect, f32::from_bits(u32::try_from(bits & 0xFFFF_FFFF).unwrap_or(0)))
    };
    let double = |bits: u64| double_literal(dialect, f64::from_bits(bits));
    let complex = |real: String, zero: String| {
        if dialect.splat {
            format!("({})({real}, {zero})", (dialect.scalars)(scalar))
        } else {
            let [open, close] = dialect.brackets;
            [open, &real, ", ", &zero, close].concat()
        }
    };
    let [half, bfloat] = dialect.half_literals;
    match scalar {
        Scalar::F64 => double(bits),
        Scalar::F32 => single(bits),
        Scalar::C64 => complex(single(bits), single(0)),
        Scalar::C128 => complex(double(bits), double(0)),
        Scalar::F16 => format!("{}0x{bits:04X}{}", half.0, half.1),
        Scalar::Bf16 => format!("{}0x{bits:04X}{}", bfloat.0, bfloat.1),
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu
        | Scalar::F6e2m3fn
        | Scalar::F6e3m2fn => format!("0x{bits:02X}"),
        Scalar::F4e2m1fn => format!("0x{bits:X}"),
        Scalar::I64 => signed_literal(dialect, bits, 64),
        Scalar::I32 => signed_literal(dialect, bits, 32),
        Scalar::I16 => signed_literal(dialect, bits, 16),
        Scalar::I8 => signed_literal(dialect, bits, 8),
        Scalar::I6 => signed_literal(dialect, bits, 6),
        Scalar::I5 => signed_literal(dialect, bits, 5),
        Scalar::I4 => signed_literal(dialect, bits, 4),
        Scalar::I3 => signed_literal(dialect, bits, 3),
        Scalar::I2 => signed_literal(dialect, bits, 2),
        Scalar::U64
        | Scalar::U32
        | Scalar::U16
        | Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1
        | Scalar::Bool => unsigned_literal(dialect, scalar, bits, bits.to_string()),
        Scalar::Record(_) => String::new(),
    }
}

/// Literal of the unsigned integer `bits`: its `digits`, with a suffix or in a macro if the value exceeds 31 bits and
/// the type `scalar` is `u32` or `u64`.
fn unsigned_literal(dialect: &Dialect, scalar: Scalar, bits: u64, digits: String) -> String {
    match (scalar, dialect.wide_literal) {
        _ if bits <= 0x7FFF_FFFF => digits,
        (Scalar::U64, ("", suffix)) => [&digits, dialect.unsigned_suffix, suffix].concat(),
        (Scalar::U64, _) => format!("UINT64_C({digits})"),
        (Scalar::U32, ("", _)) => [&digits, dialect.unsigned_suffix].concat(),
        (Scalar::U32, _) => format!("UINT32_C({digits})"),
        _ => digits,
    }
}

fn signed_literal(dialect: &Dialect, bits: u64, width: u32) -> String {
    let value = i128::from(bits);
    let value = if bits >> (width - 1) & 1 == 1 { value - (1_i128 << width) } else { value };
    if dialect.plain_literal == i64::MAX {
        return value.to_string();
    }
    let (open, close) = dialect.wide_literal;
    let headers = !open.is_empty();
    if value == i128::from(i64::MIN) {
        let spelled = format!("(-{open}{}{close} - 1)", i64::MAX);
        return if headers { "INT64_MIN".to_owned() } else { spelled };
    }
    if value == i128::from(i32::MIN) {
        return if headers { "INT32_MIN" } else { "(-2147483647 - 1)" }.to_owned();
    }
    let sign = if value < 0 { "-" } else { "" };
    let magnitude = value.unsigned_abs();
    if magnitude > 0x7FFF_FFFF {
        format!("{sign}{open}{magnitude}{close}")
    } else {
        format!("{sign}{magnitude}")
    }
}

fn double_literal(dialect: &Dialect, value: f64) -> String {
    let [_, suffix] = dialect.floats.suffixes;
    let [_, specials] = dialect.floats.specials;
    special(value, specials).unwrap_or_else(|| format!("{value:?}{suffix}"))
}

fn single_literal(dialect: &Dialect, value: f32) -> String {
    let [suffix, _] = dialect.floats.suffixes;
    let [specials, _] = dialect.floats.specials;
    special(value.into(), specials).unwrap_or_else(|| format!("{value:?}{suffix}"))
}

fn special(value: f64, [nan, infinity, negative]: [&str; 3]) -> Option<String> {
    let text = match (value.is_nan(), value.is_infinite()) {
        (true, _) => nan,
        (_, true) if value.is_sign_negative() => negative,
        (_, true) => infinity,
        _ => return None,
    };
    Some(text.to_owned())
}
