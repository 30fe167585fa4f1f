//! Parsed sharding texts ([`ShardingText`], [`TensorSharding`], [`DevicePlacement`]), and XLA's normal form of
//! tiles and subgroups ([`tiled`]).

use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::named::NamedSharding;
use super::order::DeviceOrder;

/// Parsed sharding text of XLA: the sharding of a tensor, or of a tuple of tensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShardingText {
    /// Sharding of a single tensor, such as `{devices=[2,2]<=[4]}`.
    One(TensorSharding),
    /// Shardings of the leaves of a tuple, in order, such as `{{replicated}, {manual}}`.
    Tuple(Vec<TensorSharding>),
}

/// Sharding of a tensor: its placement on devices, and its shard group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSharding {
    /// Placement of the elements of the tensor on devices.
    pub placement: DevicePlacement,
    /// Shard group of the tensor; `None` if the text names none.
    pub group: Option<ShardGroup>,
}

/// Numbered group of tensors whose shardings XLA relates to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardGroup {
    /// Group in which all tensors have the same sharding, written `shard_as 1`.
    As(i64),
    /// Group in which all tensors follow the sharding of one of them, written `shard_like 1`.
    Like(i64),
}

/// Placement of a tensor on devices: which device holds which elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevicePlacement {
    /// The whole tensor is on every device, written `{replicated}`.
    Replicated,
    /// The whole tensor is on one device, written `{maximal device=5}`.
    Maximal {
        /// Number of the device that holds the whole tensor.
        device: i64,
    },
    /// The whole tensor is on one device, in the form of XLA's text with a mesh: `{maximal_mesh[device_id=5]}`.
    MaximalMesh {
        /// Number of the device that holds the whole tensor.
        device: i64,
    },
    /// The program manages which elements are on which device, written `{manual}`.
    Manual,
    /// XLA has not determined the placement yet, written `{unknown}`.
    Unknown,
    /// Every device has a partial sum of the whole tensor, written `{unreduced}`.
    Unreduced,
    /// The tensor is split into a number of tiles per axis, written `{devices=[2,2]<=[4]}`.
    Tiled(TiledSharding),
    /// The tensor is sharded over named mesh axes, written `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}`.
    Named(NamedSharding),
}

/// Kind of a subgroup, the devices that share a tile: the relation between their contents. The variants are in the
/// order in which XLA prints subgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subgroup {
    /// The program, not XLA, manages the contents of the devices that share a tile.
    Manual,
    /// Each device has a partial sum of the tile.
    Unreduced,
    /// Each device has a copy of the tile.
    Replicated,
}

impl Subgroup {
    /// All kinds of subgroups, in the order in which XLA prints them.
    pub const ALL: [Self; 3] = [Self::Manual, Self::Unreduced, Self::Replicated];

    /// Keyword of XLA for the kind of subgroup.
    pub fn word(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }

    /// Placement of an untiled tensor whose devices all belong to one subgroup of the kind `self`: `{manual}` for
    /// `Manual`.
    fn whole(self) -> DevicePlacement {
        match self {
            Self::Manual => DevicePlacement::Manual,
            Self::Unreduced => DevicePlacement::Unreduced,
            Self::Replicated => DevicePlacement::Replicated,
        }
    }
}

/// Sharding of a tensor in tiles. `{devices=[2,2,2]<=[8] last_tile_dim_replicate}` has 2×2 tiles, each replicated
/// on a subgroup of 2 devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TiledSharding {
    /// Number of tiles of each tensor axis, followed by the size of each subgroup.
    pub(super) counts: Vec<i64>,
    /// Devices of the tiles, in row-major order of the grid whose extents are `counts`.
    pub(super) order: DeviceOrder,
    /// Kinds of the trailing counts, which are sizes of subgroups: each kind at most once, in the order of
    /// [`Subgroup`].
    pub(super) subgroups: Vec<Subgroup>,
}

impl TiledSharding {
    /// Number of axes of the tensor.
    pub fn rank(&self) -> usize {
        self.counts.len().saturating_sub(self.subgroups.len())
    }

    /// Number of tiles along each axis of the tensor.
    pub fn tiles(&self) -> &[i64] {
        self.counts.get(..self.rank()).unwrap_or_default()
    }

    /// Number of devices of the sharding.
    pub fn devices(&self) -> i64 {
        self.order.count()
    }

    /// Kind and size of each subgroup, in the order of [`Subgroup`]. The product of the sizes is the number of devices
    /// that share a tile.
    pub fn subgroups(&self) -> impl Iterator<Item = (Subgroup, i64)> {
        let sizes = self.counts.iter().skip(self.rank()).copied();
        self.subgroups.iter().copied().zip(sizes)
    }

    /// Number of tiles of each tensor axis, followed by the size of each subgroup.
    pub fn counts(&self) -> &[i64] {
        &self.counts
    }

    /// Devices of the tiles, in row-major order of the grid whose extents are [`TiledSharding::counts`].
    pub fn order(&self) -> &DeviceOrder {
        &self.order
    }
}

/// Normal form of a tiled placement. `counts` has the number of tiles of each tensor axis, followed by the size of each
/// of `subgroups`; `order` has the devices in row-major order of `counts`. The normal form drops subgroups of size 1,
/// merges subgroups of one kind, orders subgroups by [`Subgroup`], and sorts the devices of a replicated subgroup. A
/// single tile whose subgroups are all of one kind becomes [`DevicePlacement::Replicated`], `Manual` or `Unreduced`.
/// Without subgroups, the tiles are unchanged.
///
/// The caller guarantees that the counts are at least 1, that their product is the number of devices, and that there
/// are at least as many counts as subgroups.
///
/// Source: XLA, `HloSharding::Subgroup` and `HloSharding::PartialTile` in `hlo_sharding.cc`. XLA's form is not
/// idempotent if all subgroups but an unreduced one have size 1; the result here is the fixed point of XLA's form.
///
/// # Errors
/// [`ShardingInexpressible::Devices`] if an iota of more than [`LISTED`](super::LISTED) devices would have to be
/// listed.
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
