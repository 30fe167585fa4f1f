//! Tests that no input makes the formatter panic or hang, and that formatting preserves the content.

use std::fmt::Write as _;
use std::sync::Arc;

use super::super::sweep::FULL;
use super::same::formatted;
use crate::manifest::format;

/// Formats `text`. If it is valid, checks the result as [`formatted`] does, and returns true; otherwise returns false.
fn tried(text: &str) -> bool {
    let good = format(&Arc::from("a.kdl"), text).is_ok();
    if good {
        formatted(text);
    }
    good
}

#[test]
fn truncated_and_mutated_text_is_refused_or_preserved() {
    let mut good = 0;
    for (at, _) in FULL.char_indices() {
        good += usize::from(tried(&FULL[..at]));
        for nasty in ["\"", "{", "}", "\\", "/", "//", "/*", "/-", "#", "=", ";", "\n", "(", " "] {
            if at % 14 == nasty.len() % 14 || matches!(nasty, "\\" | "/-" | "//") {
                good += usize::from(tried(&format!("{}{nasty}{}", &FULL[..at], &FULL[at..])));
            }
        }
    }
    assert!(good > 500, "{good}");
}

#[test]
fn nesting_beyond_the_limit_is_refused() {
    for (open, close) in
        [("a {", "}"), ("a{\n", "}\n"), ("/-a {", "}"), ("a /-{", "}"), ("/*", "*/")]
    {
        let nested = |levels: usize| open.repeat(levels) + &close.repeat(levels);
        assert!(tried(&nested(128)), "{open}");
        for levels in [129, 2000, 100_000] {
            let faults = format(&Arc::from("a.kdl"), &nested(levels)).unwrap_err();
            assert_eq!(faults.iter().map(|f| f.code.id()).collect::<Vec<_>>(), ["kdl::nesting"]);
        }
    }
}

#[test]
fn repeated_punctuation_formats_quickly() {
    for mark in [
        "/-", "/", "(", ")", "[", "{", "}", "=", "\\", "#", "\"", "'", "*", "a=", "a ", "\u{b}",
        ";", "/**/", "a;", "a{};", "//", "\\\n", "(a)", "a/**/;", "a//\n", "/-\n", " ",
    ] {
        tried(&mark.repeat(5000));
        tried(&format!("tensor a {}", mark.repeat(5000)));
        tried(&format!("tensor a {{ {} }}", mark.repeat(5000)));
    }
}

#[test]
fn huge_lines_and_many_comments_format_in_linear_time() {
    let mut text = String::from("a ");
    for at in 0..50_000 {
        let _ = writeln!(text, "{at} /* {at} */ k{at}={at} \\");
    }
    text.push_str("{ b 1 }");
    assert!(tried(&text));
    // One wide line among many with comments must not move all comments to its right.
    let wide = format!("wide \"{}\" // far\n", "x".repeat(200_000));
    let text = "a // near\n".repeat(20_000) + &wide + &"a // near\n".repeat(20_000);
    assert!(formatted(&text).len() <= text.len());
    let nested = "a { ".repeat(128) + &"b 1; ".repeat(50_000) + &"}".repeat(128);
    assert!(tried(&nested));
}
