//! Tests of the style of formatted manifests: spaces, indentation, blank lines and positions of comments.

use std::sync::Arc;

use super::same::formatted;
use crate::manifest::format;

#[track_caller]
fn becomes(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
    assert_eq!(formatted(expected), expected);
}

#[track_caller]
fn stays(text: &str) {
    becomes(text, text);
}

#[test]
fn indentation_is_four_columns_and_words_one_blank() {
    becomes(
        "tensor   a\tdtype = f32{\n  shape {n 1;c   4;}\n\tlayout {\n order  c n\n}}",
        "tensor a dtype=f32 {\n    shape { n 1; c 4 }\n    layout {\n        order c n\n    }\n}\n",
    );
}

#[test]
fn every_word_keeps_its_spelling() {
    stays(
        "a 0x10 1_000 0b1 0o7 -1.50e+3 #true #null \"q\" #\"r\\\"# bare \"\\u{41}\" (u8)5 k=(t)\"v\" \"k\"=1\n",
    );
    stays("a \"\"\"\n  one\n    two\n  \"\"\" 5\n");
    stays("a {\n    b #\"\"\"\n one\n \"\"\"#\n}\n");
}

#[test]
fn blank_lines_are_collapsed_and_trimmed() {
    becomes("\n\n\na {\n\n\n    b\n\n\n\n    c\n\n}\n\n\n\nd\n\n", "a {\n    b\n\n    c\n}\n\nd\n");
    becomes("\n \n", "");
    becomes("", "");
}

#[test]
fn one_line_blocks_stay_if_they_fit() {
    stays("a { b { c 1; d }; e }\n");
    stays("a {\n    b 1\n}\n");
    becomes("a {}; b { };c{\n}\n", "a {}\nb {}\nc {\n}\n");
    let word = "x".repeat(78);
    stays(&format!("a {{ {word} 123456789012; b }}\n"));
    becomes(
        &format!("a {{ {word} {{ c 1234567; d }} }}\n"),
        &format!("a {{\n    {word} {{ c 1234567; d }}\n}}\n"),
    );
    becomes(
        &format!("a {{ {word} {{ c 12345678; d 1234 }} }}\n"),
        &format!("a {{\n    {word} {{\n        c 12345678\n        d 1234\n    }}\n}}\n"),
    );
}

#[test]
fn trailing_comments_on_consecutive_lines_align() {
    becomes(
        "a 1 // one\nbbb 22 // two\n\nc // three\n",
        "a 1    // one\nbbb 22 // two\n\nc // three\n",
    );
    // The first comment determines the column.
    stays("tensor a {             // one\n    b 1                // two\n}\n");
    becomes(
        "a {      // one\n  bb 1 // two\n}   // three\n",
        "a {      // one\n    bb 1 // two\n}        // three\n",
    );
    // A comment continues on the next line.
    becomes(
        "a 1   // one\n      // goes on\n// alone\n",
        "a 1   // one\n      // goes on\n// alone\n",
    );
    becomes(
        "aa    1   // one\n          // goes on\nb 2\n",
        "aa 1   // one\n       // goes on\nb 2\n",
    );
    let long = format!("a \"{}\" // far\nb // near\n", "x".repeat(120));
    stays(&long);
}

#[test]
fn comments_stay_where_they_are() {
    stays("/* a */ b /* c */ 1 /* d */ k=2 /* e */ // f\n");
    stays("a { /* b */ c 1 /* d */; e /* f */ }\n");
    stays("a { /* alone */ }\n");
    stays("a { // behind the brace\n    // in the block\n}\n");
    becomes("a/* 1 */{b}/* 2 */;/* 3 */c", "a /* 1 */ { b } /* 2 */\n/* 3 */ c\n");
    becomes("a k /* 1 */ = /* 2 */ 3", "a k /* 1 */ = /* 2 */ 3\n");
    becomes("  /* over\n  lines */ // more  \n", "/* over\n  lines */ // more\n");
    becomes("a 1 ; // behind\n", "a 1 // behind\n");
}

#[test]
fn commented_out_nodes_are_formatted() {
    becomes(
        "/-  a  1 {\n b\n}\nc /- 1  /- k = 2 /- {\nd   1\n} { e }\n",
        "/-a 1 {\n    b\n}\nc /-1 /-k=2 /-{\n    d 1\n} { e }\n",
    );
    becomes("/-\n\n// why\na 1\n", "/- // why\n    a 1\n");
}

#[test]
fn continuation_lines_are_indented_one_level() {
    becomes("a 1 \\\n 2 \\ // why\n   3\n", "a 1 \\\n    2 \\ // why\n    3\n");
    becomes("a 1 \\\n\\\n 2 \\\n\nb\\\n", "a 1 \\\n    2\nb\n");
    becomes("a k \\\n = \\\n 1", "a k=1\n");
    becomes("a \\ // b\n\nc\n", "a // b\nc\n");
}

#[test]
fn first_line_ending_and_byte_order_mark_are_kept() {
    becomes("\u{feff}a  1\r\nb\r\n", "\u{feff}a 1\r\nb\r\n");
    becomes("a 1\nb  2\r\n", "a 1\nb 2\n");
    becomes("a 1\u{2028}b\u{85}c\rd", "a 1\nb\nc\nd\n");
}

#[test]
fn invalid_kdl_is_not_formatted() {
    let faults = |text: &str| -> Vec<(&str, usize)> {
        let faults = format(&Arc::from("a.kdl"), text).unwrap_err();
        faults.iter().map(|fault| (fault.code.id(), fault.labels[0].place.start)).collect()
    };
    assert_eq!(faults("a {\n"), [("kdl::syntax", 2)]);
    assert_eq!(faults("a }\n"), [("kdl::syntax", 2)]);
    assert_eq!(faults("a \"b\n"), [("kdl::syntax", 2)]);
    assert_eq!(faults("a b\"c\"\n"), [("kdl::syntax", 2)]);
    assert_eq!(faults("a true\n"), [("kdl::syntax", 2)]);
    assert_eq!(faults("tensor a { layout { map (n) -> (n//4) } }\n"), [("expr::unquoted", 24)]);
    // The manifest parser skips what `/-` comments out; only the formatter rejects it.
    assert_eq!(faults("a /-(b\n"), [("kdl::syntax", 6)]);
}
