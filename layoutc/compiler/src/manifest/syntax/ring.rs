//! Tensors of which memory holds some indices at a time.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr};

/// `ring y=4`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RingItem {
    /// The axis.
    pub axis: Identifier,
    /// How many of its indices are in memory.
    pub held: IntegerExpr,
    /// The node.
    pub span: Range<usize>,
}
