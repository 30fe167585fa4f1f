//! What a sharding text says of a tensor, and the normal form of tiles and subgroups.

use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::named::NamedSharding;
use super::order::DeviceOrder;

/// What a text shards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardingText {
    /// One tensor.
    One(TensorSharding),
    /// The leaves of a tuple.
    Tuple(Vec<TensorSharding>),
}

/// A placement, and the group of tensors that shall be sharded alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSharding {
    /// Where the tensor lies.
    pub placement: DevicePlacement,
    /// The group, if it is in one.
    pub group: Option<ShardGroup>,
}

/// A group of tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardGroup {
    /// All are sharded the same: `shard_as`.
    As(i64),
    /// All are sharded like one of them: `shard_like`.
    Like(i64),
}

/// Where a tensor lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevicePlacement {
    /// All of it on every device.
    Replicated,
    /// All of it on one device.
    Maximal {
        /// Which one.
        device: i64,
    },
    /// The same, in the third form.
    MaximalMesh {
        /// Which one.
        device: i64,
    },
    /// As the program says by hand.
    Manual,
    /// Not known yet.
    Unknown,
    /// A part of the sum on every device.
    Unreduced,
    /// In tiles, by their numbers.
    Tiled(TiledSharding),
    /// Over the axes of a mesh, by their names.
    Named(NamedSharding),
}

/// What the devices that share a tile have of it. The order is the one in which XLA writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subgroup {
    /// What the program says by hand.
    Manual,
    /// Parts of a sum.
    Unreduced,
    /// The same.
    Replicated,
}

impl Subgroup {
    /// All, in order.
    pub const ALL: [Self; 3] = [Self::Manual, Self::Unreduced, Self::Replicated];

    /// XLA's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }

    /// A tensor that is such as a whole.
    fn whole(self) -> DevicePlacement {
        match self {
            Self::Manual => DevicePlacement::Manual,
            Self::Unreduced => DevicePlacement::Unreduced,
            Self::Replicated => DevicePlacement::Replicated,
        }
    }
}

/// A tensor in tiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledSharding {
    /// How many tiles each axis has, then how many devices each subgroup has.
    pub(super) counts: Vec<i64>,
    /// The devices, in the row-major order of the counts.
    pub(super) order: DeviceOrder,
    /// What the last counts are, each kind once and in order.
    pub(super) subgroups: Vec<Subgroup>,
}

impl TiledSharding {
    /// How many axes the tensor has.
    pub fn rank(&self) -> usize {
        self.counts.len().saturating_sub(self.subgroups.len())
    }

    /// How many tiles each axis of the tensor has.
    pub fn tiles(&self) -> &[i64] {
        self.counts.get(..self.rank()).unwrap_or_default()
    }

    /// How many devices there are.
    pub fn devices(&self) -> i64 {
        self.order.count()
    }

    /// The kinds of subgroups, and how many devices each has.
    pub fn subgroups(&self) -> impl Iterator<Item = (Subgroup, i64)> {
        let sizes = self.counts.iter().skip(self.rank()).copied();
        self.subgroups.iter().copied().zip(sizes)
    }

    /// How many tiles each axis has, then how many devices each subgroup has.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// The devices, in the row-major order of the counts.
    pub fn order(&self) -> &DeviceOrder {
        &self.order
    }
}

/// The normal form of tiles on the devices of `order`, in the row-major order of `counts`, of which the last ones are
/// `subgroups`: those of one device are left out, those of a kind are one, in the order of [`Subgroup`], and devices
/// that have the same are sorted. A tensor that is not tiled at all is replicated, manual or unreduced as a whole.
///
/// The counts are at least 1, their product is that of the devices, and they are at least as many as the subgroups.
///
/// Source: XLA, `HloSharding::Subgroup` and `HloSharding::PartialTile` in `hlo_sharding.cc`. XLA's own is another text
/// when it is read again, where all subgroups but one are of one device and that one is unreduced: here it is the last.
///
/// # Errors
/// [`ShardingInexpressible::Devices`]: the devices would have to be listed, and are too many.
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
