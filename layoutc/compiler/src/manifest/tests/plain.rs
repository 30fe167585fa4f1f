//! Tests that the fast path gives the same result as the KDL parser.

use std::sync::Arc;

use super::sweep::FULL;
use crate::manifest::diagnostic_sink::DiagnosticSink;
use crate::manifest::lex::{KdlToken, KdlTokenKind, lex};
use crate::manifest::{fast_path, kdl};

/// Returns true if the fast path reads the node with the tokens `head` of `text`; asserts that the KDL parser then
/// gives the same entries.
fn is_plain(text: &str, head: &[KdlToken]) -> bool {
    let Some(entries) = fast_path::read(text, head) else { return false };
    assert_eq!(kdl::read(text, head), Ok(Some(entries)), "{text:?}");
    true
}

fn tokens(text: &str) -> Vec<KdlToken> {
    lex(text, &mut DiagnosticSink::new(&Arc::from("a.kdl"))).unwrap()
}

const PLAIN: &[&str] = &[
    "a",
    "_",
    "c_outer",
    "axis-separators",
    "a-",
    "x2",
    "E5",
    "inf1",
    "\"\"",
    "\"a b\"",
    "\"true\"",
    "\"(n, c) -> (n, c // 4, c % 4)\"",
    "\"1\"",
    "\"a = {}; /- // #\"",
    "\"'~|\"",
];

const INTEGERS: &[&str] = &["0", "7", "007", "1000000", "999999999999999999"];

const OTHERS: &[&str] = &[
    "#true",
    "#null",
    "#nan",
    "-1",
    "+1",
    "1.5",
    "1e3",
    "0x1f",
    "0b1",
    "1_000",
    "a.b",
    "größe",
    "a+b",
    "1000000000000000000",
    "\"\\n\"",
    "\"ß\"",
    "\"\t\"",
    "#\"a\"#",
    "a!",
    "<",
    "a:b",
];

#[test]
fn fast_path_accepts_plain_words() {
    for name in PLAIN {
        for word in PLAIN.iter().chain(INTEGERS) {
            for text in [
                format!("{name} {word}"),
                format!("{name}\t{name} {name}={word} {word}  k = {word}"),
            ] {
                assert!(is_plain(&text, &tokens(&text)), "{text:?}");
            }
        }
    }
}

#[test]
fn fast_path_leaves_other_words_to_the_parser() {
    for word in OTHERS {
        for text in [format!("a {word}"), format!("a k={word}")] {
            assert!(!is_plain(&text, &tokens(&text)), "{text:?}");
        }
    }
}

#[test]
fn fast_path_covers_most_nodes() {
    let all = tokens(FULL);
    let ends = |token: &KdlToken| {
        matches!(token.kind, KdlTokenKind::End | KdlTokenKind::Open | KdlTokenKind::Close)
    };
    let heads: Vec<&[KdlToken]> = all.split(ends).filter(|head| !head.is_empty()).collect();
    let plain = heads.iter().filter(|head| is_plain(FULL, head)).count();
    assert!(plain * 10 > heads.len() * 8, "{plain} of {}", heads.len());
}
