//! The checker's own enumeration: every point once more, evaluated one at a time by a stack machine, the last axis
//! outermost.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::terms::Sum;
use super::{Certificate, CheckError, Targets};
use crate::expr::{BinOp, Expr, ExprError, Node, Var};
use crate::layout::Layout;
use crate::physical::groups;
use crate::proof::machine::remembered;
use crate::proof::{Machine, components, value_of};

/// Bits of one pass over the slots: 256 MiB.
const PASS_BITS: i64 = 1 << 31;
/// Points up to which a lone target's bounds are settled by visiting them.
const BOUND_POINTS: i128 = 1 << 22;

/// Elements up to which a layout that sums cannot settle is visited.
const ELEMENT_POINTS: i128 = 1 << 20;

/// One instruction; values are 64-bit, overflow ends the check.
#[derive(Debug, Clone, Copy)]
enum Code {
    Push(i64),
    Load(usize),
    Apply(BinOp),
}

/// Instructions for one expression over the axes of a component.
#[derive(Debug)]
struct Program(Vec<Code>);

impl Program {
    fn new(expr: &Expr, axes: &[usize]) -> Result<Self, ExprError> {
        let mut code = Vec::new();
        emit(expr, axes, &mut code)?;
        Ok(Self(code))
    }

    fn run(&self, point: &[i64], stack: &mut Vec<i64>) -> Result<i64, ExprError> {
        stack.clear();
        for code in &self.0 {
            match code {
                Code::Push(value) => stack.push(*value),
                Code::Load(axis) => {
                    stack.push(point.get(*axis).copied().ok_or(ExprError::Unbound)?);
                }
                Code::Apply(op) => {
                    let (Some(b), Some(a)) = (stack.pop(), stack.pop()) else {
                        return Err(ExprError::Unbound);
                    };
                    stack.push(operate(*op, a, b).ok_or(ExprError::Overflow)?);
                }
            }
        }
        stack.pop().ok_or(ExprError::Unbound)
    }
}

fn operate(op: BinOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
        BinOp::Mod if b > 0 => Some(a.rem_euclid(b)),
        BinOp::FloorDiv | BinOp::Mod => None,
        BinOp::And => Some(a & b),
        BinOp::Xor => Some(a ^ b),
        BinOp::Min => Some(a.min(b)),
        BinOp::Max => Some(a.max(b)),
    }
}

fn emit(expr: &Expr, axes: &[usize], code: &mut Vec<Code>) -> Result<(), ExprError> {
    match expr.node() {
        Node::Const(value) => {
            code.push(Code::Push(i64::try_from(*value).map_err(|_| ExprError::Overflow)?));
        }
        Node::Var(Var::Axis(k)) => {
            let axis = usize::try_from(*k).map_err(|_| ExprError::Overflow)?;
            let at = axes.iter().position(|a| *a == axis).ok_or(ExprError::Unbound)?;
            code.push(Code::Load(at));
        }
        Node::Var(_) => return Err(ExprError::Unbound),
        Node::Neg(a) => {
            code.push(Code::Push(0));
            emit(a, axes, code)?;
            code.push(Code::Apply(BinOp::Sub));
        }
        Node::Bin(op, a, b) => {
            emit(a, axes, code)?;
            emit(b, axes, code)?;
            code.push(Code::Apply(*op));
        }
    }
    Ok(())
}

/// All points of all components once more: the composed targets have slots of their own, and the emitted storage map
/// agrees with them.
pub(super) fn check(
    layout: &Layout,
    certificate: &Certificate<'_>,
    machine: &dyn Machine,
) -> Result<(), CheckError> {
    check_physical(layout)?;
    let emitted = match certificate.targets {
        Targets::Storage => layout.storage_map.clone(),
        Targets::Offset => alloc::vec![layout.offset.clone()],
    };
    for component in components(layout.logical.len(), certificate.composed_targets) {
        let pass = Pass::new(layout, certificate, &emitted, &component)?;
        let question = || alloc::format!("holds: {pass:?}");
        remembered(machine, pass.points(), question, || pass.run(machine).map(|()| true))?;
    }
    Ok(())
}

/// Every element of a small layout: the emitted map is the composed one, every target stays inside, the inverse
/// leads back and the predicate holds, for these values of the symbols. Says whether the layout is small enough.
pub(super) fn check_elements(
    layout: &Layout,
    certificate: &Certificate<'_>,
    symbols: &[i128],
) -> Result<bool, CheckError> {
    let mut extents = Vec::new();
    for axis in &layout.logical {
        extents.push(axis.extent.evaluate(&|var| value_of(var, &[], symbols))?);
    }
    let points = extents.iter().fold(1_i128, |n, e| n.saturating_mul(*e));
    let (Some(inverse), true) = (&layout.inverse, points <= ELEMENT_POINTS) else {
        return Ok(false);
    };
    let mut point = alloc::vec![0_i128; extents.len()];
    for number in 0..points {
        let mut rest = number;
        for (index, extent) in point.iter_mut().zip(&extents) {
            *index = rest % extent;
            rest /= extent;
        }
        check_element(layout, certificate, inverse, &point, symbols)?;
    }
    Ok(true)
}

fn check_element(
    layout: &Layout,
    certificate: &Certificate<'_>,
    inverse: &[Expr],
    point: &[i128],
    symbols: &[i128],
) -> Result<(), CheckError> {
    let at = |var: Var| value_of(var, point, symbols);
    let mut physical = Vec::new();
    for (k, (emitted, composed)) in
        layout.physical_map.iter().zip(certificate.composed_physical).enumerate()
    {
        let value = composed.evaluate(&at)?;
        if emitted.evaluate(&at)? != value {
            return Err(CheckError::Map(k));
        }
        physical.push(value);
    }
    let mut offset = 0_i128;
    for (index, pitch) in physical.iter().zip(&layout.physical_strides) {
        let part = pitch.evaluate(&at)?.checked_mul(*index).ok_or(ExprError::Overflow)?;
        offset = offset.checked_add(part).ok_or(ExprError::Overflow)?;
    }
    if layout.offset.evaluate(&at)? != offset {
        return Err(CheckError::Map(physical.len()));
    }
    for (k, (target, slots)) in
        certificate.composed_targets.iter().zip(certificate.slots).enumerate()
    {
        if !(0..slots.evaluate(&at)?).contains(&target.evaluate(&at)?) {
            return Err(CheckError::Bounds(k));
        }
    }
    let back = |var: Var| match var {
        Var::Physical(k) => physical.get(usize::try_from(k).ok()?).copied(),
        other => value_of(other, &[], symbols),
    };
    for (k, (index, own)) in inverse.iter().zip(point).enumerate() {
        if index.evaluate(&back)? != *own {
            return Err(CheckError::Inverse(k));
        }
    }
    match &layout.valid {
        Some(valid) if !valid.evaluate(&back)? => Err(CheckError::Predicate(usize::MAX)),
        _ => Ok(()),
    }
}

/// The physical map is the storage map times strides, term by term as written.
fn check_physical(layout: &Layout) -> Result<(), CheckError> {
    for (g, group) in groups(layout.storage.len(), &layout.separators).into_iter().enumerate() {
        let pitch =
            layout.physical_strides.get(g).and_then(Expr::as_const).ok_or(CheckError::Missing)?;
        let mut terms = Vec::new();
        for k in group {
            let stride =
                layout.strides.get(k).and_then(Expr::as_const).ok_or(CheckError::Missing)?;
            let index = layout.storage_map.get(k).cloned().ok_or(CheckError::Missing)?;
            terms.push(match stride.checked_div(pitch).ok_or(CheckError::Missing)? {
                1 => index,
                local => Expr::binary(BinOp::Mul, &index, &Expr::constant(local))?,
            });
        }
        let sum = terms.into_iter().map(Ok).reduce(|a, b| Expr::binary(BinOp::Add, &a?, &b?));
        let sum = sum.unwrap_or_else(|| Ok(Expr::constant(0)))?;
        if layout.physical_map.get(g) != Some(&sum) {
            return Err(CheckError::Map(g));
        }
    }
    Ok(())
}

#[derive(Debug)]
struct Pass {
    extents: Vec<i64>,
    slots: Vec<i64>,
    composed: Vec<Program>,
    emitted: Vec<Program>,
    first_target: usize,
}

const FINE: u8 = 0;
const COLLIDED: u8 = 1;
const DIFFERS: u8 = 2;
const OUTSIDE: u8 = 3;
const FAILED: u8 = 4;

impl Pass {
    fn new(
        layout: &Layout,
        certificate: &Certificate<'_>,
        emitted: &[Expr],
        component: &crate::proof::Component,
    ) -> Result<Self, CheckError> {
        let constant = |expr: &Expr| {
            let value = expr.as_const().ok_or(CheckError::Missing)?;
            i64::try_from(value).map_err(|_| CheckError::Missing)
        };
        let mut pass = Self {
            extents: Vec::new(),
            slots: Vec::new(),
            composed: Vec::new(),
            emitted: Vec::new(),
            first_target: component.targets.first().copied().unwrap_or(0),
        };
        for axis in &component.axes {
            pass.extents
                .push(constant(&layout.logical.get(*axis).ok_or(CheckError::Missing)?.extent)?);
        }
        for target in &component.targets {
            let get = |all: &[Expr]| all.get(*target).cloned().ok_or(CheckError::Missing);
            pass.slots.push(constant(&get(certificate.slots)?)?);
            pass.composed.push(Program::new(&get(certificate.composed_targets)?, &component.axes)?);
            pass.emitted.push(Program::new(&get(emitted)?, &component.axes)?);
        }
        Ok(pass)
    }

    fn points(&self) -> i128 {
        self.extents.iter().fold(1_i128, |n, e| n.saturating_mul((*e).into()))
    }

    fn run(&self, machine: &dyn Machine) -> Result<(), CheckError> {
        let size = self
            .slots
            .iter()
            .try_fold(1_i64, |n, s| n.checked_mul(*s))
            .ok_or(CheckError::Missing)?;
        let words =
            usize::try_from(size.min(PASS_BITS) / 64 + 1).map_err(|_| CheckError::Missing)?;
        let bits: Vec<AtomicU64> = (0..words).map(|_| AtomicU64::new(0)).collect();
        let last = self.extents.last().copied().unwrap_or(1);
        let pieces = usize::try_from(last.clamp(1, 64)).unwrap_or(1);
        let outcome = AtomicU8::new(FINE);
        let mut from = 0_i64;
        while from < size {
            for word in &bits {
                word.store(0, Ordering::Relaxed);
            }
            machine.for_each(pieces, &|piece| self.sweep((piece, pieces), from, &bits, &outcome));
            from = from.saturating_add(PASS_BITS);
        }
        match outcome.load(Ordering::Relaxed) {
            FINE => Ok(()),
            COLLIDED => Err(CheckError::Collision),
            DIFFERS => Err(CheckError::Map(self.first_target)),
            OUTSIDE => Err(CheckError::Bounds(self.first_target)),
            _ => Err(CheckError::Expr(ExprError::Overflow)),
        }
    }

    /// The points whose last index is `piece` modulo `pieces`.
    fn sweep(
        &self,
        (piece, pieces): (usize, usize),
        from: i64,
        bits: &[AtomicU64],
        outcome: &AtomicU8,
    ) {
        let (Ok(start), Ok(step)) = (i64::try_from(piece), i64::try_from(pieces)) else { return };
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
                let verdict = self.visit(&point, from, bits, &mut stack);
                if verdict != FINE {
                    outcome.store(verdict, Ordering::Relaxed);
                    return;
                }
                if !advance(&mut point, &self.extents) {
                    break;
                }
            }
            if outcome.load(Ordering::Relaxed) != FINE {
                return;
            }
            outer += step;
        }
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

/// The next point with the same last index, the first axis fastest; false after the last one.
fn advance(point: &mut [i64], extents: &[i64]) -> bool {
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

/// Whether a target stays within `0..slots`, by visiting every index of the axes that it reads.
pub(super) fn stays_inside(
    target: &Expr,
    slots: &Sum,
    layout: &Layout,
) -> Result<bool, CheckError> {
    let (mut axes, mut extents) = (Vec::new(), Vec::new());
    let mut points = 1_i128;
    for var in target.vars() {
        let Var::Axis(k) = var else { return Ok(false) };
        let axis = usize::try_from(k).map_err(|_| CheckError::Missing)?;
        let extent = layout.logical.get(axis).and_then(|a| a.extent.as_const());
        let Some(extent) = extent.and_then(|e| i64::try_from(e).ok()) else { return Ok(false) };
        axes.push(axis);
        extents.push(extent);
        points = points.saturating_mul(i128::from(extent));
    }
    if points > BOUND_POINTS {
        return Ok(false);
    }
    let program = Program::new(target, &axes)?;
    let mut stack = Vec::new();
    // One axis more, so that `advance` moves them all.
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
