//! Assertion that formatting preserves the words, comments and nodes of a manifest.

use std::sync::Arc;

use crate::manifest::diagnostic_sink::DiagnosticSink;
use crate::manifest::format;
use crate::manifest::lex::{KdlToken, KdlTokenKind, lex};
use crate::manifest::tree::{Entry, ManifestNode};

use super::super::super::parse_tree;

fn file() -> Arc<str> {
    Arc::from("a.kdl")
}

fn tokens(text: &str) -> Vec<KdlToken> {
    lex(text, &mut DiagnosticSink::new(&file())).unwrap()
}

/// Words and marks of `text` in order, with `;` for each end of a node before another node.
fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = Vec::new();
    for token in tokens(text) {
        let spelled = &text[token.span.clone()];
        match token.kind {
            // A line end after nothing ends no node.
            KdlTokenKind::End if matches!(words.last(), None | Some(&(";" | "{" | "/-"))) => {}
            KdlTokenKind::End => words.push(";"),
            KdlTokenKind::Close => {
                words.pop_if(|last| *last == ";");
                words.push(spelled);
            }
            _ => words.push(spelled),
        }
    }
    words.pop_if(|last| *last == ";");
    words
}

/// Comments of `text` in order, without trailing white space.
fn comments(text: &str) -> Vec<String> {
    let mut ends = vec![0];
    let mut starts = Vec::new();
    for token in tokens(text) {
        starts.push(token.span.start);
        ends.push(token.span.end);
    }
    starts.push(text.len());
    let gaps = ends.iter().zip(starts).map(|(&end, start)| &text[end..start]);
    gaps.flat_map(comments_of).collect()
}

fn comments_of(gap: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = gap;
    while let Some(start) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        rest = &rest[start..];
        let mut end = rest.find(['\n', '\r', '\u{2028}']).unwrap_or(rest.len());
        if rest.starts_with("/*") {
            let mut depth = 0;
            let mut at = 0;
            while at == 0 || depth > 0 {
                match rest.get(at..at + 2) {
                    Some("/*") => (at, depth) = (at + 2, depth + 1),
                    Some("*/") => (at, depth) = (at + 2, depth - 1),
                    _ => at += 1,
                }
            }
            end = at;
        }
        found.push(rest[..end].trim_end().to_owned());
        rest = &rest[end..];
    }
    found
}

/// Content of `nodes` without spans, one text for each node, parents before children: depth, name, arguments,
/// properties, and the pair (broken, has a block). `depth` is the depth of `nodes`.
fn bare(nodes: &[ManifestNode], depth: usize) -> Vec<String> {
    let entry = |entry: &Entry| format!("{:?} {}", entry.value, entry.quoted);
    let mut found = Vec::new();
    for node in nodes {
        let args: Vec<String> = node.args.iter().map(entry).collect();
        let props: Vec<(String, String)> =
            node.props.iter().map(|(key, value)| (key.value.clone(), entry(value))).collect();
        let marks = (node.broken, node.children.is_some());
        found.push(format!("{depth} {} {args:?} {props:?} {marks:?}", node.name));
        found.extend(bare(node.children(), depth + 1));
    }
    found
}

/// Formats `text`. Asserts that the content is preserved, and that formatting the result again changes nothing.
pub(super) fn formatted(text: &str) -> String {
    let once = match format(&file(), text) {
        Ok(once) => once,
        Err(faults) => panic!("{text}\n{:?}", faults.last()),
    };
    assert_eq!(words(text), words(&once), "{text:?}\n{once}");
    assert_eq!(comments(text), comments(&once), "{text:?}\n{once}");
    let (before, after) = (parse_tree(&file(), text), parse_tree(&file(), &once));
    assert_eq!(bare(&before.0.nodes, 0), bare(&after.0.nodes, 0), "{text:?}\n{once}");
    let codes = |found: &[crate::base::diagnostic::Diagnostic]| -> Vec<_> {
        found.iter().map(|fault| (fault.code, fault.message.clone())).collect()
    };
    assert_eq!(codes(&before.1), codes(&after.1), "{text:?}\n{once}");
    let twice = format(&file(), &once);
    assert_eq!(twice.as_ref(), Ok(&once), "{text:?}");
    once
}
