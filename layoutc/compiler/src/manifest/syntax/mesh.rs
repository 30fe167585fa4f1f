//! Device meshes, and the sharding of tensors over them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};

/// `mesh pod { x 2; y 4 }`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshItem {
    /// Name that the mesh declares.
    pub name: Identifier,
    /// Axes of the mesh with their numbers of devices, major to minor: at least one, with distinct names.
    pub axes: Vec<(Identifier, IntegerExpr)>,
    /// Byte range of the `mesh` node in the file.
    pub span: Range<usize>,
}

/// `shard pod n=x c="y z"`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardItem {
    /// Name of the mesh; `None`: the only one that has the named axes.
    pub mesh: Option<Identifier>,
    /// Sharded axes of the tensor, each with the text of the mesh axes that partition it.
    pub cuts: Vec<(Identifier, SpannedText)>,
    /// Byte range of the `shard` node in the file.
    pub span: Range<usize>,
}
