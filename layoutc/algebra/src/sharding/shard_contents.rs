//! Shards of a tensor ([`TensorShard`]) that a device placement produces, and the devices that hold them.

use alloc::vec::Vec;
use core::ops::Range;

use super::inexpressible::ShardingInexpressible;
use super::mesh::part_extent;
use super::placement::{DevicePlacement, Subgroup, TiledSharding};

/// Shard of a tensor, and the devices that hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorShard {
    /// Devices that hold the shard, or a partial sum of it. May be empty if all devices do, as for `{replicated}` and
    /// `{unreduced}`.
    pub devices: Vec<i64>,
    /// Index range of the shard along each tensor axis, in elements; an empty range for a shard without elements.
    pub bounds: Vec<Range<i128>>,
}

impl TensorShard {
    /// Extents of the shard along the tensor axes, in elements.
    pub fn extents(&self) -> Vec<i128> {
        self.bounds.iter().map(|range| range.end - range.start).collect()
    }
}

impl DevicePlacement {
    /// Shards of a tensor with the non-negative extents `extents`, in row-major order of the tiles, each with its
    /// devices. `most` is the maximum number of devices of a placement with tiles or a mesh.
    ///
    /// # Errors
    /// * [`ShardingInexpressible::Rank`]: the placement splits the tensor into tiles, and its rank differs from that of
    ///   the tensor.
    /// * [`ShardingInexpressible::Manual`]: the program manages the contents of some devices.
    /// * [`ShardingInexpressible::Unknown`]: the placement is not determined.
    /// * [`ShardingInexpressible::Devices`]: there are more than `most` devices, or the order of more than
    ///   [`LISTED`](super::LISTED) devices would have to be listed.
    pub fn shards(
        &self,
        extents: &[i128],
        most: i64,
    ) -> Result<Vec<TensorShard>, ShardingInexpressible> {
        let whole = |devices: Vec<i64>| {
            let bounds = extents.iter().map(|extent| 0..*extent).collect();
            Vec::from([TensorShard { devices, bounds }])
        };
        match self {
            Self::Replicated | Self::Unreduced => Ok(whole(Vec::new())),
            Self::Maximal { device } | Self::MaximalMesh { device } => {
                Ok(whole(Vec::from([*device])))
            }
            Self::Manual => Err(ShardingInexpressible::Manual),
            Self::Unknown => Err(ShardingInexpressible::Unknown),
            Self::Tiled(tiled) => tiles(tiled, extents, most),
            Self::Named(named) => {
                let devices = named.order.count();
                if devices > most {
                    return Err(ShardingInexpressible::Devices { devices });
                }
                match named.tiled()? {
                    Self::Replicated if named.mesh.axes.is_empty() => Ok(whole(Vec::new())),
                    Self::Replicated => Ok(whole((0..devices).collect())),
                    unnamed => unnamed.shards(extents, most),
                }
            }
        }
    }
}

fn tiles(
    tiled: &TiledSharding,
    extents: &[i128],
    most: i64,
) -> Result<Vec<TensorShard>, ShardingInexpressible> {
    if tiled.rank() != extents.len() {
        return Err(ShardingInexpressible::Rank { given: tiled.rank(), wanted: extents.len() });
    }
    if tiled.subgroups.contains(&Subgroup::Manual) {
        return Err(ShardingInexpressible::Manual);
    }
    let devices = tiled.devices();
    if devices > most {
        return Err(ShardingInexpressible::Devices { devices });
    }
    let count = tiled.tiles().iter().product::<i64>();
    let shared = devices / count.max(1);
    let part = |k: i64| {
        let (mut rest, mut bounds) = (k, Vec::with_capacity(extents.len()));
        for (extent, parts) in extents.iter().zip(tiled.tiles()).rev() {
            let largest = part_extent(*extent, *parts);
            let start = i128::from(rest % parts).saturating_mul(largest).min(*extent);
            bounds.push(start..start.saturating_add(largest).min(*extent));
            rest /= parts;
        }
        bounds.reverse();
        let places = k * shared..(k + 1) * shared;
        TensorShard {
            devices: places.filter_map(|place| tiled.order.device(place)).collect(),
            bounds,
        }
    };
    Ok((0..count).map(part).collect())
}
