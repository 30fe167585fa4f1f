//! Builder of the generic KDL tree from tokens: assigns arguments to nodes and nodes to blocks. It uses an explicit
//! stack, so that no input overflows the thread's stack.

use std::ops::Range;

use super::diagnostic_sink::DiagnosticSink;
use super::kdl;
use super::lex::{self, KdlToken, KdlTokenKind, NESTING_LIMIT};
use super::tree::{ManifestNode, ManifestTree};
use crate::base::codes::Code;
use crate::base::diagnostic::Fix;

/// Parses a text to its KDL tree. Malformed parts are reported to `faults` once, and left out or marked as broken.
pub(super) fn tree(text: &str, faults: &mut DiagnosticSink) -> ManifestTree {
    let Some(tokens) = lex::lex(text, faults) else {
        return ManifestTree { nodes: Vec::new(), torn: true };
    };
    let mut blocks = TreeBuilder {
        text,
        tokens: &tokens,
        at: 0,
        head: Vec::new(),
        slashed: false,
        after_block: false,
        frames: Vec::new(),
        nodes: Vec::new(),
        closed: 0,
        stray: false,
        faults,
    };
    let balanced = blocks.run().is_some() && !blocks.stray;
    let mut nodes = blocks.nodes;
    if !balanced && faults.tail_lost {
        nodes.clear(); // The nesting is unreliable: braces were lost with the tail of a line.
    }
    ManifestTree { nodes, torn: !balanced || faults.tail_lost }
}

/// Block whose closing brace is not read yet.
struct OpenBlock<'t> {
    /// Node that the block belongs to. `None` if the block is skipped: its node is commented out, is missing, has a
    /// block already, or is inside a skipped block.
    owner: Option<ManifestNode>,
    /// Token of the block's `{`.
    brace: &'t KdlToken,
    /// Sibling nodes before the block's owner.
    nodes: Vec<ManifestNode>,
    /// True if `owner` is `None`: the nodes of the block are skipped.
    discard: bool,
}

struct TreeBuilder<'t, 'f> {
    text: &'t str,
    tokens: &'t [KdlToken],
    at: usize,
    /// Tokens of the current node, without those commented out by `/-`.
    head: Vec<KdlToken>,
    /// True if the current node is skipped: `/-` comments it out, or it is a reported word after a block that begins no
    /// node.
    slashed: bool,
    /// True between the block of the current node and the end of the node.
    after_block: bool,
    frames: Vec<OpenBlock<'t>>,
    /// Nodes so far of the innermost open block, or of the file.
    nodes: Vec<ManifestNode>,
    /// Number of top-level nodes when a top-level block was last closed. After an unmatched `}`, the later top-level
    /// nodes are discarded: they were meant for a block that an earlier `}` closed.
    closed: usize,
    /// True if a `}` without its `{` was read.
    stray: bool,
    faults: &'f mut DiagnosticSink,
}

impl<'t> TreeBuilder<'t, '_> {
    fn run(&mut self) -> Option<()> {
        while let Some(token) = self.next() {
            match token.kind {
                KdlTokenKind::End => self.finish(),
                KdlTokenKind::Close => self.close(token),
                KdlTokenKind::Open => self.open(token)?,
                KdlTokenKind::SlashDash => self.slash_dash(token)?,
                _ => self.part(token),
            }
        }
        self.finish();
        let Some(brace) = self.frames.last().map(|frame| frame.brace) else { return Some(()) };
        self.unclosed(brace);
        while let Some(frame) = self.frames.pop() {
            self.nodes = frame.nodes;
        }
        None
    }

    fn next(&mut self) -> Option<&'t KdlToken> {
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        Some(token)
    }

    fn peek(&self) -> Option<KdlTokenKind> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    /// Adds a word or `=` to the current node. After a block, a word is an error: a property is handled by
    /// [`Self::property_after_block`], a name or a word that begins with `#` begins a new node, and anything else is
    /// skipped.
    fn part(&mut self, token: &KdlToken) {
        if self.after_block && self.property_after_block(token) {
            return;
        }
        if self.after_block {
            self.after_block = false;
            // A name begins a node that lacks its `;`; anything else belongs to the node before.
            let names = matches!(token.kind, KdlTokenKind::Bare | KdlTokenKind::Quoted { .. });
            let is_mark =
                self.text.get(token.span.clone()).is_some_and(|word| word.starts_with('#'));
            if token.kind == KdlTokenKind::Bare && is_mark {
                // A comment of another language: `node_lints` reports it as such.
                self.head.push(token.clone());
                return;
            }
            self.slashed = !names || self.peek() == Some(KdlTokenKind::Equals);
            let message = "unexpected word after the block of a node";
            let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
            fault.add_help(if self.slashed {
                "write it before the block".to_owned()
            } else {
                "write `;` before the next node, or begin a new line".to_owned()
            });
        }
        self.head.push(token.clone());
    }

    /// Returns true, after a report, if a property begins with `token` after the block of a node; the property is added
    /// to the node. Returns false, without a report, if no property begins there, the block was skipped, or its node is
    /// broken.
    fn property_after_block(&mut self, token: &KdlToken) -> bool {
        let Some([equals, value]) = self.tokens.get(self.at..self.at + 2) else { return false };
        let is_word = |token: &KdlToken| {
            matches!(token.kind, KdlTokenKind::Bare | KdlTokenKind::Quoted { .. })
        };
        let is_property = is_word(token) && equals.kind == KdlTokenKind::Equals && is_word(value);
        let parent = self.frames.last().and_then(|frame| frame.owner.as_ref());
        let parent = parent.map_or(String::new(), |node| node.name.clone());
        let block_end =
            self.at.checked_sub(2).and_then(|before| Some(self.tokens.get(before)?.span.end));
        let is_owner = |node: &&mut ManifestNode| {
            is_property && !node.broken && Some(node.span.end) == block_end
        };
        let Some(node) = self.nodes.last_mut().filter(is_owner) else { return false };
        let source = |span: Range<usize>| self.text.get(span).unwrap_or_default();
        let property = source(token.span.start..value.span.end);
        let message = "property after the block of its node";
        let span = token.span.start..value.span.end;
        let place = self.faults.place(node.head.end..value.span.end);
        let fault = self.faults.error(Code::KdlSyntax, message, span, "");
        fault.add_help(format!(
            "write it before the block: `{} {property} {{ … }}`",
            source(node.head.clone())
        ));
        let block = source(node.head.end..node.span.end);
        fault.fixes.push(Fix { place, text: format!(" {property}{block}") });
        let name = KdlToken {
            kind: KdlTokenKind::Bare,
            span: node.name_span.clone(),
            glued_comment: false,
        };
        let head = [name, token.clone(), equals.clone(), value.clone()];
        let moved = kdl::node(self.text, &head, &parent, self.faults);
        node.broken |= moved.broken;
        node.props.extend(moved.props);
        self.at += 2;
        true
    }

    /// Ends the current node, and adds it to the innermost open block.
    fn finish(&mut self) {
        if let Some(node) = self.take_head() {
            self.nodes.push(node);
        }
        self.slashed = false;
        self.after_block = false;
    }

    /// Builds a node from the tokens in `head`, which becomes empty; `None` if there are no tokens or the node is
    /// skipped, for example because it is commented out.
    fn take_head(&mut self) -> Option<ManifestNode> {
        let head = std::mem::take(&mut self.head);
        let discard = self.frames.last().is_some_and(|frame| frame.discard);
        if head.is_empty() || self.slashed || discard {
            return None;
        }
        let parent = self.frames.last().and_then(|frame| frame.owner.as_ref());
        let parent = parent.map_or("", |node| node.name.as_str());
        Some(kdl::node(self.text, &head, parent, self.faults))
    }

    fn open(&mut self, brace: &'t KdlToken) -> Option<()> {
        if self.frames.len() >= NESTING_LIMIT {
            self.faults.nesting("blocks", brace.span.clone());
            return None;
        }
        let span = brace.span.clone();
        let owner = if self.after_block {
            let message = "a node can have only one block";
            let fault = self.faults.error(Code::KdlSyntax, message, span, "a second one");
            fault.add_help("write all its nodes in one block");
            None
        } else if self.head.is_empty()
            && !self.slashed
            && let Some(node) = self.nodes.pop_if(|node| {
                let gap = self.text.get(node.span.end..span.start);
                node.children.is_none() && gap.is_some_and(|gap| gap.trim().is_empty())
            })
        {
            let line = self.text.get(node.span.clone()).unwrap_or_default();
            let message = "the `{` of a block is on the line of its node";
            let help = format!("write `{line} {{` on one line");
            let place = self.faults.place(node.span.end..span.end);
            let fault = self.faults.error(Code::KdlSyntax, message, span, "");
            fault.add_help(help);
            fault.fixes.push(Fix { place, text: " {".to_owned() });
            Some(node)
        } else if self.head.is_empty() && !self.slashed {
            let message = "block without a node name";
            let fault = self.faults.error(Code::KdlSyntax, message, span, "");
            fault.add_help("write the `{` on the line of its node");
            None
        } else {
            self.take_head()
        };
        let nodes = std::mem::take(&mut self.nodes);
        let discard = owner.is_none();
        self.frames.push(OpenBlock { owner, brace, nodes, discard });
        self.slashed = false;
        self.after_block = false;
        Some(())
    }

    fn close(&mut self, token: &KdlToken) {
        self.finish();
        let Some(frame) = self.frames.pop() else {
            // The nodes before it were meant for a block that closed too early.
            self.nodes.truncate(self.closed);
            self.stray = true;
            if !self.faults.tail_lost {
                let message = "unmatched `}`";
                let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
                fault.add_help("remove it, or an earlier `}` that closes a block too early");
            }
            return;
        };
        let children = std::mem::replace(&mut self.nodes, frame.nodes);
        if let Some(mut node) = frame.owner {
            node.children = Some(children);
            node.span.end = token.span.end;
            self.nodes.push(node);
        }
        if self.frames.is_empty() {
            self.closed = self.nodes.len();
        }
        self.after_block = true;
    }

    /// Skips the node, argument, property or block that the `/-` at `token` comments out. `None`, which ends parsing,
    /// if that is a block which is unclosed or nested too deep.
    fn slash_dash(&mut self, token: &KdlToken) -> Option<()> {
        while self.peek() == Some(KdlTokenKind::End) {
            self.at += 1;
        }
        match self.peek() {
            Some(KdlTokenKind::Open) => {
                let brace = self.next()?;
                self.comment_out_block(brace)
            }
            Some(KdlTokenKind::Close) | None => {
                let message = "nothing follows this `/-`";
                let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
                fault.add_help("remove it, or write it before a node");
                Some(())
            }
            Some(_) if self.head.is_empty() && !self.after_block => {
                self.slashed = true;
                Some(())
            }
            Some(_) => {
                self.skip_entry();
                Some(())
            }
        }
    }

    /// Skips the block with the opening brace `brace`, which `/-` comments out, including nested blocks. `None`, after
    /// a report, if the block is unclosed or nested too deep.
    fn comment_out_block(&mut self, brace: &KdlToken) -> Option<()> {
        let mut depth = 1_usize;
        while let Some(token) = self.next() {
            match token.kind {
                KdlTokenKind::Open => depth += 1,
                KdlTokenKind::Close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(());
            }
            if depth + self.frames.len() > NESTING_LIMIT {
                self.faults.nesting("blocks", token.span.clone());
                return None;
            }
        }
        self.unclosed(brace);
        None
    }

    fn unclosed(&mut self, brace: &KdlToken) {
        if !self.faults.tail_lost {
            let span = brace.span.clone();
            let fault = self.faults.error(Code::KdlSyntax, "unclosed block", span, "");
            fault.add_help("close it with `}`");
        }
    }

    /// Skips an argument or property that `/-` comments out.
    fn skip_entry(&mut self) {
        self.at += 1;
        if self.peek() == Some(KdlTokenKind::Equals) {
            self.at += 1;
            if !matches!(
                self.peek(),
                Some(KdlTokenKind::End | KdlTokenKind::Close | KdlTokenKind::Open) | None
            ) {
                self.at += 1;
            }
        }
    }
}
