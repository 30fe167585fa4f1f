//! Escaping of foreign text in comments: the text cannot end the comment, join lines or change the reading direction.

use std::fmt::Write as _;

/// Text as the content of a `//` or `/* */` comment. Printable ASCII is unchanged, a line feed or tab becomes a blank,
/// and any other character becomes its code point: `<U+202E>`. The characters of `*/` and `/*`, and the last one of
/// `??/`, are separated by a blank. A `.` follows a backslash at the end.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let last = safe.chars().next_back();
        match (last, c) {
            (Some('*'), '/') | (Some('/'), '*') => {
                safe.push(' ');
                safe.push(c);
            }
            // Trigraph of the backslash, which joins lines.
            (Some('?'), '/') if safe.ends_with("??") => safe.push_str(" /"),
            (_, ' '..='~') => safe.push(c),
            (_, '\n' | '\t') => safe.push(' '),
            (_, other) => {
                // Writing to a string cannot fail.
                let _ok = write!(safe, "<U+{:04X}>", u32::from(other));
            }
        }
    }
    if safe.ends_with('\\') {
        safe.push('.');
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_terminators_are_escaped() {
        assert_eq!(escape("a */ b"), "a * / b");
        assert_eq!(escape("a /* b"), "a / * b");
        assert_eq!(escape("ends in \\"), "ends in \\.");
        assert_eq!(escape("tri??/graph"), "tri?? /graph");
        assert_eq!(escape("a ?? -1"), "a ?? -1");
        assert_eq!(escape("a\nb\u{202e}ü"), "a b<U+202E><U+00FC>");
    }
}
