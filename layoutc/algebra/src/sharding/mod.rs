//! Tensors cut over devices: a mesh of named axes, and which of them cut which axis of a tensor.
//!
//! It says which part of the logical tensor a device holds; how the part is laid out there is a layout's own matter.
//! A [`Mesh`] numbers its devices row-major, and nothing else. XLA's texts may give devices any order: they are read
//! as a [`Placement`], which keeps the order, and becomes a mesh ([`Meshed`]) where the order is that of one.

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

pub use convert::Form;
pub use held::Held;
pub use iota::{Digit, Iota, NoIota, Uncut};
pub use lack::Lack;
pub use mesh::{Mesh, MeshAxis, Sharding, ShardingError, part_extent};
pub use meshed::Meshed;
pub use named::{Cut, Named, Part};
pub use order::{LISTED, Order};
pub use owners::Owners;
pub use placement::{Group, Placed, Placement, Subgroup, Text, Tiled, tiled};
