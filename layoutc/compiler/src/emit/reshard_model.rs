//! Template model of sharded tensors, ring buffers and conversions between devices; a part of the
//! [model](super::model).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::model::AxisUnit;
use crate::emit::shared::Shared;
use crate::emit::syntax::{Function, Stmt};

/// Sharding of a tensor over a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardingUnit {
    /// Name of the mesh.
    pub mesh: String,
    /// Number of devices in the mesh.
    pub devices: i64,
    /// Mesh axes, major to minor.
    pub mesh_axes: Vec<MeshAxisUnit>,
    /// Axes of the whole tensor, outermost first; the tensor's own axes are those of a shard.
    pub whole: Vec<AxisUnit>,
    /// For each axis in `whole`, the names of the mesh axes that it is sharded over, major first; empty for an axis
    /// that is not sharded.
    pub cuts: Vec<Vec<String>>,
    /// Number of devices that hold each element.
    pub replicas: i64,
    /// True if some indices of some shards are outside the tensor.
    pub uneven: bool,
    /// Index functions of the sharding: `owner`, `holds`, `local`, then `begin_n` and `length_n` for each axis `n` of
    /// `whole`, and `global`.
    pub functions: Vec<Shared<Function>>,
}

/// Ring buffer that holds a part of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingUnit {
    /// Position of the ring axis.
    pub axis: usize,
    /// Name of the ring axis.
    pub name: String,
    /// Number of consecutive indices of the ring axis in memory.
    pub held: i64,
    /// Axes of the whole tensor, outermost first; the tensor's own axes are those in memory.
    pub whole: Vec<AxisUnit>,
    /// Function that gives the offset of an element of the whole tensor in the ring.
    pub at: Shared<Function>,
}

/// Axis of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshAxisUnit {
    /// Axis name.
    pub name: String,
    /// Number of devices along the axis.
    pub size: i64,
    /// Distance between neighbors along the axis, in device numbers.
    pub stride: i64,
}

/// Conversion between two shardings, by MPI messages between the devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReshardUnit {
    /// Function name.
    pub name: String,
    /// Position of the source in `tensors`.
    pub from: usize,
    /// Position of the destination in `tensors`.
    pub to: usize,
    /// Position in the destination of each source axis.
    pub axes: Vec<usize>,
    /// Number of MPI ranks that take part; the rank of a device is its number.
    pub ranks: i64,
    /// Mesh axes over which the shards of the source are replicated.
    pub repeated: Vec<MeshAxisUnit>,
    /// True if the offset in each of the two layouts is a sum of terms that depend on at most one axis each, so that
    /// MPI datatypes describe the messages; false if elements are copied to staging buffers.
    pub typed: bool,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// Limit on the staging buffers of one device, in bytes; `null` if the manifest states no limit.
    pub max_staging: Option<i64>,
    /// Declaration of the constant `fill`, which is written to padding; `null` if the destination has no filled
    /// padding.
    pub fill: Option<Shared<Stmt>>,
    /// Lower bound on the bytes sent by all devices.
    pub least_bytes: i64,
    /// Bytes sent by all devices; `null` if the devices are too many to examine every pair.
    pub sent_bytes: Option<i64>,
    /// Number of messages that all devices send; `null` if `sent_bytes` is `null`.
    pub messages: Option<i64>,
}
