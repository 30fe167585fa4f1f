//! Parses tokens into a concrete syntax tree ([`CstBlock`]) by the KDL 2 grammar; each node is also checked by the
//! manifest parser.

use std::ops::Range;

use super::super::lex::{KdlToken, KdlTokenKind, newline};
use super::INDENT;
use super::cst::{Comment, CstBlock, CstItem, CstItemKind, Trivia};
use super::trivia::{between, by_lines, comments};

/// Byte range of a syntax error in the text.
pub(super) type KdlErrorSpan = Range<usize>;

/// Maximum distance in bytes of a comment from the start of its line for which its column is computed. A comment
/// farther right is never treated as a continuation of the comment in the line above.
const FAR: usize = 400;

/// Parses `tokens`, all tokens of `text`, to the block of its top-level nodes.
///
/// # Errors
/// The first byte range that is not valid KDL 2, or is nested too deep.
pub(super) fn document<'t>(
    text: &'t str,
    tokens: &'t [KdlToken],
) -> Result<CstBlock<'t>, KdlErrorSpan> {
    let end = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let ends = text.char_indices().filter(|&(at, _)| text.get(at..).and_then(newline).is_some());
    let line_ends = ends.map(|(at, _)| at).collect();
    let mut parser = CstParser { text, tokens, at: 0, end, line_ends, depth: 0, slashed: 0 };
    let block = parser.block()?;
    match parser.peek() {
        Some(token) => Err(token.span.clone()),
        None => Ok(block),
    }
}

pub(super) struct CstParser<'t> {
    pub(super) text: &'t str,
    pub(super) tokens: &'t [KdlToken],
    pub(super) at: usize,
    /// Byte offset of the end of the last token that was consumed.
    pub(super) end: usize,
    /// Byte offsets of the line ends, in order.
    line_ends: Vec<usize>,
    /// Number of blocks that are open, at most the nesting limit.
    pub(super) depth: usize,
    /// Number of enclosing `/-` marks; nodes inside are not checked.
    pub(super) slashed: usize,
}

/// Items of a block that is being parsed, with the state of its current line.
#[derive(Default)]
struct CstBlockBuilder<'t> {
    block: CstBlock<'t>,
    /// Comments that belong to no item yet.
    pending: Vec<Comment<'t>>,
    /// Number of line ends since the last item.
    newlines: usize,
    /// True after the first line end in the block: the block is then on several lines.
    is_open: bool,
    /// True if the current line has a node already.
    is_fresh: bool,
    /// Column, from 0, of the comment in the line above that a comment in the current line can continue: the trailing
    /// comment of a node or `{`, or a continuation of one. `None` if there is no such comment.
    above: Option<usize>,
}

impl<'t> CstBlockBuilder<'t> {
    /// Trailing comments of the current line, to which a comment is added: those of its last node. In the first line of
    /// a block they are those of the block's `{`, if `has_brace` is true and no node follows it. `None` in all other
    /// cases.
    fn behind(&mut self, has_brace: bool) -> Option<&mut Vec<Comment<'t>>> {
        match self.block.items.last_mut().map(|item| &mut item.line) {
            Some(CstItemKind::Node(node)) if self.is_fresh => Some(&mut node.trailing),
            None if has_brace && !self.is_open => Some(&mut self.block.opening),
            Some(_) | None => None,
        }
    }

    /// Assigns the pending comments at a `;`. The comments up to the first line end become trailing comments of the
    /// node that the `;` ends, unless it has a `//` comment already. The other comments stay pending, and so do all if
    /// the current line has no node.
    fn semicolon(&mut self) {
        if !self.is_fresh {
            return;
        }
        let mut rows = by_lines(std::mem::take(&mut self.pending)).into_iter();
        if let Some(behind) = self.behind(false)
            && behind.last().is_none_or(|last| !last.ends_line())
        {
            behind.extend(rows.next().into_iter().flatten());
        }
        self.pending = rows.flatten().collect();
    }

    /// Empties `pending` before a node. Returns the comments on the line of the node; each earlier line of comments
    /// becomes an item without a node.
    fn leading(&mut self) -> Vec<Comment<'t>> {
        let mut rows = by_lines(std::mem::take(&mut self.pending));
        let leading = rows.pop_if(|row| row.last().is_some_and(|last| !last.ends_line()));
        for comments in rows {
            self.add(CstItemKind::Comments { comments, is_below: false });
        }
        leading.unwrap_or_default()
    }

    fn add(&mut self, line: CstItemKind<'t>) {
        let is_apart = self.newlines > 1 && !self.block.items.is_empty();
        self.block.items.push(CstItem { is_apart, line });
        self.newlines = 0;
    }
}

impl<'t> CstParser<'t> {
    pub(super) fn peek(&self) -> Option<&'t KdlToken> {
        self.tokens.get(self.at)
    }

    pub(super) fn take(&mut self) -> Option<&'t KdlToken> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        self.end = token.span.end;
        Some(token)
    }

    pub(super) fn spelled(&self, token: &KdlToken) -> &'t str {
        self.text.get(token.span.clone()).unwrap_or_default()
    }

    /// Byte range of the next token, or of the end of the text.
    pub(super) fn here(&self) -> KdlErrorSpan {
        self.peek().map_or(self.text.len()..self.text.len(), |token| token.span.clone())
    }

    pub(super) fn gap(&self) -> Vec<Trivia<'t>> {
        between(self.text, self.end..self.here().start)
    }

    /// Column of a comment, from 0; `None` if the comment is more than [`FAR`] bytes into its line.
    fn column(&self, comment: &Comment<'_>) -> Option<usize> {
        let line = self.line_ends.partition_point(|&end| end < comment.start);
        let end = line.checked_sub(1).and_then(|line| self.line_ends.get(line));
        let start = end.map_or(0, |&end| end + self.text.get(end..).and_then(newline).unwrap_or(0));
        let before = self.text.get(start..comment.start)?;
        (before.len() <= FAR).then(|| super::width(before))
    }

    /// True if the byte range `span` contains a line end.
    pub(super) fn has_line_end(&self, span: Range<usize>) -> bool {
        let next = self.line_ends.partition_point(|&end| end < span.start);
        self.line_ends.get(next).is_some_and(|&end| end < span.end)
    }

    /// Parses the nodes and comments of a block up to its `}`, which is not consumed, or up to the end of the text.
    pub(super) fn block(&mut self) -> Result<CstBlock<'t>, KdlErrorSpan> {
        let mut lines = CstBlockBuilder::default();
        loop {
            lines.pending.extend(comments(self.gap()));
            match self.peek() {
                None => break,
                Some(token) if token.kind == KdlTokenKind::Close => break,
                Some(token) if token.kind == KdlTokenKind::End => {
                    if self.spelled(token) == ";" {
                        lines.semicolon();
                    } else {
                        self.line_end(&mut lines);
                        lines.newlines += 1;
                    }
                    self.take();
                }
                Some(_) => {
                    let leading = lines.leading();
                    let node = self.node(leading)?;
                    lines.add(CstItemKind::Node(node));
                    lines.is_fresh = true;
                }
            }
        }
        self.line_end(&mut lines);
        Ok(lines.block)
    }

    /// Assigns the pending comments at a line end. The comments of the first line become trailing comments of the last
    /// node or `{` in that line, if there is one without a `//` comment. Every further line of comments becomes an item
    /// without a node.
    fn line_end(&self, lines: &mut CstBlockBuilder<'t>) {
        let mut rows = by_lines(std::mem::take(&mut lines.pending)).into_iter().peekable();
        let above = lines.above.take();
        let behind = lines.behind(self.depth > 0).and_then(|behind| {
            let has_room = behind.last().is_none_or(|last| !last.ends_line());
            behind.extend(rows.next_if(|_| has_room).into_iter().flatten());
            behind.first().copied()
        });
        lines.above = behind.and_then(|comment| self.column(&comment));
        for comments in rows {
            let own = comments.first().and_then(|comment| self.column(comment));
            // A comment at the indentation of its block stands alone, whatever is above it.
            let below = own.filter(|&own| above == Some(own) && own > self.depth * INDENT);
            lines.above = below;
            lines.add(CstItemKind::Comments { comments, is_below: below.is_some() });
        }
        lines.is_fresh = false;
        lines.is_open = true;
    }
}
