//! Tensors cut over devices: a mesh of named axes, and which of them cut which axis of a tensor.
//!
//! It says which part of the logical tensor a device holds; how the part is laid out there is a layout's own matter.
//! A [`Mesh`] numbers its devices row-major, and nothing else. XLA's texts may give devices any order: they are read
//! as a [`DevicePlacement`], which keeps the order, and becomes a mesh ([`MeshSharding`]) where the order is that of one.

mod convert;
mod equivalence;
mod inexpressible;
mod iota;
pub mod jax;
mod mesh;
mod mesh_sharding;
mod named;
mod order;
mod placement;
mod replicas;
mod shard_contents;
pub mod xla;

pub use convert::ShardingForm;
pub use inexpressible::ShardingInexpressible;
pub use iota::{DeviceDigit, IotaError, IotaOrder, TileBoundaryError};
pub use mesh::{Mesh, MeshAxis, Sharding, ShardingError, part_extent};
pub use mesh_sharding::MeshSharding;
pub use named::{AxisRef, AxisSharding, NamedSharding};
pub use order::{DeviceOrder, LISTED};
pub use placement::{
    DevicePlacement, ShardGroup, ShardingText, Subgroup, TensorSharding, TiledSharding, tiled,
};
pub use replicas::ReplicaDevices;
pub use shard_contents::TensorShard;
