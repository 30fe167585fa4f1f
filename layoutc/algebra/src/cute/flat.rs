//! CuTe layouts as flat lists of modes, the first one fastest, and the digits of an index in these modes.

use alloc::vec::Vec;
use core::fmt;

/// Mode of a CuTe layout without nesting: an extent and its stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuteMode {
    /// Number of indices of the mode, at least 1.
    pub extent: i128,
    /// Stride of the mode in elements, at least 0.
    pub stride: i128,
}

impl CuteMode {
    /// Mode `1:0`, which has a single index.
    pub(super) const UNIT: Self = Self { extent: 1, stride: 0 };

    pub(super) fn new(extent: i128, stride: i128) -> Self {
        Self { extent, stride }
    }

    /// First offset past the mode, `extent * stride`; `None` if it overflows.
    pub(super) fn end(self) -> Option<i128> {
        self.extent.checked_mul(self.stride)
    }
}

impl fmt::Display for CuteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}

/// Modes merged to as few as possible for the same map, also for indices past the size: a last mode of extent
/// 1 is dropped only if it continues the mode before it. No mode of the result continues the mode before it.
pub(super) fn merged(modes: &[CuteMode]) -> Vec<CuteMode> {
    let last = modes.len().saturating_sub(1);
    let mut merged: Vec<CuteMode> = Vec::new();
    for (k, mode) in modes.iter().enumerate() {
        if mode.extent == 1 && k != last {
            continue;
        }
        match merged.last_mut() {
            Some(before) if before.end() == Some(mode.stride) => {
                before.extent = before.extent.saturating_mul(mode.extent);
            }
            Some(_) | None => merged.push(*mode),
        }
    }
    merged
}

/// Digits of an index in the modes, one per mode. The last digit is not reduced by its extent.
pub(super) fn digits(modes: &[CuteMode], index: i128) -> Vec<i128> {
    let last = modes.len().saturating_sub(1);
    let mut rest = index;
    let mut digits = Vec::with_capacity(modes.len());
    for (k, mode) in modes.iter().enumerate() {
        digits.push(if k == last { rest } else { rest % mode.extent });
        rest /= mode.extent;
    }
    digits
}

/// Offset of an index; `None` if it overflows 128 bits.
pub(super) fn value(modes: &[CuteMode], index: i128) -> Option<i128> {
    digits(modes, index)
        .iter()
        .zip(modes)
        .try_fold(0_i128, |sum, (digit, mode)| sum.checked_add(digit.checked_mul(mode.stride)?))
}

/// Weight of the digit of each mode in the index: the product of the extents before it.
pub(super) fn places(modes: &[CuteMode]) -> Vec<i128> {
    let mut next = 1_i128;
    let mut places = Vec::with_capacity(modes.len());
    for mode in modes {
        places.push(next);
        next = next.saturating_mul(mode.extent);
    }
    places
}
