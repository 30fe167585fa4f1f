//! Complement of a CuTe layout A: the layout of the offsets at which copies of A fill the elements from 0 up to the
//! cotarget, a number of elements.
//!
//! The modes of A and of the complement, sorted by stride, form a chain. Each stride is at least the end
//! `extent * stride` of the mode before (so that copies are disjoint and ordered), and equal to it as far as
//! the cotarget is covered. The smallest free element must be the offset of the next copy, so the complement
//! is unique.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::CuteOutcome;
use super::coalesce::fused;
use super::composition_check::ceil;
use super::error::{CuteError, CuteNote};
use super::flat::CuteMode;
use super::layout::CuteLayout;

/// Complement of A: the offsets of copies of A, ascending, that cover the elements `0..cotarget`: `(2,3):(1,8)` for
/// `4:2` and 24. Without a cotarget, the copies fill the holes between the offsets of A itself, and a note reports a
/// hole that remains. Modes of stride 0 are ignored.
///
/// # Errors
/// [`CuteError::Overlap`] if two modes of A interleave, [`CuteError::Uncovered`] if a hole remains below the cotarget,
/// [`CuteError::Cotarget`] if the cotarget is below 1, [`CuteError::Size`] if a size does not fit 64 bits.
pub fn complement(a: &CuteLayout, cotarget: Option<i128>) -> Result<CuteOutcome, CuteError> {
    let target = cotarget.unwrap_or(1);
    let layout = places(a, target)?;
    let covered = covered(a, &layout)?;
    let mut notes = Vec::new();
    if covered < target {
        let (element, peer) = (covered, Box::new(layout));
        return Err(CuteError::Uncovered { element, cotarget: target, peer });
    }
    match cotarget {
        Some(cotarget) if covered > cotarget => {
            notes.push(CuteNote::ExcessCover { covered, cotarget });
        }
        None if covered < a.cosize() => notes.push(CuteNote::Hole { element: covered }),
        Some(_) | None => {}
    }
    Ok(CuteOutcome { layout, notes })
}

/// Complement as CuTe computes it, without a check that it covers `0..cotarget`: as many copies of A as fit in every
/// gap between its modes, then copies until `cotarget` is reached or exceeded. For `4:2` and 24, these are `2:1` and
/// `3:8`. [`CuteError::Overlap`] if modes of A interleave, [`CuteError::Cotarget`] if `cotarget` is below 1,
/// [`CuteError::Size`] if a size does not fit 64 bits.
pub(super) fn places(a: &CuteLayout, cotarget: i128) -> Result<CuteLayout, CuteError> {
    if cotarget < 1 {
        return Err(CuteError::Cotarget { cotarget });
    }
    let mut modes = Vec::new();
    let mut last = CuteMode::new(1, 1);
    for mode in by_stride(a) {
        let end = last.end().ok_or(CuteError::Size)?;
        if mode.stride < end {
            return Err(CuteError::Overlap { first: last, second: mode });
        }
        modes.push(CuteMode::new(mode.stride / end, end));
        last = mode;
    }
    let end = last.end().ok_or(CuteError::Size)?;
    modes.push(CuteMode::new(ceil(cotarget, end), end));
    CuteLayout::of_modes(&fused(&modes))
}

/// Number of elements from 0 on that copies of A at the offsets of `places` cover without a hole: 24 for `4:2` and
/// `(2,3):(1,8)`. [`CuteError::Overlap`] if modes of A and of `places` interleave, that is, if a stride is not above
/// the sum of `(extent - 1) * stride` of the modes with smaller strides, even if no two offsets are equal.
/// [`CuteError::Size`] if a number does not fit 128 bits.
pub(super) fn covered(a: &CuteLayout, places: &CuteLayout) -> Result<i128, CuteError> {
    let mut chain = by_stride(a);
    chain.extend(places.flat().into_iter().filter(|mode| mode.extent > 1));
    chain.sort_by_key(|mode| mode.stride);
    let (mut covered, mut is_whole) = (1_i128, true);
    let mut before = CuteMode::new(1, 1);
    let mut largest = 0_i128;
    for mode in chain {
        if mode.stride <= largest {
            return Err(CuteError::Overlap { first: before, second: mode });
        }
        is_whole &= mode.stride == covered;
        if is_whole {
            covered = covered.checked_mul(mode.extent).ok_or(CuteError::Size)?;
        }
        let reach = (mode.extent - 1).checked_mul(mode.stride);
        largest = reach.and_then(|reach| largest.checked_add(reach)).ok_or(CuteError::Size)?;
        before = mode;
    }
    Ok(covered)
}

/// Modes of A with extent above 1 and stride above 0, without nesting, sorted by ascending stride, then ascending
/// extent.
pub(super) fn by_stride(a: &CuteLayout) -> Vec<CuteMode> {
    let mut modes = a.flat();
    modes.retain(|mode| mode.extent > 1 && mode.stride > 0);
    modes.sort_by_key(|mode| (mode.stride, mode.extent));
    modes
}
