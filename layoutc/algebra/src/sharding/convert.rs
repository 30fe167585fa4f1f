//! Conversions of a device placement between the three forms of XLA's sharding texts ([`ShardingForm`]).

use super::inexpressible::ShardingInexpressible;
use super::named::NamedSharding;
use super::order::DeviceOrder;
use super::placement::{DevicePlacement, TensorSharding, TiledSharding};

/// Form of XLA's sharding texts, of which there are three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShardingForm {
    /// Numbers of tiles with a list of devices: `{devices=[2,2]0,1,2,3}`.
    V1,
    /// Numbers of tiles with an iota of devices, a reshaped and transposed range: `{devices=[2,2]<=[4]}`.
    V2,
    /// Named axes of a mesh: `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}`.
    V3,
}

impl TensorSharding {
    /// Converts the sharding to the form `form` of XLA's sharding texts. The shard group is kept.
    ///
    /// # Errors
    /// [`ShardingInexpressible`]: the form cannot express the sharding.
    pub fn to(&self, form: ShardingForm) -> Result<Self, ShardingInexpressible> {
        let placement = match form {
            ShardingForm::V1 => with_device_list(self.placement.unnamed()?)?,
            ShardingForm::V2 => with_device_range(self.placement.unnamed()?)?,
            ShardingForm::V3 if self.group.is_some() => return Err(ShardingInexpressible::Group),
            ShardingForm::V3 => self.placement.by_name()?,
        };
        Ok(Self { placement, group: self.group })
    }
}

impl DevicePlacement {
    /// Number of axes of the tensor; `None` if the placement fits any rank.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Tiled(tiled) => Some(tiled.rank()),
            Self::Named(named) => Some(named.cuts().len()).filter(|rank| *rank > 0),
            _ => None,
        }
    }

    /// Number of devices of the placement; `None` if the placement fits any number of devices.
    pub fn devices(&self) -> Option<i64> {
        match self {
            Self::Tiled(tiled) => Some(tiled.devices()),
            Self::Named(named) if !named.mesh().axes.is_empty() => Some(named.order().count()),
            Self::Maximal { .. } | Self::MaximalMesh { .. } => Some(1),
            _ => None,
        }
    }

    /// Converts the placement to one without a mesh, as in [`ShardingForm::V1`] and [`ShardingForm::V2`].
    ///
    /// # Errors
    /// [`ShardingInexpressible::Devices`] if an iota of more than [`LISTED`](super::LISTED) devices would have to be
    /// listed.
    pub fn unnamed(&self) -> Result<Self, ShardingInexpressible> {
        match self {
            Self::Named(named) => named.tiled(),
            Self::MaximalMesh { device } => Ok(Self::Maximal { device: *device }),
            other => Ok(other.clone()),
        }
    }

    fn by_name(&self) -> Result<Self, ShardingInexpressible> {
        match self {
            Self::Tiled(tiled) => Ok(Self::Named(NamedSharding::of_tiled(tiled))),
            Self::Manual => Err(ShardingInexpressible::Mesh { word: "manual" }),
            Self::Unreduced => Err(ShardingInexpressible::Mesh { word: "unreduced" }),
            Self::Unknown => Err(ShardingInexpressible::Unknown),
            Self::Replicated => Ok(Self::Named(NamedSharding::replicated())),
            Self::Maximal { device } => Ok(Self::MaximalMesh { device: *device }),
            Self::Named(_) | Self::MaximalMesh { .. } => Ok(self.clone()),
        }
    }
}

/// Placement in which the device order of tiles is written as a list. A placement without tiles is unchanged. Tiles on
/// a single device become [`DevicePlacement::Replicated`], because XLA does not accept a list of one device.
fn with_device_list(placement: DevicePlacement) -> Result<DevicePlacement, ShardingInexpressible> {
    let DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }) = placement else {
        return Ok(placement);
    };
    if order.count() == 1 {
        return Ok(DevicePlacement::Replicated);
    }
    let order = DeviceOrder::List(order.list()?);
    Ok(DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }))
}

/// Placement in which the device order of tiles is written as an iota; [`ShardingInexpressible::Order`] if the order is
/// not one. A placement without tiles is unchanged.
fn with_device_range(placement: DevicePlacement) -> Result<DevicePlacement, ShardingInexpressible> {
    let DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }) = placement else {
        return Ok(placement);
    };
    let order = DeviceOrder::Iota(order.iota()?);
    Ok(DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }))
}
