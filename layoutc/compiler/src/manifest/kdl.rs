//! Parses one node of KDL 2, without its block, with the `kdl` crate. The crate recurses without a bound and takes
//! exponential time on nested input, so it gets one node at a time, without comments and `/-`;
//! [`super::tree_builder`] handles the nesting. The crate resolves the strings and numbers that [`super::fast_path`]
//! cannot read; spans come from the tokens.

use std::ops::Range;

use kdl::{KdlDocument, KdlError, KdlValue};

use super::diagnostic_sink::DiagnosticSink;
use super::fast_path::{self, NodeEntries};
use super::lex::{KdlToken, KdlTokenKind};
use super::node_lints;
use super::tree::{Entry, ManifestNode, ManifestValue, PropertyKey};
use crate::base::codes::Code;

/// Parses the node whose name, arguments and properties are the tokens `head` of `text`. `parent` is the name of the
/// enclosing node, empty at the top level. A malformed node is reported once and returned with `broken` set.
pub(super) fn node(
    text: &str,
    head: &[KdlToken],
    parent: &str,
    faults: &mut DiagnosticSink,
) -> ManifestNode {
    let mut node = outline(text, head);
    let declared = node.args.clone();
    if !node_lints::check(text, head, parent, faults) {
        node.broken = true;
        return node;
    }
    let whole = node.head.clone();
    node.args.clear();
    match fast_path::read(text, head).map_or_else(|| read(text, head), |entries| Ok(Some(entries)))
    {
        Ok(entries) => {
            if entries.and_then(|entries| fill(text, &mut node, head, entries)).is_none() {
                let message = "expected a single KDL 2 node";
                let fault = faults.error(Code::KdlSyntax, message, whole, "");
                fault.add_help("separate nodes with `;` or a new line");
                node.broken = true;
            }
        }
        Err(error) => {
            report(text, &whole, &error, faults);
            node.broken = true;
        }
    }
    if node.broken {
        node.args = declared;
        node.props.clear();
    }
    node
}

/// Node with its name, and with its first argument if that is a word or a string, because an item declares its name
/// there: `tensor a` of `tensor a dtype=f32`. For a malformed node this is the result. For a well-formed node the
/// caller sets all arguments and properties.
fn outline(text: &str, head: &[KdlToken]) -> ManifestNode {
    let span = head.first().map_or(0, |t| t.span.start)..head.last().map_or(0, |t| t.span.end);
    let name_span = head.first().map_or(span.clone(), |token| token.span.clone());
    let named =
        head.get(1).filter(|t| matches!(t.kind, KdlTokenKind::Bare | KdlTokenKind::Quoted { .. }));
    let named = named.filter(|_| head.get(2).is_none_or(|t| t.kind != KdlTokenKind::Equals));
    let args = named.map(|token| {
        let content = content(token);
        let value = text.get(content.clone()).unwrap_or_default().to_owned();
        entry(text, token, ManifestValue::String(value))
    });
    let name = head.first().and_then(|token| text.get(content(token))).unwrap_or_default();
    ManifestNode {
        name: name.to_owned(),
        name_span,
        args: args.into_iter().collect(),
        props: Vec::new(),
        children: None,
        head: span.clone(),
        span,
        broken: false,
    }
}

/// Arguments and properties of the node with the tokens `head` of `text`, parsed by the `kdl` crate. `Ok(None)` if the
/// crate reads the tokens as no node or several nodes; `Err` if it rejects them.
pub(super) fn read(text: &str, head: &[KdlToken]) -> Result<Option<NodeEntries>, KdlError> {
    let document = KdlDocument::parse_v2(&alone(text, head))?;
    let [node] = document.nodes() else { return Ok(None) };
    let key = |entry: &kdl::KdlEntry| entry.name().map(|name| name.value().to_owned());
    Ok(Some(node.entries().iter().map(|entry| (key(entry), value(entry.value()))).collect()))
}

/// True if the `kdl` crate parses `source` as exactly one KDL 2 node.
pub(super) fn is_one_node(source: &str) -> bool {
    KdlDocument::parse_v2(source).is_ok_and(|document| document.nodes().len() == 1)
}

/// Text of a node from its first to its last token, in which every byte outside of the tokens `head` is a space.
/// Offsets are preserved: byte `k` of the result is byte `k` after the start of the first token in `text`.
fn alone(text: &str, head: &[KdlToken]) -> String {
    let start = head.first().map_or(0, |token| token.span.start);
    let mut source = String::new();
    for token in head {
        let gap = token.span.start.saturating_sub(start).saturating_sub(source.len());
        source.extend(std::iter::repeat_n(' ', gap));
        source.push_str(text.get(token.span.clone()).unwrap_or_default());
    }
    source
}

/// Adds `entries`, the parsed arguments and properties of a node, to `node`, with the spans of their tokens. `head` are
/// the tokens of the node, its name first. `None` if entries and tokens do not correspond; `node` then has the entries
/// before the first mismatch, which the caller discards.
fn fill(
    text: &str,
    node: &mut ManifestNode,
    head: &[KdlToken],
    entries: NodeEntries,
) -> Option<()> {
    let mut tokens = head.get(1..)?.iter().peekable();
    let mut entries = entries.into_iter();
    while let Some(token) = tokens.next() {
        let (name, value) = entries.next()?;
        if tokens.next_if(|next| next.kind == KdlTokenKind::Equals).is_some() {
            let key = PropertyKey { value: name?, span: token.span.clone() };
            node.props.push((key, entry(text, tokens.next()?, value)));
        } else {
            node.args.push(entry(text, token, value));
        }
    }
    entries.next().is_none().then_some(())
}

fn value(value: &KdlValue) -> ManifestValue {
    match value {
        KdlValue::String(text) => ManifestValue::String(text.clone()),
        KdlValue::Integer(integer) => ManifestValue::Integer(*integer),
        KdlValue::Float(float) => ManifestValue::Float(*float),
        KdlValue::Bool(boolean) => ManifestValue::Bool(*boolean),
        KdlValue::Null => ManifestValue::Null,
    }
}

fn entry(text: &str, token: &KdlToken, value: ManifestValue) -> Entry {
    let content = content(token);
    let plain = match &value {
        ManifestValue::String(string) => text.get(content.clone()) == Some(string.as_str()),
        _ => true,
    };
    let quoted = token.kind != KdlTokenKind::Bare;
    Entry { value, span: token.span.clone(), content, quoted, plain }
}

/// Byte range in the file of a token's text without its quotes, and without the number signs of a raw string on one
/// line.
fn content(token: &KdlToken) -> Range<usize> {
    let quotes = match token.kind {
        KdlTokenKind::Quoted { hashes } => hashes + 1,
        KdlTokenKind::MultiLine => 3,
        _ => 0,
    };
    token.span.start + quotes..token.span.end.saturating_sub(quotes).max(token.span.start + quotes)
}

/// Reports the first error of the `kdl` crate in the node with byte range `whole`: the other errors of one node are
/// consequences of the first.
fn report(text: &str, whole: &Range<usize>, error: &KdlError, faults: &mut DiagnosticSink) {
    let first = error.diagnostics.first();
    let clamp = |byte: usize| {
        let mut byte = byte.clamp(whole.start, whole.end);
        while !text.is_char_boundary(byte) {
            byte -= 1;
        }
        byte
    };
    let start = first.map_or(0, |d| d.span.offset());
    let end = start + first.map_or(0, |d| d.span.len());
    let mut span = clamp(whole.start + start)..clamp(whole.start + end);
    if span.is_empty() {
        span = whole.clone();
    }
    let message = first.and_then(|d| d.message.as_deref()).unwrap_or("malformed node");
    let fault = faults.error(Code::KdlSyntax, lower(message), span, "");
    fault.help.extend(first.and_then(|d| d.help.as_deref()).map(lower));
}

/// Sentence in the style of layoutc's messages: begins in lower case, without a final period.
fn lower(sentence: &str) -> String {
    let mut rest = sentence.chars();
    let first = rest.next().map(char::to_lowercase).into_iter().flatten();
    first.chain(rest).collect::<String>().trim_end_matches('.').to_owned()
}
