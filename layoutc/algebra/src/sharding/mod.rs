//! Tensors cut over devices: a mesh of named axes, and which of them cut which axis of a tensor.
//!
//! It says which part of the logical tensor a device holds; how the part is laid out there is a layout's own matter.
//! A [`Mesh`] numbers its devices row-major, and nothing else. XLA's texts may give devices any order: they are read
//! as a [`DevicePlacement`], which keeps the order, and becomes a mesh ([`MeshSharding`]) where the order is that of one.

mod convert;
mod held;
mod iota;
pub mod jax;
mod lack;
mod mesh;
mod meshed;
mod named;
mod order;
mod owners;
mod placement;
mod same;
pub mod xla;

pub use convert::ShardingForm;
pub use held::TensorShard;
pub use iota::{DeviceDigit, IotaError, IotaOrder, TileBoundaryError};
pub use lack::ShardingInexpressible;
pub use mesh::{Mesh, MeshAxis, Sharding, ShardingError, part_extent};
pub use meshed::MeshSharding;
pub use named::{AxisRef, AxisSharding, NamedSharding};
pub use order::{DeviceOrder, LISTED};
pub use owners::ReplicaDevices;
pub use placement::{
    DevicePlacement, ShardGroup, ShardingText, Subgroup, TensorSharding, TiledSharding, tiled,
};
