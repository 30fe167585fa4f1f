//! A manifest as a generic KDL tree: nodes with arguments, properties and children, each with its span. It does not
//! know about layouts.

use std::ops::Range;

/// A KDL value.
#[derive(Debug, Clone, PartialEq)]
pub enum ManifestValue {
    /// A string with escapes resolved.
    String(String),
    /// An integer.
    Integer(i128),
    /// A number with a fraction or an exponent, or `#inf`, `#-inf`, `#nan`.
    Float(f64),
    /// `#true` or `#false`.
    Bool(bool),
    /// `#null`.
    Null,
}

impl ManifestValue {
    /// The kind of value with its article, for messages: `a string`.
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

/// An argument, or the value of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The parsed value.
    pub value: ManifestValue,
    /// The bytes in the file, including quotes.
    pub span: Range<usize>,
    /// The bytes without the quotes; equal to `span` for an unquoted value.
    pub content: Range<usize>,
    /// True if the value is quoted.
    pub quoted: bool,
    /// True if byte `k` of the string value is byte `content.start + k` of the file: there is no escape and one line.
    pub plain: bool,
}

impl Entry {
    /// The value, if it is a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            ManifestValue::String(text) => Some(text),
            _ => None,
        }
    }
}

/// The key of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyKey {
    /// The key with escapes resolved.
    pub value: String,
    /// The bytes in the file, including quotes.
    pub span: Range<usize>,
}

/// A KDL node.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestNode {
    /// The node name, such as `tensor`.
    pub name: String,
    /// The bytes of the name, including quotes.
    pub name_span: Range<usize>,
    /// The arguments, in textual order.
    pub args: Vec<Entry>,
    /// The properties, in textual order; a duplicate key occurs twice.
    pub props: Vec<(PropertyKey, Entry)>,
    /// The nodes of the block; `None` without a block.
    pub children: Option<Vec<ManifestNode>>,
    /// From the name to the last argument, property or closing brace.
    pub span: Range<usize>,
    /// From the name to the last argument or property, without the block.
    pub head: Range<usize>,
    /// True if a diagnostic has already reported the node as malformed. A broken node has no properties and at most one
    /// argument, the name that it declares.
    pub broken: bool,
}

impl ManifestNode {
    /// The nodes of the block; empty without a block.
    pub fn children(&self) -> &[ManifestNode] {
        self.children.as_deref().unwrap_or_default()
    }

    /// Returns true if the node or any descendant is broken.
    pub fn is_damaged(&self) -> bool {
        self.broken || self.children().iter().any(Self::is_damaged)
    }
}

/// The KDL tree of a manifest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestTree {
    /// The top-level nodes, in textual order.
    pub nodes: Vec<ManifestNode>,
    /// True if a delimiter is unclosed or unmatched, so that nodes may be missing.
    pub torn: bool,
}
