//! Concrete syntax of a manifest: nodes with their words, blocks and comments.

/// A comment, without trailing spaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment<'t> {
    /// The text, from its `//` or `/*`.
    pub(super) text: &'t str,
    /// The byte offset in the manifest.
    pub(super) start: usize,
    /// Number of spaces before it.
    pub(super) gap: usize,
}

impl Comment<'_> {
    /// Returns true for a comment that extends to the end of its line.
    pub(super) fn ends_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

/// Comments and line continuations before an element.
#[derive(Debug, Clone)]
pub(super) enum Trivia<'t> {
    /// A comment.
    Comment(Comment<'t>),
    /// A backslash that escapes the line end, with the comments between the two.
    Continuation(Vec<Comment<'t>>),
}

/// An element of a node: a word, a mark or a block.
#[derive(Debug)]
pub(super) struct CstElement<'t> {
    /// The trivia before it.
    pub(super) before: Vec<Trivia<'t>>,
    /// The separation from the previous element.
    pub(super) joint: Spacing,
    /// The element.
    pub(super) what: CstElementKind<'t>,
}

/// Separation of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// A space.
    Blank,
    /// None: inside `(type)key=value`, after `/-`, and before the first element.
    Adjacent,
}

/// Kind of an element.
#[derive(Debug)]
pub(super) enum CstElementKind<'t> {
    /// A word or mark, as written.
    Word(&'t str),
    /// A block in braces.
    Block(CstBlock<'t>),
}

/// A block, or the whole manifest.
#[derive(Debug, Default)]
pub(super) struct CstBlock<'t> {
    /// The comments behind the `{`, on its line.
    pub(super) opening: Vec<Comment<'t>>,
    /// The content, in order.
    pub(super) items: Vec<CstItem<'t>>,
    /// True if the block is on one line.
    pub(super) is_flat: bool,
}

/// An item of a block; in a block over several lines, each has its own line.
#[derive(Debug)]
pub(super) struct CstItem<'t> {
    /// True after a blank line.
    pub(super) is_apart: bool,
    /// The content.
    pub(super) line: CstItemKind<'t>,
}

/// Kind of an item.
#[derive(Debug)]
pub(super) enum CstItemKind<'t> {
    /// Only comments.
    Comments {
        /// In order; only the last may end its line.
        comments: Vec<Comment<'t>>,
        /// True if they continue the trailing comment of the line above: they begin in the same column.
        is_below: bool,
    },
    /// A node.
    Node(CstNode<'t>),
}

/// A node.
#[derive(Debug)]
pub(super) struct CstNode<'t> {
    /// The comments before it, on its line; none ends the line.
    pub(super) leading: Vec<Comment<'t>>,
    /// Its words and blocks, including `/-` marks.
    pub(super) pieces: Vec<CstElement<'t>>,
    /// The comments behind it, on its line; only the last may end the line.
    pub(super) trailing: Vec<Comment<'t>>,
}
