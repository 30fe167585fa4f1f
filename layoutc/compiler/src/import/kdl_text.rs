//! Strings in KDL syntax, the syntax of manifests.

use std::fmt::Write as _;

/// String in KDL syntax, without quotes if it starts with an ASCII letter, has only ASCII letters, digits and `_`, and
/// is no keyword of KDL: `conv1`, `"a b"`.
pub(super) fn word(text: &str) -> String {
    let is_bare = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && !["true", "false", "null", "inf", "nan"].contains(&text);
    if is_bare { text.to_owned() } else { quoted(text) }
}

/// Quoted string in KDL syntax, on one line: control characters and characters outside ASCII are escaped as `\u{…}`.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => {
                let _written = write!(quoted, "\\u{{{:x}}}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
