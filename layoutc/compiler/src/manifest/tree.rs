//! A manifest as a generic tree: nodes with arguments, properties and children, every part with its bytes in the file.
//! It knows KDL's shape and nothing of layouts.

use std::ops::Range;

/// A value of KDL.
#[derive(Debug, Clone, PartialEq)]
pub enum ManifestValue {
    /// A string, its escapes resolved.
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
    /// What it is, for messages: `a string`.
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
    /// The value.
    pub value: ManifestValue,
    /// Its bytes in the file, quotes included.
    pub span: Range<usize>,
    /// The bytes inside the quotes; the same as `span` where there are none.
    pub content: Range<usize>,
    /// Whether it stands in quotes.
    pub quoted: bool,
    /// Whether byte `k` of the string's value is byte `content.start + k` of the file: no escape, one line.
    pub plain: bool,
}

/// The name of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyKey {
    /// The name.
    pub value: String,
    /// Its bytes in the file, quotes included.
    pub span: Range<usize>,
}

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestNode {
    /// Its name: `tensor`.
    pub name: String,
    /// The bytes of the name, quotes included.
    pub name_span: Range<usize>,
    /// The arguments, in order.
    pub args: Vec<Entry>,
    /// The properties, in order; one that is written twice is here twice.
    pub props: Vec<(PropertyKey, Entry)>,
    /// The nodes between its braces; `None` without braces.
    pub children: Option<Vec<ManifestNode>>,
    /// From its name to its last argument, property or closing brace.
    pub span: Range<usize>,
    /// From its name to its last argument or property: the part before the braces.
    pub head: Range<usize>,
    /// Whether a diagnostic has said already that it is malformed. A broken node has no properties, and at most one
    /// argument: the name that it would have declared.
    pub broken: bool,
}

impl ManifestNode {
    /// Its children; none where it has no braces.
    pub fn children(&self) -> &[ManifestNode] {
        self.children.as_deref().unwrap_or_default()
    }

    /// Whether it or any node below it is broken.
    pub fn is_damaged(&self) -> bool {
        self.broken || self.children().iter().any(Self::is_damaged)
    }
}

/// A manifest's nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ManifestTree {
    /// The nodes at the top, in order.
    pub nodes: Vec<ManifestNode>,
    /// Whether something that was opened never closes, so that nodes are missing here.
    pub torn: bool,
}
