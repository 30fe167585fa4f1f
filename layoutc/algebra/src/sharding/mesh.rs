//! Meshes of devices, and the shards of a tensor on a mesh.
//!
//! Devices are numbered row-major over the axes of the mesh. Several mesh axes may shard one axis of a
//! tensor, major first. The shards are replicated over the remaining mesh axes.

use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use thiserror::Error;

use super::replicas::ReplicaDevices;

/// Axis of a mesh of devices.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MeshAxis {
    /// Name of the mesh axis.
    pub name: String,
    /// Number of devices along the mesh axis, at least 1.
    pub size: i64,
}

/// Mesh: a grid of devices, numbered row-major.
///
/// With axes `x` of size 2 and `y` of size 4, device 6 has the coordinates (1, 2).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Mesh {
    /// Axes of the mesh, major to minor.
    pub axes: Vec<MeshAxis>,
}

impl Mesh {
    /// Number of devices of the mesh, 1 for a mesh without axes. `None` if a size is below 1 or the product
    /// overflows 64 bits.
    pub fn devices(&self) -> Option<i64> {
        self.axes.iter().try_fold(1_i64, |count, axis| match axis.size {
            1.. => count.checked_mul(axis.size),
            _ => None,
        })
    }

    /// Coordinates of a device, one per mesh axis, major to minor; `None` unless `device` is at least 0 and less
    /// than the number of devices.
    pub fn coordinates(&self, device: i64) -> Option<Vec<i64>> {
        if !(0..self.devices()?).contains(&device) {
            return None;
        }
        let mut coordinates = vec![0; self.axes.len()];
        let mut rest = device;
        for (coordinate, axis) in coordinates.iter_mut().zip(&self.axes).rev() {
            *coordinate = rest % axis.size;
            rest /= axis.size;
        }
        Some(coordinates)
    }

    /// Device at these coordinates, one per mesh axis, major to minor. `None` if a coordinate is out of range, the
    /// number of coordinates differs from the number of mesh axes, or [`Mesh::devices`] is `None`.
    pub fn device(&self, coordinates: &[i64]) -> Option<i64> {
        self.devices()?;
        if coordinates.len() != self.axes.len() {
            return None;
        }
        self.axes.iter().zip(coordinates).try_fold(0, |device, (axis, coordinate)| {
            let is_inside = (0..axis.size).contains(coordinate);
            is_inside.then(|| device * axis.size + coordinate)
        })
    }
}

/// Reason why mesh axes cannot shard a tensor.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ShardingError {
    /// The mesh has an axis of size below 1, or more devices than 64 bits can count.
    #[error("the mesh has an axis without devices, or more devices than 64 bits can count")]
    Mesh,
    /// A position in the lists of mesh axes is not below the rank of the mesh.
    #[error("axis {axis} is sharded over mesh axis {position}, but the mesh has rank {axes}")]
    Unknown {
        /// Position of the tensor axis whose list of mesh axes contains the invalid position.
        axis: usize,
        /// Invalid position in that list: it is not below the number of mesh axes.
        position: usize,
        /// Number of axes of the mesh.
        axes: usize,
    },
    /// A mesh axis is listed twice, for two tensor axes or for one.
    #[error("mesh axis {position} shards both axis {first} and axis {second}")]
    Twice {
        /// Position of the mesh axis that is listed twice.
        position: usize,
        /// Position of the tensor axis of the first use.
        first: usize,
        /// Position of the tensor axis of the second use, which may equal `first`.
        second: usize,
    },
}

/// Sharding of a tensor: the mesh axes that shard each axis of the tensor.
///
/// An axis of extent `E` is split into `P` parts, where `P` is the product of the sizes of its mesh axes.
/// Part `k` contains the indices `min(k * c, E)..min((k + 1) * c, E)` with `c = ceil(E / P)`: of 10 elements,
/// 4 devices get 3, 3, 3 and 1; of 5 elements, they get 2, 2, 1 and 0.
///
/// Source: XLA, `HloSharding::TileOffsetForDevice` and `TileLimitForDevice` in `hlo_sharding.cc`; the order within a
/// list is that of JAX's `PartitionSpec`, major first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sharding {
    over: Vec<Vec<usize>>,
}

impl Sharding {
    /// Creates a sharding from the positions of the mesh axes that shard each axis of a tensor, major first. The
    /// tensor is replicated over mesh axes that are in no list.
    ///
    /// # Errors
    /// [`ShardingError::Mesh`] for an invalid mesh, [`ShardingError::Unknown`] for a position that the mesh does not
    /// have, [`ShardingError::Twice`] for a position that is used twice.
    pub fn new(mesh: &Mesh, over: Vec<Vec<usize>>) -> Result<Self, ShardingError> {
        mesh.devices().ok_or(ShardingError::Mesh)?;
        let mut cut: Vec<Option<usize>> = vec![None; mesh.axes.len()];
        for (axis, positions) in over.iter().enumerate() {
            for &position in positions {
                let axes = cut.len();
                let Some(before) = cut.get_mut(position) else {
                    return Err(ShardingError::Unknown { axis, position, axes });
                };
                if let Some(first) = before.replace(axis) {
                    return Err(ShardingError::Twice { position, first, second: axis });
                }
            }
        }
        Ok(Self { over })
    }

    /// Creates a sharding like [`Sharding::new`], without checks: the caller guarantees that no position occurs twice,
    /// and that all are within the mesh.
    pub(super) fn of_disjoint(over: Vec<Vec<usize>>) -> Self {
        Self { over }
    }

    /// Positions of the mesh axes that shard the tensor: one list per tensor axis, each major first.
    pub fn over(&self) -> &[Vec<usize>] {
        &self.over
    }

    /// Positions of the mesh axes that shard no axis of the tensor, in the order of the mesh.
    pub fn repeated(&self, mesh: &Mesh) -> Vec<usize> {
        let cuts = |position: &usize| self.over.iter().flatten().any(|cut| cut == position);
        (0..mesh.axes.len()).filter(|position| !cuts(position)).collect()
    }

    /// Number of parts of each tensor axis: the product of the sizes of its mesh axes, 1 if no mesh axis shards it.
    /// `None` if [`Mesh::devices`] is `None`, or `mesh` lacks a mesh axis of the sharding.
    pub fn parts(&self, mesh: &Mesh) -> Option<Vec<i64>> {
        mesh.devices()?;
        let size = |position: &usize| mesh.axes.get(*position).map(|axis| axis.size);
        let parts = |list: &Vec<usize>| {
            list.iter().try_fold(1_i64, |parts, position| parts.checked_mul(size(position)?))
        };
        self.over.iter().map(parts).collect()
    }

    /// Extents of the largest shard of a tensor with the extents `extents` on `mesh`, in elements. Device 0 has a shard
    /// of this size. `None` in the cases of [`Sharding::parts`], or if `extents` does not have one non-negative extent
    /// per tensor axis.
    pub fn part_extents(&self, mesh: &Mesh, extents: &[i128]) -> Option<Vec<i128>> {
        let parts = self.parts(mesh)?;
        let fit = parts.len() == extents.len() && extents.iter().all(|extent| *extent >= 0);
        let cut = || extents.iter().zip(&parts).map(|(extent, parts)| part_extent(*extent, *parts));
        fit.then(|| cut().collect())
    }

    /// Number of the part that a device holds along each tensor axis, from 0. `None` if there is no such device,
    /// or in the cases of [`Sharding::parts`].
    pub fn coordinates(&self, mesh: &Mesh, device: i64) -> Option<Vec<i64>> {
        self.parts(mesh)?;
        let at = mesh.coordinates(device)?;
        let part = |list: &Vec<usize>| {
            list.iter().try_fold(0_i64, |part, position| {
                Some(part * mesh.axes.get(*position)?.size + at.get(*position)?)
            })
        };
        self.over.iter().map(part).collect()
    }

    /// Index range along each axis of a tensor with the extents `extents` that a device holds, in elements; an empty
    /// range means that the device holds no elements. `None` in the cases of [`Sharding::coordinates`] and
    /// [`Sharding::part_extents`].
    pub fn bounds(&self, mesh: &Mesh, device: i64, extents: &[i128]) -> Option<Vec<Range<i128>>> {
        let largest = self.part_extents(mesh, extents)?;
        let at = self.coordinates(mesh, device)?;
        let range = |((coordinate, part), extent): ((i64, i128), &i128)| {
            let start = i128::from(coordinate).checked_mul(part)?.min(*extent);
            Some(start..start.checked_add(part)?.min(*extent))
        };
        at.into_iter().zip(largest).zip(extents).map(range).collect()
    }

    /// Devices that hold the element at the logical index `index`, in ascending order. `None` if the index is outside
    /// `extents`, or in the cases of [`Sharding::part_extents`].
    pub fn owners(&self, mesh: &Mesh, extents: &[i128], index: &[i128]) -> Option<ReplicaDevices> {
        let largest = self.part_extents(mesh, extents)?;
        let is_inside = |(extent, index): (&i128, &i128)| (0..*extent).contains(index);
        if extents.len() != index.len() || !extents.iter().zip(index).all(is_inside) {
            return None;
        }
        let mut fixed = vec![0; mesh.axes.len()];
        for ((list, index), part) in self.over.iter().zip(index).zip(largest) {
            let mut coordinate = i64::try_from(index.checked_div(part)?).ok()?;
            for position in list.iter().rev() {
                let size = mesh.axes.get(*position)?.size;
                *fixed.get_mut(*position)? = coordinate % size;
                coordinate /= size;
            }
        }
        ReplicaDevices::new(mesh, mesh.device(&fixed)?, &self.repeated(mesh))
    }
}

/// Extent of the largest of `parts` parts of an axis, `ceil(extent / parts)` elements; `parts` is at least 1.
///
/// For example, 10 elements in 4 parts give 3.
pub fn part_extent(extent: i128, parts: i64) -> i128 {
    let parts = i128::from(parts.max(1));
    extent / parts + i128::from(extent % parts > 0)
}
