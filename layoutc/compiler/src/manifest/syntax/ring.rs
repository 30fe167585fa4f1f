//! Tensors of which memory holds some indices at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Bound, Name};

/// `ring y=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingItem {
    /// The axis.
    pub axis: Name,
    /// How many of its indices are in memory.
    pub held: Bound,
    /// The node.
    pub span: Range<usize>,
}
