//! Device meshes, and the sharding of tensors over them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};

/// `mesh pod { x 2; y 4 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshItem {
    /// The declared name.
    pub name: Identifier,
    /// The axes with their sizes, major to minor: at least one, with distinct names.
    pub axes: Vec<(Identifier, IntegerExpr)>,
    /// The span of the node.
    pub span: Range<usize>,
}

/// `shard pod n=x c="y z"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardItem {
    /// The mesh; by default the one that has the named axes.
    pub mesh: Option<Identifier>,
    /// The sharded axes of the tensor, each with the mesh axes that partition it, as written.
    pub cuts: Vec<(Identifier, SpannedText)>,
    /// The span of the node.
    pub span: Range<usize>,
}
