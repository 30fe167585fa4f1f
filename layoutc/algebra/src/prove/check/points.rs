//! Checks by evaluation at every point (index tuple): of a proof by enumeration ([`check`]), of the elements of a small
//! layout ([`check_elements`]), and of single expressions. The first axis varies fastest, unlike in the enumeration of
//! the prover, and points are evaluated by separate code.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use super::collision_sweep::{CollisionSweep, advance, axis_vars};
use super::program::{Column, PointBatches, PredicateProgram, StackProgram};
use super::terms::Sum;
use super::{Certificate, CertificateError, ClaimTargets};
use crate::expr::{BinOp, Expr, ExprError, Predicate, Var};
use crate::layout::Layout;
use crate::layout::affine::linear_coefficients;
use crate::layout::physical::groups;
use crate::prove::executor::prove_cached;
use crate::prove::{Executor, components, value_of};

/// Maximum number of points (index tuples) enumerated to bound a single target; with more, the bound counts as not
/// proven.
const BOUND_POINTS: i128 = 1 << 22;

/// Maximum number of index tuples of a layout that is verified by evaluating every element; [`check_elements`] skips a
/// larger layout.
const ELEMENT_POINTS: i128 = 1 << 20;

/// Checks a proof by enumeration, component by component. [`CertificateError`] unless five claims hold: the emitted
/// physical indices are sums of storage indices times strides, the composed targets are distinct, they are within their
/// slots, the emitted targets equal them, and the layout states the right number of elements.
pub(super) fn check(
    layout: &Layout,
    certificate: &Certificate<'_>,
    executor: &dyn Executor,
) -> Result<(), CertificateError> {
    check_physical(layout)?;
    let emitted = match certificate.targets {
        ClaimTargets::Storage => layout.storage_map.clone(),
        ClaimTargets::Offset => alloc::vec![layout.offset.clone()],
    };
    let within = layout.domain.as_ref().map(Predicate::margins).transpose()?.unwrap_or_default();
    let mut counted = 1_i128;
    for component in components(layout.logical.len(), certificate.composed_targets, &within) {
        let pass = CollisionSweep::new(layout, certificate, (&emitted, &within), &component)?;
        if pass.within.is_empty() {
            counted = counted.saturating_mul(pass.points());
            if is_lone_axis(layout, certificate, &emitted, &component) {
                continue;
            }
        }
        let question = || alloc::format!("holds: {pass:?}");
        let elements = AtomicU64::new(0);
        let run = || pass.run(executor, &elements).map(|()| true);
        // A result from the cache does not include the number of elements.
        if pass.within.is_empty() {
            prove_cached(executor, pass.points(), question, run)?;
        } else {
            run()?;
            counted = counted.saturating_mul(elements.load(Ordering::Relaxed).into());
        }
    }
    if layout.logical_elements.as_const() == Some(counted) {
        Ok(())
    } else {
        Err(CertificateError::Verdict)
    }
}

/// True if the component needs no enumeration: it consists of one axis `a` and one target `w*a + c` with
/// `w != 0`, emitted as composed, whose values at both ends of the axis are within its slots.
fn is_lone_axis(
    layout: &Layout,
    certificate: &Certificate<'_>,
    emitted: &[Expr],
    component: &crate::prove::Component,
) -> bool {
    let ([axis], [target]) = (component.axes.as_slice(), component.targets.as_slice()) else {
        return false;
    };
    let Some(var) = u32::try_from(*axis).ok().map(Var::Axis) else { return false };
    let of = |exprs: &[Expr]| exprs.get(*target).and_then(|expr| linear_coefficients(expr, var));
    let constant = |expr: Option<&Expr>| expr.and_then(Expr::as_const);
    let extent = constant(layout.logical.get(*axis).map(|axis| &axis.extent));
    let (Some(composed), Some(emitted)) = (of(certificate.composed_targets), of(emitted)) else {
        return false;
    };
    let (Some(extent), Some(slots)) = (extent, constant(certificate.slots.get(*target))) else {
        return false;
    };
    let end = |index: i128| {
        let value = composed.0.checked_mul(index).and_then(|value| value.checked_add(composed.1));
        value.is_some_and(|value| (0..slots).contains(&value))
    };
    composed == emitted && composed.0 != 0 && end(0) && end((extent - 1).max(0))
}

/// Checks every element of a small layout, with `Var::Symbol(k)` replaced by `symbols[k]`: the emitted map equals the
/// composed one, every target is within its slots, the inverse returns the index, and the predicate holds. True if all
/// hold, [`CertificateError`] for the first that fails. False without a check if the layout has more than
/// `ELEMENT_POINTS` elements or no inverse.
pub(super) fn check_elements(
    layout: &Layout,
    certificate: &Certificate<'_>,
    symbols: &[i128],
) -> Result<bool, CertificateError> {
    let mut extents = Vec::new();
    for axis in &layout.logical {
        let extent = axis.extent.evaluate(&|var| value_of(var, &[], symbols))?;
        extents.push(i64::try_from(extent).map_err(|_| ExprError::Overflow)?);
    }
    let number = extents.iter().fold(1_i128, |n, e| n.saturating_mul(i128::from(*e)));
    let (Some(inverse), true) = (&layout.inverse, number <= ELEMENT_POINTS) else {
        return Ok(false);
    };
    let elements = ElementPrograms::new(layout, certificate, inverse, symbols)?;
    let (mut points, mut spare) = (PointBatches::new(&extents), Vec::new());
    loop {
        let count = points.advance();
        if count == 0 {
            return Ok(true);
        }
        elements.check(&points.columns, count, &mut spare)?;
    }
}

/// Expressions of a layout and of its certificate, compiled for the check of every element at fixed symbols. All
/// programs take the logical indices followed by the symbols, except `inverse` and `valid`, which take the physical
/// indices followed by the symbols.
struct ElementPrograms {
    /// Values of the symbols.
    symbols: Vec<i64>,
    /// Emitted physical indices, one for each physical axis.
    emitted: Vec<StackProgram>,
    /// Physical indices as composed from the steps, one for each physical axis.
    composed: Vec<StackProgram>,
    /// Stride of each physical axis, in elements.
    pitches: Vec<StackProgram>,
    /// Emitted offset, in elements.
    offset: StackProgram,
    /// Targets of the proof, [`Certificate::composed_targets`].
    targets: Vec<StackProgram>,
    /// Number of values of each target, [`Certificate::slots`].
    slots: Vec<StackProgram>,
    /// Emitted inverse: logical indices, one for each logical axis.
    inverse: Vec<StackProgram>,
    /// Predicate that is true for slots with an element; `None` if the layout has none.
    valid: Option<PredicateProgram>,
}

impl ElementPrograms {
    fn new(
        layout: &Layout,
        certificate: &Certificate<'_>,
        inverse: &[Expr],
        symbols: &[i128],
    ) -> Result<Self, ExprError> {
        let values = symbols.iter().map(|value| i64::try_from(*value));
        let symbols: Vec<i64> =
            values.collect::<Result<_, _>>().map_err(|_| ExprError::Overflow)?;
        let symbol_vars = (0_u32..).map(Var::Symbol).take(symbols.len());
        let axes: Vec<Var> = (0_u32..)
            .map(Var::Axis)
            .take(layout.logical.len())
            .chain(symbol_vars.clone())
            .collect();
        let physical: Vec<Var> = (0_u32..)
            .map(Var::Physical)
            .take(layout.physical_map.len())
            .chain(symbol_vars)
            .collect();
        let tests = layout.valid.as_ref().map(|valid| PredicateProgram::new(valid, &physical));
        Ok(Self {
            symbols,
            emitted: StackProgram::all(&layout.physical_map, &axes)?,
            composed: StackProgram::all(certificate.composed_physical, &axes)?,
            pitches: StackProgram::all(&layout.physical_strides, &axes)?,
            offset: StackProgram::new(&layout.offset, &axes)?,
            targets: StackProgram::all(certificate.composed_targets, &axes)?,
            slots: StackProgram::all(certificate.slots, &axes)?,
            inverse: StackProgram::all(inverse, &physical)?,
            valid: tests.transpose()?,
        })
    }

    /// Checks a batch of `count` elements, where `point[k]` is the column of logical indices along axis `k`. Buffers
    /// are taken from `spare`, and returned to it unless the check fails. [`CertificateError`] for the first claim that
    /// fails.
    fn check(
        &self,
        point: &[Column],
        count: usize,
        spare: &mut Vec<Column>,
    ) -> Result<(), CertificateError> {
        let symbol_columns = || self.symbols.iter().map(|value| alloc::vec![*value; count]);
        let vars: Vec<Column> = point.iter().cloned().chain(symbol_columns()).collect();
        let mut back = Vec::new();
        let mut offset = alloc::vec![0_i64; count];
        let maps = self.emitted.iter().zip(&self.composed).zip(&self.pitches);
        for (k, ((emitted, composed), pitch)) in maps.enumerate() {
            let value = composed.column(&vars, count, spare)?;
            let computed = emitted.column(&vars, count, spare)?;
            if computed != value {
                return Err(CertificateError::Map(k));
            }
            let pitch = pitch.column(&vars, count, spare)?;
            for ((sum, pitch), index) in offset.iter_mut().zip(&pitch).zip(&value) {
                let part = pitch.checked_mul(*index).and_then(|part| part.checked_add(*sum));
                *sum = part.ok_or(ExprError::Overflow)?;
            }
            spare.extend([computed, pitch]);
            back.push(value);
        }
        let computed = self.offset.column(&vars, count, spare)?;
        if computed != offset {
            return Err(CertificateError::Map(self.emitted.len()));
        }
        spare.push(computed);
        for (k, (target, slots)) in self.targets.iter().zip(&self.slots).enumerate() {
            let target = target.column(&vars, count, spare)?;
            let slots = slots.column(&vars, count, spare)?;
            if target.iter().zip(&slots).any(|(index, slots)| !(0..*slots).contains(index)) {
                return Err(CertificateError::Bounds(k));
            }
            spare.extend([target, slots]);
        }
        back.extend(symbol_columns());
        for (k, (index, own)) in self.inverse.iter().zip(point).enumerate() {
            let computed = index.column(&back, count, spare)?;
            if computed != *own {
                return Err(CertificateError::Inverse(k));
            }
            spare.push(computed);
        }
        let is_valid =
            self.valid.as_ref().map(|valid| valid.test(&back, count, spare)).transpose()?;
        spare.extend(back);
        match is_valid {
            Some(is_valid) if is_valid.contains(&false) => {
                Err(CertificateError::Predicate(usize::MAX))
            }
            _ => Ok(()),
        }
    }
}

/// Checks that the emitted physical index of each physical axis is written as the sum of its storage indices times
/// their strides, plus the leading padding on the last physical axis.
fn check_physical(layout: &Layout) -> Result<(), CertificateError> {
    for (g, group) in groups(layout.storage.len(), &layout.separators).into_iter().enumerate() {
        let pitch = layout
            .physical_strides
            .get(g)
            .and_then(Expr::as_const)
            .ok_or(CertificateError::Missing)?;
        let mut terms = Vec::new();
        let is_last = group.end == layout.storage.len();
        for k in group {
            let stride =
                layout.strides.get(k).and_then(Expr::as_const).ok_or(CertificateError::Missing)?;
            let index = layout.storage_map.get(k).cloned().ok_or(CertificateError::Missing)?;
            terms.push(match stride.checked_div(pitch).ok_or(CertificateError::Missing)? {
                1 => index,
                local => Expr::binary(BinOp::Mul, &index, &Expr::constant(local))?,
            });
        }
        let sum = terms.into_iter().map(Ok).reduce(|a, b| Expr::binary(BinOp::Add, &a?, &b?));
        let mut sum = sum.unwrap_or_else(|| Ok(Expr::constant(0)))?;
        let lead = layout.lead.clone();
        if is_last && lead.as_const() != Some(0) {
            sum = Expr::binary(BinOp::Add, &sum, &lead)?;
        }
        if layout.physical_map.get(g) != Some(&sum) {
            return Err(CertificateError::Map(g));
        }
    }
    Ok(())
}

/// True if `target` is in `0..slots` at every index tuple of the axes that it reads, by enumeration. False also if
/// there are more than `BOUND_POINTS` index tuples, or if `target`, `slots` or the extent of one of these axes contains
/// a symbol.
pub(super) fn stays_inside(
    target: &Expr,
    slots: &Sum,
    layout: &Layout,
) -> Result<bool, CertificateError> {
    let (mut axes, mut extents) = (Vec::new(), Vec::new());
    let mut points = 1_i128;
    for var in target.vars() {
        let Var::Axis(k) = var else { return Ok(false) };
        let axis = usize::try_from(k).map_err(|_| CertificateError::Missing)?;
        let extent = layout.logical.get(axis).and_then(|a| a.extent.as_const());
        let Some(extent) = extent.and_then(|e| i64::try_from(e).ok()) else { return Ok(false) };
        axes.push(axis);
        extents.push(extent);
        points = points.saturating_mul(i128::from(extent));
    }
    if points > BOUND_POINTS {
        return Ok(false);
    }
    let program = StackProgram::new(target, &axis_vars(&axes)?)?;
    let mut stack = Vec::new();
    // `advance` leaves the last axis alone: add one of extent 1.
    let mut point = alloc::vec![0_i64; axes.len() + 1];
    extents.push(1);
    loop {
        let value = program.run(&point, &mut stack)?;
        let above = slots.minus(&Sum::constant(i128::from(value) + 1))?;
        let inside = value >= 0 && above.is_constant_at_least_zero();
        if !inside {
            return Ok(false);
        }
        if !advance(&mut point, &extents) {
            return Ok(true);
        }
    }
}

/// True if `a` and `b` are equal at every index tuple of a box, in which the variable `vars[k]` takes all values in
/// `0..extents[k]`.
pub(super) fn equal_everywhere(
    a: &Expr,
    b: &Expr,
    vars: &[Var],
    extents: &[i128],
) -> Result<bool, CertificateError> {
    let (a, b) = (StackProgram::new(a, vars)?, StackProgram::new(b, vars)?);
    let extents = extents.iter().map(|extent| i64::try_from(*extent));
    let extents: Vec<i64> = extents.collect::<Result<_, _>>().map_err(|_| ExprError::Overflow)?;
    let (mut points, mut spare) = (PointBatches::new(&extents), Vec::new());
    loop {
        let count = points.advance();
        if count == 0 {
            return Ok(true);
        }
        let (a, b) = (
            a.column(&points.columns, count, &mut spare)?,
            b.column(&points.columns, count, &mut spare)?,
        );
        if a != b {
            return Ok(false);
        }
        spare.extend([a, b]);
    }
}
