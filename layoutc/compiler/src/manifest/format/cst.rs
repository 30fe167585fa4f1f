//! What a manifest is made of before it has lines: nodes, their words and blocks, and the comments between them.

/// A comment, without blanks behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment<'t> {
    /// From its `//` or `/*`.
    pub(super) text: &'t str,
    /// Its first byte in the manifest.
    pub(super) start: usize,
    /// How many blanks stand before it.
    pub(super) gap: usize,
}

impl Comment<'_> {
    /// Whether it ends its line.
    pub(super) fn ends_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

/// What stands before a word of a node.
#[derive(Debug, Clone)]
pub(super) enum Trivia<'t> {
    /// A comment.
    Comment(Comment<'t>),
    /// A backslash that hides the end of the line, with the comments between the two.
    Continuation(Vec<Comment<'t>>),
}

/// A part of a node.
#[derive(Debug)]
pub(super) struct CstElement<'t> {
    /// What stands before it.
    pub(super) before: Vec<Trivia<'t>>,
    /// How it is joined to what precedes it.
    pub(super) joint: Spacing,
    /// What it is.
    pub(super) what: CstElementKind<'t>,
}

/// What joins two pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// A blank.
    Blank,
    /// Nothing: the parts of `(type)key=value`, what follows `/-`, and the first piece.
    Adjacent,
}

/// What a piece is.
#[derive(Debug)]
pub(super) enum CstElementKind<'t> {
    /// A word as it is spelled, or a mark.
    Word(&'t str),
    /// A block in braces.
    Block(CstBlock<'t>),
}

/// A block, or the whole manifest.
#[derive(Debug, Default)]
pub(super) struct CstBlock<'t> {
    /// The comments behind the `{`, on its line.
    pub(super) opening: Vec<Comment<'t>>,
    /// What stands in it, in order.
    pub(super) items: Vec<CstItem<'t>>,
    /// Whether all of it stands on one line.
    pub(super) is_flat: bool,
}

/// What has a line of its own in a block over several lines.
#[derive(Debug)]
pub(super) struct CstItem<'t> {
    /// Whether a blank line stands before it.
    pub(super) is_apart: bool,
    /// What it is.
    pub(super) line: CstItemKind<'t>,
}

/// A line of a block.
#[derive(Debug)]
pub(super) enum CstItemKind<'t> {
    /// Comments alone.
    Comments {
        /// In order; only the last may end its line.
        comments: Vec<Comment<'t>>,
        /// Whether they stand right below the comment behind the line above, and go on with it.
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
    /// Its words and blocks, `/-` before them too.
    pub(super) pieces: Vec<CstElement<'t>>,
    /// The comments behind it, on its line; only the last may end the line.
    pub(super) trailing: Vec<Comment<'t>>,
}
