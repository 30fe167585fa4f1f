//! CuTe layouts as flat lists of modes ([`CuteMode`]), the first one fastest, and the digits of an index in these
//! modes.

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
    /// Mode `1:0`: extent 1 and stride 0, so that it has a single index.
    pub(super) const UNIT: Self = Self { extent: 1, stride: 0 };

    pub(super) fn new(extent: i128, stride: i128) -> Self {
        Self { extent, stride }
    }

    /// Stride `extent * stride` of a mode that would continue this mode; `None` if it overflows.
    pub(super) fn end(self) -> Option<i128> {
        self.extent.checked_mul(self.stride)
    }
}

impl fmt::Display for CuteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}

/// Modes merged into as few as possible, with the same offset for every index, also past the size. A mode is merged
/// into the mode before it if its stride is `extent * stride` of that mode; modes of extent 1 are dropped, except a
/// last one that is not merged.
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

/// Digits of an index in the modes, one per mode: `[1, 2]` for index 9 in modes of extents 4 and 3. The last digit
/// is not reduced by its extent.
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

/// Offset of an index in the modes, the sum of `digit * stride`; `None` if it overflows 128 bits.
pub(super) fn value(modes: &[CuteMode], index: i128) -> Option<i128> {
    digits(modes, index)
        .iter()
        .zip(modes)
        .try_fold(0_i128, |sum, (digit, mode)| sum.checked_add(digit.checked_mul(mode.stride)?))
}

/// Weight of the digit of each mode in the index, the product of the extents of the modes before it: `[1, 4, 12]`
/// for extents 4, 3 and 2.
pub(super) fn places(modes: &[CuteMode]) -> Vec<i128> {
    let mut next = 1_i128;
    let mut places = Vec::with_capacity(modes.len());
    for mode in modes {
        places.push(next);
        next = next.saturating_mul(mode.extent);
    }
    places
}
