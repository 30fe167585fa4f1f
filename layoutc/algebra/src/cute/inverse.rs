//! Inverses of a CuTe layout A: a right inverse R has A(R(i)) = i, a left inverse R has R(A(i)) = i.

use alloc::vec::Vec;

use super::CuteOutcome;
use super::coalesce::fused;
use super::complement::{covered, places};
use super::compose::is_left_inverse;
use super::composition_check::ENUMERATED;
use super::error::CuteError;
use super::flat::{self, CuteMode};
use super::layout::CuteLayout;
use crate::expr::gcd;

/// Right inverse R with `A(R(i)) = i` for all `i` below the size of R: `(8,4):(4,1)` for `(4,8):(8,1)`. A is coalesced
/// first. R then has one mode for each mode of A in the compact chain of modes that starts at stride 1: its extent is
/// that of the mode, and its stride is the weight of the mode in the index of A. R is `1:0` if no mode has stride 1.
///
/// # Errors
/// [`CuteError::Size`] if a number does not fit its integer type, [`CuteError::Unverified`] if the result is not
/// verified.
pub fn right_inverse(a: &CuteLayout) -> Result<CuteOutcome, CuteError> {
    let modes = fused(&a.flat());
    let places = flat::places(&modes);
    let mut sorted: Vec<(CuteMode, i128)> = modes.into_iter().zip(places).collect();
    // Of modes with one stride, the longest continues the chain farthest.
    sorted.sort_by_key(|(mode, place)| (mode.stride, -mode.extent, *place));
    let mut next = 1;
    let mut chain = Vec::new();
    for (mode, place) in sorted {
        if mode.stride == next {
            chain.push(CuteMode::new(mode.extent, place));
            next = mode.end().ok_or(CuteError::Size)?;
        }
    }
    let layout = CuteLayout::of_modes(&fused(&chain))?;
    if is_left_inverse(&layout.flat(), a)? {
        return Ok(CuteOutcome { layout, notes: Vec::new() });
    }
    Err(CuteError::Unverified { size: layout.size() })
}

/// Left inverse R with `R(A(i)) = i` for all indices `i` of A.
///
/// # Errors
/// [`CuteError::NotInjective`] if two indices are found that share an offset. Otherwise, [`CuteError::Strides`] if
/// neither of two strides divides the other (no rule is known for these), [`CuteError::Size`] if a number does not fit
/// its integer type, [`CuteError::Unverified`] if the result is not verified.
pub fn left_inverse(a: &CuteLayout) -> Result<CuteOutcome, CuteError> {
    let layout = match by_complement(a)? {
        Some(layout) => layout,
        None => by_ratios(a)?,
    };
    if is_left_inverse(&a.flat(), &layout)? {
        return Ok(CuteOutcome { layout, notes: Vec::new() });
    }
    Err(CuteError::Unverified { size: a.size() })
}

/// Left inverse as CuTe constructs it: the right inverse of A extended by its complement. `None` if A and its
/// complement leave a hole, modes of A interleave, or a mode has stride 0.
fn by_complement(a: &CuteLayout) -> Result<Option<CuteLayout>, CuteError> {
    if a.flat().iter().any(|mode| mode.extent > 1 && mode.stride == 0) {
        return Ok(None);
    }
    let rest = match places(a, 1) {
        Ok(rest) => rest,
        Err(CuteError::Overlap { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    if covered(a, &rest)? < a.cosize() {
        return Ok(None);
    }
    let mut modes = a.flat();
    modes.extend(rest.flat());
    let whole = CuteLayout::of_modes(&modes)?;
    right_inverse(&whole).map(|answer| Some(answer.layout))
}

/// Left inverse of a layout A whose sorted strides each divide the next: `(2,4,3):(0,1,4)` for `(4,3):(2,8)`. A mode of
/// stride 0, whose extent is the smallest stride of A, comes first. Then there is one mode for each mode of A, by
/// ascending stride: its extent is the ratio of the next stride of A to that of the mode, for the last mode its own
/// extent; its stride is the weight of the mode in the index. Modes of extent 1 are dropped.
fn by_ratios(a: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let sorted = sorted(a)?;
    let mut modes = Vec::new();
    if let Some((first, _)) = sorted.first() {
        modes.push(CuteMode::new(first.stride, 0));
    }
    for (k, (mode, place)) in sorted.iter().enumerate() {
        let Some((next, _)) = sorted.get(k + 1) else {
            modes.push(CuteMode::new(mode.extent, *place));
            continue;
        };
        if next.stride % mode.stride != 0 {
            return Err(shared(a)?.unwrap_or(CuteError::Strides { first: *mode, second: *next }));
        }
        modes.push(CuteMode::new(next.stride / mode.stride, *place));
    }
    modes.retain(|mode| mode.extent > 1);
    CuteLayout::of_modes(&modes)
}

/// Pairs `(mode, weight)`, sorted by the stride of the mode. `mode` is a mode of A with extent above 1; `weight` is the
/// weight of its digit in the index. [`CuteError::NotInjective`] if a mode has stride 0, or if an index that advances
/// along one mode has the same offset as an index that advances along another mode, as 2 and 4 in `(4,3):(3,6)`.
fn sorted(a: &CuteLayout) -> Result<Vec<(CuteMode, i128)>, CuteError> {
    let modes = a.flat();
    let mut sorted: Vec<(CuteMode, i128)> =
        modes.iter().copied().zip(flat::places(&modes)).collect();
    sorted.retain(|(mode, _)| mode.extent > 1);
    sorted.sort_by_key(|(mode, place)| (mode.stride, *place));
    for (k, (mode, place)) in sorted.iter().enumerate() {
        if mode.stride == 0 {
            return Err(CuteError::NotInjective { first: 0, second: *place, offset: 0 });
        }
        for (other, its_place) in sorted.iter().skip(k + 1) {
            let common = gcd(mode.stride, other.stride);
            let (steps, its_steps) = (other.stride / common, mode.stride / common);
            if steps < mode.extent && its_steps < other.extent {
                let (first, second) = (steps * place, its_steps * its_place);
                let (first, second) = (first.min(second), first.max(second));
                let offset = steps * mode.stride;
                return Err(CuteError::NotInjective { first, second, offset });
            }
        }
    }
    Ok(sorted)
}

/// [`CuteError::NotInjective`] with the first two indices of A that have the same offset. `None` if no two indices
/// have, or if A has more than [`ENUMERATED`] indices, which are then not examined.
fn shared(a: &CuteLayout) -> Result<Option<CuteError>, CuteError> {
    if a.size() > ENUMERATED {
        return Ok(None);
    }
    let modes = a.flat();
    let offset = |index| flat::value(&modes, index).ok_or(CuteError::Size);
    let offsets = (0..a.size()).map(|index| Ok((offset(index)?, index)));
    let mut offsets = offsets.collect::<Result<Vec<_>, CuteError>>()?;
    offsets.sort_unstable();
    let pairs = offsets.iter().zip(offsets.iter().skip(1));
    let shared = pairs.filter(|(a, b)| a.0 == b.0).map(|(a, b)| (b.1, a.1, a.0)).min();
    Ok(shared.map(|(second, first, offset)| CuteError::NotInjective { first, second, offset }))
}
