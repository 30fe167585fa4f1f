//! What templates see of tensors on many devices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::emit::model::AxisUnit;
use crate::emit::syntax::{Function, Stmt};
use crate::emit::whole::Whole;

/// A tensor that is cut over a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShardingUnit {
    /// The name of the mesh.
    pub mesh: String,
    /// How many devices it has.
    pub devices: i64,
    /// Its axes, major to minor.
    pub mesh_axes: Vec<MeshAxisUnit>,
    /// The axes of the whole tensor, outermost first; the unit's own are those of a part.
    pub whole: Vec<AxisUnit>,
    /// For each of them the names of the mesh axes that cut it, major first.
    pub cuts: Vec<Vec<String>>,
    /// How many devices hold each element.
    pub replicas: i64,
    /// Whether some indices of some parts lie beyond the tensor.
    pub uneven: bool,
    /// `owner`, `holds`, `local`, `begin_n`, `length_n`, …, `global`.
    pub functions: Vec<Whole<Function>>,
}

/// A tensor of which memory holds a ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RingUnit {
    /// The position of the axis.
    pub axis: usize,
    /// Its name.
    pub name: String,
    /// How many of its indices are in memory.
    pub held: i64,
    /// The axes of the whole tensor, outermost first; the unit's own are those in memory.
    pub whole: Vec<AxisUnit>,
    /// Where an element of the whole tensor lies.
    pub at: Whole<Function>,
}

/// An axis of a mesh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshAxisUnit {
    /// Its name.
    pub name: String,
    /// Devices along it.
    pub size: i64,
    /// From one device to the next along it.
    pub stride: i64,
}

/// A conversion between devices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReshardUnit {
    /// The function.
    pub name: String,
    /// The position of the source in `tensors`.
    pub from: usize,
    /// The position of the destination in `tensors`.
    pub to: usize,
    /// For each axis of the source its position in the destination.
    pub axes: Vec<usize>,
    /// How many devices take part.
    pub ranks: i64,
    /// The mesh axes over which the source's parts are repeated.
    pub repeated: Vec<MeshAxisUnit>,
    /// Whether places in both layouts are sums over the axes, so that MPI's types say them; else elements are copied
    /// into messages.
    pub typed: bool,
    /// Bytes of an element.
    pub element_bytes: i64,
    /// The most bytes that copies may take on a device, where that is said.
    pub max_staging: Option<i64>,
    /// The value of padding, where the destination has some that is filled.
    pub fill: Option<Whole<Stmt>>,
    /// The fewest bytes that can be sent in all.
    pub least_bytes: i64,
    /// The bytes that are sent in all; `null` where the devices are too many to look at every pair.
    pub sent_bytes: Option<i64>,
    /// The messages in all.
    pub messages: Option<i64>,
}
