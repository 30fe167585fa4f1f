//! A placement in each of XLA's three forms.

use super::lack::Lack;
use super::named::Named;
use super::order::Order;
use super::placement::{Placed, Placement, Tiled};

/// A form of XLA's texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Tiles, and a list of devices: `{devices=[2,2]0,1,2,3}`.
    V1,
    /// Tiles, and a range of devices: `{devices=[2,2]<=[4]}`.
    V2,
    /// Axes of a mesh: `{mesh['a'=2,'b'=2], [{'a'}, {'b'}]}`.
    V3,
}

impl Placed {
    /// The same in another form.
    ///
    /// # Errors
    /// [`Lack`]: what the form has no words for.
    pub fn to(&self, form: Form) -> Result<Self, Lack> {
        let placement = match form {
            Form::V1 => listed(self.placement.unnamed()?)?,
            Form::V2 => ranged(self.placement.unnamed()?)?,
            Form::V3 if self.group.is_some() => return Err(Lack::Group),
            Form::V3 => self.placement.by_name()?,
        };
        Ok(Self { placement, group: self.group })
    }
}

impl Placement {
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
    /// [`Lack::Devices`].
    pub fn unnamed(&self) -> Result<Self, Lack> {
        match self {
            Self::Named(named) => named.tiled(),
            Self::MaximalMesh { device } => Ok(Self::Maximal { device: *device }),
            other => Ok(other.clone()),
        }
    }

    fn by_name(&self) -> Result<Self, Lack> {
        match self {
            Self::Tiled(tiled) => Ok(Self::Named(Named::of_tiled(tiled))),
            Self::Manual => Err(Lack::Mesh { word: "manual" }),
            Self::Unreduced => Err(Lack::Mesh { word: "unreduced" }),
            Self::Unknown => Err(Lack::Unknown),
            Self::Replicated => Ok(Self::Named(Named::replicated())),
            Self::Maximal { device } => Ok(Self::MaximalMesh { device: *device }),
            Self::Named(_) | Self::MaximalMesh { .. } => Ok(self.clone()),
        }
    }
}

/// With a list of devices, where there are tiles; XLA takes no list of one device.
fn listed(placement: Placement) -> Result<Placement, Lack> {
    let Placement::Tiled(Tiled { counts, order, subgroups }) = placement else {
        return Ok(placement);
    };
    if order.count() == 1 {
        return Ok(Placement::Replicated);
    }
    let order = Order::List(order.list()?);
    Ok(Placement::Tiled(Tiled { counts, order, subgroups }))
}

/// With a range of devices, where there are tiles.
fn ranged(placement: Placement) -> Result<Placement, Lack> {
    let Placement::Tiled(Tiled { counts, order, subgroups }) = placement else {
        return Ok(placement);
    };
    let order = Order::Iota(order.iota()?);
    Ok(Placement::Tiled(Tiled { counts, order, subgroups }))
}
