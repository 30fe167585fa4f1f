//! Checks that KDL can represent a word that begins with a digit, and suggests replacements for words that are not
//! numbers, such as `8x8` or `64KB`.

use super::node_lints::shorten;
use crate::base::nearest::quantity;

/// Help for a word that begins with a digit but is not a number.
const NO_NUMBER: &str = "write only digits, a name that begins with a letter, or a quoted string";

/// Help for a number that is too large.
const SMALLER: &str = "write a smaller number";

/// Checks that KDL can represent the number `word`, which has no sign. An integer may have 127 bits; it is decimal, or
/// has the prefix `0x`, `0o` or `0b`. A float must be finite in 64 bits, with at most 38 digits before the point, after
/// the point, and in the exponent. `Err` is a pair (message, help text).
pub(super) fn read(word: &str) -> Result<(), (String, &'static str)> {
    let digits: String = word.chars().filter(|&c| c != '_').collect();
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = digits.strip_prefix(prefix) {
            return integer(word, digits, radix);
        }
    }
    if digits.bytes().all(|b| b.is_ascii_digit()) {
        return integer(word, &digits, 10);
    }
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((&digits, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let parts = [whole, fraction, exponent];
    if !parts.iter().all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit())) {
        return Err((format!("`{}` is not a number", shorten(word)), NO_NUMBER));
    }
    if parts.iter().any(|part| part.len() > 38) {
        let message = format!("`{}` has more digits than a number can hold", shorten(word));
        return Err((message, "write at most 38 digits before the point and 38 after it"));
    }
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(()),
        Ok(_) | Err(_) => {
            Err((format!("`{}` is larger than any 64-bit float", shorten(word)), SMALLER))
        }
    }
}

fn integer(word: &str, digits: &str, radix: u32) -> Result<(), (String, &'static str)> {
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err((format!("`{}` is not a number", shorten(word)), NO_NUMBER));
    }
    match i128::from_str_radix(digits, radix) {
        Ok(_) => Ok(()),
        Err(_) => {
            Err((format!("an integer of {} digits does not fit 128 bits", digits.len()), SMALLER))
        }
    }
}

/// Pair `(replacement, reason)` for a word that is not a number; `reason` is appended to the help text. `8x8` gives
/// (`8 8`, `: spaces separate arguments`). `before` is the text of the manifest before the word. `None` if no
/// replacement is known.
pub(super) fn number_suggestion(word: &str, before: &str) -> Option<(String, String)> {
    if before.trim_end().ends_with("swizzle") && word.ends_with('B') {
        return Some((format!("mode=\"{word}\""), " for a hardware swizzle".to_owned()));
    }
    let syntax = syntax_suggestion(word).map(|(text, why)| (text, why.to_owned()));
    syntax.or_else(|| quantity(word))
}

/// Pair `(replacement, reason)`, as of [`number_suggestion`], for a word in the syntax of another language, such as
/// `4,`, `8x8`, `1..4` or `2*3`. `None` for any other word.
fn syntax_suggestion(word: &str) -> Option<(String, &'static str)> {
    let is_digits = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
    if let Some(number) = word.strip_suffix(',').filter(|number| !number.contains(',')) {
        return Some((number.to_owned(), ": spaces separate arguments, `;` separates nodes"));
    }
    for mark in [',', 'x', 'X', '×'] {
        if word.contains(mark) && word.split(mark).all(is_digits) {
            return Some((word.replace(mark, " "), ": spaces separate arguments"));
        }
    }
    if let Some((low, high)) = word.split_once("..") {
        let high = high.trim_start_matches(['=', '.']);
        let both = is_digits(low) && is_digits(high);
        return both.then(|| (format!("min={low} max={high}"), " for a range"));
    }
    if word.contains(['*', '+', '%']) || word.trim_start_matches('-').contains('-') {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_*+-%".contains(c);
        return word
            .chars()
            .all(is_part)
            .then(|| (format!("\"{word}\""), ", an expression in quotes"));
    }
    None
}
