//! Orders of devices ([`DeviceOrder`]): a list, or a reshaped and transposed iota.

use alloc::vec;
use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::iota::{DeviceDigit, IotaError, IotaOrder};

/// Maximum number of devices for which an iota is converted to a list; a conversion of more devices is
/// [`ShardingInexpressible::Devices`].
pub const LISTED: i64 = 1 << 20;

/// Devices of the tiles of a tensor or of a mesh, in row-major order of the tiles or mesh axes: a permutation of
/// `0..count`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceOrder {
    /// Reshaped and transposed iota, written `<=[2,4]T(1,0)`.
    Iota(IotaOrder),
    /// Explicit list of devices, written `0,4,1,5,2,6,3,7`.
    List(Vec<i64>),
}

impl DeviceOrder {
    /// Number of devices in the order.
    pub fn count(&self) -> i64 {
        match self {
            Self::Iota(iota) => iota.count(),
            Self::List(list) => i64::try_from(list.len()).unwrap_or(i64::MAX),
        }
    }

    /// Device at position `place` of the order, from 0; `None` if the position is out of range.
    pub fn device(&self, place: i64) -> Option<i64> {
        match self {
            Self::Iota(iota) => iota.device(place),
            Self::List(list) => list.get(usize::try_from(place).ok()?).copied(),
        }
    }

    /// Explicit list of the devices, in order.
    ///
    /// # Errors
    /// [`ShardingInexpressible::Devices`] if an iota has more than [`LISTED`] devices.
    pub fn list(&self) -> Result<Vec<i64>, ShardingInexpressible> {
        match self {
            Self::List(list) => Ok(list.clone()),
            Self::Iota(iota) if iota.count() > LISTED => {
                Err(ShardingInexpressible::Devices { devices: iota.count() })
            }
            Self::Iota(iota) => Ok((0..iota.count()).filter_map(|k| iota.device(k)).collect()),
        }
    }

    /// Reshaped and transposed iota that is equal to the order.
    ///
    /// # Errors
    /// [`IotaError`] if a list is not equal to any iota.
    pub fn iota(&self) -> Result<IotaOrder, IotaError> {
        match self {
            Self::Iota(iota) => Ok(iota.clone()),
            Self::List(list) => IotaOrder::find(list),
        }
    }

    /// Device order after a transpose of the grid of tiles. Axis `k` of the new grid is axis `places[k]` of the old
    /// grid, which has `counts[i]` tiles along axis `i`. An order that the transpose does not change stays as it is.
    /// Otherwise, as in XLA, an iota that [`IotaOrder::cut`] splits at the tile boundaries stays an iota, and any other
    /// order becomes a list.
    ///
    /// # Errors
    /// Errors of [`DeviceOrder::list`].
    pub(super) fn transposed(
        &self,
        counts: &[i64],
        places: &[usize],
    ) -> Result<Self, ShardingInexpressible> {
        let count = |place: &usize| counts.get(*place).copied().unwrap_or(1);
        let long: Vec<usize> = places.iter().copied().filter(|place| count(place) > 1).collect();
        if long.is_sorted() {
            return Ok(self.clone());
        }
        if let Self::Iota(iota) = self
            && let Ok(parts) = iota.cut(counts)
        {
            let parts = long.iter().filter_map(|place| parts.get(*place));
            let digits: Vec<DeviceDigit> = parts.flatten().copied().collect();
            return Ok(Self::Iota(IotaOrder::of(&digits)));
        }
        let list = self.list()?;
        let mut strides = vec![1; counts.len()];
        let mut next = 1;
        for (stride, count) in strides.iter_mut().zip(counts).rev() {
            *stride = next;
            next *= count;
        }
        let digit = |place: &usize| {
            let stride = strides.get(*place).copied().unwrap_or(1);
            DeviceDigit { size: count(place), stride }
        };
        let digits: Vec<DeviceDigit> = long.iter().map(digit).collect();
        let from = IotaOrder::of(&digits);
        let device = |place: i64| list.get(usize::try_from(from.device(place)?).ok()?).copied();
        Ok(Self::List((0..self.count()).filter_map(device).collect()))
    }

    /// Device order in which each chunk of `group` successive devices is sorted in ascending order. As in XLA, an iota
    /// whose digits can be split at the chunk boundaries stays an iota; any other order becomes a list.
    ///
    /// # Errors
    /// Errors of [`DeviceOrder::list`].
    pub(super) fn grouped(&self, group: i64) -> Result<Self, ShardingInexpressible> {
        if let Self::Iota(iota) = self
            && let Some(sorted) = grouped(iota, group)
        {
            return Ok(Self::Iota(sorted));
        }
        let mut list = self.list()?;
        for part in list.chunks_mut(usize::try_from(group.max(1)).unwrap_or(usize::MAX)) {
            part.sort_unstable();
        }
        Ok(Self::List(list))
    }
}

fn grouped(iota: &IotaOrder, group: i64) -> Option<IotaOrder> {
    let mut digits = iota.digits().to_vec();
    let (mut left, mut minor) = (group, Vec::new());
    while left > 1 {
        let DeviceDigit { size, stride } = digits.pop()?;
        if left % size == 0 {
            left /= size;
            minor.push(DeviceDigit { size, stride });
        } else if size % left == 0 {
            digits.push(DeviceDigit { size: size / left, stride: stride * left });
            minor.push(DeviceDigit { size: left, stride });
            left = 1;
        } else {
            return None;
        }
    }
    minor.sort_by_key(|digit| core::cmp::Reverse(digit.stride));
    digits.extend(minor);
    Some(IotaOrder::of(&digits))
}
