//! Table of the element types of XLA. Each is mapped to the manifest element type that stores it: `s4` to `i4` if the
//! layout packs its bits (`E(4)`), and to `i8` otherwise.

use alloc::format;
use alloc::string::String;

use super::XlaShape;
use crate::notation::{NotationFault, Remark};

/// Element type of XLA: its name, its number of bits, and two manifest types that store it. `packed` is the type under
/// `E(n)`, where `n` is the width of `packed` in bits; `whole` is the type otherwise: `i4` and `i8` for `s4`.
pub(super) struct XlaType {
    name: &'static str,
    bits: u32,
    packed: &'static str,
    whole: &'static str,
}

const fn own(name: &'static str, bits: u32, word: &'static str) -> XlaType {
    XlaType { name, bits, packed: word, whole: word }
}

const fn small(
    name: &'static str,
    bits: u32,
    packed: &'static str,
    whole: &'static str,
) -> XlaType {
    XlaType { name, bits, packed, whole }
}

/// Supported element types of XLA. A floating-point type that manifests lack, such as `f8e4m3`, is stored as
/// `u8`.
const TYPES: &[XlaType] = &[
    small("pred", 8, "u1", "bool"),
    small("s1", 1, "u1", "i8"),
    small("s2", 2, "i2", "i8"),
    small("s4", 4, "i4", "i8"),
    own("s8", 8, "i8"),
    own("s16", 16, "i16"),
    own("s32", 32, "i32"),
    own("s64", 64, "i64"),
    small("u1", 1, "u1", "u8"),
    small("u2", 2, "u2", "u8"),
    small("u4", 4, "u4", "u8"),
    own("u8", 8, "u8"),
    own("u16", 16, "u16"),
    own("u32", 32, "u32"),
    own("u64", 64, "u64"),
    small("f4e2m1fn", 4, "f4e2m1fn", "u8"),
    own("f6e2m3fn", 8, "u8"),
    own("f6e3m2fn", 8, "u8"),
    own("f8e3m4", 8, "u8"),
    own("f8e4m3", 8, "u8"),
    own("f8e4m3b11fnuz", 8, "u8"),
    own("f8e4m3fn", 8, "f8e4m3fn"),
    own("f8e4m3fnuz", 8, "f8e4m3fnuz"),
    own("f8e5m2", 8, "f8e5m2"),
    own("f8e5m2fnuz", 8, "f8e5m2fnuz"),
    own("f8e8m0fnu", 8, "f8e8m0fnu"),
    own("f16", 16, "f16"),
    own("bf16", 16, "bf16"),
    own("f32", 32, "f32"),
    own("f64", 64, "f64"),
    own("c64", 64, "c64"),
    own("c128", 128, "c128"),
];

/// XLA element type named `word`, ignoring case; `None` if there is none.
pub(super) fn find(word: &str) -> Option<&'static XlaType> {
    TYPES.iter().find(|row| row.name.eq_ignore_ascii_case(word))
}

/// Names of all element types, separated by commas.
pub(super) fn names() -> String {
    let mut names = String::new();
    for (k, row) in TYPES.iter().enumerate() {
        names.push_str(if k == 0 { "" } else { ", " });
        names.push_str(row.name);
    }
    names
}

/// Name of an XLA element type that is one edit from `word`, where an edit replaces, adds or removes a letter, ignoring
/// case: `f32` for `f33`. A name of the length of `word` is preferred. `None` if there is none.
pub(super) fn nearest(word: &str) -> Option<&'static str> {
    let own = word.as_bytes();
    let is_near = |name: &str| {
        let name = name.as_bytes();
        let same = own.iter().zip(name).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
        let tail = |skip_own: usize, skip_name: usize| {
            let rest = (own.get(same + skip_own..), name.get(same + skip_name..));
            matches!(rest, (Some(a), Some(b)) if a.eq_ignore_ascii_case(b))
        };
        tail(1, 1) || tail(1, 0) || tail(0, 1)
    };
    // Of several names the one with the same kind of number is meant: `i8` is `s8`, `f33` is `f32`.
    let near = || TYPES.iter().map(|row| row.name).filter(|name| is_near(name));
    near().find(|name| name.len() == word.len()).or_else(|| near().next())
}

/// Pair `(name, bits)`. `name` is XLA's name of the manifest element type `dtype`. `bits` is the argument of `E(bits)`
/// if the layout must contain it, otherwise `None`: (`f32`, `None`) for `f32`, (`s4`, `Some(4)`) for `i4`. The result
/// is `None` if XLA lacks the type.
pub(in crate::notation) fn named(dtype: &str) -> Option<(&'static str, Option<u32>)> {
    let is_own = |row: &&XlaType| row.whole == dtype && i128::from(row.bits) == width(dtype);
    if let Some(row) = TYPES.iter().find(is_own) {
        return Some((row.name, None));
    }
    let is_packed = |row: &&XlaType| row.packed == dtype && i128::from(row.bits) == width(dtype);
    // Both `s1` and `u1` are stored as `u1`.
    let same = TYPES.iter().filter(is_packed).find(|row| row.name == dtype);
    let row = same.or_else(|| TYPES.iter().find(is_packed));
    row.map(|row| (row.name, Some(row.bits)))
}

/// Manifest type in which elements of the XLA type `element` are stored under the layout in `shape`. For `s4` it is
/// `i4` with `E(4)`, and `i8` with `E(8)` or without `E`; another width is a fault. Adds a remark to `shape` if an
/// element of less than 8 bits takes a whole byte.
pub(super) fn storage_type(
    element: &'static XlaType,
    shape: &mut XlaShape,
) -> Result<&'static str, NotationFault> {
    let XlaType { name, bits, packed, whole } = element;
    match &shape.bits {
        Some((asked, _)) if *asked == width(packed) => Ok(packed),
        Some((asked, span)) if *asked != 0 && *asked != width(whole) => {
            let message = format!("`E({asked})` of `{name}` is not an element type");
            let fault = NotationFault::unsupported(span.clone(), message);
            Err(fault.help(format!("it is `E({})` or `E({})`", width(packed), width(whole))))
        }
        _ => {
            if packed != whole && *bits < 8 {
                let message = format!(
                    "without `E({bits})` every `{name}` takes a byte; it is `{whole}` here"
                );
                let help = format!("write `E({bits})` in the layout where they share bytes");
                shape.remarks.push(Remark { span: 0..name.len(), message, help });
            }
            Ok(whole)
        }
    }
}

/// Number of bits of a manifest element type, from its name: 16 for `bf16`, 8 for `bool`.
pub(super) fn width(dtype: &str) -> i128 {
    let digits: &str = dtype.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    // Only `bool` has no number.
    number.parse().unwrap_or(8)
}
