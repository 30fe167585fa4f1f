//! Exact enumeration of all points (index tuples) of a component, to prove that no two share a slot, a combination of
//! target values.
//!
//! Points are evaluated in blocks along one axis, and every slot is marked by one bit. If there are more
//! slots than bits in a window, the points are evaluated once per window.

use alloc::vec;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::expr::{Expr, ExprError};

use super::collision::PointPair;
use super::executor::{Executor, prove_cached};

mod first;
mod sweep;

pub(crate) use first::first_nonzero;
use sweep::{SlotSweep, narrow};

/// Maximum number of points (index tuples) that are enumerated, 2^30; beyond it the claim is undecided.
pub const MAX_POINTS: i128 = 1 << 30;
/// Maximum number of slots (the product of the numbers of values of the targets) of an enumeration, 2^37; beyond it
/// the claim is undecided.
pub const MAX_SLOTS: i128 = 1 << 37;
/// Maximum number of slots that are marked in one pass over the points, one bit per slot: 2^31 slots take 256 MiB.
const WINDOW: i128 = 1 << 31;
/// Maximum number of points of the corner of the box, at index 0, that is searched first for a collision.
const CORNER_POINTS: i128 = 1 << 16;

/// Box of points to enumerate: index `Var::Axis(axes[j])` is in `0..extents[j]`, and target `targets[k]`, an expression
/// over these indices, is expected in `0..slots[k]`, which is not checked. The slot number of a point linearizes its
/// target values in row-major order; for a single target, it is the value of the target.
#[derive(Debug, Clone)]
pub(crate) struct EnumerationDomain<'a> {
    pub(crate) axes: &'a [usize],
    pub(crate) extents: &'a [i128],
    pub(crate) targets: &'a [Expr],
    pub(crate) slots: &'a [i128],
    /// Conditions of the domain, affine in every axis: only points at which all are non-negative are enumerated.
    pub(crate) within: &'a [Expr],
}

/// Result of the check whether two points of a box share a slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EnumerationResult {
    /// No two points of the box have the same slot number.
    Injective,
    /// Two points that share a slot, the earlier one in row-major order first.
    Collision(Vec<i128>, Vec<i128>),
    /// The number of points or of slots exceeds [`MAX_POINTS`] or [`MAX_SLOTS`].
    TooLarge { points: i128, slots: i128 },
}

impl EnumerationDomain<'_> {
    fn points(&self) -> i128 {
        self.extents.iter().fold(1_i128, |n, e| n.saturating_mul(*e))
    }

    fn slot_count(&self) -> i128 {
        self.slots.iter().fold(1_i128, |n, e| n.saturating_mul(*e))
    }
}

/// Checks by enumeration that no two points of a box share a slot. If the box has more than [`CORNER_POINTS`] points
/// and at most [`MAX_SLOTS`] slots, a corner of at most [`CORNER_POINTS`] points is searched first, even if the box has
/// more than [`MAX_POINTS`] points. [`ExprError`] if a target cannot be evaluated, which is [`ExprError::Overflow`] if
/// a slot number leaves 64 bits.
pub(crate) fn enumerate(
    domain: &EnumerationDomain<'_>,
    executor: &dyn Executor,
) -> Result<EnumerationResult, ExprError> {
    let (points, slots) = (domain.points(), domain.slot_count());
    if points <= 1 {
        return Ok(EnumerationResult::Injective);
    }
    // Search a corner first: a collision there is far cheaper to find.
    let corner = corner_of(domain.extents, CORNER_POINTS);
    if corner != domain.extents {
        let small = EnumerationDomain { extents: &corner, ..domain.clone() };
        if small.slot_count() <= MAX_SLOTS
            && let Some(found) = first_collision(&small)?
        {
            return Ok(found);
        }
    }
    if points > MAX_POINTS || slots > MAX_SLOTS {
        return Ok(EnumerationResult::TooLarge { points, slots });
    }
    let question = || alloc::format!("no collision: {domain:?}");
    let is_injective = prove_cached(executor, points, question, || {
        collides(domain, executor).map(|found| !found)
    })?;
    let collision = if is_injective { None } else { first_collision(domain)? };
    Ok(collision.unwrap_or(EnumerationResult::Injective))
}

/// Pair `(earlier, later)` of points that share a slot, within the corner of the box at index 0 that [`corner_of`]
/// gives for at most `most` points. `later` is the first point in row-major order that collides with an earlier one.
/// `None` if there is no collision, or slot numbers exceed 64 bits.
pub(crate) fn sample_collision(
    domain: &EnumerationDomain<'_>,
    most: i128,
) -> Result<Option<PointPair>, ExprError> {
    let corner = corner_of(domain.extents, most);
    let small = EnumerationDomain { extents: &corner, ..domain.clone() };
    // Slot numbers are 64-bit.
    if small.points() <= 1 || small.slot_count() > i128::from(i64::MAX) {
        return Ok(None);
    }
    let sweep = SlotSweep::new(&small, corner.len().saturating_sub(1));
    let mut occupied: Vec<(i64, i128, i128)> = Vec::new();
    for row in 0..sweep.rows() {
        sweep.blocks(&sweep.row(row), &mut |start, slots| {
            occupied.extend(slots.iter().zip(start..).map(|(slot, k)| (*slot, row, k)));
            true
        })?;
    }
    occupied.sort_unstable();
    let pairs = occupied.windows(2).filter_map(|pair| match pair {
        [first, second] if first.0 == second.0 => Some((second, first)),
        _ => None,
    });
    let first = pairs.min_by_key(|(second, _)| (second.1, second.2));
    let point = |(_, row, k): &(i64, i128, i128)| sweep.point(*row, *k);
    Ok(first.map(|(second, first)| (point(first), point(second))))
}

/// Extents of the corner of a box at index 0 that has at most `most` points. The longest extent is repeatedly halved,
/// rounded up, until this holds.
fn corner_of(extents: &[i128], most: i128) -> Vec<i128> {
    let mut corner = extents.to_vec();
    while corner.iter().fold(1_i128, |n, e| n.saturating_mul(*e)) > most {
        match corner.iter_mut().max() {
            Some(longest) => *longest = (*longest + 1) / 2,
            None => break,
        }
    }
    corner
}

fn longest(extents: &[i128]) -> usize {
    extents.iter().enumerate().max_by_key(|(_, e)| **e).map_or(0, |(k, _)| k)
}

/// True if any two points of the box share a slot, computed in parallel on `executor`.
fn collides(domain: &EnumerationDomain<'_>, executor: &dyn Executor) -> Result<bool, ExprError> {
    let sweep = SlotSweep::new(domain, longest(domain.extents));
    let rows = sweep.rows();
    let slots = domain.slot_count();
    let words = usize::try_from((slots.min(WINDOW) + 63) / 64).map_err(|_| ExprError::Overflow)?;
    let bits: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
    let (collided, failed) = (AtomicBool::new(false), AtomicBool::new(false));
    let pieces = usize::try_from(rows.min(256)).unwrap_or(1);
    let mut low = 0_i128;
    while low < slots {
        let window = (narrow(low)?, narrow((low + WINDOW).min(slots))?);
        for word in &bits {
            word.store(0, Ordering::Relaxed);
        }
        executor.for_each(pieces, &|piece| {
            let count = i128::try_from(pieces).unwrap_or(1);
            let mut row = i128::try_from(piece).unwrap_or(0);
            while row < rows && !collided.load(Ordering::Relaxed) {
                let mut visit = |_: i128, slots: &[i64]| mark_all(&bits, window, slots, &collided);
                if sweep.blocks(&sweep.row(row), &mut visit).is_err() {
                    failed.store(true, Ordering::Relaxed);
                    return;
                }
                row += count;
            }
        });
        if failed.load(Ordering::Relaxed) {
            return Err(ExprError::Overflow);
        }
        if collided.load(Ordering::Relaxed) {
            return Ok(true);
        }
        low += WINDOW;
    }
    Ok(false)
}

/// Pair `(word, mask)` that marks a slot: the position of its 64-bit word, and the mask of its bit. The window is
/// `window.0..window.1` of the slot numbers; `None` if the slot is outside the window.
fn bit_of(slot: i64, window: (i64, i64)) -> Option<(usize, u64)> {
    let at = (window.0..window.1).contains(&slot).then(|| slot - window.0)?;
    Some((usize::try_from(at >> 6).ok()?, 1_u64 << (at & 63)))
}

/// Marks the slots inside the window in `bits`, and returns true. At a slot that is already marked, sets `collided` and
/// returns false.
fn mark_all(bits: &[AtomicU64], window: (i64, i64), slots: &[i64], collided: &AtomicBool) -> bool {
    for slot in slots {
        let Some((word, bit)) = bit_of(*slot, window) else { continue };
        let Some(word) = bits.get(word) else { continue };
        if word.fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            collided.store(true, Ordering::Relaxed);
            return false;
        }
    }
    true
}

/// Collision of two points of the box. The later point is the first in row-major order that shares a slot with an
/// earlier one. `None` if no two points share a slot.
fn first_collision(domain: &EnumerationDomain<'_>) -> Result<Option<EnumerationResult>, ExprError> {
    let sweep = SlotSweep::new(domain, domain.extents.len().saturating_sub(1));
    let slots = domain.slot_count();
    let words = usize::try_from((slots.min(WINDOW) + 63) / 64).map_err(|_| ExprError::Overflow)?;
    // (row, index along the row, slot) of the second point
    let mut best: Option<(i128, i128, i64)> = None;
    let mut low = 0_i128;
    while low < slots {
        let window = (narrow(low)?, narrow((low + WINDOW).min(slots))?);
        let mut bits = vec![0_u64; words];
        let mut row = 0;
        while row < sweep.rows() && best.is_none_or(|b| row <= b.0) {
            sweep.blocks(&sweep.row(row), &mut |start, slots| {
                for (slot, k) in slots.iter().zip(start..) {
                    let Some((word, bit)) = bit_of(*slot, window) else { continue };
                    let Some(word) = bits.get_mut(word) else { continue };
                    if *word & bit != 0 {
                        if best.is_none_or(|b| (row, k) < (b.0, b.1)) {
                            best = Some((row, k, *slot));
                        }
                        return false;
                    }
                    *word |= bit;
                }
                true
            })?;
            row += 1;
        }
        low += WINDOW;
    }
    let Some((row, k, slot)) = best else { return Ok(None) };
    for at in 0..=row {
        if let Some(first) = sweep.first(at, |own| own == slot)? {
            return Ok(Some(EnumerationResult::Collision(first, sweep.point(row, k))));
        }
    }
    Ok(None)
}

/// Point of the box at which each target `k` has the value `wanted[k]`, by linear search for the slot number; `None` if
/// there is none. All targets and `wanted` must be within `domain.slots`, so that slot numbers identify values.
pub(crate) fn find(
    domain: &EnumerationDomain<'_>,
    wanted: &[i128],
) -> Result<Option<Vec<i128>>, ExprError> {
    let sweep = SlotSweep::new(domain, longest(domain.extents));
    let mut slot = 0_i128;
    for (value, count) in wanted.iter().zip(domain.slots) {
        slot = slot
            .checked_mul(*count)
            .and_then(|s| s.checked_add(*value))
            .ok_or(ExprError::Overflow)?;
    }
    let slot = narrow(slot)?;
    for row in 0..sweep.rows() {
        let found = sweep.first(row, |own| own == slot)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Result of [`count`]: the number of points of a box at which all domain conditions hold, and the first of these
/// points.
pub(crate) struct PointCount {
    pub(crate) count: i128,
    /// First of the counted points in row-major order, with the longest axis moved to the innermost position; `None` if
    /// `count` is 0.
    pub(crate) first: Option<Vec<i128>>,
}

/// Number of points of a box at which all domain conditions hold, computed row by row; `None` if the box has more
/// than [`MAX_POINTS`] points.
pub(crate) fn count(domain: &EnumerationDomain<'_>) -> Result<Option<PointCount>, ExprError> {
    if domain.points() > MAX_POINTS {
        return Ok(None);
    }
    let mut counted = PointCount { count: 0, first: None };
    if domain.points() < 1 {
        return Ok(Some(counted));
    }
    let sweep = SlotSweep::new(domain, longest(domain.extents));
    for row in 0..sweep.rows() {
        let span = sweep.span(&sweep.row(row))?;
        if !span.is_empty() {
            counted.count += span.end - span.start;
            counted.first.get_or_insert_with(|| sweep.point(row, span.start));
        }
    }
    Ok(Some(counted))
}

/// Pairs `(value, point)` for the minimum and the maximum of a target, in this order. `point` is the first point in
/// row-major order at which the value occurs.
pub(crate) type Extremes = [(i128, Vec<i128>); 2];

/// Minimum and maximum of the only target of `domain`, each with the first point in row-major order at which it occurs;
/// `None` if no point of the box meets the domain conditions, or the box has more than [`MAX_POINTS`] points.
pub(crate) fn extremes(domain: &EnumerationDomain<'_>) -> Result<Option<Extremes>, ExprError> {
    if domain.points() > MAX_POINTS || domain.points() < 1 {
        return Ok(None);
    }
    let sweep = SlotSweep::new(domain, domain.extents.len().saturating_sub(1));
    let mut low: Option<(i64, i128, i128)> = None;
    let mut high: Option<(i64, i128, i128)> = None;
    for row in 0..sweep.rows() {
        sweep.blocks(&sweep.row(row), &mut |start, values| {
            for (value, k) in values.iter().zip(start..) {
                if low.is_none_or(|l| *value < l.0) {
                    low = Some((*value, row, k));
                }
                if high.is_none_or(|h| *value > h.0) {
                    high = Some((*value, row, k));
                }
            }
            true
        })?;
    }
    let point = |(value, row, k): (i64, i128, i128)| (i128::from(value), sweep.point(row, k));
    Ok(low.zip(high).map(|(l, h)| [point(l), point(h)]))
}
