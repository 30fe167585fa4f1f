//! Layouts as lists of modes, the first the fastest, and the digits of an index in them.

use alloc::vec::Vec;
use core::fmt;

/// One extent and the stride of its steps, in elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuteMode {
    /// How many indices, at least 1.
    pub extent: i128,
    /// How far a step goes, at least 0.
    pub stride: i128,
}

impl CuteMode {
    /// The mode that does nothing.
    pub(super) const UNIT: Self = Self { extent: 1, stride: 0 };

    /// `extent:stride`
    pub(super) fn new(extent: i128, stride: i128) -> Self {
        Self { extent, stride }
    }

    /// The first offset behind the mode, as if its last step were whole.
    pub(super) fn end(self) -> Option<i128> {
        self.extent.checked_mul(self.stride)
    }
}

impl fmt::Display for CuteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}

/// The same function with as few modes as possible, also past the size: a last mode of extent 1 stays if its stride is
/// not that of the mode before it. Two neighbours never continue each other.
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

/// The digits of an index in the modes, one each; the last takes all that is left.
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

/// Where the modes send an index; `None` beyond 128 bits.
pub(super) fn value(modes: &[CuteMode], index: i128) -> Option<i128> {
    digits(modes, index)
        .iter()
        .zip(modes)
        .try_fold(0_i128, |sum, (digit, mode)| sum.checked_add(digit.checked_mul(mode.stride)?))
}

/// For each mode the product of the extents before it.
pub(super) fn places(modes: &[CuteMode]) -> Vec<i128> {
    let mut next = 1_i128;
    let mut places = Vec::with_capacity(modes.len());
    for mode in modes {
        places.push(next);
        next = next.saturating_mul(mode.extent);
    }
    places
}
