//! Complement: the layout of the places to which A is copied so that the copies lie side by side.
//!
//! By stride, the modes of A and those of the complement together must form a chain: each begins at or behind the end
//! of the one before (disjoint, ordered), and exactly there as far as the cotarget is covered. The smallest element that
//! is free must be the place of the next copy, so there is no other complement.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::CuteOutcome;
use super::coalesce::fused;
use super::composition_check::ceil;
use super::error::{CuteError, CuteNote};
use super::flat::CuteMode;
use super::layout::CuteLayout;

/// The places of copies of A, in order, that cover `cotarget` elements; without a cotarget those that fill A's own
/// holes, and a note where some stay. Modes of stride 0 do not count.
///
/// # Errors
/// [`CuteError::Overlap`] where two modes of A reach into each other, [`CuteError::Uncovered`] where a hole stays below
/// the cotarget, [`CuteError::Cotarget`].
pub fn complement(a: &CuteLayout, cotarget: Option<i128>) -> Result<CuteOutcome, CuteError> {
    let asked = cotarget.unwrap_or(1);
    let layout = places(a, asked)?;
    let covered = covered(a, &layout)?;
    let mut notes = Vec::new();
    if covered < asked {
        let (element, peer) = (covered, Box::new(layout));
        return Err(CuteError::Uncovered { element, cotarget: asked, peer });
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

/// What CuTe answers: holes are filled with as many copies as fit.
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

/// How many elements from 0 on A and its copies hold without a hole, having checked that no two share one.
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

/// The modes that go somewhere, the smallest stride first.
pub(super) fn by_stride(a: &CuteLayout) -> Vec<CuteMode> {
    let mut modes = a.flat();
    modes.retain(|mode| mode.extent > 1 && mode.stride > 0);
    modes.sort_by_key(|mode| (mode.stride, mode.extent));
    modes
}
