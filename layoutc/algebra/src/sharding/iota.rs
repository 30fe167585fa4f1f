//! Device orders that are a reshaped and transposed iota ([`IotaOrder`]), stored as mixed-radix digits in a size
//! independent of the number of devices.

use alloc::vec;
use alloc::vec::Vec;

use thiserror::Error;

/// Mixed-radix digit of a device number: the value `v` of the digit, in `0..size`, contributes `v * stride` to
/// the device number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceDigit {
    /// Number of values of the digit, at least 2 in the digits of an [`IotaOrder`].
    pub size: i64,
    /// Weight of the digit in the device number.
    pub stride: i64,
}

/// Device order that is a reshaped and transposed iota: `arange(count).reshape(r).transpose(t).ravel()`, an
/// order of the devices `0..count`.
///
/// Stored as digits, major to minor: `r` = [2, 4], `t` = [1, 0] gives the digits (size 4, stride 1), (size 2, stride
/// 4), which is 0, 4, 1, 5, 2, 6, 3, 7. Digits of size 1 are dropped and contiguous digits are merged, so equal orders
/// compare equal.
///
/// Source: XLA, `IotaTileAssignment` in `tile_assignment.h`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IotaOrder {
    digits: Vec<DeviceDigit>,
}

/// Error of [`IotaOrder::cut`]: the tiles of an axis end within a digit of the device order, and do not split it
/// evenly. An example is 4 tiles in a digit of 6 devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the {tiles} tiles of axis {axis} do not divide {size} devices of stride {stride}")]
pub struct TileBoundaryError {
    /// Position of the axis in the argument of [`IotaOrder::cut`], where subgroups follow the axes of the tensor.
    pub axis: usize,
    /// Number of tiles along the axis.
    pub tiles: i64,
    /// Number of values of the digit, or of the part of it that earlier axes have not used.
    pub size: i64,
    /// Weight of the digit in the device number.
    pub stride: i64,
}

/// Reason why a list of devices is not a reshaped and transposed iota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum IotaError {
    /// The list does not start with device 0.
    #[error("the first device is {device}, but a row-major mesh starts with 0")]
    First {
        /// First device of the list, which is not 0.
        device: i64,
    },
    /// A device contradicts the digits that the preceding devices establish: `0,1,3,2` has device 2 where the
    /// digits predict 4.
    #[error("device {device} is at position {place}, where a row-major mesh has {expected}")]
    Step {
        /// Position in the list, from 0, of the first device that contradicts the digits.
        place: i64,
        /// Device in the list at that position.
        device: i64,
        /// Device that the digits predict at that position.
        expected: i64,
    },
    /// The number of devices that the first digits cover does not divide the length of the list. For example, `0,2,4,1`
    /// starts with a digit of 3 devices and has 4.
    #[error("the first {row} devices form rows, but {count} devices are not a multiple of them")]
    Row {
        /// Number of devices at the start of the list that the first digits cover.
        row: i64,
        /// Number of devices in the list.
        count: i64,
    },
}

impl IotaOrder {
    /// Device order for the shape `reshape` and the permutation `transpose`. `None` if `transpose` is not a
    /// permutation of the positions in `reshape`, a size is below 1, or the number of devices overflows 64 bits.
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

    /// Ascending order of the devices `0..count`, where `count` is at least 1.
    pub fn row_major(count: i64) -> Self {
        Self::of(&[DeviceDigit { size: count, stride: 1 }])
    }

    /// Device order with the digits `digits`, major to minor. Drops digits of size 1, and merges adjacent digits if the
    /// stride of the first is `size * stride` of the second. The devices are `0..count` only if `digits` are all digits
    /// of an order.
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

    /// Finds the reshaped and transposed iota that equals `list`, a permutation of `0..count`.
    ///
    /// # Errors
    /// [`IotaError`] if the permutation is not a reshaped and transposed iota.
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

    /// Digits of the device number, major to minor.
    pub fn digits(&self) -> &[DeviceDigit] {
        &self.digits
    }

    /// Number of devices in the order.
    pub fn count(&self) -> i64 {
        self.digits.iter().map(|digit| digit.size).product()
    }

    /// Device at position `place` of the order, from 0; `None` if the position is out of range.
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

    /// Shape of the iota before the transpose, with as few sizes as possible; `[count]` for the identity.
    pub fn reshape(&self) -> Vec<i64> {
        let sizes: Vec<i64> = self.by_stride().iter().map(|digit| digit.size).collect();
        if sizes.is_empty() { vec![1] } else { sizes }
    }

    /// Permutation of the axes of [`IotaOrder::reshape`], major to minor; `[0]` for the identity.
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

    /// Digits of each axis of a grid of tiles, one list per count, each major to minor. Axis `k` has `counts[k]` tiles,
    /// and the product of the counts is the number of devices. An axis with a count of 1 has no digits. For 8 devices
    /// in ascending order, `[2, 1, 4]` gives the digit (size 2, stride 4), no digit, and the digit (size 4, stride 1).
    ///
    /// # Errors
    /// [`TileBoundaryError`] if a count ends within a digit that it does not divide.
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

/// Error for a `list` of `count` devices whose first devices establish the digits `digits`, ordered minor to major,
/// where the digits cover a number of devices that does not divide `count`. It is [`IotaError::Step`] for the first
/// device that contradicts the digits, or [`IotaError::Row`] if no device does.
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
