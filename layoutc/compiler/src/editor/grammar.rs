//! Checks the grammar page of the book, which lists every node and property, against the completion proposals.

use super::keywords::{node, nodes_in, properties_of, values_of};
use crate::manifest::read::NOTATION_WORDS;

const PAGE: &str = include_str!("../../../../book/src/grammar.md");

/// Sections of the page with a table of nodes, as triples (heading, parent, grandparent). `parent` is the name of the
/// node in whose block the listed nodes occur; `grandparent` is the name of the node in whose block `parent` occurs.
/// `None` at the top level.
const SECTIONS: &[(&str, Option<&str>, Option<&str>)] = &[
    ("At the top", None, None),
    ("In a tensor", Some("tensor"), None),
    ("In a view", Some("view"), None),
    ("In a layout or a transform", Some("layout"), Some("tensor")),
    ("In a conversion", Some("convert"), None),
    ("In a kernel", Some("kernel"), None),
    ("In an instance", Some("instance"), None),
    ("In an intermediate", Some("local"), Some("kernel")),
    ("In a cache", Some("cache"), Some("kernel")),
    ("In a schedule", Some("schedule"), Some("kernel")),
    ("In a backend", Some("backend"), None),
    ("In an operator", Some("op"), Some("backend")),
    ("In an alternative", Some("accepts"), Some("op")),
    ("In a graph", Some("graph"), None),
    ("In a node", Some("node"), Some("graph")),
    ("In a tensor of a graph", Some("input"), Some("graph")),
];

/// Property keys in the page that are placeholders for the name of an operand or axis.
const ANY: &[&str] = &["OPERAND", "AXIS"];

/// Text of the page's section with the heading `heading`, without the heading.
fn section(heading: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("\n## {heading}\n")).expect("the section");
    rest.split_once("\n## ").map_or(rest, |(text, _)| text)
}

/// Rows of the table below a heading, as pairs (node, row): the name of the node in the first column, and the text of
/// the whole row.
fn rows(heading: &str) -> Vec<(&'static str, &'static str)> {
    let row = |line: &'static str| Some((line.strip_prefix("| `")?.split_once('`')?.0, line));
    section(heading).lines().filter_map(row).collect()
}

/// Keys of the properties in a table row: words in backticks that end with `=`, without the `=`.
fn keys(row: &str) -> Vec<&str> {
    row.split('`').skip(1).step_by(2).filter_map(|word| word.strip_suffix('=')).collect()
}

#[test]
fn grammar_page_lists_every_node_in_its_context() {
    for (heading, name, around) in SECTIONS {
        let rows: Vec<&str> = rows(heading).iter().map(|row| row.0).collect();
        for word in nodes_in(*name, *around) {
            assert!(rows.contains(word), "`{word}` is missing: {heading}");
        }
        for word in &rows {
            assert!(node(word, *name).is_some(), "`{word}` is not allowed there: {heading}");
        }
    }
}

#[test]
fn grammar_page_lists_every_property_of_every_node() {
    for (heading, name, _) in SECTIONS {
        for (word, row) in rows(heading) {
            let (listed, known) = (keys(row), properties_of(word, *name));
            let is_elsewhere =
                |key: &str| NOTATION_WORDS.contains(&key) && row.contains("](#notations)");
            for key in known.iter().filter(|key| !is_elsewhere(key)) {
                assert!(listed.contains(key), "`{key}=` of `{word}` is missing: {heading}");
            }
            for key in listed.iter().filter(|key| !ANY.contains(key)) {
                assert!(known.contains(key), "`{word}` has no `{key}=`: {heading}");
            }
        }
    }
    for word in NOTATION_WORDS {
        assert!(keys(section("Notations")).contains(&word), "`{word}=` is missing: Notations");
    }
}

#[test]
fn grammar_page_lists_every_value_keyword() {
    for (heading, name, _) in SECTIONS {
        for (word, _) in rows(heading) {
            let keys = properties_of(word, *name).into_iter().map(Some);
            for value in keys.chain([None]).flat_map(|key| values_of(word, key)) {
                assert!(PAGE.contains(value), "`{value}` of `{word}` is missing: {heading}");
            }
        }
    }
}
