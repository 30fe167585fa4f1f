//! Prints a concrete syntax tree as a list of [`FormatLine`]: indentation, spaces, and the choice of blocks on one
//! line.

use super::cst::{
    Comment, CstBlock, CstElement, CstElementKind, CstItem, CstItemKind, CstNode, Spacing, Trivia,
};
use super::{INDENT, WIDTH, width};

/// Line of the formatted text. Comments and strings in `words` may contain line ends.
#[derive(Debug, Default)]
pub(super) struct FormatLine {
    /// Indentation and words of the line.
    pub(super) words: String,
    /// Trailing comments of the line; empty if there are none.
    pub(super) comments: String,
    /// Number of spaces before the trailing comments in the source.
    pub(super) gap: usize,
    /// True if the line is a comment that continues the trailing comment of the line above; `words` is then the
    /// indentation.
    pub(super) is_below: bool,
}

/// Lines of the formatted manifest, in order; a blank line has no words.
pub(super) fn lines(document: &CstBlock<'_>) -> Vec<FormatLine> {
    let mut printer = FormatPrinter { rows: Vec::new(), row: FormatLine::default() };
    printer.items(&document.items, 0);
    printer.rows
}

struct FormatPrinter {
    rows: Vec<FormatLine>,
    /// Line that is being written.
    row: FormatLine,
}

impl FormatPrinter {
    fn items(&mut self, items: &[CstItem<'_>], indent: usize) {
        for CstItem { is_apart, line } in items {
            if *is_apart {
                self.rows.push(FormatLine::default());
            }
            self.indent(indent);
            match line {
                CstItemKind::Comments { comments, is_below: true } => {
                    self.behind(comments);
                    self.row.is_below = true;
                }
                CstItemKind::Comments { comments, is_below: false } => {
                    self.row.words.push_str(&joined(comments));
                }
                CstItemKind::Node(node) => self.node(node, indent),
            }
            self.end();
        }
    }

    fn indent(&mut self, indent: usize) {
        self.row.words.extend(std::iter::repeat_n(' ', indent));
    }

    fn end(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    fn behind(&mut self, comments: &[Comment<'_>]) {
        self.row.comments = joined(comments);
        self.row.gap = comments.first().map_or(0, |comment| comment.gap);
    }

    fn node(&mut self, node: &CstNode<'_>, indent: usize) {
        if !node.leading.is_empty() {
            self.row.words.push_str(&joined(&node.leading));
            self.row.words.push(' ');
        }
        for CstElement { before, joint, what } in &node.pieces {
            if self.between(before, *joint, indent + INDENT) == Spacing::Blank {
                self.row.words.push(' ');
            }
            match what {
                CstElementKind::Word(word) => self.row.words.push_str(word),
                CstElementKind::Block(block) => self.block(block, indent),
            }
        }
        self.behind(&node.trailing);
    }

    /// Writes the comments and continuations `before` an element. Returns the space to write before the element:
    /// `joint` if there are no comments and continuations, else the space after the last of them. A line that is begun
    /// in between is indented by `indent` columns.
    fn between(&mut self, before: &[Trivia<'_>], joint: Spacing, indent: usize) -> Spacing {
        let mut joint = joint;
        let mut is_begun = true;
        for one in before {
            let (mark, comments) = match one {
                Trivia::Comment(comment) => ("", std::slice::from_ref(comment)),
                // A line is not broken within a word, nor twice in a row.
                Trivia::Continuation(comments)
                    if comments.is_empty() && joint == Spacing::Adjacent =>
                {
                    continue;
                }
                Trivia::Continuation(comments) => ("\\", comments.as_slice()),
            };
            for text in [mark, &joined(comments)].into_iter().filter(|text| !text.is_empty()) {
                self.row.words.push_str(if is_begun { " " } else { "" });
                self.row.words.push_str(text);
                is_begun = true;
            }
            joint = Spacing::Blank;
            if mark == "\\" || comments.iter().any(Comment::ends_line) {
                self.end();
                self.indent(indent);
                (joint, is_begun) = (Spacing::Adjacent, false);
            }
        }
        joint
    }

    /// Prints a block: on one line if it is on one line in the source and fits in [`WIDTH`] columns, else over several
    /// lines. `indent` is the indentation of the block's node, in columns.
    fn block(&mut self, block: &CstBlock<'_>, indent: usize) {
        let room = WIDTH.saturating_sub(last_width(&self.row.words));
        let mut flat = InlineWriter { text: String::new(), room };
        if block.is_flat && flat.block(block).is_some() {
            self.row.words.push_str(&flat.text);
            return;
        }
        self.row.words.push('{');
        self.behind(&block.opening);
        self.end();
        self.items(&block.items, indent + INDENT);
        self.indent(indent);
        self.row.words.push('}');
    }
}

/// Printer of a block on one line. A method returns `None` as soon as the text exceeds `room`, the width in columns
/// that is left in the line.
struct InlineWriter {
    text: String,
    room: usize,
}

impl InlineWriter {
    fn push(&mut self, text: &str) -> Option<()> {
        self.room = self.room.checked_sub(width(text))?;
        self.text.push_str(text);
        Some(())
    }

    fn block(&mut self, block: &CstBlock<'_>) -> Option<()> {
        self.push("{")?;
        self.comments(&block.opening)?;
        let mut gap = " ";
        for CstItem { line, .. } in &block.items {
            match line {
                CstItemKind::Comments { comments, .. } => self.comments(comments)?,
                CstItemKind::Node(node) => {
                    self.push(gap)?;
                    self.node(node)?;
                    gap = "; ";
                }
            }
        }
        let is_empty = block.items.is_empty() && block.opening.is_empty();
        self.push(if is_empty { "}" } else { " }" })
    }

    fn comments(&mut self, comments: &[Comment<'_>]) -> Option<()> {
        comments.iter().try_for_each(|comment| {
            self.push(" ")?;
            self.push(comment.text)
        })
    }

    fn node(&mut self, node: &CstNode<'_>) -> Option<()> {
        for comment in &node.leading {
            self.push(comment.text)?;
            self.push(" ")?;
        }
        for CstElement { before, joint, what } in &node.pieces {
            for one in before {
                // A continuation has no effect on one line.
                let Trivia::Comment(comment) = one else { continue };
                self.push(" ")?;
                self.push(comment.text)?;
            }
            if *joint == Spacing::Blank || !before.is_empty() {
                self.push(" ")?;
            }
            match what {
                CstElementKind::Word(word) => self.push(word)?,
                CstElementKind::Block(block) => self.block(block)?,
            }
        }
        self.comments(&node.trailing)
    }
}

fn joined(comments: &[Comment<'_>]) -> String {
    comments.iter().map(|comment| comment.text).collect::<Vec<_>>().join(" ")
}

/// Width of the last line of `words`, in columns.
pub(super) fn last_width(words: &str) -> usize {
    width(words.rsplit('\n').next().unwrap_or_default())
}
