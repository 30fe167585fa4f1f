//! Devices numbered by a reshaped and transposed range, as digits: never written out, however many they are.

use alloc::vec;
use alloc::vec::Vec;

use thiserror::Error;

/// A digit of a device's number: `size` neighbours, each `stride` devices further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceDigit {
    /// How many values it takes; from 2.
    pub size: i64,
    /// The step in the device's number.
    pub stride: i64,
}

/// The devices `0..count` in the order `arange(count).reshape(r).transpose(t).ravel()`.
///
/// It is kept as digits, the major one first: `r` of 2, 4 and `t` of 1, 0 are the digits 4 with step 1 and 2 with step
/// 4, and give 0, 4, 1, 5, 2, 6, 3, 7. Digits of one value are left out and digits that go on each other are merged,
/// so that two orders are equal where all devices are.
///
/// Source: XLA, `IotaTileAssignment` in `tile_assignment.h`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IotaOrder {
    digits: Vec<DeviceDigit>,
}

/// Why digits do not end where the tiles of an axis do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the {tiles} tiles of axis {axis} cut {size} devices that lie {stride} apart, and do not divide them"
)]
pub struct TileBoundaryError {
    /// Which axis, from 0; those of subgroups stand behind those of the tensor.
    pub axis: usize,
    /// How many tiles it has.
    pub tiles: i64,
    /// How many devices lie in a row there.
    pub size: i64,
    /// How far they lie apart.
    pub stride: i64,
}

/// Why a list of devices is no reshaped and transposed range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IotaError {
    /// It does not begin with device 0.
    #[error("the first device is {device}, and a row-major mesh begins with 0")]
    First {
        /// The device that it begins with.
        device: i64,
    },
    /// A device that breaks the row that the ones before it began.
    #[error(
        "device {device} stands at place {place}, where a row-major mesh goes on with {expected}"
    )]
    Step {
        /// The place in the list, from 0.
        place: i64,
        /// What stands there.
        device: i64,
        /// What would have to stand there.
        expected: i64,
    },
    /// Rows that do not divide the list.
    #[error("the first {row} devices stand in rows, and {count} devices are no multiple of them")]
    Row {
        /// How many devices stand in the rows that were begun.
        row: i64,
        /// How many devices there are.
        count: i64,
    },
}

impl IotaOrder {
    /// The order of `reshape` and `transpose`. `None`: `transpose` is no permutation of the positions in `reshape`, a
    /// size is below 1, or there are more devices than 64 bits can count.
    pub fn new(reshape: &[i64], transpose: &[usize]) -> Option<Self> {
        let mut strides = vec![0; reshape.len()];
        let mut count = 1_i64;
        for (stride, size) in strides.iter_mut().zip(reshape).rev() {
            *stride = count;
            count = count.checked_mul(*size).filter(|_| *size >= 1)?;
        }
        let mut taken = vec![false; reshape.len()];
        let mut digits = Vec::with_capacity(reshape.len());
        for place in transpose {
            let was_taken = core::mem::replace(taken.get_mut(*place)?, true);
            if was_taken {
                return None;
            }
            digits.push(DeviceDigit { size: *reshape.get(*place)?, stride: *strides.get(*place)? });
        }
        taken.into_iter().all(|taken| taken).then(|| Self::of(&digits))
    }

    /// The devices `0..count` in their order; `count` is at least 1.
    pub fn row_major(count: i64) -> Self {
        Self::of(&[DeviceDigit { size: count, stride: 1 }])
    }

    /// The order of these digits, the major one first. They are those of all devices, or parts of such.
    pub(super) fn of(digits: &[DeviceDigit]) -> Self {
        let mut merged: Vec<DeviceDigit> = Vec::with_capacity(digits.len());
        for digit in digits.iter().filter(|digit| digit.size > 1) {
            match merged.last_mut() {
                Some(before) if Some(before.stride) == digit.size.checked_mul(digit.stride) => {
                    *before = DeviceDigit { size: before.size * digit.size, stride: digit.stride };
                }
                _ => merged.push(*digit),
            }
        }
        Self { digits: merged }
    }

    /// The order that a permutation of `0..count` has, if it has one.
    ///
    /// # Errors
    /// [`IotaError`].
    pub fn find(list: &[i64]) -> Result<Self, IotaError> {
        let at =
            |place: i64| usize::try_from(place).ok().and_then(|place| list.get(place)).copied();
        let count = i64::try_from(list.len()).unwrap_or(i64::MAX);
        if let Some(device) = list.first().copied().filter(|device| *device != 0) {
            return Err(IotaError::First { device });
        }
        let (mut digits, mut row) = (Vec::new(), 1_i64);
        while row < count {
            let stride = at(row).unwrap_or(0);
            let runs_on = |size: i64| {
                let place = row.checked_mul(size)?;
                Some(at(place)? == stride.checked_mul(size)?)
            };
            let size = (2..=count).find(|size| runs_on(*size) != Some(true)).unwrap_or(2);
            digits.push(DeviceDigit { size, stride });
            let longer = row.saturating_mul(size);
            if longer > count || count % longer != 0 {
                return Err(broken(list, &digits, count));
            }
            row = longer;
        }
        digits.reverse();
        let found = Self::of(&digits);
        match list.iter().zip(0..).find(|(device, place)| found.device(*place) != Some(**device)) {
            Some((device, place)) => {
                let expected = found.device(place).unwrap_or(0);
                Err(IotaError::Step { place, device: *device, expected })
            }
            None => Ok(found),
        }
    }

    /// The digits, the major one first.
    pub fn digits(&self) -> &[DeviceDigit] {
        &self.digits
    }

    /// How many devices there are.
    pub fn count(&self) -> i64 {
        self.digits.iter().map(|digit| digit.size).product()
    }

    /// The device at a place in the order, from 0; `None`: there is no such place.
    pub fn device(&self, place: i64) -> Option<i64> {
        if place < 0 {
            return None;
        }
        let (mut rest, mut device) = (place, 0_i64);
        for digit in self.digits.iter().rev() {
            let step = (rest % digit.size).saturating_mul(digit.stride);
            device = device.saturating_add(step);
            rest /= digit.size;
        }
        (rest == 0).then_some(device)
    }

    /// What the range is reshaped to: as few sizes as possible, one where there is nothing to be transposed.
    pub fn reshape(&self) -> Vec<i64> {
        let sizes: Vec<i64> = self.by_stride().iter().map(|digit| digit.size).collect();
        if sizes.is_empty() { vec![1] } else { sizes }
    }

    /// Which size of the reshaped range stands where; the identity where there is nothing to be transposed.
    pub fn transpose(&self) -> Vec<usize> {
        let sorted = self.by_stride();
        let place =
            |digit: &DeviceDigit| sorted.iter().position(|other| other == digit).unwrap_or(0);
        let places: Vec<usize> = self.digits.iter().map(place).collect();
        if places.is_empty() { vec![0] } else { places }
    }

    fn by_stride(&self) -> Vec<DeviceDigit> {
        let mut sorted = self.digits.clone();
        sorted.sort_by_key(|digit| core::cmp::Reverse(digit.stride));
        sorted
    }

    /// The digits of each of these numbers of tiles, whose product is the number of devices; none for one tile.
    ///
    /// # Errors
    /// [`TileBoundaryError`]: a number of tiles ends within a digit that it does not divide.
    pub fn cut(&self, counts: &[i64]) -> Result<Vec<Vec<DeviceDigit>>, TileBoundaryError> {
        let mut digits = self.digits.iter().copied();
        let mut rest: Option<DeviceDigit> = None;
        let one = |(axis, tiles): (usize, &i64)| {
            let (mut left, mut parts) = (*tiles, Vec::new());
            while left > 1 {
                let whole = DeviceDigit { size: 1, stride: 1 };
                let digit = rest.take().or_else(|| digits.next()).unwrap_or(whole);
                if digit.size > 1 && left % digit.size == 0 {
                    left /= digit.size;
                    parts.push(digit);
                } else if digit.size % left == 0 {
                    let minor = digit.size / left;
                    parts.push(DeviceDigit { size: left, stride: digit.stride * minor });
                    rest = Some(DeviceDigit { size: minor, stride: digit.stride })
                        .filter(|d| d.size > 1);
                    left = 1;
                } else {
                    let DeviceDigit { size, stride } = digit;
                    return Err(TileBoundaryError { axis, tiles: *tiles, size, stride });
                }
            }
            Ok(parts)
        };
        counts.iter().enumerate().map(one).collect()
    }
}

/// The first device that breaks the rows of these digits, the minor one first.
fn broken(list: &[i64], digits: &[DeviceDigit], count: i64) -> IotaError {
    let rows: Vec<DeviceDigit> = digits.iter().rev().copied().collect();
    let begun = IotaOrder { digits: rows };
    let wrong = |(device, place): &(&i64, i64)| begun.device(*place).is_some_and(|d| d != **device);
    match list.iter().zip(0..).find(wrong) {
        Some((device, place)) => {
            let expected = begun.device(place).unwrap_or(0);
            IotaError::Step { place, device: *device, expected }
        }
        None => IotaError::Row { row: begun.count().min(count), count },
    }
}
