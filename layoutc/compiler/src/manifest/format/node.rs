//! Parses the elements of one node: words with type annotations and values, and blocks.

use std::sync::Arc;

use super::super::diagnostic_sink::DiagnosticSink;
use super::super::fast_path;
use super::super::kdl;
use super::super::lex::{KdlToken, KdlTokenKind, NESTING_LIMIT};
use super::super::node_lints;
use super::cst::{Comment, CstElement, CstElementKind, CstNode, Spacing, Trivia};
use super::parse::{CstParser, KdlErrorSpan};

/// Elements of the node that is being parsed.
#[derive(Default)]
struct CstNodeBuilder<'t> {
    pieces: Vec<CstElement<'t>>,
    /// Tokens of the node's name, arguments and properties, without those that `/-` comments out.
    head: Vec<KdlToken>,
    has_block: bool,
}

impl<'t> CstParser<'t> {
    /// Parses the node that begins with the next token; `leading` are the comments before the node on its line.
    pub(super) fn node(&mut self, leading: Vec<Comment<'t>>) -> Result<CstNode<'t>, KdlErrorSpan> {
        let mut parts = CstNodeBuilder::default();
        let start = self.here().start;
        let is_slashed = self.peek().is_some_and(|token| token.kind == KdlTokenKind::SlashDash);
        let before = if is_slashed { self.slash_dash(Vec::new(), &mut parts)? } else { Vec::new() };
        self.slashed += usize::from(is_slashed);
        self.value(before, Spacing::Adjacent, &mut parts)?;
        while let Some(token) = self.peek() {
            match token.kind {
                KdlTokenKind::End | KdlTokenKind::Close => break,
                KdlTokenKind::SlashDash => self.taken_out(&mut parts)?,
                KdlTokenKind::Open if !parts.has_block => {
                    self.braces(self.gap(), Spacing::Blank, &mut parts)?;
                    parts.has_block = true;
                }
                _ if token.span.start > self.end && !parts.has_block => {
                    self.entry(self.gap(), Spacing::Blank, &mut parts)?;
                }
                _ => return Err(token.span.clone()),
            }
        }
        if self.slashed == 0 && !is_one_node(self.text, &parts.head) {
            return Err(start..self.end);
        }
        self.slashed -= usize::from(is_slashed);
        Ok(CstNode { leading, pieces: parts.pieces, trailing: Vec::new() })
    }

    /// Parses a `/-` inside a node and the element that it comments out; adds both to `parts.pieces`, not to
    /// `parts.head`.
    fn taken_out(&mut self, parts: &mut CstNodeBuilder<'t>) -> Result<(), KdlErrorSpan> {
        let read = parts.head.len();
        let before = self.slash_dash(self.gap(), parts)?;
        if self.peek().is_some_and(|next| next.kind == KdlTokenKind::Open) {
            self.slashed += 1;
            self.braces(before, Spacing::Adjacent, parts)?;
            self.slashed -= 1;
        } else if parts.has_block {
            return Err(self.here());
        } else {
            self.entry(before, Spacing::Adjacent, parts)?;
        }
        parts.head.truncate(read);
        Ok(())
    }

    /// Parses a `/-` into `parts`; `before` are the comments and continuations before it. Returns the comments and
    /// continuations between the `/-` and the element that it comments out. A line end there does not end the node.
    fn slash_dash(
        &mut self,
        before: Vec<Trivia<'t>>,
        parts: &mut CstNodeBuilder<'t>,
    ) -> Result<Vec<Trivia<'t>>, KdlErrorSpan> {
        let joint = if parts.pieces.is_empty() { Spacing::Adjacent } else { Spacing::Blank };
        let slash_dash = self.take().map(|token| self.spelled(token)).unwrap_or_default();
        parts.pieces.push(CstElement { before, joint, what: CstElementKind::Word(slash_dash) });
        while let Some(token) = self.peek().filter(|token| token.kind == KdlTokenKind::End) {
            if self.spelled(token) == ";" {
                return Err(token.span.clone());
            }
            self.at += 1;
        }
        Ok(self.gap())
    }

    /// Parses an argument or a property, `10` or `by=4`, into `parts`. `before` are the comments and continuations
    /// before its first word, `joint` is the space between it and the previous element.
    fn entry(
        &mut self,
        before: Vec<Trivia<'t>>,
        joint: Spacing,
        parts: &mut CstNodeBuilder<'t>,
    ) -> Result<(), KdlErrorSpan> {
        let is_typed = self.peek().is_some_and(|token| token.kind == KdlTokenKind::Stray);
        self.value(before, joint, parts)?;
        if !is_typed && self.peek().is_some_and(|token| token.kind == KdlTokenKind::Equals) {
            self.token(self.gap(), Spacing::Adjacent, parts);
            self.value(self.gap(), Spacing::Adjacent, parts)?;
        }
        Ok(())
    }

    /// Parses a word with an optional type annotation, `10` or `(u8)10`, into `parts`. `before` are the comments and
    /// continuations before its first token, `joint` is the space between it and the previous element.
    fn value(
        &mut self,
        before: Vec<Trivia<'t>>,
        joint: Spacing,
        parts: &mut CstNodeBuilder<'t>,
    ) -> Result<(), KdlErrorSpan> {
        if !self.is_mark("(") {
            return self.word(before, joint, parts);
        }
        self.token(before, joint, parts);
        self.word(self.gap(), Spacing::Adjacent, parts)?;
        if !self.is_mark(")") {
            return Err(self.here());
        }
        self.token(self.gap(), Spacing::Adjacent, parts);
        self.word(self.gap(), Spacing::Adjacent, parts)
    }

    fn word(
        &mut self,
        before: Vec<Trivia<'t>>,
        joint: Spacing,
        parts: &mut CstNodeBuilder<'t>,
    ) -> Result<(), KdlErrorSpan> {
        let is_word = |token: &KdlToken| {
            let kinds = matches!(
                token.kind,
                KdlTokenKind::Bare | KdlTokenKind::Quoted { .. } | KdlTokenKind::MultiLine
            );
            // `c//4` lexes as a word and a comment, but was meant as a division.
            kinds && !token.glued_comment
        };
        if self.peek().is_none_or(|token| !is_word(token)) {
            return Err(self.here());
        }
        self.token(before, joint, parts);
        Ok(())
    }

    fn is_mark(&self, mark: &str) -> bool {
        self.peek()
            .is_some_and(|token| token.kind == KdlTokenKind::Stray && self.spelled(token) == mark)
    }

    /// Appends the next token, of any kind, to the elements of the node. `before` are the comments and continuations
    /// before it, `joint` is the space between it and the previous element.
    fn token(&mut self, before: Vec<Trivia<'t>>, joint: Spacing, parts: &mut CstNodeBuilder<'t>) {
        if let Some(token) = self.take() {
            parts.pieces.push(CstElement {
                before,
                joint,
                what: CstElementKind::Word(self.spelled(token)),
            });
            parts.head.push(token.clone());
        }
    }

    /// Parses a block with its braces into `parts`. `before` are the comments and continuations before it, `joint` is
    /// the space between it and the previous element. An error if the block is malformed, unclosed or nested too deep.
    fn braces(
        &mut self,
        before: Vec<Trivia<'t>>,
        joint: Spacing,
        parts: &mut CstNodeBuilder<'t>,
    ) -> Result<(), KdlErrorSpan> {
        let open = self.here();
        if self.depth >= NESTING_LIMIT {
            return Err(open);
        }
        self.take();
        self.depth += 1;
        let mut block = self.block()?;
        self.depth -= 1;
        if self.peek().is_none() {
            return Err(open);
        }
        self.take();
        block.is_flat = !self.has_line_end(open.start..self.end);
        parts.pieces.push(CstElement { before, joint, what: CstElementKind::Block(block) });
        Ok(())
    }
}

/// True if the tokens `head` form exactly one node. The manifest parser decides; for type annotations and multi-line
/// strings, which it rejects, the `kdl` crate decides.
fn is_one_node(text: &str, head: &[KdlToken]) -> bool {
    if head.iter().any(|token| matches!(token.kind, KdlTokenKind::MultiLine | KdlTokenKind::Stray))
    {
        return kdl::is_one_node(&joined(text, head));
    }
    let mut unsaid = DiagnosticSink::new(&Arc::from(""));
    node_lints::check(text, head, "", &mut unsaid)
        && (fast_path::read(text, head).is_some() || kdl::is_one_node(&joined(text, head)))
}

/// Text of the tokens `head`, with single spaces between words and none around `=` or inside parentheses.
fn joined(text: &str, head: &[KdlToken]) -> String {
    let mut joined = String::new();
    let mut is_apart = false;
    for token in head {
        let word = text.get(token.span.clone()).unwrap_or_default();
        let is_mark = matches!(token.kind, KdlTokenKind::Equals | KdlTokenKind::Stray);
        if is_apart && (!is_mark || word == "(") {
            joined.push(' ');
        }
        joined.push_str(word);
        is_apart = !is_mark;
    }
    joined
}
