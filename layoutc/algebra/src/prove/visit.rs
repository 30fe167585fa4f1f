//! Decision of components that neither digits nor elimination prove: enumerated in full if static, sampled
//! for some values of the symbols otherwise.

use alloc::vec::Vec;

use super::collision::{PointPair, predicted_collision};
use super::decode::{DecodeFailure, UndeterminedDigit};
use super::enumerate::{self, EnumerationDomain};
use super::{Claim, Component, Executor, InjectivityError, value_of};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::ProofMethod;
use crate::layout::affine::linear_coefficients;
use crate::layout::symbol_values::samples;

/// Maximum number of points sampled per assignment of the symbols.
const SAMPLE_POINTS: i128 = 1 << 14;

/// Proves a component by enumeration, or returns the collision or the reason why it remains unproven.
pub(super) fn decide(
    claim: Claim<'_>,
    component: &Component,
    undecided: &DecodeFailure,
    machine: &dyn Executor,
) -> Result<(), InjectivityError> {
    let depends = is_symbolic(claim.extents, &component.axes)
        || is_symbolic(claim.targets, &component.targets)
        || is_symbolic(claim.slots, &component.targets);
    let within = component.within(claim.within);
    let depends = depends || within.iter().any(|w| is_symbolic(core::slice::from_ref(w), &[0]));
    if !depends && is_lone_axis(claim, component) {
        return Ok(());
    }
    let all = samples(claim.facts.symbols(), claim.extents);
    let unproven = || {
        let (axes, targets) = (component.axes.clone(), component.targets.clone());
        InjectivityError::Unproven { axes, targets, points: None, slots: None }
    };
    if !depends {
        // A witness needs values for the symbols of the other axes and targets.
        return at_values(claim, component, undecided, all.first().map(Vec::as_slice), machine);
    }
    // A collision for some values refutes the claim; sampling proves nothing.
    for values in all {
        if let Err(refusal @ InjectivityError::NotInjective { .. }) =
            sampled(claim, component, undecided, &values)
        {
            return Err(refusal);
        }
    }
    Err(unproven())
}

/// True if the component is a single axis `a` with a target of the form `w*a + c`, `w != 0`.
fn is_lone_axis(claim: Claim<'_>, component: &Component) -> bool {
    let [axis] = component.axes.as_slice() else { return false };
    let Some(var) = u32::try_from(*axis).ok().map(Var::Axis) else { return false };
    let targets = component.targets.iter().filter_map(|k| claim.targets.get(*k));
    targets.filter_map(|target| linear_coefficients(target, var)).any(|(weight, _)| weight != 0)
}

/// True if any of the expressions at the positions `of` contains a symbol.
fn is_symbolic(exprs: &[Expr], of: &[usize]) -> bool {
    let chosen = of.iter().filter_map(|k| exprs.get(*k));
    chosen.into_iter().any(|expr| expr.mentions(&|var| matches!(var, Var::Symbol(_))))
}

/// Component with every symbol replaced by a value.
struct StaticComponent {
    extents: Vec<i128>,
    targets: Vec<Expr>,
    slots: Vec<i128>,
    within: Vec<Expr>,
}

impl StaticComponent {
    fn new(claim: Claim<'_>, component: &Component, symbols: &[i128]) -> Result<Self, ExprError> {
        let fix = |expr: &Expr| {
            expr.substitute(&|var| match var {
                Var::Symbol(_) => value_of(var, &[], symbols).map(Expr::constant),
                _ => None,
            })
        };
        let values = |exprs: &[Expr], of: &[usize]| {
            let chosen = of.iter().filter_map(|k| exprs.get(*k));
            chosen.map(|expr| fix(expr)?.evaluate(&|_| None)).collect::<Result<Vec<_>, _>>()
        };
        let targets = component.targets.iter().filter_map(|k| claim.targets.get(*k));
        Ok(Self {
            extents: values(claim.extents, &component.axes)?,
            targets: targets.map(fix).collect::<Result<_, _>>()?,
            slots: values(claim.slots, &component.targets)?,
            within: component.within(claim.within).iter().map(fix).collect::<Result<_, _>>()?,
        })
    }

    fn domain<'a>(&'a self, component: &'a Component) -> EnumerationDomain<'a> {
        EnumerationDomain {
            axes: &component.axes,
            extents: &self.extents,
            targets: &self.targets,
            slots: &self.slots,
            within: &self.within,
        }
    }
}

/// Enumerates a component without symbols; `symbols` are values for the symbols of other components, used in
/// the witness.
fn at_values(
    claim: Claim<'_>,
    component: &Component,
    undecided: &DecodeFailure,
    symbols: Option<&[i128]>,
    machine: &dyn Executor,
) -> Result<(), InjectivityError> {
    let symbols = symbols.unwrap_or_default();
    let fixed = StaticComponent::new(claim, component, symbols)?;
    let domain = fixed.domain(component);
    if let Some(pair) = predicted_collision(&domain, undecided) {
        let proof =
            if undecided.kernel.is_empty() { ProofMethod::Digits } else { ProofMethod::Gf2 };
        return Err(refuse(claim, component, (&undecided.lost, proof), symbols, pair)?);
    }
    match enumerate::enumerate(&domain, machine)? {
        enumerate::EnumerationResult::Injective => Ok(()),
        enumerate::EnumerationResult::TooLarge { points, slots } => {
            let (axes, targets) = (component.axes.clone(), component.targets.clone());
            Err(InjectivityError::Unproven {
                axes,
                targets,
                points: Some(points),
                slots: Some(slots),
            })
        }
        enumerate::EnumerationResult::Collision(first, second) => {
            let found = (&undecided.lost[..], ProofMethod::Enumeration);
            Err(refuse(claim, component, found, symbols, (first, second))?)
        }
    }
}

/// Searches a component for a collision among sampled points, for these values of the symbols.
fn sampled(
    claim: Claim<'_>,
    component: &Component,
    undecided: &DecodeFailure,
    symbols: &[i128],
) -> Result<(), InjectivityError> {
    let fixed = StaticComponent::new(claim, component, symbols)?;
    let domain = fixed.domain(component);
    let predicted = predicted_collision(&domain, undecided);
    let proof = match &predicted {
        Some(_) if undecided.kernel.is_empty() => ProofMethod::Digits,
        Some(_) => ProofMethod::Gf2,
        None => ProofMethod::Enumeration,
    };
    let pair = match predicted {
        Some(pair) => Some(pair),
        None => {
            enumerate::sample_collision(&domain, SAMPLE_POINTS)?.filter(|pair| share(&domain, pair))
        }
    };
    match pair {
        Some(pair) => Err(refuse(claim, component, (&undecided.lost, proof), symbols, pair)?),
        None => Ok(()),
    }
}

/// True if two points have equal values of all targets. Equal slot numbers do not imply this, since a target
/// outside its slots may alias another slot number.
fn share(domain: &EnumerationDomain<'_>, (first, second): &PointPair) -> bool {
    let value = |point: &[i128], target: &Expr| {
        target.evaluate(&|var| match var {
            Var::Axis(axis) => {
                let axis = usize::try_from(axis).ok()?;
                let at = domain.axes.iter().position(|own| *own == axis)?;
                point.get(at).copied()
            }
            _ => None,
        })
    };
    domain.targets.iter().all(|target| {
        let own = value(first, target);
        own.is_ok() && own == value(second, target)
    })
}

/// Error for a collision between two points of a component. The indices of other axes are those of the origin
/// of the claim.
fn refuse(
    claim: Claim<'_>,
    component: &Component,
    (lost, proof): (&[UndeterminedDigit], ProofMethod),
    symbols: &[i128],
    (first, second): PointPair,
) -> Result<InjectivityError, ExprError> {
    let whole = |point: &[i128]| {
        let mut index = claim.origin.to_vec();
        index.resize(claim.extents.len(), 0);
        for (axis, value) in component.axes.iter().zip(point) {
            if let Some(slot) = index.get_mut(*axis) {
                *slot = *value;
            }
        }
        index
    };
    let (first, second) = (whole(&first), whole(&second));
    let mut target = Vec::new();
    for expr in claim.targets {
        target.push(expr.evaluate(&|var| value_of(var, &first, symbols))?);
    }
    let axes: Vec<usize> = (0..claim.extents.len()).collect();
    let targets: Vec<usize> = (0..claim.targets.len()).collect();
    let depends = is_symbolic(claim.extents, &axes) || is_symbolic(claim.targets, &targets);
    Ok(InjectivityError::NotInjective {
        first,
        second,
        target,
        symbols: if depends { symbols.to_vec() } else { Vec::new() },
        lost: lost.to_vec(),
        targets: component.targets.clone(),
        proof,
    })
}
