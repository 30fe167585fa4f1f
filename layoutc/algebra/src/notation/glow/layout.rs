//! Parsed Glow layout strings: axes with their extensions, and their text form.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Glow layout string: its axes, major to minor, with their extensions.
///
/// Equality includes extensions and their order, but not blanks outside of brackets or an alignment of 1. (Glow drops
/// the extensions after parsing, and treats `N[a=32]HWC` as `NHWC`.) Printing and parsing round-trip.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlowLayout {
    pub(super) dims: Vec<GlowAxis>,
}

/// Axis of a Glow layout string: a letter, or `*` for any axis, with extensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct GlowAxis {
    pub(super) letter: char,
    pub(super) extensions: Vec<GlowExtension>,
}

/// Extension of an axis, written in brackets after its letter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum GlowExtension {
    /// Alignment, `[a=32]`: the stride of the axis is a multiple of 32 bytes.
    Align {
        /// Alignment of the stride in bytes, at least 2.
        bytes: u64,
    },
    /// Attribute, `[name:value]`, which is stored without an interpretation.
    Attribute {
        /// Name of the attribute: the text before the first `:`.
        name: String,
        /// Value of the attribute: the text after the first `:`, including blanks.
        value: String,
    },
}

impl GlowLayout {
    /// Axes of the layout, major to minor.
    pub fn dims(&self) -> &[GlowAxis] {
        &self.dims
    }

    /// Number of axes of the layout.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
}

impl GlowAxis {
    /// Axis with the letter `letter` and without extensions.
    pub(super) fn new(letter: char) -> Self {
        Self { letter, extensions: Vec::new() }
    }

    /// Letter of the axis, or `*` for any axis.
    pub fn letter(&self) -> char {
        self.letter
    }

    /// True if the letter is `*`, which matches any axis.
    pub fn is_any(&self) -> bool {
        self.letter == '*'
    }

    /// Alignment of the stride of the axis in bytes; 1 if none is written.
    pub fn align(&self) -> u64 {
        let bytes = |extension: &GlowExtension| match extension {
            GlowExtension::Align { bytes } => Some(*bytes),
            GlowExtension::Attribute { .. } => None,
        };
        self.extensions.iter().find_map(bytes).unwrap_or(1)
    }

    /// Extensions of the axis, in the order of the text.
    pub fn extensions(&self) -> &[GlowExtension] {
        &self.extensions
    }

    /// Names and values of the attributes of the axis, in the order of the text.
    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.extensions.iter().filter_map(|extension| match extension {
            GlowExtension::Align { .. } => None,
            GlowExtension::Attribute { name, value } => Some((name.as_str(), value.as_str())),
        })
    }

    /// Value of the attribute `name` of the axis; `None` if there is none. The whole name is compared: `[ns:alpha=3]`
    /// is the attribute `ns` with the value `alpha=3`, and not an attribute `a`.
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
