//! Devices, and what each holds of a tensor.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};

/// `mesh pod { x 2; y 4 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshItem {
    /// The name.
    pub name: Identifier,
    /// The axes with their sizes, major to minor; one at least, and their names differ.
    pub axes: Vec<(Identifier, IntegerExpr)>,
    /// The node.
    pub span: Range<usize>,
}

/// `shard pod n=x c="y z"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardItem {
    /// The mesh; without one it is the mesh that has the axes named.
    pub mesh: Option<Identifier>,
    /// The tensor's axes that are cut, each with the axes of the mesh that cut it, as written.
    pub cuts: Vec<(Identifier, SpannedText)>,
    /// The node.
    pub span: Range<usize>,
}
