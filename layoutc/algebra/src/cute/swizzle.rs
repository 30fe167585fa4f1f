//! Layouts with a swizzle: other bits of an offset are turned by some of them.

use core::fmt;

use super::layout::CuteLayout;
use crate::swizzle::Swizzle;

/// `S<B,M,S> o offset o layout`: the layout, then the offset, then the swizzle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwizzledLayout {
    /// What is done to offsets, if anything.
    pub swizzle: Option<Swizzle>,
    /// What is added to offsets, in elements.
    pub offset: i128,
    /// The layout.
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
