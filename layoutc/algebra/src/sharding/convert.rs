//! A placement in each of XLA's three forms.

use super::inexpressible::ShardingInexpressible;
use super::named::NamedSharding;
use super::order::DeviceOrder;
use super::placement::{DevicePlacement, TensorSharding, TiledSharding};

/// A form of XLA's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShardingForm {
    /// Tiles, and a list of devices: `{devices=[2,2]0,1,2,3}`.
    V1,
    /// Tiles, and a range of devices: `{devices=[2,2]<=[4]}`.
    V2,
    /// Axes of a mesh: `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}`.
    V3,
}

impl TensorSharding {
    /// The same in another form.
    ///
    /// # Errors
    /// [`ShardingInexpressible`]: what the form has no words for.
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
    /// How many axes the tensor has; `None`: any number.
    pub fn rank(&self) -> Option<usize> {
        match self {
            Self::Tiled(tiled) => Some(tiled.rank()),
            Self::Named(named) => Some(named.cuts().len()).filter(|rank| *rank > 0),
            _ => None,
        }
    }

    /// How many devices there are; `None`: any number.
    pub fn devices(&self) -> Option<i64> {
        match self {
            Self::Tiled(tiled) => Some(tiled.devices()),
            Self::Named(named) if !named.mesh().axes.is_empty() => Some(named.order().count()),
            Self::Maximal { .. } | Self::MaximalMesh { .. } => Some(1),
            _ => None,
        }
    }

    /// The same without a mesh: as a whole, or in tiles.
    ///
    /// # Errors
    /// [`ShardingInexpressible::Devices`].
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

/// With a list of devices, where there are tiles; XLA takes no list of one device.
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

/// With a range of devices, where there are tiles.
fn with_device_range(placement: DevicePlacement) -> Result<DevicePlacement, ShardingInexpressible> {
    let DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }) = placement else {
        return Ok(placement);
    };
    let order = DeviceOrder::Iota(order.iota()?);
    Ok(DevicePlacement::Tiled(TiledSharding { counts, order, subgroups }))
}
