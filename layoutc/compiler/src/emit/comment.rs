//! Text of other people inside comments: nothing in it ends the comment, joins lines or turns the reading direction.

use std::fmt::Write as _;

/// `text` fit for a `//` or a `/* */` comment: printable ASCII as it is, anything else by its number
/// (`<U+202E>`); `*/`, `/*` and `??/` are pulled apart, and no line ends in a backslash.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        let last = safe.chars().next_back();
        match (last, c) {
            (Some('*'), '/') | (Some('/'), '*') => {
                safe.push(' ');
                safe.push(c);
            }
            // A trigraph for the backslash that joins lines.
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
