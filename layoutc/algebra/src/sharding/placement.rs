//! Contents of a sharding text, and the normal form of tiles and subgroups.

use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::named::NamedSharding;
use super::order::DeviceOrder;

/// Parsed sharding text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardingText {
    /// Sharding of a single tensor.
    One(TensorSharding),
    /// Shardings of a tuple's leaves.
    Tuple(Vec<TensorSharding>),
}

/// Placement of a tensor, and its shard group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSharding {
    /// Devices of the tensor's elements.
    pub placement: DevicePlacement,
    /// Shard group, if any.
    pub group: Option<ShardGroup>,
}

/// Group of tensors that are sharded alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardGroup {
    /// `shard_as`: all tensors have the same sharding.
    As(i64),
    /// `shard_like`: all tensors follow one of them.
    Like(i64),
}

/// Placement of a tensor on devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevicePlacement {
    /// The whole tensor on every device.
    Replicated,
    /// The whole tensor on one device.
    Maximal {
        /// Device number.
        device: i64,
    },
    /// Like `Maximal`, in the third form.
    MaximalMesh {
        /// Device number.
        device: i64,
    },
    /// Managed by the program.
    Manual,
    /// Not determined yet.
    Unknown,
    /// A partial sum on every device.
    Unreduced,
    /// Tiles, by counts.
    Tiled(TiledSharding),
    /// Sharded over named mesh axes.
    Named(NamedSharding),
}

/// Contents of the devices that share a tile, in the order in which XLA prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subgroup {
    /// Managed by the program.
    Manual,
    /// Partial sums.
    Unreduced,
    /// Copies.
    Replicated,
}

impl Subgroup {
    /// All kinds, in order.
    pub const ALL: [Self; 3] = [Self::Manual, Self::Unreduced, Self::Replicated];

    /// XLA's keyword.
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }

    /// Placement of an untiled tensor of this kind.
    fn whole(self) -> DevicePlacement {
        match self {
            Self::Manual => DevicePlacement::Manual,
            Self::Unreduced => DevicePlacement::Unreduced,
            Self::Replicated => DevicePlacement::Replicated,
        }
    }
}

/// Sharding in tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledSharding {
    /// Number of tiles of each axis, then size of each subgroup.
    pub(super) counts: Vec<i64>,
    /// Devices, in row-major order of `counts`.
    pub(super) order: DeviceOrder,
    /// Kinds of the trailing counts: each at most once, ascending.
    pub(super) subgroups: Vec<Subgroup>,
}

impl TiledSharding {
    /// Rank of the tensor.
    pub fn rank(&self) -> usize {
        self.counts.len().saturating_sub(self.subgroups.len())
    }

    /// Number of tiles of each axis of the tensor.
    pub fn tiles(&self) -> &[i64] {
        self.counts.get(..self.rank()).unwrap_or_default()
    }

    /// Number of devices.
    pub fn devices(&self) -> i64 {
        self.order.count()
    }

    /// Kind and size of each subgroup.
    pub fn subgroups(&self) -> impl Iterator<Item = (Subgroup, i64)> {
        let sizes = self.counts.iter().skip(self.rank()).copied();
        self.subgroups.iter().copied().zip(sizes)
    }

    /// Number of tiles of each axis, then size of each subgroup.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Devices, in row-major order of the counts.
    pub fn order(&self) -> &DeviceOrder {
        &self.order
    }
}

/// Normal form of tiles on the devices of `order`, in row-major order of `counts`, of which the trailing ones are
/// `subgroups`: drops subgroups of size 1, merges those of one kind, orders them by [`Subgroup`], and sorts the devices
/// of a replicated subgroup. An untiled tensor is replicated, manual or unreduced as a whole.
///
/// Counts are at least 1, their product is the number of devices, and there are at least as many as subgroups.
///
/// Source: XLA, `HloSharding::Subgroup` and `HloSharding::PartialTile` in `hlo_sharding.cc`. XLA's form is not
/// idempotent if all subgroups but an unreduced one have size 1; this is its fixed point.
///
/// # Errors
/// [`ShardingInexpressible::Devices`] if the devices would have to be listed and are too many.
pub fn tiled(
    mut counts: Vec<i64>,
    order: DeviceOrder,
    subgroups: Vec<Subgroup>,
) -> Result<DevicePlacement, ShardingInexpressible> {
    let Some(first) = subgroups.first() else {
        return Ok(DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }));
    };
    let rank = counts.len().saturating_sub(subgroups.len());
    let is_cut = counts.iter().take(rank).any(|count| *count > 1);
    if !is_cut && subgroups.iter().all(|kind| kind == first) {
        return Ok(first.whole());
    }
    let mut places: Vec<usize> = (0..rank).collect();
    let (mut kinds, mut sizes) = (Vec::new(), Vec::new());
    for kind in Subgroup::ALL {
        let mut size = 1;
        for (k, _) in subgroups.iter().enumerate().filter(|(_, other)| **other == kind) {
            places.push(rank + k);
            size *= counts.get(rank + k).copied().unwrap_or(1);
        }
        if size > 1 {
            kinds.push(kind);
            sizes.push(size);
        }
    }
    let mut order = order.transposed(&counts, &places)?;
    counts.truncate(rank);
    counts.extend(&sizes);
    match kinds.as_slice() {
        [kind] if !is_cut => return Ok(kind.whole()),
        [] if rank == 0 => return Ok(DevicePlacement::Replicated),
        [.., Subgroup::Replicated] => {
            order = order.grouped(sizes.last().copied().unwrap_or(1))?;
        }
        _ => {}
    }
    Ok(DevicePlacement::Tiled(TiledSharding { counts, order, subgroups: kinds }))
}
