//! Ring buffers: tensors of which only some indices along an axis are in memory at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr};

/// `ring y=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingItem {
    /// The axis.
    pub axis: Identifier,
    /// Number of its indices in memory at a time.
    pub capacity: IntegerExpr,
    /// The span of the node.
    pub span: Range<usize>,
}
