//! Reads sizes in bytes, `4096`, `"64 MiB"` or an expression of consts, and decimal fractions.

use super::ManifestReader;
use crate::base::codes::Code;
use crate::manifest::syntax::{Decimal, IntegerExpr, IntegerLiteral};
use crate::manifest::tree::{Entry, ManifestValue};

/// Units with their numbers of bytes; the units are in lower case, and case is ignored.
const UNITS: &[(&str, i128)] = &[
    ("b", 1),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("tb", 1_000_000_000_000),
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("tib", 1 << 40),
];

impl ManifestReader<'_, '_> {
    /// Reads a number of bytes: an integer, a string with a unit such as `"64 MiB"`, or an expression of consts. `None`
    /// after a reported error; a number with a unit must be below 2^63. `what` is the noun phrase for the entry in
    /// messages.
    pub(super) fn size(&mut self, entry: &Entry, what: &str) -> Option<IntegerExpr> {
        let ManifestValue::String(text) = &entry.value else {
            return self.bound(entry, what, Code::KdlValue);
        };
        let text = text.trim();
        let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if number.len() == text.len() || !number.starts_with(|c: char| c.is_ascii_digit()) {
            return self.bound(entry, what, Code::KdlValue);
        }
        match bytes(text).filter(|bytes| i64::try_from(*bytes).is_ok()) {
            Some(value) => {
                Some(IntegerExpr::Integer(IntegerLiteral { value, span: entry.content.clone() }))
            }
            None => {
                let message = format!("{what} is not a number of bytes that fits in 64 bits");
                let fault = self.faults.error(Code::KdlValue, message, entry.span.clone(), "");
                let note = "units are B, KB, MB, GB, TB (powers of 1000) and KiB, MiB, GiB, TiB (powers of 1024)";
                fault.add_note(note);
                fault.add_help("write a number and a unit: `\"64 MiB\"`");
                None
            }
        }
    }

    /// Reads a decimal fraction above 0 and at most 1, such as `0.10`, without rounding. `None`, after a report, for
    /// any other value. `what` is the noun phrase for the entry in messages.
    pub(super) fn share(&mut self, entry: &Entry, what: &str) -> Option<Decimal> {
        let one = |share: &Decimal| 10_i128.checked_pow(share.places);
        let share = number(entry)
            .filter(|share| share.digits > 0 && one(share).is_some_and(|one| share.digits <= one));
        if share.is_none() {
            let message = format!("{what} must be a fraction of the bytes, above 0 and at most 1");
            let fault = self.faults.error(Code::KdlValue, message, entry.span.clone(), "");
            fault.add_help(match entry.value {
                ManifestValue::Integer(0) => {
                    "write `require bijective` for no padding at all".to_owned()
                }
                _ => "write a tenth as `0.10`".to_owned(),
            });
        }
        share
    }
}

/// Exact decimal value of an entry that is a number. `None` for any other entry, and for a float that is negative,
/// infinite, NaN or has more than 18 digits.
pub(super) fn number(entry: &Entry) -> Option<Decimal> {
    match &entry.value {
        ManifestValue::Integer(value) => Some(Decimal { digits: *value, places: 0 }),
        // The shortest decimal of the float is the text as written, except for trailing zeros.
        ManifestValue::Float(value) => decimal(&value.to_string()),
        _ => None,
    }
}

/// Number of bytes of a text with a unit: 67108864 for `64 MiB`. `None` if the text is malformed or has no unit, if the
/// number before the unit has more than 18 digits, or if the number of bytes is not whole or does not fit 128 bits.
pub fn bytes(text: &str) -> Option<i128> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.get(number.len()..)?;
    let factor = UNITS.iter().find(|row| row.0.eq_ignore_ascii_case(unit)).map(|row| row.1)?;
    let number = decimal(number.trim_end())?;
    let all = number.digits.checked_mul(factor)?;
    let parts = 10_i128.checked_pow(number.places)?;
    (all.checked_rem(parts) == Some(0)).then(|| all.checked_div(parts)).flatten()
}

/// Parses a decimal number: `1.5` is `15 / 10^1`. The text has one or more digits, then optionally a point and further
/// digits. Trailing zeros of the fraction are dropped, after which at most 18 digits remain. `None` otherwise.
fn decimal(text: &str) -> Option<Decimal> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let part = part.trim_end_matches('0');
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(part) || whole.len() + part.len() > 18 {
        return None;
    }
    let digits = format!("{whole}{part}").parse().ok()?;
    Some(Decimal { digits, places: u32::try_from(part.len()).ok()? })
}
