//! CuTe layouts with a swizzle, which XORs bits of the offset into lower or higher bits of the same offset.

use core::fmt;

use super::layout::CuteLayout;
use crate::layout::swizzle::Swizzle;

/// Swizzled layout `S<B,M,S> o offset o layout`: applies the layout, adds the offset, then swizzles the sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwizzledLayout {
    /// Swizzle of the sum of `offset` and the offset in `layout`; `None` if there is none.
    pub swizzle: Option<Swizzle>,
    /// Offset in elements that is added to the offset in `layout`, before the swizzle.
    pub offset: i128,
    /// Layout that is applied before the offset and the swizzle.
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
