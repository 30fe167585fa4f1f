//! Records in the C family: structures with the exact memory layout of a record, and their literals.
//!
//! A field is a member of its scalar type, or an array of it, if the size of this type divides the offset of the field
//! and the size of the record; the scalar type of a complex field is that of its parts. Any other field, such as one of
//! sub-byte elements, is a byte array. Gaps are explicit members, so that the compiler inserts no padding.

use super::dialect::Dialect;
use super::element::scalar_literal;
use crate::base::dtype::record::{Field, Record};
use crate::base::dtype::{Dtype, Scalar};

/// Maximum length of the part of a structure's name that lists the fields, in bytes.
const NAME: usize = 48;

/// Member of the structure of a record.
struct Member {
    name: String,
    scalar: Scalar,
    /// Array extents, outermost first; empty for a scalar.
    counts: Vec<u32>,
    /// Offset in bytes from the start of the record.
    offset: u32,
    /// Type of a field that a byte array holds, as a comment: `u4 32`. `None` for any other field, and for a gap.
    comment: Option<String>,
}

/// Name of the structure: `layoutc_d_f16_q_u4x32`. A hash follows if the listed fields may not identify the record, or
/// if their list is too long.
pub(super) fn name(dialect: &Dialect, record: Record) -> String {
    let field = |field: &Field| {
        let counts = spelled(&field.counts, ["x", ""]);
        format!("{}_{}{counts}", field.name, field.dtype)
    };
    let fields: Vec<String> = record.fields().iter().map(field).collect();
    let whole = fields.join("_");
    let is_plain = |name: &str| name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let is_packed = !record.text().contains("align=") && !record.is_high_first();
    let are_plain =
        record.fields().iter().all(|field| is_plain(&field.name) && field.dtype.lanes == 1);
    if is_packed && are_plain && whole.len() <= NAME {
        return format!("{}{whole}", dialect.structure);
    }
    let hash = blake3::hash(record.text().as_bytes()).to_hex();
    let hash = hash.as_str().get(..16).unwrap_or_default();
    let first = whole.get(..NAME).unwrap_or(&whole).trim_end_matches('_');
    format!("{}{first}_{hash}", dialect.structure)
}

/// Concatenated counts, each between `before` and `behind`: `[2][3]`.
fn spelled(counts: &[u32], [before, behind]: [&str; 2]) -> String {
    counts.iter().fold(String::new(), |text, count| format!("{text}{before}{count}{behind}"))
}

/// Member declarations of the structure, one per line. A comment follows a field that is stored as a byte array.
pub(super) fn members(dialect: &Dialect, record: Record) -> String {
    let one = |member: &Member| {
        let counts = spelled(&member.counts, ["[", "]"]);
        let comment = member.comment.as_ref().map(|comment| format!(" // {comment}"));
        let comment = comment.unwrap_or_default();
        format!("{} {}{counts};{comment}", (dialect.scalars)(member.scalar), member.name)
    };
    all(record).iter().map(one).collect::<Vec<_>>().join("\n    ")
}

/// Static assertions on the size of the structure and, in a dialect with `offsetof`, on the offset of each field.
pub(super) fn asserts(dialect: &Dialect, record: Record) -> Vec<String> {
    let name = name(dialect, record);
    let assert = |what: &str, condition: String| {
        format!("typedef char {name}_{what}[{condition} ? 1 : -1];")
    };
    let size = assert("bytes", format!("sizeof({name}) == {}", record.bytes()));
    let field = |field: &Field| {
        let place = format!("{}({name}, {}) == {}", dialect.offset_of, field.name, field.offset);
        assert(&format!("at_{}", field.name), place)
    };
    let fields = record.fields().iter().filter(|_| !dialect.offset_of.is_empty()).map(field);
    [size].into_iter().chain(fields).collect()
}

/// Literal of a record as an initializer; `bits` has two hexadecimal digits per byte, the last byte first.
pub(super) fn literal(dialect: &Dialect, record: Record, bits: &str) -> String {
    let digits = |k: usize| bits.get(k..k.saturating_add(2)).unwrap_or("00");
    let bytes: Vec<u8> = (0..bits.len())
        .step_by(2)
        .rev()
        .map(|k| u8::from_str_radix(digits(k), 16).unwrap_or(0))
        .collect();
    of_bytes(dialect, record, &bytes)
}

/// Literal of a record with these bytes, as an initializer.
pub(super) fn of_bytes(dialect: &Dialect, record: Record, bytes: &[u8]) -> String {
    let member = |member: &Member| {
        let width = Dtype { scalar: member.scalar, lanes: 1 }.scalar_bits() / 8;
        let elements = member.counts.iter().fold(1_u32, |all, count| all.saturating_mul(*count));
        let from = usize::try_from(member.offset).unwrap_or(0);
        let until = from.saturating_add(usize::try_from(elements * width).unwrap_or(0));
        let own = bytes.get(from..until).unwrap_or_default();
        nested(dialect, member.scalar, &member.counts, own)
    };
    format!("{{{}}}", all(record).iter().map(member).collect::<Vec<_>>().join(", "))
}

/// Initializer of an array with the extents `counts` and the little-endian bytes `bytes`: nested braces around the
/// scalars, one level per axis. An array of zeros has one element per level. Without axes, the literal of a scalar.
fn nested(dialect: &Dialect, scalar: Scalar, counts: &[u32], bytes: &[u8]) -> String {
    let Some((count, inner)) = counts.split_first() else {
        let bits = bytes.iter().rev().fold(0_u64, |all, byte| all << 8 | u64::from(*byte));
        return scalar_literal(dialect, scalar, bits);
    };
    let part = bytes.len().checked_div(usize::try_from(*count).unwrap_or(1)).unwrap_or(1).max(1);
    let are_zero = bytes.iter().all(|byte| *byte == 0);
    let parts = bytes.chunks(part).take(if are_zero { 1 } else { usize::MAX });
    let parts: Vec<String> = parts.map(|part| nested(dialect, scalar, inner, part)).collect();
    format!("{{{}}}", parts.join(", "))
}

fn all(record: Record) -> Vec<Member> {
    let mut all: Vec<Member> = record.fields().iter().map(|field| member(record, field)).collect();
    for (number, (offset, bytes)) in (1..).zip(record.gaps()) {
        let (name, counts) = (format!("layoutc_gap_{number}"), vec![bytes]);
        all.push(Member { name, scalar: Scalar::U8, counts, offset, comment: None });
    }
    all.sort_by_key(|member| member.offset);
    all
}

fn member(record: Record, field: &Field) -> Member {
    let (name, offset) = (field.name.clone(), field.offset);
    let (scalar, parts) = match field.dtype.scalar {
        Scalar::C64 => (Scalar::F32, 2),
        Scalar::C128 => (Scalar::F64, 2),
        scalar => (scalar, field.dtype.lanes),
    };
    let bytes = Dtype { scalar, lanes: 1 }.scalar_bits() / 8;
    let divides = |n: u32| n.checked_rem(bytes) == Some(0);
    let is_packed = field.dtype.element_bits() < 8;
    if !is_packed && divides(offset) && divides(record.bytes()) {
        let parts = if parts > 1 { vec![parts] } else { Vec::new() };
        let counts = [field.counts.clone(), parts].concat();
        return Member { name, scalar, counts, offset, comment: None };
    }
    let counts = spelled(&field.counts, [" ", ""]);
    let unaligned = if is_packed { "" } else { ", unaligned" };
    let comment = Some(format!("{}{counts}{unaligned}", field.dtype));
    Member { name, scalar: Scalar::U8, counts: vec![field.bytes()], offset, comment }
}
