//! Sharding of tensors: a mesh of devices with named axes, and the mesh axes that shard each axis of a
//! tensor.
//!
//! A sharding describes the part of the logical tensor on each device, not its layout there. A [`Mesh`]
//! numbers its devices row-major. XLA's texts allow any order of devices: they parse to a
//! [`DevicePlacement`], which stores the order, and convert to a mesh ([`MeshSharding`]) if the order is a
//! reshaped and transposed range of devices.
//!
//! ```
//! use layoutc_algebra::{Error, Mesh, MeshAxis, Sharding};
//!
//! let axes = [("x", 2), ("y", 4)].map(|(name, size)| MeshAxis { name: name.into(), size });
//! let mesh = Mesh { axes: axes.into() };
//! // The rows over `y`; replicated over `x`.
//! let sharding = Sharding::new(&mesh, vec![vec![1], vec![]])?;
//! assert_eq!(sharding.part_extents(&mesh, &[10, 6]), Some(vec![3, 6]));
//! // Device 7 has the coordinates (1, 3): the last of the ten rows.
//! assert_eq!(sharding.bounds(&mesh, 7, &[10, 6]), Some(vec![9..10, 0..6]));
//! # Ok::<(), Error>(())
//! ```

mod convert;
mod equivalence;
mod inexpressible;
mod iota;
pub mod jax;
mod mesh;
mod mesh_sharding;
mod named;
mod one_memory;
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
