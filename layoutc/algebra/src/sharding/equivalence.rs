//! Equivalence of shardings: [`TensorSharding::same`] compares the devices on which every element is placed.

use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::iota::{DeviceDigit, IotaOrder};
use super::order::DeviceOrder;
use super::placement::{DevicePlacement, Subgroup, TensorSharding, TiledSharding};

impl TensorSharding {
    /// True if both shardings place every element on equal devices, and are in one shard group or in none.
    ///
    /// The comparison ignores the names of mesh axes, the permission to shard an axis further, and the order of devices
    /// within a `manual` or `unreduced` subgroup. It does not ignore the rank. As in XLA, tiles on one device are the
    /// whole tensor.
    ///
    /// # Errors
    /// [`ShardingInexpressible::Devices`] if an iota of more than [`LISTED`](super::LISTED) devices would have to be
    /// listed.
    pub fn same(&self, other: &Self) -> Result<bool, ShardingInexpressible> {
        if self.group != other.group {
            return Ok(false);
        }
        let (a, b) = (whole(self.placement.unnamed()?), whole(other.placement.unnamed()?));
        let (DevicePlacement::Tiled(a), DevicePlacement::Tiled(b)) = (&a, &b) else {
            return Ok(a == b);
        };
        let is_alike = a.counts == b.counts && a.subgroups == b.subgroups;
        Ok(is_alike && (a.order == b.order || normal(a)? == normal(b)?))
    }
}

/// Placement in which tiles on a single device are replaced by [`DevicePlacement::Replicated`].
fn whole(placement: DevicePlacement) -> DevicePlacement {
    match placement {
        DevicePlacement::Tiled(tiled) if tiled.devices() == 1 => DevicePlacement::Replicated,
        placement => placement,
    }
}

/// Canonical device order of tiles, for a comparison that ignores the order within `manual` and `unreduced` subgroups.
/// The positions of each such subgroup are permuted, alike in every tile, so that the least devices that they have in
/// the first tile ascend. The result is an iota if the order is one and no subgroup is permuted, or if
/// [`IotaOrder::cut`] splits the iota at the tile boundaries. Otherwise it is a list.
fn normal(tiled: &TiledSharding) -> Result<DeviceOrder, ShardingInexpressible> {
    let iota = tiled.order.iota();
    let is_plain = tiled.subgroups.iter().all(|kind| *kind == Subgroup::Replicated);
    match iota {
        Ok(iota) if is_plain => return Ok(DeviceOrder::Iota(iota)),
        Ok(iota) => {
            if let Ok(mut parts) = iota.cut(&tiled.counts) {
                for digits in parts.iter_mut().skip(tiled.rank()) {
                    digits.sort_by_key(|digit| core::cmp::Reverse(digit.stride));
                }
                let digits: Vec<DeviceDigit> = parts.into_iter().flatten().collect();
                return Ok(DeviceOrder::Iota(IotaOrder::of(&digits)));
            }
        }
        Err(_) => {}
    }
    let mut list = tiled.order.list()?;
    let mut step = usize::try_from(tiled.devices()).unwrap_or(usize::MAX);
    for count in tiled.tiles() {
        step /= usize::try_from(*count).unwrap_or(1).max(1);
    }
    let tile = step;
    for (kind, size) in tiled.subgroups() {
        let size = usize::try_from(size).unwrap_or(1).max(1);
        step /= size;
        if kind != Subgroup::Replicated {
            list = relabeled(&list, tile, size, step);
        }
    }
    Ok(DeviceOrder::List(list))
}

/// Device list in which the positions of one subgroup are permuted, alike in every tile of `tile` devices. The device
/// at list index `i` is at position `i / step % size` of the subgroup. The permutation sorts the positions by the least
/// device that each has in the first tile.
fn relabeled(list: &[i64], tile: usize, size: usize, step: usize) -> Vec<i64> {
    let place = |k: usize| k / step.max(1) % size;
    let first = list.get(..tile).unwrap_or_default();
    let least = |wanted: usize| {
        let own = first.iter().enumerate().filter(|(k, _)| place(*k) == wanted);
        own.map(|(_, device)| *device).min()
    };
    let mut places: Vec<(Option<i64>, usize)> = (0..size).map(|k| (least(k), k)).collect();
    places.sort_unstable();
    let from = |k: usize| {
        let now = place(k);
        let before = places.get(now).map_or(now, |(_, before)| *before);
        list.get(k - now * step + before * step).copied()
    };
    (0..list.len()).filter_map(from).collect()
}
