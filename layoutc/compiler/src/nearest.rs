//! Suggestions for wrong input: known words near an unknown one, powers of two near a number, numbers with a unit
//! suffix.

use strsim::osa_distance;

/// The word of `known` that `word` was probably meant to be: the least optimal string alignment distance, at most a
/// third of the letters. `None` if none is near.
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
    // A word of one letter is within one edit of every other.
    let limit = if length < 2 { 0 } else { (length / 3).max(1) };
    scored
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|x| x.1)
}

/// Help text for a `value` that is not a power of two up to `most`: "write `32` or `64`" for 48, "write `1`" below 1.
pub fn near_powers_of_two(value: i128, most: i128) -> String {
    let below = value.checked_ilog2().map_or(1, |log| 1_i128 << log.min(126));
    if value < 1 || below >= most {
        return format!("write `{}`", below.min(most));
    }
    format!("write `{below}` or `{}`", below.saturating_mul(2))
}

/// Value of a number with a binary suffix: 4096 for `4K`. `None` for any other word.
pub fn expand_suffix(word: &str) -> Option<String> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match word.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "k" | "ki" | "kib" => 1_i64 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        _ => return None,
    };
    Some(digits.parse::<i64>().ok()?.checked_mul(factor)?.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_is_found_and_a_far_one_is_not() {
        let known = ["dtype", "like", "targets"];
        assert_eq!(nearest("dtpye", known), Some("dtype"));
        assert_eq!(nearest("DType", known), Some("dtype"));
        assert_eq!(nearest("target", known), Some("targets"));
        assert_eq!(nearest("memory", known), None);
        assert_eq!(nearest("", known), None);
    }
}
