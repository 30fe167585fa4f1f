//! Tensors cut over devices: a mesh of named axes, and which of them cut which axis of a tensor.
//!
//! It says which part of the logical tensor a device holds; how the part is laid out there is a layout's own matter.

mod mesh;
mod owners;

pub use mesh::{Mesh, MeshAxis, Sharding, ShardingError, part_extent};
pub use owners::Owners;
