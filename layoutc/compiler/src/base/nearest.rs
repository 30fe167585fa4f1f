//! Suggestions for wrong input. There are three kinds: known words similar to an unknown word, powers of two near a
//! number, and the value of a number with a unit suffix such as `16KB`.

use strsim::osa_distance;

/// Word of `known` that is most similar to `word`: the one with the least edit distance (insertion, deletion,
/// replacement, swap of neighbors). Words that differ only in case, or in `-` and `_`, have distance 0. `None` if the
/// distance exceeds a third of the number of letters of `word`; for fewer than 3 letters the limit is 1, for fewer than
/// 2 it is 0. `None` also if `word` has more than 64 letters.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if length > 64 {
        return None;
    }
    let same = |c: &str| c.replace('-', "_").eq_ignore_ascii_case(&word.replace('-', "_"));
    let scored = known.into_iter().map(|candidate| {
        let distance = if same(candidate) { 0 } else { osa_distance(word, candidate) };
        (distance, candidate)
    });
    // A word of one letter is within one edit of every other such word, so it gets no suggestion.
    let limit = if length < 2 { 0 } else { (length / 3).max(1) };
    scored
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|x| x.1)
}

/// Maximum number of names that an error text lists.
const LISTED: usize = 12;

/// Error text for the unknown tensor `name`. It suggests the most similar name of `known`; if no name is similar, it
/// lists the first 12.
pub fn unknown_tensor(name: &str, known: &[&str]) -> String {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("; did you mean `{near}`?"),
        None if known.is_empty() => String::new(),
        None => {
            let more = if known.len() > LISTED { ", …" } else { "" };
            let listed: Vec<&str> = known.iter().take(LISTED).copied().collect();
            format!("; expected one of `{}`{more}", listed.join("`, `"))
        }
    };
    format!("unknown tensor `{name}`{hint}")
}

/// Help text for a `value` that is not a power of two from 1 to `most`. It has the powers of two below and above:
/// "write `32` or `64`" for 48. For a value below 1 it has examples of powers of two; for a value above `most`, only
/// `most`.
pub fn near_powers_of_two(value: i128, most: i128) -> String {
    let below = value.checked_ilog2().map_or(1, |log| 1_i128 << log.min(126));
    if value < 1 {
        return "write a power of two, such as `1`, `16` or `64`".to_owned();
    }
    if below >= most {
        return format!("write `{most}`");
    }
    format!("write `{below}` or `{}`", below.saturating_mul(2))
}

/// Pair `(number, suffix)` for a number with a unit: `number` is its value in digits, `suffix` the end of a message
/// that explains it. `4K` gives ("4096", ": 4 Ki"), `16KB` gives ("16384", ": 16 KiB in bytes"), `64B` gives ("64",
/// ""). Factors are powers of 1024. `None` for any other text, and for a value above 2^63 - 1.
pub fn quantity(text: &str) -> Option<(String, String)> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits.trim_end();
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (factor, unit) = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => (1_i64, ""),
        "k" | "ki" => (1 << 10, "Ki"),
        "m" | "mi" => (1 << 20, "Mi"),
        "g" | "gi" => (1 << 30, "Gi"),
        "kb" | "kib" => (1 << 10, "KiB in bytes"),
        "mb" | "mib" => (1 << 20, "MiB in bytes"),
        "gb" | "gib" => (1 << 30, "GiB in bytes"),
        _ => return None,
    };
    let value = number.parse::<i64>().ok()?.checked_mul(factor)?;
    let note = if unit.is_empty() { String::new() } else { format!(": {number} {unit}") };
    Some((value.to_string(), note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_with_units_are_converted() {
        let of = |text: &str| quantity(text).map(|(number, note)| number + &note);
        assert_eq!(of("64B").as_deref(), Some("64"));
        assert_eq!(of("4K").as_deref(), Some("4096: 4 Ki"));
        assert_eq!(of("16 KB").as_deref(), Some("16384: 16 KiB in bytes"));
        for text in ["64", "KB", "", "-4K", "4x", "9223372036854775807K"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn nearest_word_is_suggested_within_a_distance() {
        let known = ["dtype", "like", "targets"];
        assert_eq!(nearest("dtpye", known), Some("dtype"));
        assert_eq!(nearest("DType", known), Some("dtype"));
        assert_eq!(nearest("target", known), Some("targets"));
        assert_eq!(nearest("memory", known), None);
        assert_eq!(nearest("", known), None);
    }
}
