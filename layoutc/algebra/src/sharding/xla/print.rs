//! Printing of shardings in the form in which XLA prints them.

use core::fmt::{self, Display, Formatter, Write};

use crate::sharding::mesh::{Mesh, MeshAxis};
use crate::sharding::named::{AxisRef, AxisSharding, NamedSharding};
use crate::sharding::order::DeviceOrder;
use crate::sharding::placement::{
    DevicePlacement, ShardGroup, ShardingText, Subgroup, TensorSharding, TiledSharding,
};

/// Number of tuple entries between the comments `/*index=5*/` that XLA prints.
const NUMBERED: usize = 5;

impl Display for ShardingText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let parts = match self {
            Self::One(placed) => return placed.fmt(f),
            Self::Tuple(parts) => parts,
        };
        f.write_char('{')?;
        for (k, placed) in parts.iter().enumerate() {
            if k > 0 {
                f.write_str(", ")?;
                if k % NUMBERED == 0 {
                    write!(f, "/*index={k}*/")?;
                }
            }
            placed.fmt(f)?;
        }
        f.write_char('}')
    }
}

impl Display for TensorSharding {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        match &self.placement {
            DevicePlacement::Replicated => f.write_str("replicated")?,
            DevicePlacement::Maximal { device } => write!(f, "maximal device={device}")?,
            DevicePlacement::MaximalMesh { device } => {
                write!(f, "maximal_mesh[device_id={device}]")?;
            }
            DevicePlacement::Manual => f.write_str("manual")?,
            DevicePlacement::Unknown => f.write_str("unknown")?,
            DevicePlacement::Unreduced => f.write_str("unreduced")?,
            DevicePlacement::Tiled(tiled) => write_tiled(tiled, f)?,
            DevicePlacement::Named(named) => write_named(named, f)?,
        }
        match self.group {
            Some(ShardGroup::As(number)) => write!(f, " shard_as {number}")?,
            Some(ShardGroup::Like(number)) => write!(f, " shard_like {number}")?,
            None => {}
        }
        f.write_char('}')
    }
}

fn write_tiled(tiled: &TiledSharding, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str("devices=[")?;
    list(f, ",", tiled.counts())?;
    f.write_char(']')?;
    if matches!(tiled.order(), DeviceOrder::Iota(_)) {
        f.write_str("<=")?;
    }
    write_order(tiled.order(), f)?;
    match tiled.subgroups.as_slice() {
        [] => Ok(()),
        [Subgroup::Replicated] => f.write_str(" last_tile_dim_replicate"),
        kinds => {
            f.write_str(" last_tile_dims={")?;
            list(f, ", ", kinds.iter().map(|kind| kind.word()))?;
            f.write_char('}')
        }
    }
}

/// Writes an order of devices, such as `[2,2,2]T(2,1,0)` or `0,1,2,3`.
fn write_order(order: &DeviceOrder, f: &mut Formatter<'_>) -> fmt::Result {
    let iota = match order {
        DeviceOrder::List(devices) => return list(f, ",", devices),
        DeviceOrder::Iota(iota) => iota,
    };
    f.write_char('[')?;
    list(f, ",", iota.reshape())?;
    f.write_char(']')?;
    let transpose = iota.transpose();
    if transpose.len() > 1 {
        f.write_str("T(")?;
        list(f, ",", transpose)?;
        f.write_char(')')?;
    }
    Ok(())
}

fn write_named(named: &NamedSharding, f: &mut Formatter<'_>) -> fmt::Result {
    let NamedSharding { mesh, order, cuts, shared } = named;
    f.write_str("mesh[")?;
    list(f, ",", mesh.axes.iter().map(DisplayMeshAxis))?;
    f.write_char(']')?;
    if !matches!(order, DeviceOrder::Iota(iota) if iota.digits().len() <= 1) {
        f.write_str(", device_ids=(")?;
        write_order(order, f)?;
        f.write_char(')')?;
    }
    if let Some(word) = whole(named) {
        return write!(f, ", {word}");
    }
    f.write_str(", [")?;
    list(f, ", ", cuts.iter().map(|cut| DisplayAxisSharding { mesh, cut }))?;
    f.write_char(']')?;
    for kind in [Subgroup::Replicated, Subgroup::Unreduced, Subgroup::Manual] {
        let parts = shared.iter().find(|row| row.0 == kind).map_or(&[][..], |row| &row.1);
        if !parts.is_empty() {
            write!(f, ", {}={{", kind.word())?;
            list(f, ", ", parts.iter().map(|part| DisplayAxisRef { mesh, part: *part }))?;
            f.write_char('}')?;
        }
    }
    Ok(())
}

/// Keyword that replaces the lists of mesh axes; `None` if the lists must be written. It is `replicated` if no subgroup
/// contains a mesh axis. It is `unreduced` or `manual` if that subgroup contains all mesh axes as a whole. `None` for
/// any sharding with `cuts`, because only their list, such as `[{}, {}]`, shows the rank.
fn whole(named: &NamedSharding) -> Option<&'static str> {
    if !named.cuts.is_empty() {
        return None;
    }
    let covers_mesh = |kind: &Subgroup| named.shared(*kind).len() == named.mesh.axes.len();
    if named.shared.iter().all(|row| row.1.is_empty()) {
        return Some("replicated");
    }
    let all = [Subgroup::Unreduced, Subgroup::Manual].into_iter().find(covers_mesh);
    all.filter(|kind| named.shared(*kind).iter().all(|part| is_whole(*part, &named.mesh)))
        .map(Subgroup::word)
}

fn is_whole(part: AxisRef, mesh: &Mesh) -> bool {
    mesh.axes.get(part.axis).is_some_and(|axis| axis.size == part.size)
}

/// Displays a mesh axis as `'a'=2`.
struct DisplayMeshAxis<'a>(&'a MeshAxis);

impl Display for DisplayMeshAxis<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'={}", self.0.name, self.0.size)
    }
}

/// Displays the mesh axes that shard one tensor axis as `{'a', 'b':(1)2, ?}`.
struct DisplayAxisSharding<'a> {
    mesh: &'a Mesh,
    cut: &'a AxisSharding,
}

impl Display for DisplayAxisSharding<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { mesh, cut } = self;
        f.write_char('{')?;
        list(f, ", ", cut.parts.iter().map(|part| DisplayAxisRef { mesh, part: *part }))?;
        match (cut.is_open, cut.parts.is_empty()) {
            (true, true) => f.write_str("?")?,
            (true, false) => f.write_str(", ?")?,
            (false, _) => {}
        }
        f.write_char('}')
    }
}

/// Displays a mesh axis as `'a'`, and a sub-axis as `'b':(1)2`.
struct DisplayAxisRef<'a> {
    mesh: &'a Mesh,
    part: AxisRef,
}

impl Display for DisplayAxisRef<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(axis) = self.mesh.axes.get(self.part.axis) else { return Ok(()) };
        write!(f, "'{}'", axis.name)?;
        if is_whole(self.part, self.mesh) {
            return Ok(());
        }
        write!(f, ":({}){}", self.part.before, self.part.size)
    }
}

fn list<T: Display>(
    f: &mut Formatter<'_>,
    separator: &str,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (k, item) in items.into_iter().enumerate() {
        if k > 0 {
            f.write_str(separator)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
