//! Conversion between device placements and shardings on a row-major mesh ([`MeshSharding`]).

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::iota::{DeviceDigit, IotaOrder};
use super::mesh::{Mesh, MeshAxis, Sharding};
use super::named::{AxisRef, AxisSharding, NamedSharding};
use super::order::DeviceOrder;
use super::placement::{DevicePlacement, Subgroup};

/// Sharding of a tensor together with its row-major mesh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeshSharding {
    /// Mesh of the devices, numbered row-major.
    pub mesh: Mesh,
    /// Mesh axes that shard each axis of the tensor.
    pub sharding: Sharding,
    /// Positions of the mesh axes over which the devices hold partial sums, ascending.
    pub unreduced: Vec<usize>,
}

impl MeshSharding {
    /// Converts a placement to a sharding over a mesh whose devices are numbered row-major. `rank` is the rank of the
    /// tensor if the placement fits any rank; `None` means 0.
    ///
    /// A mesh axis `a` becomes several axes `a_0`, `a_1`, …, major first, if the sharding splits it into sub-axes, or
    /// if the device numbers along it form several digits. The mesh axes for tiles are named `axis_0`, `axis_1`, …, as
    /// in [`NamedSharding::of_tiled`].
    ///
    /// # Errors
    /// * [`ShardingInexpressible::Order`], [`ShardingInexpressible::Uncut`]: no row-major mesh has the order of
    ///   devices.
    /// * [`ShardingInexpressible::Maximal`]: the whole tensor is on one device.
    /// * [`ShardingInexpressible::Mesh`]: the whole tensor is manual or unreduced, without a mesh.
    /// * [`ShardingInexpressible::Manual`]: a subgroup is manual.
    /// * [`ShardingInexpressible::Unknown`]: the placement is not determined.
    pub fn of(
        placement: &DevicePlacement,
        rank: Option<usize>,
    ) -> Result<Self, ShardingInexpressible> {
        let named = match placement {
            DevicePlacement::Named(named) => named,
            DevicePlacement::Tiled(tiled) => {
                tiled.order.iota()?.cut(&tiled.counts)?;
                &NamedSharding::of_tiled(tiled)
            }
            DevicePlacement::Replicated => &NamedSharding::replicated(),
            DevicePlacement::Maximal { device } | DevicePlacement::MaximalMesh { device } => {
                return Err(ShardingInexpressible::Maximal { device: *device });
            }
            DevicePlacement::Manual => return Err(ShardingInexpressible::Mesh { word: "manual" }),
            DevicePlacement::Unreduced => {
                return Err(ShardingInexpressible::Mesh { word: "unreduced" });
            }
            DevicePlacement::Unknown => return Err(ShardingInexpressible::Unknown),
        };
        if !named.shared(Subgroup::Manual).is_empty() {
            return Err(ShardingInexpressible::Manual);
        }
        let rows = rows(named)?;
        let position = |part: &AxisRef, row: usize| {
            rows.iter().position(|other| (other.part, other.number) == (*part, row))
        };
        let positions = |parts: &[AxisRef]| -> Vec<usize> {
            let of =
                |part: &AxisRef| (0..).map_while(|row| position(part, row)).collect::<Vec<_>>();
            parts.iter().flat_map(of).collect()
        };
        let mut over: Vec<Vec<usize>> =
            named.cuts.iter().map(|cut| positions(&cut.parts)).collect();
        if over.is_empty() {
            over.resize(rank.unwrap_or(0), Vec::new());
        }
        let mut unreduced = positions(named.shared(Subgroup::Unreduced));
        unreduced.sort_unstable();
        let axes = names(named, &rows).into_iter().zip(&rows);
        let axes = axes.map(|(name, row)| MeshAxis { name, size: row.size }).collect();
        let mesh = Mesh { axes };
        // The mesh axes and sub-axes of a placement are disjoint, so that no mesh axis is listed twice.
        Ok(Self { mesh, sharding: Sharding::of_disjoint(over), unreduced })
    }

    /// Conversion to the form that names mesh axes, over the same mesh. Mesh axes that neither shard a tensor axis nor
    /// hold partial sums become a `replicated` subgroup.
    pub fn named(&self) -> NamedSharding {
        let part = |position: &usize| AxisRef {
            axis: *position,
            before: 1,
            size: self.mesh.axes.get(*position).map_or(1, |axis| axis.size),
        };
        let parts = |positions: &[usize]| positions.iter().map(part).collect::<Vec<_>>();
        let cut = |positions: &Vec<usize>| AxisSharding { parts: parts(positions), is_open: false };
        let free: Vec<usize> = self
            .sharding
            .repeated(&self.mesh)
            .into_iter()
            .filter(|position| !self.unreduced.contains(position))
            .collect();
        NamedSharding {
            mesh: self.mesh.clone(),
            order: DeviceOrder::Iota(IotaOrder::row_major(self.mesh.devices().unwrap_or(1))),
            cuts: self.sharding.over().iter().map(cut).collect(),
            shared: [
                (Subgroup::Manual, Vec::new()),
                (Subgroup::Unreduced, parts(&self.unreduced)),
                (Subgroup::Replicated, parts(&free)),
            ],
        }
    }
}

/// Axis of the row-major mesh: neighbors along it differ by `stride` in the device number.
struct DeviceRow {
    /// Sub-axis of the named mesh of which the axis is a part, or which it equals.
    part: AxisRef,
    /// Position of the axis among the axes into which `part` is split, major first; 0 if it is not split.
    number: usize,
    size: i64,
    stride: i64,
}

/// Axes of a mesh with row-major device numbers on which every shard of `named` is on the same devices, major to minor.
/// [`ShardingInexpressible::Order`] or [`ShardingInexpressible::Uncut`] if there is no such mesh.
fn rows(named: &NamedSharding) -> Result<Vec<DeviceRow>, ShardingInexpressible> {
    let refined = named.refined();
    let sizes: Vec<i64> = refined.iter().map(|part| part.size).collect();
    let iota = named.order.iota()?;
    let mut rows = Vec::new();
    // An axis of size 1 sorts after its predecessor.
    let mut last = iota.count();
    for (part, digits) in refined.iter().zip(iota.cut(&sizes)?) {
        let digits =
            if digits.is_empty() { vec![DeviceDigit { size: 1, stride: last }] } else { digits };
        for (number, DeviceDigit { size, stride }) in digits.into_iter().enumerate() {
            rows.push(DeviceRow { part: *part, number, size, stride });
            last = stride;
        }
    }
    rows.sort_by_key(|row| core::cmp::Reverse(row.stride));
    Ok(rows)
}

/// Names of the axes `rows` of the row-major mesh. An axis `a` of the named mesh that is not split keeps its name; the
/// parts of a split one are named `a_0`, `a_1`, …, major first. `_` is appended to such a name while it is taken.
fn names(named: &NamedSharding, rows: &[DeviceRow]) -> Vec<String> {
    let axis = |row: &DeviceRow| row.part.axis;
    let own =
        |row: &DeviceRow| named.mesh.axes.get(axis(row)).map_or("", |axis| axis.name.as_str());
    let is_taken = |name: &str| named.mesh.axes.iter().any(|axis| axis.name == name);
    let mut names: Vec<String> = Vec::with_capacity(rows.len());
    for row in rows {
        let mut pieces: Vec<(i64, usize)> = rows
            .iter()
            .filter(|other| axis(other) == axis(row))
            .map(|other| (other.part.before, other.number))
            .collect();
        pieces.sort_unstable();
        if pieces.len() == 1 {
            names.push(own(row).into());
            continue;
        }
        let k =
            pieces.iter().position(|piece| *piece == (row.part.before, row.number)).unwrap_or(0);
        let mut name = format!("{}_{k}", own(row));
        while is_taken(&name) || names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}
