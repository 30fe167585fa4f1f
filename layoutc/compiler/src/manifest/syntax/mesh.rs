//! Typed syntax of `mesh` items, and of the `shard` nodes that partition tensors over device meshes.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};

/// `mesh` item, a grid of devices with named axes: `mesh pod { x 2; y 4 }` has 2 × 4 devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeshItem {
    /// Name that the mesh declares.
    pub name: Identifier,
    /// Axes of the mesh with their numbers of devices, major to minor: at least one, with distinct names.
    pub axes: Vec<(Identifier, IntegerExpr)>,
    /// Byte range of the `mesh` node in the file.
    pub span: Range<usize>,
}

/// Partition of a tensor over a mesh: `shard pod n=x c="y z"` splits axis `n` over mesh axis `x` and `c` over `y` and
/// `z`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardItem {
    /// Name of the mesh; `None`: the only one that has the named axes.
    pub mesh: Option<Identifier>,
    /// Pairs `(axis, mesh axes)` of the sharded axes of the tensor: the names of the mesh axes that partition the axis
    /// are separated by spaces. Empty: every device has the whole tensor.
    pub cuts: Vec<(Identifier, SpannedText)>,
    /// Byte range of the `shard` node in the file.
    pub span: Range<usize>,
}
