//! Evaluation of targets at the points of a box, in blocks of points along one axis, the block axis. A row is the set
//! of all points that differ only along the block axis.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::EnumerationDomain;
use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var, apply};

/// Maximum number of points that are evaluated together in one block.
const BLOCK: usize = 1024;

/// Evaluator of the slot number of every point of a box: the row-major linear index of the target values, where
/// target `k` has the extent `domain.slots[k]`.
pub(super) struct SlotSweep<'a> {
    domain: &'a EnumerationDomain<'a>,
    /// Position in `domain.axes` of the block axis, along which the points of a block lie.
    pub(super) along: usize,
}

impl<'a> SlotSweep<'a> {
    pub(super) fn new(domain: &'a EnumerationDomain<'a>, along: usize) -> Self {
        Self { domain, along }
    }

    pub(super) fn rows(&self) -> i128 {
        let along = self.domain.extents.get(self.along).copied().unwrap_or(1);
        self.domain.points() / along.max(1)
    }

    /// Indices of the first point of the row with number `row`, which is row-major over all axes except the block
    /// axis. The index along the block axis is 0.
    pub(super) fn row(&self, mut row: i128) -> Vec<i128> {
        let mut indices = vec![0; self.domain.extents.len()];
        for (k, extent) in self.domain.extents.iter().enumerate().rev() {
            if k == self.along {
                continue;
            }
            if let Some(index) = indices.get_mut(k) {
                *index = row % (*extent).max(1);
            }
            row /= (*extent).max(1);
        }
        indices
    }

    /// Point of row `row` at index `k` along the block axis.
    pub(super) fn point(&self, row: i128, k: i128) -> Vec<i128> {
        let mut indices = self.row(row);
        if let Some(index) = indices.get_mut(self.along) {
            *index = k;
        }
        indices
    }

    /// First point of row `row` that is in the domain and whose slot number satisfies `is_wanted`; `None` if there is
    /// none.
    pub(super) fn first(
        &self,
        row: i128,
        is_wanted: impl Fn(i64) -> bool,
    ) -> Result<Option<Vec<i128>>, ExprError> {
        let mut found = None;
        self.blocks(&self.row(row), &mut |start, slots| {
            found = slots.iter().zip(start..).find(|(slot, _)| is_wanted(**slot)).map(|(_, k)| k);
            found.is_none()
        })?;
        Ok(found.map(|k| self.point(row, k)))
    }

    /// Range of indices `k` along the block axis at which all domain conditions hold, where the indices along the other
    /// axes are those of `indices`. A condition there is `c + w * k >= 0`: it gives `k >= ceil(-c / w)` for `w > 0`,
    /// and `k <= floor(c / -w)` for `w < 0`.
    pub(super) fn span(&self, indices: &[i128]) -> Result<Range<i128>, ExprError> {
        let mut span = 0..self.domain.extents.get(self.along).copied().unwrap_or(1);
        let mut indices = indices.to_vec();
        for margin in self.domain.within {
            let mut at = |k: i128| {
                if let Some(index) = indices.get_mut(self.along) {
                    *index = k;
                }
                PointBlock { sweep: self, indices: &indices, start: 0 }.fixed(margin)
            };
            let constant = at(0)?;
            let weight = at(1)?.checked_sub(constant).ok_or(ExprError::Overflow)?;
            match weight {
                0 if constant >= 0 => {}
                0 => return Ok(0..0),
                1.. => span.start = span.start.max(-constant.div_euclid(weight)),
                _ => {
                    let last =
                        constant.div_euclid(weight.checked_neg().ok_or(ExprError::Overflow)?);
                    span.end = span.end.min(last.saturating_add(1));
                }
            }
        }
        Ok(span)
    }

    /// Calls `visit(first, slots)` for each block of at most [`BLOCK`] points in the row that contains the point
    /// `indices`. `first` is the index of the first point along the block axis; `slots` are the slot numbers of the
    /// points. Only points of the domain are visited. Stops and returns false if `visit` returns false; returns true at
    /// the end of the row.
    pub(super) fn blocks(
        &self,
        indices: &[i128],
        visit: &mut dyn FnMut(i128, &[i64]) -> bool,
    ) -> Result<bool, ExprError> {
        let Range { mut start, end } = self.span(indices)?;
        let (mut values, mut slots) = (vec![0_i64; BLOCK], vec![0_i64; BLOCK]);
        while start < end {
            let len = usize::try_from(end - start).unwrap_or(BLOCK).min(BLOCK);
            let slots = slots.get_mut(..len).unwrap_or_default();
            let values = values.get_mut(..len).unwrap_or_default();
            slots.fill(0);
            for (target, count) in self.domain.targets.iter().zip(self.domain.slots) {
                let block = PointBlock { sweep: self, indices, start };
                block.evaluate(target, values)?;
                let count = i64::try_from(*count).map_err(|_| ExprError::Overflow)?;
                for (slot, value) in slots.iter_mut().zip(values.iter()) {
                    *slot = slot
                        .checked_mul(count)
                        .and_then(|slot| slot.checked_add(*value))
                        .ok_or(ExprError::Overflow)?;
                }
            }
            if !visit(start, slots) {
                return Ok(false);
            }
            start += i128::try_from(len).unwrap_or(end);
        }
        Ok(true)
    }
}

/// Block of points: the index along the block axis counts up from `start`, the other indices are fixed.
struct PointBlock<'a> {
    sweep: &'a SlotSweep<'a>,
    indices: &'a [i128],
    start: i128,
}

impl PointBlock<'_> {
    fn axis(&self, var: Var) -> Result<usize, ExprError> {
        let Var::Axis(axis) = var else { return Err(ExprError::Unbound) };
        let axis = usize::try_from(axis).map_err(|_| ExprError::Overflow)?;
        self.sweep.domain.axes.iter().position(|a| *a == axis).ok_or(ExprError::Unbound)
    }

    fn varies(&self, expr: &Expr) -> bool {
        expr.mentions(&|var| self.axis(var) == Ok(self.sweep.along))
    }

    fn fixed(&self, expr: &Expr) -> Result<i128, ExprError> {
        expr.evaluate(&|var| self.axis(var).ok().and_then(|k| self.indices.get(k).copied()))
    }

    /// Writes the values of `expr` to `out`: `out[n]` is the value at the `n`-th point of the block.
    fn evaluate(&self, expr: &Expr, out: &mut [i64]) -> Result<(), ExprError> {
        if !self.varies(expr) {
            out.fill(narrow(self.fixed(expr)?)?);
            return Ok(());
        }
        match expr.node() {
            ExprNode::Const(_) => Err(ExprError::Unbound),
            ExprNode::Var(_) => {
                let start = narrow(self.start)?;
                for (value, k) in out.iter_mut().zip(0_i64..) {
                    *value = start + k;
                }
                Ok(())
            }
            ExprNode::Neg(a) => {
                self.evaluate(a, out)?;
                each(out, i64::checked_neg)
            }
            ExprNode::Bin(op, a, b) if !self.varies(b) => {
                self.evaluate(a, out)?;
                by_constant(*op, out, narrow(self.fixed(b)?)?)
            }
            ExprNode::Bin(op, a, b) => {
                self.evaluate(a, out)?;
                let mut right = vec![0_i64; out.len()];
                self.evaluate(b, &mut right)?;
                for (value, r) in out.iter_mut().zip(right) {
                    *value = narrow(apply(*op, i128::from(*value), i128::from(r))?)?;
                }
                Ok(())
            }
        }
    }
}

pub(super) fn narrow(value: i128) -> Result<i64, ExprError> {
    i64::try_from(value).map_err(|_| ExprError::Overflow)
}

fn each(values: &mut [i64], f: impl Fn(i64) -> Option<i64>) -> Result<(), ExprError> {
    let mut overflow = false;
    for value in values.iter_mut() {
        match f(*value) {
            Some(new) => *value = new,
            None => overflow = true,
        }
    }
    if overflow { Err(ExprError::Overflow) } else { Ok(()) }
}

/// Replaces each value by `value op right` for a constant `right`. Divisions by powers of two become shifts
/// and masks.
fn by_constant(op: BinOp, values: &mut [i64], right: i64) -> Result<(), ExprError> {
    match op {
        BinOp::Add => each(values, |v| v.checked_add(right)),
        BinOp::Sub => each(values, |v| v.checked_sub(right)),
        BinOp::Mul => each(values, |v| v.checked_mul(right)),
        BinOp::FloorDiv | BinOp::Mod if right < 1 => Err(ExprError::Divisor),
        BinOp::FloorDiv if right.count_ones() == 1 => {
            each(values, |v| Some(v >> right.trailing_zeros()))
        }
        BinOp::Mod if right.count_ones() == 1 => each(values, |v| Some(v & (right - 1))),
        BinOp::FloorDiv => each(values, |v| v.checked_div_euclid(right)),
        BinOp::Mod => each(values, |v| v.checked_rem_euclid(right)),
        BinOp::And => each(values, |v| Some(v & right)),
        BinOp::Xor => each(values, |v| Some(v ^ right)),
        BinOp::Min => each(values, |v| Some(v.min(right))),
        BinOp::Max => each(values, |v| Some(v.max(right))),
        BinOp::Hilbert(_) | BinOp::HilbertCell(_) => {
            each(values, |v| apply(op, v.into(), right.into()).ok().and_then(|v| v.try_into().ok()))
        }
    }
}
