//! Shardings over the named axes of a mesh ([`NamedSharding`]), such as `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}`,
//! and their conversion from and to tiles.

use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::iota::{DeviceDigit, IotaOrder};
use super::mesh::{Mesh, MeshAxis};
use super::order::DeviceOrder;
use super::placement::{DevicePlacement, Subgroup, TiledSharding, tiled};

/// Reference to a mesh axis or a sub-axis. In a mesh axis `b` of size 8, `'b':(2)2` is the sub-axis of size 2 below a
/// leading sub-axis of size 2: the digit `coordinate // 2 % 2`. In general, `'b':(before)size` is
/// `coordinate // m % size`, where the size of the mesh axis is `before * size * m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AxisRef {
    /// Position of the mesh axis in [`Mesh::axes`].
    pub axis: usize,
    /// Product of the sizes of the more major sub-axes of the mesh axis; 1 for a whole axis.
    pub before: i64,
    /// Number of devices along the sub-axis, at most the size of the mesh axis.
    pub size: i64,
}

impl AxisRef {
    /// Product `before * size` of the sizes of the sub-axis and of all more major ones, at most `i64::MAX`.
    pub(super) fn end(self) -> i64 {
        self.before.saturating_mul(self.size)
    }
}

/// Mesh axes and sub-axes that shard one axis of a tensor, and the permission to shard it further.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AxisSharding {
    /// Mesh axes and sub-axes that shard the tensor axis, major first.
    pub parts: Vec<AxisRef>,
    /// True if XLA may shard the tensor axis further, written `?`.
    pub is_open: bool,
}

/// Sharding of a tensor over the named axes of a mesh.
///
/// In a sharding that [`super::xla::parse`] or [`NamedSharding::of_tiled`] returns, sub-axes divide their axes, and no
/// two overlap.
///
/// Source: XLA, `NamedSharding` in `named_sharding.h`, `Mesh` and `AxisRef` in `mesh_and_axis.h`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSharding {
    pub(super) mesh: Mesh,
    /// Devices at the points of the mesh, in row-major order of the mesh axes.
    pub(super) order: DeviceOrder,
    /// Mesh axes that shard each axis of the tensor; empty for an unsharded tensor of any rank.
    pub(super) cuts: Vec<AxisSharding>,
    /// Mesh axes of each [`Subgroup`], in the order of the mesh. The tensor is also replicated over the mesh axes that
    /// occur neither here nor in `cuts`.
    pub(super) shared: [(Subgroup, Vec<AxisRef>); 3],
}

impl NamedSharding {
    /// Sharding of a tensor of any rank that is replicated over an unspecified mesh, stored as a mesh without
    /// axes.
    pub(super) fn replicated() -> Self {
        Self {
            mesh: Mesh::default(),
            order: DeviceOrder::Iota(IotaOrder::row_major(1)),
            cuts: Vec::new(),
            shared: Subgroup::ALL.map(|kind| (kind, Vec::new())),
        }
    }

    /// Mesh whose axes shard the tensor.
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// Devices at the points of the mesh, in row-major order of the mesh axes.
    pub fn order(&self) -> &DeviceOrder {
        &self.order
    }

    /// Mesh axes that shard each axis of the tensor; empty for an unsharded tensor of any rank.
    pub fn cuts(&self) -> &[AxisSharding] {
        &self.cuts
    }

    /// True if XLA may shard some axis of the tensor further, written `?` in the list of that axis.
    pub fn is_open(&self) -> bool {
        self.cuts.iter().any(|cut| cut.is_open)
    }

    /// Mesh axes of the subgroup `kind`, in the order of the mesh; empty if there is none. For `Replicated`, these are
    /// the axes that the sharding lists. The tensor is also replicated over mesh axes that it does not list at all.
    pub fn shared(&self, kind: Subgroup) -> &[AxisRef] {
        self.shared.iter().find(|row| row.0 == kind).map_or(&[], |row| row.1.as_slice())
    }

    /// Common refinement of the mesh axes and all sub-axes of the sharding, in the order of the mesh: a mesh axis
    /// of size 8 with the sub-axis `(2)2` is refined to sub-axes of sizes 2, 2 and 2.
    pub(super) fn refined(&self) -> Vec<AxisRef> {
        let cut = self.cuts.iter().flat_map(|cut| &cut.parts);
        let all: Vec<AxisRef> =
            cut.chain(self.shared.iter().flat_map(|row| &row.1)).copied().collect();
        let mut refined = Vec::new();
        for (axis, MeshAxis { size, .. }) in self.mesh.axes.iter().enumerate() {
            let own = all.iter().filter(|part| part.axis == axis);
            let mut ends: Vec<i64> = own.flat_map(|part| [part.before, part.end()]).collect();
            ends.extend([1, *size]);
            ends.sort_unstable();
            ends.dedup();
            if *size == 1 {
                refined.push(AxisRef { axis, before: 1, size: 1 });
            }
            let pieces = ends.iter().zip(ends.iter().skip(1));
            refined.extend(pieces.map(|(before, end)| AxisRef {
                axis,
                before: *before,
                size: end / before,
            }));
        }
        refined
    }

    /// Converts the sharding to tiles. A tensor without sharded axes whose devices are all in one subgroup becomes
    /// [`DevicePlacement::Replicated`], `Manual` or `Unreduced`.
    ///
    /// Source: XLA, `HloSharding::V3ToV2Sharding` in `hlo_sharding.cc`.
    ///
    /// # Errors
    /// [`ShardingInexpressible::Devices`] if an iota of more than [`LISTED`](super::LISTED) devices would have to be
    /// listed.
    pub fn tiled(&self) -> Result<DevicePlacement, ShardingInexpressible> {
        let refined = self.refined();
        let product = |parts: &[AxisRef]| parts.iter().map(|part| part.size).product::<i64>();
        let mut counts: Vec<i64> = self.cuts.iter().map(|cut| product(&cut.parts)).collect();
        let stated: Vec<&(Subgroup, Vec<AxisRef>)> = self
            .shared
            .iter()
            .filter(|row| row.0 != Subgroup::Replicated && !row.1.is_empty())
            .collect();
        if stated.is_empty() && counts.iter().all(|count| *count == 1) {
            return Ok(DevicePlacement::Replicated);
        }
        let mut listed: Vec<AxisRef> = self.cuts.iter().flat_map(|cut| cut.parts.clone()).collect();
        let mut kinds = Vec::new();
        for (kind, parts) in stated {
            kinds.push(*kind);
            counts.push(product(parts));
            listed.extend(parts);
        }
        let free: Vec<AxisRef> =
            refined.iter().filter(|part| !listed.contains(part)).copied().collect();
        if product(&free) > 1 {
            kinds.push(Subgroup::Replicated);
            counts.push(product(&free));
        }
        listed.extend(free);
        let place = |part: &AxisRef| refined.iter().position(|other| other == part).unwrap_or(0);
        let places: Vec<usize> = listed.iter().map(place).collect();
        let sizes: Vec<i64> = refined.iter().map(|part| part.size).collect();
        tiled(counts, self.order.transposed(&sizes, &places)?, kinds)
    }

    /// Converts tiles to a sharding over a mesh with axes `axis_0`, `axis_1`, …. If the device order is an iota that
    /// [`IotaOrder::cut`] splits at the tile boundaries, the mesh is row-major with one axis per resulting digit.
    /// Otherwise the mesh has one axis for each count of tiles or subgroups above 1, and the device order of the tiles.
    ///
    /// Source: XLA, `HloSharding::ToNamedSharding` in `hlo_sharding.cc`.
    pub fn of_tiled(tiled: &TiledSharding) -> Self {
        let row_major = tiled.order.iota().ok().and_then(|iota| iota.cut(&tiled.counts).ok());
        let order = match &row_major {
            Some(_) => DeviceOrder::Iota(IotaOrder::row_major(tiled.devices())),
            None => tiled.order.clone(),
        };
        let parts = row_major.unwrap_or_else(|| by_count(&tiled.counts));
        let mut digits: Vec<DeviceDigit> = parts.iter().flatten().copied().collect();
        digits.sort_by_key(|digit| core::cmp::Reverse(digit.stride));
        let axis = |(k, digit): (usize, &DeviceDigit)| MeshAxis {
            name: format!("axis_{k}"),
            size: digit.size,
        };
        let mesh = Mesh { axes: digits.iter().enumerate().map(axis).collect() };
        let part = |digit: &DeviceDigit| {
            let axis = digits.iter().position(|other| other == digit).unwrap_or(0);
            AxisRef { axis, before: 1, size: digit.size }
        };
        let lists: Vec<Vec<AxisRef>> =
            parts.iter().map(|digits| digits.iter().map(part).collect()).collect();
        let (cuts, groups) = lists.split_at(tiled.rank().min(lists.len()));
        let cuts = cuts
            .iter()
            .map(|parts| AxisSharding { parts: parts.clone(), is_open: false })
            .collect();
        let mut shared = Subgroup::ALL.map(|kind| (kind, Vec::new()));
        for (kind, parts) in tiled.subgroups.iter().zip(groups) {
            if let Some(row) = shared.iter_mut().find(|row| row.0 == *kind) {
                row.1.clone_from(parts);
                row.1.sort_unstable();
            }
        }
        Self { mesh, order, cuts, shared }
    }
}

/// Digits of the row-major number of a tile, one list per entry of `counts`: `[4, 1, 2]` has a digit of size 4
/// and stride 2, no digit, and a digit of size 2 and stride 1.
fn by_count(counts: &[i64]) -> Vec<Vec<DeviceDigit>> {
    let mut next = 1;
    let mut digits = vec![Vec::new(); counts.len()];
    for (list, size) in digits.iter_mut().zip(counts).rev() {
        if *size > 1 {
            list.push(DeviceDigit { size: *size, stride: next });
            next *= size;
        }
    }
    digits
}
