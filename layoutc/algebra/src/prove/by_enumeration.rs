//! Proof or refutation, by evaluation, that the targets of a component are injective; for components that neither
//! digits nor elimination prove. A component without symbols is enumerated in full. A component with symbols is
//! searched for a collision at sample values of the symbols.

use alloc::vec::Vec;

use super::collision::{PointPair, predicted_collision};
use super::decode::{DecodeFailure, UndeterminedDigit};
use super::enumerate::{self, EnumerationDomain};
use super::{Claim, Component, Executor, InjectivityError, value_of};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::ProofMethod;
use crate::layout::affine::linear_coefficients;
use crate::layout::symbol_values::samples;

/// Maximum number of points (index tuples) sampled per assignment of values to the symbols.
const SAMPLE_POINTS: i128 = 1 << 14;

/// Proves by enumeration that the targets of a component are injective. A component without symbols needs no
/// enumeration if it has one axis and a target `w*a + c`. Candidates for collisions that `undecided` predicts are tried
/// first. [`InjectivityError::NotInjective`] if a collision is found. [`InjectivityError::Unproven`] if none is found
/// in a component that has symbols, too many points or too many slots. [`InjectivityError::Expr`] if the evaluation of
/// a component without symbols fails.
pub(super) fn decide(
    claim: Claim<'_>,
    component: &Component,
    undecided: &DecodeFailure,
    executor: &dyn Executor,
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
        return at_values(claim, component, undecided, all.first().map(Vec::as_slice), executor);
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

/// True if the component is a single axis `a` and one of its targets is `w*a + c` with integers `w != 0` and `c`.
/// Such a target alone is injective.
fn is_lone_axis(claim: Claim<'_>, component: &Component) -> bool {
    let [axis] = component.axes.as_slice() else { return false };
    let Some(var) = u32::try_from(*axis).ok().map(Var::Axis) else { return false };
    let targets = component.targets.iter().filter_map(|k| claim.targets.get(*k));
    targets.filter_map(|target| linear_coefficients(target, var)).any(|(weight, _)| weight != 0)
}

/// True if any of the expressions at the positions `of` in `exprs` contains a symbol.
fn is_symbolic(exprs: &[Expr], of: &[usize]) -> bool {
    let chosen = of.iter().filter_map(|k| exprs.get(*k));
    chosen.into_iter().any(|expr| expr.mentions(&|var| matches!(var, Var::Symbol(_))))
}

/// Component in which every symbol is replaced by a value: its extents, targets, numbers of slots, and domain
/// conditions.
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

/// Proves by enumeration that the targets of a component without symbols are injective; `NotInjective`, `Unproven` or
/// `Expr` otherwise. `symbols` are the values of the symbols in the other components of the claim, for a
/// counterexample; `None` if there are no sample values.
fn at_values(
    claim: Claim<'_>,
    component: &Component,
    undecided: &DecodeFailure,
    symbols: Option<&[i128]>,
    executor: &dyn Executor,
) -> Result<(), InjectivityError> {
    let symbols = symbols.unwrap_or_default();
    let fixed = StaticComponent::new(claim, component, symbols)?;
    let domain = fixed.domain(component);
    if let Some(pair) = predicted_collision(&domain, undecided) {
        let proof =
            if undecided.kernel.is_empty() { ProofMethod::Digits } else { ProofMethod::Gf2 };
        return Err(refuse(claim, component, (&undecided.lost, proof), symbols, pair)?);
    }
    match enumerate::enumerate(&domain, executor)? {
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

/// Searches a component for a collision among sampled points, with `Var::Symbol(k)` replaced by `symbols[k]`:
/// [`InjectivityError::NotInjective`] if one is found. `Ok` proves nothing.
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

/// True if all targets have equal values at two points. Equal slot numbers do not imply equal targets, because a
/// target outside its range may give the slot number of other values.
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

/// Error [`InjectivityError::NotInjective`] for a collision of the points `first` and `second` of a component, at the
/// values `symbols` of the symbols. `lost` are those of [`DecodeFailure::lost`]. `proof` is the technique that found
/// the collision. In the error, the indices along the axes of other components are those of `claim.origin`.
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
