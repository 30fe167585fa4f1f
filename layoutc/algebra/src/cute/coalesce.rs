//! Coalescing of CuTe layouts: the same map from indices to offsets with as few modes as possible.

use alloc::vec::Vec;

use super::CuteOutcome;
use super::compose::by_mode;
use super::error::CuteError;
use super::flat::CuteMode;
use super::layout::CuteLayout;
use super::tuple::IntTuple;

/// Coalesces a layout: drops modes of extent 1, and fuses adjacent modes where the stride of a mode is
/// `extent * stride` of the mode before it. The result is `1:0` if the layout has a single index.
///
/// # Errors
/// [`CuteError::Unverified`] if the check of the result fails; no layout is known for which it does.
pub fn coalesce(a: &CuteLayout) -> Result<CuteOutcome, CuteError> {
    let modes = fused(&a.flat());
    if !is_same(&a.flat(), &modes) {
        return Err(CuteError::Unverified { size: a.size() });
    }
    Ok(CuteOutcome { layout: CuteLayout::of_modes(&modes)?, notes: Vec::new() })
}

/// Coalesces each part of the layout for which the profile has an integer, separately from the other parts: the profile
/// `(1,1)` coalesces two modes, each alone. The values of the integers have no meaning. Modes beyond the profile are
/// unchanged.
///
/// # Errors
/// [`CuteError::Rank`] if the profile has more modes than the layout, [`CuteError::Depth`] if the profile nests too
/// deep, and the errors of [`coalesce`].
pub fn coalesce_by(a: &CuteLayout, profile: &IntTuple) -> Result<CuteOutcome, CuteError> {
    match profile {
        IntTuple::Integer(_) => coalesce(a),
        IntTuple::List(list) => {
            let parts: Vec<Option<&IntTuple>> = list.iter().map(Some).collect();
            by_mode(a, &parts, |mode, part| coalesce_by(mode, part))
        }
    }
}

/// Modes without those of extent 1, where a mode is fused with the mode before it if its stride is `extent * stride`
/// of that mode: `2:1` and `3:2` become `6:1`.
pub(super) fn fused(modes: &[CuteMode]) -> Vec<CuteMode> {
    let mut fused: Vec<CuteMode> = Vec::new();
    for mode in modes.iter().filter(|mode| mode.extent > 1) {
        match fused.last_mut() {
            Some(last) if last.end() == Some(mode.stride) => {
                last.extent = last.extent.saturating_mul(mode.extent);
            }
            Some(_) | None => fused.push(*mode),
        }
    }
    fused
}

/// True if two lists of modes are proven to have equal offsets for every index below their size. Both lists are split
/// at common extents, and the strides are compared. False does not refute equality: the extents may have no common
/// refinement.
fn is_same(first: &[CuteMode], second: &[CuteMode]) -> bool {
    let long = |modes: &[CuteMode]| -> Vec<CuteMode> {
        modes.iter().copied().filter(|mode| mode.extent > 1).rev().collect()
    };
    let (mut first, mut second) = (long(first), long(second));
    loop {
        match (first.pop(), second.pop()) {
            (None, None) => return true,
            (Some(a), Some(b)) => {
                let common = a.extent.min(b.extent);
                if a.stride != b.stride || a.extent % common != 0 || b.extent % common != 0 {
                    return false;
                }
                for (mode, stack) in [(a, &mut first), (b, &mut second)] {
                    if mode.extent > common {
                        let stride = mode.stride.saturating_mul(common);
                        stack.push(CuteMode::new(mode.extent / common, stride));
                    }
                }
            }
            (None, Some(_)) | (Some(_), None) => return false,
        }
    }
}
