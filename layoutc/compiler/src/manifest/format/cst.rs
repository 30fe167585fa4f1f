//! Concrete syntax tree of a manifest: [`CstBlock`] holds nodes with their words, blocks and comments, as written.

/// Comment in a manifest, without trailing spaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment<'t> {
    /// Text of the comment, from its `//` or `/*`.
    pub(super) text: &'t str,
    /// Byte offset of the comment in the manifest.
    pub(super) start: usize,
    /// Number of spaces before the comment in the source.
    pub(super) gap: usize,
}

impl Comment<'_> {
    /// True for a `//` comment, which extends to the end of its line.
    pub(super) fn ends_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

/// Comment or line continuation before an element of a node.
#[derive(Debug, Clone)]
pub(super) enum Trivia<'t> {
    /// A comment.
    Comment(Comment<'t>),
    /// A backslash that escapes the line end, with the comments between the two.
    Continuation(Vec<Comment<'t>>),
}

/// Element of a node, with the comments before it: a word, a mark such as `=` or `/-`, or a block.
#[derive(Debug)]
pub(super) struct CstElement<'t> {
    /// Comments and line continuations before the element.
    pub(super) before: Vec<Trivia<'t>>,
    /// Space between the previous element of the node and this element.
    pub(super) joint: Spacing,
    /// Content of the element: a word, a mark or a block.
    pub(super) what: CstElementKind<'t>,
}

/// Space between an element of a node and the previous element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spacing {
    /// One space.
    Blank,
    /// No space: inside `key=(type)value`, after `/-`, and before the first element.
    Adjacent,
}

/// Content of a node's element: text or a block.
#[derive(Debug)]
pub(super) enum CstElementKind<'t> {
    /// Word or mark, as written: `tensor`, `"2 * k"`, `=`, `/-`.
    Word(&'t str),
    /// Block in braces.
    Block(CstBlock<'t>),
}

/// Block of nodes in braces, or the whole manifest.
#[derive(Debug, Default)]
pub(super) struct CstBlock<'t> {
    /// Comments after the block's `{`, on the same line.
    pub(super) opening: Vec<Comment<'t>>,
    /// Nodes and comments of the block, in order.
    pub(super) items: Vec<CstItem<'t>>,
    /// True if the source has the block on one line.
    pub(super) is_flat: bool,
}

/// Node, or comments alone, in a block. In a block over several lines each item has its own line.
#[derive(Debug)]
pub(super) struct CstItem<'t> {
    /// True if a blank line separates the item from the previous item of the block in the source.
    pub(super) is_apart: bool,
    /// Content of the item: a node, or comments alone.
    pub(super) line: CstItemKind<'t>,
}

/// Content of a block's item: comments alone, or a node.
#[derive(Debug)]
pub(super) enum CstItemKind<'t> {
    /// Comments without a node on their line.
    Comments {
        /// Comments of the line in order; only the last may extend to the end of the line.
        comments: Vec<Comment<'t>>,
        /// True if the comments continue the trailing comment of the line above: they begin in the same column.
        is_below: bool,
    },
    /// Node with the comments on its line.
    Node(CstNode<'t>),
}

/// Node with the comments on its line.
#[derive(Debug)]
pub(super) struct CstNode<'t> {
    /// Comments before the node on its line; none extends to the end of the line.
    pub(super) leading: Vec<Comment<'t>>,
    /// Words and blocks of the node, including `/-` marks.
    pub(super) pieces: Vec<CstElement<'t>>,
    /// Comments after the node on its line; only the last may extend to the end of the line.
    pub(super) trailing: Vec<Comment<'t>>,
}
