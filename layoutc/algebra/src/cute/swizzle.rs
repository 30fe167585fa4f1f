//! Layouts with a swizzle, which XORs bits of the offset with other bits of it.

use core::fmt;

use super::layout::CuteLayout;
use crate::layout::swizzle::Swizzle;

/// `S<B,M,S> o offset o layout`: applies the layout, adds the offset, then swizzles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwizzledLayout {
    /// Swizzle of the offset.
    pub swizzle: Option<Swizzle>,
    /// Added to the layout's offset, in elements.
    pub offset: i128,
    /// Layout before offset and swizzle.
    pub layout: CuteLayout,
}

impl fmt::Display for SwizzledLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.swizzle {
            Some(swizzle) => write!(f, "{swizzle} o {} o {}", self.offset, self.layout),
            None => write!(f, "{}", self.layout),
        }
    }
}
