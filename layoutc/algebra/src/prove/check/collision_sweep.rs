//! Check of a component by evaluation at every point (index tuple). It verifies three claims: the emitted targets equal
//! the composed ones, every target is within its slots, and no two points share a slot. Every slot is marked by one
//! bit.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::program::StackProgram;
use super::{Certificate, CertificateError};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::Layout;
use crate::prove::Executor;

/// Maximum number of slots that are marked in one pass over the points, one bit per slot: 2^31 slots take 256 MiB.
const PASS_BITS: i64 = 1 << 31;

/// Component in a form for evaluation: its extents, its numbers of slots, and programs for its composed and its emitted
/// targets.
#[derive(Debug)]
pub(super) struct CollisionSweep {
    extents: Vec<i64>,
    slots: Vec<i64>,
    composed: Vec<StackProgram>,
    emitted: Vec<StackProgram>,
    /// Conditions of the domain: all are non-negative exactly at the points that are elements.
    pub(super) within: Vec<StackProgram>,
    first_target: usize,
}

const FINE: u8 = 0;
const COLLIDED: u8 = 1;
const DIFFERS: u8 = 2;
const OUTSIDE: u8 = 3;
const FAILED: u8 = 4;

impl CollisionSweep {
    pub(super) fn new(
        layout: &Layout,
        certificate: &Certificate<'_>,
        (emitted, within): (&[Expr], &[Expr]),
        component: &crate::prove::Component,
    ) -> Result<Self, CertificateError> {
        let constant = |expr: &Expr| {
            let value = expr.as_const().ok_or(CertificateError::Missing)?;
            i64::try_from(value).map_err(|_| CertificateError::Missing)
        };
        let mut pass = Self {
            extents: Vec::new(),
            slots: Vec::new(),
            composed: Vec::new(),
            emitted: Vec::new(),
            within: Vec::new(),
            first_target: component.targets.first().copied().unwrap_or(0),
        };
        let vars = axis_vars(&component.axes)?;
        pass.within = StackProgram::all(&component.within(within), &vars)?;
        for axis in &component.axes {
            pass.extents.push(constant(
                &layout.logical.get(*axis).ok_or(CertificateError::Missing)?.extent,
            )?);
        }
        for target in &component.targets {
            let get = |all: &[Expr]| all.get(*target).cloned().ok_or(CertificateError::Missing);
            pass.slots.push(constant(&get(certificate.slots)?)?);
            pass.composed.push(StackProgram::new(&get(certificate.composed_targets)?, &vars)?);
            pass.emitted.push(StackProgram::new(&get(emitted)?, &vars)?);
        }
        Ok(pass)
    }

    pub(super) fn points(&self) -> i128 {
        self.extents.iter().fold(1_i128, |n, e| n.saturating_mul((*e).into()))
    }

    /// Checks all points of the component, and adds the number of points that are elements to `elements`.
    ///
    /// # Errors
    /// `Map` or `Bounds`, with the position of the first target of the component, if any of its targets is wrong.
    /// `Collision` if two elements share a slot. `Expr` if a condition or a composed target cannot be evaluated.
    /// `Missing` if slot numbers do not fit 64 bits.
    pub(super) fn run(
        &self,
        executor: &dyn Executor,
        elements: &AtomicU64,
    ) -> Result<(), CertificateError> {
        let size = self
            .slots
            .iter()
            .try_fold(1_i64, |n, s| n.checked_mul(*s))
            .ok_or(CertificateError::Missing)?;
        let words =
            usize::try_from(size.min(PASS_BITS) / 64 + 1).map_err(|_| CertificateError::Missing)?;
        let bits: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let last = self.extents.last().copied().unwrap_or(1);
        let pieces = usize::try_from(last.clamp(1, 64)).unwrap_or(1);
        let outcome = AtomicU8::new(FINE);
        let mut from = 0_i64;
        while from < size {
            for word in &bits {
                word.store(0, Ordering::Relaxed);
            }
            executor.for_each(pieces, &|piece| {
                let found = self.sweep((piece, pieces), from, &bits, &outcome);
                if from == 0 {
                    elements.fetch_add(found, Ordering::Relaxed);
                }
            });
            from = from.saturating_add(PASS_BITS);
        }
        match outcome.load(Ordering::Relaxed) {
            FINE => Ok(()),
            COLLIDED => Err(CertificateError::Collision),
            DIFFERS => Err(CertificateError::Map(self.first_target)),
            OUTSIDE => Err(CertificateError::Bounds(self.first_target)),
            _ => Err(CertificateError::Expr(ExprError::Overflow)),
        }
    }

    /// Checks the points whose last index is `piece` modulo `pieces`, and marks their slots in `bits`. Bit 0 is slot
    /// `from`; slots outside of `from..from + PASS_BITS` are ignored. Returns the number of elements visited. A failure
    /// is stored in `outcome` as `COLLIDED`, `DIFFERS`, `OUTSIDE` or `FAILED`, and stops the sweep.
    fn sweep(
        &self,
        (piece, pieces): (usize, usize),
        from: i64,
        bits: &[AtomicU64],
        outcome: &AtomicU8,
    ) -> u64 {
        let (Ok(start), Ok(step)) = (i64::try_from(piece), i64::try_from(pieces)) else { return 0 };
        let mut elements = 0_u64;
        let rank = self.extents.len();
        let mut point = alloc::vec![0_i64; rank];
        let mut stack = Vec::new();
        let last = self.extents.last().copied().unwrap_or(1);
        let mut outer = start;
        while outer < last {
            point.fill(0);
            if let Some(index) = point.last_mut() {
                *index = outer;
            }
            loop {
                match self.counts(&point, &mut stack) {
                    Some(true) => {
                        elements += 1;
                        let verdict = self.visit(&point, from, bits, &mut stack);
                        if verdict != FINE {
                            outcome.store(verdict, Ordering::Relaxed);
                            return elements;
                        }
                    }
                    Some(false) => {}
                    None => {
                        outcome.store(FAILED, Ordering::Relaxed);
                        return elements;
                    }
                }
                if !advance(&mut point, &self.extents) {
                    break;
                }
            }
            if outcome.load(Ordering::Relaxed) != FINE {
                return elements;
            }
            outer += step;
        }
        elements
    }

    /// True if all conditions of the domain are non-negative at the point, which makes it an element; `None` if
    /// evaluation fails. `stack` is a reused buffer.
    fn counts(&self, point: &[i64], stack: &mut Vec<i64>) -> Option<bool> {
        for margin in &self.within {
            if margin.run(point, stack).ok()? < 0 {
                return Some(false);
            }
        }
        Some(true)
    }

    fn visit(&self, point: &[i64], from: i64, bits: &[AtomicU64], stack: &mut Vec<i64>) -> u8 {
        let mut slot = 0_i64;
        for ((composed, emitted), slots) in self.composed.iter().zip(&self.emitted).zip(&self.slots)
        {
            let Ok(value) = composed.run(point, stack) else { return FAILED };
            if from == 0 && emitted.run(point, stack) != Ok(value) {
                return DIFFERS;
            }
            if value < 0 || value >= *slots {
                return OUTSIDE;
            }
            slot = slot * slots + value;
        }
        let Some(at) = slot.checked_sub(from).filter(|at| (0..PASS_BITS).contains(at)) else {
            return FINE;
        };
        let Some(word) = usize::try_from(at / 64).ok().and_then(|w| bits.get(w)) else {
            return FAILED;
        };
        let bit = 1_u64 << (at % 64);
        if word.fetch_or(bit, Ordering::Relaxed) & bit == 0 { FINE } else { COLLIDED }
    }
}

/// Advances `point` to the next point with the same last index, with the first axis fastest. Returns false, with all
/// indices but the last at 0, after the last point.
pub(super) fn advance(point: &mut [i64], extents: &[i64]) -> bool {
    let free = point.len().saturating_sub(1);
    for (index, extent) in point.iter_mut().zip(extents).take(free) {
        *index += 1;
        if index < &mut extent.clone() {
            return true;
        }
        *index = 0;
    }
    false
}

/// Variables `Var::Axis` of the logical axes at these positions, in the same order.
pub(super) fn axis_vars(axes: &[usize]) -> Result<Vec<Var>, ExprError> {
    let var = |axis: &usize| u32::try_from(*axis).map(Var::Axis);
    axes.iter().map(var).collect::<Result<_, _>>().map_err(|_| ExprError::Overflow)
}
