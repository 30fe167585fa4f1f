//! Parsed layout strings: axes with their extensions, and their text form.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A layout string: axes, major to minor, with their extensions.
///
/// Equality includes extensions and their order, but not blanks or an alignment of 1. (Glow drops the extensions after
/// parsing, and treats `N[a=32]HWC` as `NHWC`.) Printing and parsing round-trip.
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

/// Extension of an axis, in brackets.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GlowExtension {
    /// `[a=32]`: the stride of the axis is a multiple of 32 bytes.
    Align {
        /// Alignment in bytes, at least 2.
        bytes: u64,
    },
    /// `[name:value]`: an attribute without a meaning here.
    Attribute {
        /// Text before the first `:`.
        name: String,
        /// Text after it, with blanks.
        value: String,
    },
}

impl GlowLayout {
    /// Axes, major to minor.
    pub fn dims(&self) -> &[GlowAxis] {
        &self.dims
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

impl GlowAxis {
    /// An axis without extensions.
    pub(super) fn new(letter: char) -> Self {
        Self { letter, extensions: Vec::new() }
    }

    /// Letter of the axis, or `*`.
    pub fn letter(&self) -> char {
        self.letter
    }

    /// True for `*`, which matches any axis.
    pub fn is_any(&self) -> bool {
        self.letter == '*'
    }

    /// Alignment of the axis' stride in bytes; 1 by default.
    pub fn align(&self) -> u64 {
        let bytes = |extension: &GlowExtension| match extension {
            GlowExtension::Align { bytes } => Some(*bytes),
            GlowExtension::Attribute { .. } => None,
        };
        self.extensions.iter().find_map(bytes).unwrap_or(1)
    }

    /// Extensions in text order.
    pub fn extensions(&self) -> &[GlowExtension] {
        &self.extensions
    }

    /// Names and values of the attributes, in text order.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.extensions.iter().filter_map(|extension| match extension {
            GlowExtension::Align { .. } => None,
            GlowExtension::Attribute { name, value } => Some((name.as_str(), value.as_str())),
        })
    }

    /// Value of the attribute `name`. Names match as a whole: `[ns:alpha=3]` is not an attribute `a`.
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
