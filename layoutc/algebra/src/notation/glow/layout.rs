//! A string as a value: axes with their extensions, and the text that says them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A layout string: the axes, major to minor, with all that is said of them.
///
/// Two are equal if they are written alike: extensions count, and the order in which they stand; blanks between them
/// and an alignment of 1 do not. (Glow forgets the extensions of a text once it is read, and takes `N[a=32]HWC` for
/// `NHWC`.) Written, a layout is read again as the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlowLayout {
    pub(super) dims: Vec<GlowAxis>,
}

/// One axis of a string.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlowAxis {
    pub(super) letter: char,
    pub(super) extensions: Vec<GlowExtension>,
}

/// What a bracket says of an axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GlowExtension {
    /// `[a=32]`: every step along the axis is a multiple of so many bytes, at least 2.
    Align {
        /// How many.
        bytes: u64,
    },
    /// `[name:value]`, which belongs to others.
    Attribute {
        /// What stands before the first `:`.
        name: String,
        /// What stands behind it, blanks too.
        value: String,
    },
}

impl GlowLayout {
    /// The axes, major to minor.
    pub fn dims(&self) -> &[GlowAxis] {
        &self.dims
    }

    /// How many axes there are.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

impl GlowAxis {
    /// An axis of which nothing else is said.
    pub(super) fn new(letter: char) -> Self {
        Self { letter, extensions: Vec::new() }
    }

    /// A letter, or `*`.
    pub fn letter(&self) -> char {
        self.letter
    }

    /// Whether it is `*`, which stands for any axis.
    pub fn is_any(&self) -> bool {
        self.letter == '*'
    }

    /// Every step along the axis is a multiple of so many bytes; 1 if nothing is said.
    pub fn align(&self) -> u64 {
        let bytes = |extension: &GlowExtension| match extension {
            GlowExtension::Align { bytes } => Some(*bytes),
            GlowExtension::Attribute { .. } => None,
        };
        self.extensions.iter().find_map(bytes).unwrap_or(1)
    }

    /// What its brackets say, in their order.
    pub fn extensions(&self) -> &[GlowExtension] {
        &self.extensions
    }

    /// What belongs to others: names and values, in their order.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.extensions.iter().filter_map(|extension| match extension {
            GlowExtension::Align { .. } => None,
            GlowExtension::Attribute { name, value } => Some((name.as_str(), value.as_str())),
        })
    }

    /// The value of the attribute `name`. Only whole names are found: `[ns:alpha=3]` is no `a`.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes().find(|(own, _)| *own == name).map(|(_, value)| value)
    }
}

impl fmt::Display for GlowLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dims.iter().try_for_each(|dim| dim.fmt(f))
    }
}

impl fmt::Display for GlowAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter)?;
        self.extensions.iter().try_for_each(|extension| extension.fmt(f))
    }
}

impl fmt::Display for GlowExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Align { bytes } => write!(f, "[a={bytes}]"),
            Self::Attribute { name, value } => write!(f, "[{name}:{value}]"),
        }
    }
}
