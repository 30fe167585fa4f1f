//! Typed syntax of `ring` nodes: ring buffers are tensors of which memory holds only a window of consecutive indices
//! along an axis.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr};

/// Ring buffer of a tensor: with `ring y=4` memory holds 4 consecutive indices of axis `y`, and index `k` is at
/// `k % 4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingItem {
    /// Name of the axis of which memory holds a window.
    pub axis: Identifier,
    /// Number of consecutive indices along the axis in memory at a time.
    pub capacity: IntegerExpr,
    /// Byte range of the `ring` node in the file.
    pub span: Range<usize>,
}
