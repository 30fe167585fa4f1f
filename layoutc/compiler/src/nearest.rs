//! What is nearest to what is wrong: the known word to an unknown one, powers of two to another number, the number to one
//! with a unit.

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
    // One letter is near every other.
    let limit = if length < 2 { 0 } else { (length / 3).max(1) };
    scored
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|x| x.1)
}

/// The way out of a `value` that is no power of two up to `most`: "write `32` or `64`" for 48, "write `1`" below 1.
pub fn near_powers_of_two(value: i128, most: i128) -> String {
    let below = value.checked_ilog2().map_or(1, |log| 1_i128 << log.min(126));
    if value < 1 || below >= most {
        return format!("write `{}`", below.min(most));
    }
    format!("write `{below}` or `{}`", below.saturating_mul(2))
}

/// The number that `4K` is: 4096. `None` for any other word.
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
