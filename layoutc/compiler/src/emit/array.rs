//! Text of a C array with the contents of a buffer, in the element types of the generated code.
//!
//! Floats are hexadecimal, except in records, so that a compiler rounds nothing. Small floats are printed as their
//! bits, sub-byte elements as bytes. All bits are preserved except those of a NaN, for which C has no literal.

use std::fmt::Write;

use super::dialect::C;
use super::element::{structure, type_name};
use super::record::of_bytes;
use crate::base::dtype::{Dtype, Scalar};

/// Number of elements per line; a vector or a record has a line of its own.
const ON_A_LINE: usize = 8;

/// C definition `static const float NAME[2] = { … };` of an array with the elements in `buffer`, preceded by the
/// headers and structures that it needs. `name` is the identifier, and `dtype` the element type. `buffer` is
/// little-endian, and a partial element at its end is ignored. Without elements the array has one element 0.
pub fn c_array(name: &str, dtype: Dtype, buffer: &[u8]) -> String {
    let element =
        if dtype.element_bits() < 8 { Dtype { scalar: Scalar::U8, lanes: 1 } } else { dtype };
    let scalar_bytes = usize::try_from(element.scalar_bits() / 8).unwrap_or(1).max(1);
    let lanes = usize::try_from(element.lanes).unwrap_or(1);
    let elements = buffer.chunks_exact((scalar_bytes * lanes).max(1));
    let count = elements.len();
    let mut body = String::new();
    let on_a_line = if lanes > 1 || element.record().is_some() { 1 } else { ON_A_LINE };
    for (k, bytes) in elements.enumerate() {
        body.push_str(if k % on_a_line == 0 { "\n    " } else { " " });
        let scalars: Vec<String> = bytes
            .chunks_exact(scalar_bytes)
            .map(|bytes| literal(element.scalar, dtype, bytes))
            .collect();
        let [one] = scalars.as_slice() else {
            // Structure with an array member.
            let _ = write!(body, "{{{{{}}}}},", scalars.join(", "));
            continue;
        };
        body.push_str(one);
        body.push(',');
    }
    if count == 0 {
        body.push_str("\n    0,");
    }
    let mut text = String::new();
    if body.contains("NA") || body.contains("INF") {
        text.push_str("#include <math.h>\n");
    }
    text.push_str("#include <stdint.h>\n\n");
    for dtype in [Dtype { lanes: 1, ..element }, element] {
        let Some((name, members)) = structure(&C, dtype) else { continue };
        let guard = format!("{}_DEFINED", name.to_ascii_uppercase());
        if !text.contains(&guard) {
            let _ = write!(
                text,
                "#ifndef {guard}\n#define {guard}\ntypedef struct {name} {{\n    {members}\n}} {name};\n#endif\n\n"
            );
        }
    }
    let ty = type_name(&C, &element.to_string(), true);
    let count = count.max(1);
    let _ = write!(text, "static const {ty} {name}[{count}] = {{{body}\n}};\n");
    text
}

/// Literal of one scalar of type `scalar` with the little-endian bytes `bytes`. `dtype` is the element type of the
/// manifest: a byte of packed sub-byte elements is printed in hexadecimal.
fn literal(scalar: Scalar, dtype: Dtype, bytes: &[u8]) -> String {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0_u64, |n, byte| n << 8 | u64::from(*byte));
    let bits = number(bytes);
    let width = u32::try_from(bytes.len()).unwrap_or(8) * 8;
    let signed = i64::from_le_bytes((bits << (64 - width.clamp(1, 64))).to_le_bytes())
        >> (64 - width.clamp(1, 64));
    let parts = |suffix| {
        let (re, im) = bytes.split_at(bytes.len() / 2);
        let [re, im] = [re, im].map(|part| float(number(part), part.len(), suffix));
        format!("{{{re}, {im}}}")
    };
    match scalar {
        Scalar::F64 => float(bits, 8, ""),
        Scalar::F32 => float(bits, 4, "f"),
        Scalar::C64 => parts("f"),
        Scalar::C128 => parts(""),
        Scalar::F16 | Scalar::Bf16 => format!("0x{bits:04X}"),
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu => format!("0x{bits:02X}"),
        Scalar::I64 if signed == i64::MIN => "INT64_MIN".to_owned(),
        Scalar::I64 => {
            let sign = if signed < 0 { "-" } else { "" };
            format!("{sign}INT64_C({})", signed.unsigned_abs())
        }
        Scalar::I32 if bits == 1 << 31 => "INT32_MIN".to_owned(),
        Scalar::I32 | Scalar::I16 | Scalar::I8 => signed.to_string(),
        Scalar::U64 => format!("UINT64_C({bits})"),
        Scalar::U32 => format!("{bits}u"),
        Scalar::U8 if dtype.element_bits() < 8 => format!("0x{bits:02X}"),
        Scalar::F6e2m3fn
        | Scalar::F6e3m2fn
        | Scalar::F4e2m1fn
        | Scalar::I6
        | Scalar::I5
        | Scalar::I4
        | Scalar::I3
        | Scalar::I2
        | Scalar::U16
        | Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1
        | Scalar::Bool => bits.to_string(),
        Scalar::Record(record) => of_bytes(&C, record, bytes),
    }
}

/// Hexadecimal literal of an IEEE float of 4 or 8 `bytes` with the bit pattern `bits`, followed by `suffix`. Zero is
/// `0.0`; infinity and NaN are `INFINITY` and `NAN` without a suffix. A `-` precedes if the sign bit is set.
fn float(bits: u64, bytes: usize, suffix: &str) -> String {
    let (mantissa_bits, exponent_bits, digits) = if bytes == 4 { (23, 8, 6) } else { (52, 11, 13) };
    let sign = if bits >> (mantissa_bits + exponent_bits) & 1 == 1 { "-" } else { "" };
    let greatest = (1_u64 << exponent_bits) - 1;
    let field = bits >> mantissa_bits & greatest;
    let mantissa = bits & ((1 << mantissa_bits) - 1);
    if field == greatest {
        return format!("{sign}{}", if mantissa == 0 { "INFINITY" } else { "NAN" });
    }
    if field == 0 && mantissa == 0 {
        return format!("{sign}0.0{suffix}");
    }
    let bias = (greatest / 2).cast_signed();
    let exponent = field.max(1).cast_signed() - bias;
    // 23 bits fill six hexadecimal digits except for the last bit.
    let fraction = mantissa << (digits * 4 - mantissa_bits);
    let fraction = format!("{fraction:0digits$x}");
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}0x{}{point}{fraction}p{exponent}{suffix}", u8::from(field != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn float_literals_are_exact() {
        let of = |value: f32| float(u64::from(value.to_bits()), 4, "f");
        assert_eq!(of(1.5), "0x1.8p0f");
        assert_eq!(of(-0.1), "-0x1.99999ap-4f");
        assert_eq!(of(1e-45), "0x0.000002p-126f");
        assert_eq!(of(-0.0), "-0.0f");
        assert_eq!(of(f32::NEG_INFINITY), "-INFINITY");
        assert_eq!(of(f32::NAN), "NAN");
        assert_eq!(float(0.1_f64.to_bits(), 8, ""), "0x1.999999999999ap-4");
    }

    #[test]
    fn array_element_type_matches_generated_c() {
        let of = |dtype: &str, bytes: &[u8]| c_array("a", Dtype::parse(dtype).unwrap(), bytes);
        assert!(of("i8", &[1, 0xFF]).ends_with("static const int8_t a[2] = {\n    1, -1,\n};\n"));
        assert!(of("i4", &[0x21]).ends_with("static const uint8_t a[1] = {\n    0x21,\n};\n"));
        assert!(of("u16", &[]).ends_with("static const uint16_t a[1] = {\n    0,\n};\n"));
        let complex = of("c64", &[0, 0, 0x80, 0x3F, 0, 0, 0, 0]);
        assert!(complex.ends_with("layoutc_c64 a[1] = {\n    {0x1p0f, 0.0f},\n};\n"), "{complex}");
    }
}
