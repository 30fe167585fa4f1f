//! Lenient parser for manifests that are being edited: nodes with their entries and spans, as far as they are
//! recognizable. It reports nothing. An unclosed block ends before the next top-level item that begins a line without
//! indentation.

use std::ops::Range;

use super::lex::{self, KdlToken, KdlTokenKind, NESTING_LIMIT};
use super::read::ITEMS;

/// Argument or property of a node, such as `input` or `dtype=f32`; the value of a property may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LenientEntry {
    /// Byte range of the property's key; `None` for an argument.
    pub key: Option<Range<usize>>,
    /// Byte range of the value, without quotes; `None` if the value is not written yet.
    pub value: Option<Range<usize>>,
    /// True if the value is quoted.
    pub quoted: bool,
}

/// Node of a manifest, as far as it is recognizable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LenientNode {
    /// Byte range of the name, without quotes; empty for a block without a name.
    pub name: Range<usize>,
    /// Arguments and properties of the node, in order.
    pub parts: Vec<LenientEntry>,
    /// Nodes of the node's block; empty without a block.
    pub children: Vec<LenientNode>,
    /// Byte range of the block with its braces; `None` without a block. An unclosed block extends to where it is
    /// assumed to end.
    pub block: Option<Range<usize>>,
    /// Byte range of the node, from the name to the last argument or property, or to the closing brace.
    pub span: Range<usize>,
}

impl LenientNode {
    /// Text of the node's name; `text` is the manifest that was parsed.
    pub fn name<'t>(&self, text: &'t str) -> &'t str {
        slice(text, &self.name)
    }

    /// Byte ranges of the arguments that have a value.
    pub fn args(&self) -> impl Iterator<Item = &Range<usize>> {
        self.parts.iter().filter(|part| part.key.is_none()).filter_map(|part| part.value.as_ref())
    }

    /// Byte ranges of key and value of the properties that have a value.
    pub fn props(&self) -> impl Iterator<Item = (&Range<usize>, &Range<usize>)> {
        self.parts.iter().filter_map(|part| part.key.as_ref().zip(part.value.as_ref()))
    }

    /// Byte ranges of the values of the properties that have a value, in order.
    pub fn values(&self) -> impl Iterator<Item = &Range<usize>> {
        self.props().map(|(_, value)| value)
    }

    /// Byte range of the value of the first property called `name` that has a value; `None` if there is none. `text` is
    /// the manifest that was parsed.
    pub fn prop(&self, text: &str, name: &str) -> Option<&Range<usize>> {
        self.props().find(|(key, _)| slice(text, key) == name).map(|(_, value)| value)
    }
}

/// Text at a byte range; empty if the range is outside of the text or splits a character.
pub fn slice<'t>(text: &'t str, span: &Range<usize>) -> &'t str {
    text.get(span.clone()).unwrap_or_default()
}

/// Top-level nodes of a text, in order, without those that `/-` comments out.
pub fn nodes(text: &str) -> Vec<LenientNode> {
    let mut drafter = LenientParser { text, ..LenientParser::default() };
    for token in lex::lex_lossy(text) {
        drafter.token(&token);
    }
    drafter.finish();
    while drafter.close(text.len()) {}
    drafter.nodes
}

/// Syntactic context of a cursor at the end of a text, for completion: the nodes around it, and the unfinished word at
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorContext {
    /// Nodes whose open blocks contain the cursor, outermost first. `block` and `children` of each are empty, as the
    /// block is not closed.
    pub around: Vec<LenientNode>,
    /// Node to which a word at the cursor would add an argument or property; `None` if it would begin a new node. An
    /// unfinished argument at the cursor is not among its `parts`.
    pub node: Option<LenientNode>,
    /// Byte range of the key of the property whose value is at the cursor; `None` if the cursor is not at a property's
    /// value.
    pub key: Option<Range<usize>>,
    /// Byte range of the unfinished word at the cursor; empty, at the end of the text, if there is none.
    pub word: Range<usize>,
    /// True if the cursor is inside an open string in one pair of quotes.
    pub is_in_string: bool,
}

/// Syntactic context of a cursor at the end of `text`; `None` if a comment, closed or not, is between the last token
/// and the cursor.
pub fn cursor_context(text: &str) -> Option<CursorContext> {
    let tokens = lex::lex_lossy(text);
    let end = text.len();
    let behind = tokens.last().map_or(0, |token| token.span.end);
    // Only spaces and comments make no tokens.
    if text.get(behind..)?.contains(['/', '*']) {
        return None;
    }
    let mut drafter = LenientParser { text, ..LenientParser::default() };
    for token in &tokens {
        drafter.token(token);
    }
    let last = tokens.last().filter(|token| token.span.end == end);
    let is_in_string = last.is_some_and(|token| token.kind == KdlTokenKind::Bad);
    let is_word =
        last.is_some_and(|token| matches!(token.kind, KdlTokenKind::Bare | KdlTokenKind::Bad));
    let word = match last.filter(|_| is_word) {
        Some(token) => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            let typed = slice(text, &token.span);
            let is_part = |c: char| is_part(c) && !(is_in_string && "-.".contains(c));
            end - typed.len() + typed.trim_end_matches(is_part).len()..end
        }
        None => end..end,
    };
    let mut node = drafter.head.take().map(|(node, _)| node);
    let mut key = None;
    if let Some(written) = &mut node {
        let last = written.parts.last();
        let is_value = drafter.wants_value || (is_word && last.is_some_and(|p| p.key.is_some()));
        key = last.filter(|_| is_value).and_then(|part| part.key.clone());
        if is_word && written.parts.is_empty() {
            node = None;
        } else if is_word && key.is_none() {
            written.parts.pop();
        }
    }
    let around = drafter.frames.into_iter().map(|frame| frame.owner).collect();
    Some(CursorContext { around, node, key, word, is_in_string })
}

/// Block whose closing brace is not read yet.
struct LenientBlock {
    owner: LenientNode,
    /// True if the node that owns the block is commented out.
    dropped: bool,
    /// Sibling nodes before the node that owns the block.
    nodes: Vec<LenientNode>,
    opened: usize,
}

#[derive(Default)]
struct LenientParser<'t> {
    text: &'t str,
    /// Current node, and true if it is commented out; `None` between nodes.
    head: Option<(LenientNode, bool)>,
    /// True after `=`, where a value must follow.
    wants_value: bool,
    /// True directly after `/-`, which comments out the element that follows.
    slashed: bool,
    /// True if the last entry of the current node is commented out.
    dropped_part: bool,
    frames: Vec<LenientBlock>,
    nodes: Vec<LenientNode>,
    /// Number of open blocks beyond the nesting limit. They are not in `frames`.
    too_deep: usize,
}

impl LenientParser<'_> {
    fn token(&mut self, token: &KdlToken) {
        match token.kind {
            KdlTokenKind::End => self.finish(),
            KdlTokenKind::Open => self.open(token.span.start),
            KdlTokenKind::Close if self.too_deep > 0 => self.too_deep -= 1,
            KdlTokenKind::Close => {
                self.finish();
                self.close(token.span.end);
            }
            KdlTokenKind::SlashDash => self.slashed = true,
            KdlTokenKind::Equals => {
                self.wants_value = true;
                if let (Some((node, _)), false) = (&mut self.head, self.dropped_part)
                    && let Some(part) = node.parts.last_mut().filter(|part| part.key.is_none())
                {
                    part.key = part.value.take();
                    node.span.end = token.span.end;
                }
            }
            KdlTokenKind::Stray => {}
            _ => self.word(token),
        }
    }

    fn word(&mut self, token: &KdlToken) {
        let (value, quoted) = self.content(token);
        let Some((node, _)) = &mut self.head else {
            if self.is_item(token) {
                while self.close(token.span.start) {}
            }
            let node =
                LenientNode { name: value, span: token.span.clone(), ..LenientNode::default() };
            self.head = Some((node, std::mem::take(&mut self.slashed)));
            return;
        };
        if std::mem::take(&mut self.wants_value) {
            if !std::mem::take(&mut self.dropped_part)
                && let Some(part) = node.parts.last_mut()
            {
                (part.value, part.quoted) = (Some(value), quoted);
                node.span.end = token.span.end;
            }
            return;
        }
        self.dropped_part = std::mem::take(&mut self.slashed);
        if !self.dropped_part {
            node.parts.push(LenientEntry { key: None, value: Some(value), quoted });
            node.span.end = token.span.end;
        }
    }

    /// Byte range of a token's text without its quotes, and true if the token has quotes.
    fn content(&self, token: &KdlToken) -> (Range<usize>, bool) {
        let Range { start, end } = token.span;
        let text = slice(self.text, &token.span);
        let hashes = text.len() - text.trim_start_matches('#').len();
        let inner = text.get(hashes..).unwrap_or_default();
        let quotes =
            if inner.starts_with("\"\"\"") { 3 } else { usize::from(inner.starts_with('"')) };
        if quotes == 0 {
            return (start..end, false);
        }
        let edge = quotes + hashes;
        let closing = ["\"".repeat(quotes), "#".repeat(hashes)].concat();
        let closes = text.len() >= 2 * edge && text.ends_with(&closing);
        (start + edge..if closes { end - edge } else { end }, true)
    }

    /// True if a token begins a line, without indentation, inside an open block and is the keyword of a top-level item,
    /// such as `tensor`.
    fn is_item(&self, token: &KdlToken) -> bool {
        let before = self.text.get(..token.span.start).unwrap_or_default();
        !self.frames.is_empty()
            && token.kind == KdlTokenKind::Bare
            && before.ends_with(['\n', '\r'])
            && ITEMS.contains(&slice(self.text, &token.span))
    }

    fn open(&mut self, at: usize) {
        if self.frames.len() >= NESTING_LIMIT {
            self.too_deep += 1;
            return;
        }
        let slashed = std::mem::take(&mut self.slashed);
        let nameless = LenientNode { name: at..at, span: at..at, ..LenientNode::default() };
        let (owner, dropped) = match self.head.take() {
            Some((owner, dropped)) if !slashed => (owner, dropped),
            Some((owner, dropped)) => {
                // Only the block is commented out; the node remains.
                self.push(owner, dropped);
                (nameless, true)
            }
            None => (nameless, slashed),
        };
        self.wants_value = false;
        let nodes = std::mem::take(&mut self.nodes);
        self.frames.push(LenientBlock { owner, dropped, nodes, opened: at });
    }

    fn finish(&mut self) {
        self.wants_value = false;
        self.dropped_part = false;
        if let Some((node, dropped)) = self.head.take() {
            self.push(node, dropped);
        }
    }

    fn push(&mut self, node: LenientNode, dropped: bool) {
        if !dropped {
            self.nodes.push(node);
        }
    }

    /// Closes the innermost open block at byte `end`. Adds the node that owns the block to the enclosing block, unless
    /// the node is commented out. Returns false if no block is open.
    fn close(&mut self, end: usize) -> bool {
        let Some(LenientBlock { mut owner, dropped, nodes, opened }) = self.frames.pop() else {
            return false;
        };
        owner.children = std::mem::replace(&mut self.nodes, nodes);
        owner.block = Some(opened..end);
        owner.span.end = end;
        self.push(owner, dropped);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> String {
        fn show(text: &str, nodes: &[LenientNode], out: &mut String) {
            for node in nodes {
                out.push_str(node.name(text));
                for part in &node.parts {
                    let key =
                        part.key.as_ref().map_or(String::new(), |k| format!("{}=", slice(text, k)));
                    let value = part.value.as_ref().map_or("?", |value| slice(text, value));
                    out.push_str(&format!(" {key}{value}"));
                }
                if node.block.is_some() {
                    out.push_str(" {");
                    show(text, &node.children, out);
                    out.push('}');
                }
                out.push(';');
            }
        }
        let mut out = String::new();
        show(text, &nodes(text), &mut out);
        out
    }

    #[test]
    fn valid_text_parses_to_all_nodes() {
        assert_eq!(
            outline("tensor a dtype=f32 {\n  shape { n 4; c \"2 * k\" }\n}\nuse #\"b.kdl\"#\n"),
            "tensor a dtype=f32 {shape {n 4;c 2 * k;};};use b.kdl;"
        );
    }

    #[test]
    fn missing_values_and_braces_are_tolerated() {
        assert_eq!(outline("tensor a dtype="), "tensor a dtype=?;");
        assert_eq!(outline("layout \"open"), "layout open;");
        assert_eq!(outline("}}"), "");
        assert_eq!(outline("{ n"), " {n;};");
    }

    #[test]
    fn unclosed_block_ends_before_the_next_item() {
        assert_eq!(
            outline("tensor a {\n  shape {\n    n 4\ntensor b {\n}\n"),
            "tensor a {shape {n 4;};};tensor b {};"
        );
    }

    #[test]
    fn slash_dash_comments_are_skipped() {
        assert_eq!(
            outline("/-tensor a { shape }\ntensor b /-c=1 /-d e=2 /-{ x }"),
            "tensor b e=2;"
        );
    }
}
