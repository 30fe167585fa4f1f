//! Tokens into a tree: which arguments belong to which node, and which node stands in which. It walks the tokens once,
//! with its own stack, so that no text can exhaust the thread's.

use super::diagnostic_sink::DiagnosticSink;
use super::kdl;
use super::lex::{self, KdlToken, KdlTokenKind, NESTING_LIMIT};
use super::tree::{ManifestNode, ManifestTree};
use crate::codes::Code;

/// The nodes of a text. What is malformed is reported once and left out, or marked as broken.
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
        nodes.clear(); // The braces that the line lost would have put these elsewhere.
    }
    ManifestTree { nodes, torn: !balanced || faults.tail_lost }
}

/// A block that is open.
struct OpenBlock<'t> {
    /// The node that it belongs to; `None` where that is commented out or missing.
    owner: Option<ManifestNode>,
    /// The token of its `{`.
    brace: &'t KdlToken,
    /// The nodes before the owner, where the owner stands.
    nodes: Vec<ManifestNode>,
    /// Whether what stands in it is commented out, or has no owner: it is not looked at.
    discard: bool,
}

struct TreeBuilder<'t, 'f> {
    text: &'t str,
    tokens: &'t [KdlToken],
    at: usize,
    /// The tokens of the node that is being read, without those that `/-` takes out.
    head: Vec<KdlToken>,
    /// Whether `/-` takes out the whole node.
    slashed: bool,
    /// Whether the node's block has just closed.
    after_block: bool,
    frames: Vec<OpenBlock<'t>>,
    /// The nodes of the innermost open block, or of the file.
    nodes: Vec<ManifestNode>,
    /// How many nodes there were at the top when a block closed there last.
    closed: usize,
    /// Whether a `}` closed nothing.
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
                KdlTokenKind::Bare
                | KdlTokenKind::Quoted { .. }
                | KdlTokenKind::MultiLine
                | KdlTokenKind::Bad
                | KdlTokenKind::Equals
                | KdlTokenKind::Stray => self.part(token),
            }
        }
        self.finish();
        let Some(frame) = self.frames.last() else { return Some(()) };
        if !self.faults.tail_lost {
            let span = frame.brace.span.clone();
            let fault = self.faults.error(Code::KdlSyntax, "this block never closes", span, "");
            fault.add_help("close it with `}`");
        }
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

    /// An argument, a property's name, or `=`.
    fn part(&mut self, token: &KdlToken) {
        if self.after_block {
            self.after_block = false;
            // A name begins a node that lacks its `;`; anything else was meant for the one before.
            let names = matches!(token.kind, KdlTokenKind::Bare | KdlTokenKind::Quoted { .. });
            let is_mark =
                self.text.get(token.span.clone()).is_some_and(|word| word.starts_with('#'));
            if token.kind == KdlTokenKind::Bare && is_mark {
                // A comment of another language, which is told of as such.
                self.head.push(token.clone());
                return;
            }
            self.slashed = !names || self.peek() == Some(KdlTokenKind::Equals);
            let message = "a node ends with its block";
            let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
            fault.add_help(if self.slashed {
                "write it before the block".to_owned()
            } else {
                "write `;` before the next node, or begin a new line".to_owned()
            });
        }
        self.head.push(token.clone());
    }

    /// The end of a node without a block, or of what follows one.
    fn finish(&mut self) {
        if let Some(node) = self.take_head() {
            self.nodes.push(node);
        }
        self.slashed = false;
        self.after_block = false;
    }

    /// The node that the tokens so far make.
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
            let message = "a node has one block";
            let fault = self.faults.error(Code::KdlSyntax, message, span, "a second one");
            fault.add_help("write all its nodes in one block");
            None
        } else if self.head.is_empty() && !self.slashed {
            let message = "a block without the name of a node before it";
            let fault = self.faults.error(Code::KdlSyntax, message, span, "");
            fault.add_help("write the `{` at the end of the line that names its node");
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
            // What stands before it was to be part of the node whose block closed too early.
            self.nodes.truncate(self.closed);
            self.stray = true;
            if !self.faults.tail_lost {
                let message = "this `}` closes nothing";
                let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
                fault.add_help("take it out, or one before it that closes a block too early");
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

    /// `/-`: takes out the node, the argument, the property or the block that follows.
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
                let message = "`/-` takes out what follows it, and nothing does";
                let fault = self.faults.error(Code::KdlSyntax, message, token.span.clone(), "");
                fault.add_help("take it out, or write it before a node");
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

    /// Skips a block that `/-` takes out, with the blocks inside it.
    fn comment_out_block(&mut self, brace: &KdlToken) -> Option<()> {
        let mut depth = 1_usize;
        while let Some(token) = self.next() {
            match token.kind {
                KdlTokenKind::Open => depth += 1,
                KdlTokenKind::Close => depth -= 1,
                KdlTokenKind::Bare
                | KdlTokenKind::Quoted { .. }
                | KdlTokenKind::MultiLine
                | KdlTokenKind::Bad
                | KdlTokenKind::Equals
                | KdlTokenKind::End
                | KdlTokenKind::SlashDash
                | KdlTokenKind::Stray => {}
            }
            if depth == 0 {
                return Some(());
            }
            if depth + self.frames.len() > NESTING_LIMIT {
                self.faults.nesting("blocks", token.span.clone());
                return None;
            }
        }
        if !self.faults.tail_lost {
            let span = brace.span.clone();
            let fault = self.faults.error(Code::KdlSyntax, "this block never closes", span, "");
            fault.add_help("close it with `}`");
        }
        None
    }

    /// Skips an argument or a property that `/-` takes out.
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
