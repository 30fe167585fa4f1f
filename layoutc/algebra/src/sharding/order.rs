//! Which device each tile lies on: a list, or a reshaped and transposed range.

use alloc::vec;
use alloc::vec::Vec;

use super::iota::{Digit, Iota, NoIota};
use super::lack::Lack;

/// How many devices are written out at most.
pub const LISTED: i64 = 1 << 20;

/// The devices of tiles, in the row-major order of the tiles: each of `0..count` once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// A reshaped and transposed range: XLA's second form.
    Iota(Iota),
    /// One by one: XLA's first form.
    List(Vec<i64>),
}

impl Order {
    /// How many devices there are.
    pub fn count(&self) -> i64 {
        match self {
            Self::Iota(iota) => iota.count(),
            Self::List(list) => i64::try_from(list.len()).unwrap_or(i64::MAX),
        }
    }

    /// The device at a place; `None`: there is no such place.
    pub fn device(&self, place: i64) -> Option<i64> {
        match self {
            Self::Iota(iota) => iota.device(place),
            Self::List(list) => list.get(usize::try_from(place).ok()?).copied(),
        }
    }

    /// All devices.
    ///
    /// # Errors
    /// [`Lack::Devices`]: they are more than [`LISTED`].
    pub fn list(&self) -> Result<Vec<i64>, Lack> {
        match self {
            Self::List(list) => Ok(list.clone()),
            Self::Iota(iota) if iota.count() > LISTED => {
                Err(Lack::Devices { devices: iota.count() })
            }
            Self::Iota(iota) => Ok((0..iota.count()).filter_map(|k| iota.device(k)).collect()),
        }
    }

    /// The order as a reshaped and transposed range.
    ///
    /// # Errors
    /// [`NoIota`].
    pub fn iota(&self) -> Result<Iota, NoIota> {
        match self {
            Self::Iota(iota) => Ok(iota.clone()),
            Self::List(list) => Iota::find(list),
        }
    }

    /// The order of the same tiles with the axes in another order: `places` says which one each was. A range stays one
    /// where its digits end with the tiles, as XLA's does.
    ///
    /// # Errors
    /// As [`Order::list`].
    pub(super) fn transposed(&self, counts: &[i64], places: &[usize]) -> Result<Self, Lack> {
        let count = |place: &usize| counts.get(*place).copied().unwrap_or(1);
        let long: Vec<usize> = places.iter().copied().filter(|place| count(place) > 1).collect();
        if long.is_sorted() {
            return Ok(self.clone());
        }
        if let Self::Iota(iota) = self
            && let Ok(parts) = iota.cut(counts)
        {
            let parts = long.iter().filter_map(|place| parts.get(*place));
            let digits: Vec<Digit> = parts.flatten().copied().collect();
            return Ok(Self::Iota(Iota::of(&digits)));
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
            Digit { size: count(place), stride }
        };
        let digits: Vec<Digit> = long.iter().map(digit).collect();
        let from = Iota::of(&digits);
        let device = |place: i64| list.get(usize::try_from(from.device(place)?).ok()?).copied();
        Ok(Self::List((0..self.count()).filter_map(device).collect()))
    }

    /// The order with the devices of each `group` neighbours sorted. A range stays one where its digits end with the
    /// group, as XLA's does.
    ///
    /// # Errors
    /// As [`Order::list`].
    pub(super) fn grouped(&self, group: i64) -> Result<Self, Lack> {
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

fn grouped(iota: &Iota, group: i64) -> Option<Iota> {
    let mut digits = iota.digits().to_vec();
    let (mut left, mut minor) = (group, Vec::new());
    while left > 1 {
        let Digit { size, stride } = digits.pop()?;
        if left % size == 0 {
            left /= size;
            minor.push(Digit { size, stride });
        } else if size % left == 0 {
            digits.push(Digit { size: size / left, stride: stride * left });
            minor.push(Digit { size: left, stride });
            left = 1;
        } else {
            return None;
        }
    }
    minor.sort_by_key(|digit| core::cmp::Reverse(digit.stride));
    digits.extend(minor);
    Some(Iota::of(&digits))
}
