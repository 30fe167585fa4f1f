//! Verification of a composition: R(c) = A(B(c)) for all indices c. A is the outer layout, B the inner layout and R
//! the result.
//!
//! Each digit of B(c) in the modes of A is a sum with one summand per mode of B. While no sum reaches the
//! extent of its digit, A is additive, and R is correct if it is correct for one step of each mode. The first
//! index with a carry is found by arithmetic. R is wrong there unless the carries cancel, and in that case
//! indices are enumerated.

use alloc::vec::Vec;

use super::error::CuteError;
use super::flat::{CuteMode, digits, places, value};

/// Maximum number of indices that are enumerated to verify a result for which carries between digits do not decide.
/// With more indices, the operation fails with [`CuteError::Unverified`].
pub const ENUMERATED: i128 = 1 << 20;

/// Mode of the inner layout B, with its strides in the index of A and in the offset of R.
#[derive(Debug, Clone, Copy)]
pub(super) struct InnerMode {
    pub(super) extent: i128,
    /// Stride of the mode in the index of the outer layout A.
    pub(super) reach: i128,
    /// Stride of the mode in the offset of the result R.
    pub(super) adds: i128,
}

/// Result of verifying a composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agreement {
    /// The result R is correct for all indices.
    Equal,
    /// The result R is wrong, first at this index: A(B(index)) is `right`, but R(index) is `given`.
    Differs { index: i128, right: i128, given: i128 },
    /// The comparison is undecided: a digit of B(c) in the modes of A carries, R is correct at the first such index,
    /// and the number of indices, `size`, exceeds [`ENUMERATED`].
    Unknown { size: i128 },
}

/// Compares A(B(c)) and R(c) for all coordinates c. `outer` contains the modes of A, merged and not empty. `leaves`
/// contains the modes of B: their `reach` strides define B(c), and their `adds` strides define R(c).
pub(super) fn check_composition(
    outer: &[CuteMode],
    leaves: &[InnerMode],
) -> Result<Agreement, CuteError> {
    let leaves: Vec<InnerMode> = leaves.iter().copied().filter(|leaf| leaf.extent > 1).collect();
    for k in 0..leaves.len() {
        let until = leaves.get(..=k).unwrap_or_default();
        let unit: Vec<i128> = (0..=k).map(|m| i128::from(m == k)).collect();
        let found = compare(outer, until, &unit)?;
        if found != Agreement::Equal {
            return Ok(found);
        }
        if let Some(carry) = first_carry(outer, until) {
            return match compare(outer, until, &carry)? {
                Agreement::Equal => enumerate(outer, &leaves),
                found => Ok(found),
            };
        }
    }
    Ok(Agreement::Equal)
}

/// Number of steps of stride `reach` in the index of `outer` after which one of its digits carries first: 2 for the
/// stride 3 and modes of the extents 6 and 2. `None` if no digit ever carries. The last digit, which grows past its
/// extent, never carries.
pub(super) fn steps_to_carry(outer: &[CuteMode], reach: i128) -> Option<i128> {
    let bounded = outer.split_last().map_or(&[][..], |(_, bounded)| bounded);
    let pairs = bounded.iter().zip(digits(outer, reach));
    pairs.filter(|(_, digit)| *digit > 0).map(|(mode, digit)| ceil(mode.extent, digit)).min()
}

/// Compares A(B(c)) and R(c) at the coordinate c = `at`, which has one entry per mode of B.
fn compare(outer: &[CuteMode], leaves: &[InnerMode], at: &[i128]) -> Result<Agreement, CuteError> {
    let total = |of: fn(&InnerMode) -> i128| {
        leaves
            .iter()
            .zip(at)
            .try_fold(0_i128, |sum, (leaf, c)| sum.checked_add(c.checked_mul(of(leaf))?))
    };
    let right = total(|leaf| leaf.reach).and_then(|index| value(outer, index));
    let (Some(right), Some(given)) = (right, total(|leaf| leaf.adds)) else {
        return Err(CuteError::Size);
    };
    if right == given {
        return Ok(Agreement::Equal);
    }
    let modes: Vec<CuteMode> = leaves.iter().map(|leaf| CuteMode::new(leaf.extent, 0)).collect();
    let index = places(&modes).iter().zip(at).map(|(place, c)| place * c).sum();
    Ok(Agreement::Differs { index, right, given })
}

/// First coordinate of B, in colexicographic order, at which a digit of the index in A, summed over the modes of B,
/// reaches the extent of its mode (a carry); `None` if there is none. The last digit never carries.
fn first_carry(outer: &[CuteMode], leaves: &[InnerMode]) -> Option<Vec<i128>> {
    let bounded = outer.split_last().map_or(&[][..], |(_, bounded)| bounded);
    let columns: Vec<Vec<i128>> = leaves.iter().map(|leaf| digits(outer, leaf.reach)).collect();
    // Greatest value of each digit: a mode of B whose coordinate is not determined yet contributes its maximum, any
    // other mode its coordinate.
    let mut most: Vec<i128> = bounded.iter().map(|_| 0).collect();
    for (leaf, column) in leaves.iter().zip(&columns) {
        add(&mut most, column, leaf.extent - 1);
    }
    if !most.iter().zip(bounded).any(|(sum, mode)| *sum >= mode.extent) {
        return None;
    }
    let mut coordinate = Vec::with_capacity(leaves.len());
    for (leaf, column) in leaves.iter().zip(&columns).rev() {
        add(&mut most, column, 1 - leaf.extent);
        let needed = most.iter().zip(bounded).zip(column).filter_map(|((sum, mode), digit)| {
            let missing = mode.extent - sum;
            if missing <= 0 {
                return Some(0);
            }
            (*digit > 0).then(|| ceil(missing, *digit))
        });
        let steps = needed.min()?;
        add(&mut most, column, steps);
        coordinate.push(steps);
    }
    coordinate.reverse();
    Some(coordinate)
}

/// Adds `times * column[k]` to each `sums[k]`, saturating. Sums are at most the largest offset of the inner layout,
/// which fits 64 bits.
fn add(sums: &mut [i128], column: &[i128], times: i128) {
    for (sum, digit) in sums.iter_mut().zip(column) {
        *sum = sum.saturating_add(digit.saturating_mul(times));
    }
}

fn enumerate(outer: &[CuteMode], leaves: &[InnerMode]) -> Result<Agreement, CuteError> {
    let size = leaves.iter().fold(1_i128, |size, leaf| size.saturating_mul(leaf.extent));
    if size > ENUMERATED {
        return Ok(Agreement::Unknown { size });
    }
    let mut at: Vec<i128> = leaves.iter().map(|_| 0).collect();
    for _ in 0..size {
        let found = compare(outer, leaves, &at)?;
        if found != Agreement::Equal {
            return Ok(found);
        }
        for (c, leaf) in at.iter_mut().zip(leaves) {
            *c += 1;
            if *c < leaf.extent {
                break;
            }
            *c = 0;
        }
    }
    Ok(Agreement::Equal)
}

/// Quotient of two positive integers, rounded up.
pub(super) fn ceil(a: i128, b: i128) -> i128 {
    (a - 1) / b + 1
}
