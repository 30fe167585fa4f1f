//! Generic KDL tree of a manifest, [`ManifestTree`]: nodes with arguments, properties and children, each with its span.
//! Names of nodes have no meaning at this stage.

use std::ops::Range;

/// Value of an argument or property in KDL.
#[derive(Debug, Clone, PartialEq)]
pub enum ManifestValue {
    /// String with its escapes resolved.
    String(String),
    /// Integer, such as `16` or `0x1f`.
    Integer(i128),
    /// A number with a fraction or an exponent, or `#inf`, `#-inf`, `#nan`.
    Float(f64),
    /// Boolean, `#true` or `#false`.
    Bool(bool),
    /// Absent value, `#null`.
    Null,
}

impl ManifestValue {
    /// Kind of the value with its article, for messages: `a string`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a number with a fraction or an exponent",
            Self::Bool(_) => "a boolean",
            Self::Null => "`#null`",
        }
    }
}

/// Argument of a node, or value of a property, with its location.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Value with escapes resolved.
    pub value: ManifestValue,
    /// Byte range of the value in the file, including quotes.
    pub span: Range<usize>,
    /// Byte range of the value in the file without its quotes; equal to `span` for an unquoted value.
    pub content: Range<usize>,
    /// True if the value is quoted.
    pub quoted: bool,
    /// True if the value is not a string, or a string without escapes on one line. Byte `k` of such a string is byte
    /// `content.start + k` of the file.
    pub plain: bool,
}

impl Entry {
    /// Text of the value if it is a string; `None` for other values.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            ManifestValue::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Key of a node's property, with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyKey {
    /// Text of the key with its escapes resolved.
    pub value: String,
    /// Byte range of the key in the file, including quotes.
    pub span: Range<usize>,
}

/// Node of a KDL tree: `name arg key=value { children }`.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestNode {
    /// Name of the node, such as `tensor`.
    pub name: String,
    /// Byte range of the name in the file, including quotes.
    pub name_span: Range<usize>,
    /// Arguments of the node, in the order of the text.
    pub args: Vec<Entry>,
    /// Properties of the node, in the order of the text; a duplicate key occurs twice.
    pub props: Vec<(PropertyKey, Entry)>,
    /// Nodes of the node's block; `None` if it has no block.
    pub children: Option<Vec<ManifestNode>>,
    /// Byte range of the node in the file, from the name to the last argument, property or closing brace.
    pub span: Range<usize>,
    /// Byte range in the file from the name to the last argument or property, without the block.
    pub head: Range<usize>,
    /// True if a diagnostic has already reported the node as malformed. Its arguments and properties may then be
    /// incomplete. If the part before the block is malformed, there are no properties and at most one argument, the
    /// name that the node declares.
    pub broken: bool,
}

impl ManifestNode {
    /// Nodes of the node's block; empty if it has no block.
    pub fn children(&self) -> &[ManifestNode] {
        self.children.as_deref().unwrap_or_default()
    }

    /// True if the node or any descendant is broken, that is, reported as malformed.
    pub fn is_damaged(&self) -> bool {
        self.broken || self.children().iter().any(Self::is_damaged)
    }
}

/// Generic KDL tree of a manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestTree {
    /// Top-level nodes of the manifest, in the order of the text.
    pub nodes: Vec<ManifestNode>,
    /// True if nodes may be missing: a block, comment or string is unclosed, a `}` is unmatched, blocks or comments are
    /// nested too deep, or a `//` that was meant as a division hides a brace.
    pub torn: bool,
}
