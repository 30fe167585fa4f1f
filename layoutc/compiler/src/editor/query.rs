//! Checks the tree-sitter highlight query for manifests against the keywords of the language.

use std::collections::BTreeSet;

use super::keywords::{
    CONVERT, GRAPH, KERNEL, KeywordDoc, STEPS, TENSOR, TOP, node, nodes_in, property,
};

const QUERY: &str = include_str!("../../../../editors/tree-sitter/highlights.scm");

/// Lists of node keywords in the order of the highlight query, as pairs (capture, keywords). `capture` is the highlight
/// capture of the keywords, `keyword` or `function`.
const LISTS: [(&str, &[KeywordDoc]); 6] = [
    ("keyword", TOP),
    ("keyword", TENSOR),
    ("function", STEPS),
    ("keyword", KERNEL),
    ("keyword", CONVERT),
    ("keyword", GRAPH),
];

fn patterns() -> impl Iterator<Item = &'static str> {
    QUERY.split("\n\n").filter(|block| block.starts_with('('))
}

/// Words in the `#any-of?` predicate of a query pattern, with which it compares the text of the capture `@capture`.
/// Empty if the pattern has no such predicate for `capture`.
fn compared(pattern: &'static str, capture: &str) -> Vec<&'static str> {
    let Some((_, rest)) = pattern.split_once(&format!("(#any-of? @{capture}")) else {
        return Vec::new();
    };
    let (list, _) = rest.split_once(')').expect("the end of the predicate");
    list.split('"').skip(1).step_by(2).collect()
}

/// Pair `(capture, words)` of a query pattern: the highlight capture, `keyword` or `function`, and the words that get
/// it. `None` if the pattern highlights no list of words.
fn coloured(pattern: &'static str) -> Option<(&'static str, Vec<&'static str>)> {
    let of = |colour| (colour, compared(pattern, colour));
    ["keyword", "function"].into_iter().map(of).find(|list| !list.1.is_empty())
}

#[test]
fn highlight_query_covers_exactly_the_keywords() {
    let lists: Vec<_> = patterns().filter_map(coloured).collect();
    let names = |list: &[KeywordDoc]| list.iter().map(|word| word.name).collect::<Vec<_>>();
    assert_eq!(lists, LISTS.map(|(colour, list)| (colour, names(list))));
}

#[test]
fn highlight_query_covers_every_context_of_a_keyword() {
    let mut found = BTreeSet::new();
    for pattern in patterns() {
        let Some((_, words)) = coloured(pattern) else { continue };
        for around in compared(pattern, "_in") {
            found.insert(around);
            for word in &words {
                assert!(node(word, Some(around)).is_some(), "`{word}` in `{around}`");
            }
        }
    }
    // `out` has a block only inside a `node` of a graph.
    let words = LISTS.iter().flat_map(|(_, list)| list.iter().map(|word| word.name));
    let with_block: BTreeSet<&str> =
        words.filter(|word| !nodes_in(Some(word), Some("node")).is_empty()).collect();
    assert_eq!(found, with_block);
}

#[test]
fn highlight_query_contains_only_known_words() {
    for pattern in patterns() {
        for word in ["_item", "_in", "_word", "_key"].iter().flat_map(|of| compared(pattern, of)) {
            let is_node = LISTS.iter().any(|(_, list)| list.iter().any(|row| row.name == word));
            assert!(is_node || property(word).is_some(), "`{word}`");
        }
    }
}

#[test]
fn highlight_query_avoids_slow_patterns() {
    // tree-sitter-kdl 2.0.0 takes minutes on a `node` pattern that contains a `node_field`, and editors hang silently.
    for pattern in patterns() {
        assert!(!pattern.contains("node_field"), "{pattern}");
    }
}
