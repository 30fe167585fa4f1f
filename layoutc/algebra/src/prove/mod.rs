//! Proofs that a map is injective, one independent component of axes at a time: by digits (including XORs and
//! remainders), by elimination for symbolic weights, and by exact enumeration.

pub(crate) mod difference_bounds;

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::digits::{self, BitSplit, DerivedDigit, Digits};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::ProofMethod;
use crate::normal_form::simplify::Facts;

pub mod check;
mod collision;
mod decode;
mod eliminate;
mod enumerate;
mod executor;
mod symbolic_strides;
mod visit;

use decode::DecodeFailure;
pub use decode::UndeterminedDigit;
pub(crate) use enumerate::{EnumerationDomain, Extremes, count, extremes, find, first_nonzero};
pub use enumerate::{MAX_POINTS, MAX_SLOTS};
pub use executor::{Executor, SequentialExecutor};
pub(crate) use symbolic_strides::order;

/// Reason why a map is not proven injective.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectivityError {
    /// Two elements have equal values of all targets.
    #[error("elements {first:?} and {second:?} share the slot {target:?}")]
    NotInjective {
        /// Logical index of one of the two elements.
        first: Vec<i128>,
        /// Logical index of the other element.
        second: Vec<i128>,
        /// Common values of the targets at both elements, one entry per target.
        target: Vec<i128>,
        /// Values of the symbols for which the two elements collide.
        symbols: Vec<i128>,
        /// Digits that no target determines; empty if the targets could not be decomposed into digits.
        lost: Vec<UndeterminedDigit>,
        /// Positions of the targets that read the axes of the collision.
        targets: Vec<usize>,
        /// Proof technique that found the collision.
        proof: ProofMethod,
    },
    /// Injectivity is neither proven nor refuted.
    #[error("neither proven nor refuted")]
    Unproven {
        /// Positions of the logical axes of the undecided component.
        axes: Vec<usize>,
        /// Positions of the targets that read these axes.
        targets: Vec<usize>,
        /// Number of points of the component; `None` if it depends on a symbol.
        points: Option<i128>,
        /// Number of slots of the component; `None` if it depends on a symbol.
        slots: Option<i128>,
    },
    /// The independent checker rejects the certificate of the proof.
    #[error("invalid certificate: {0}")]
    Certificate(#[from] check::CertificateError),
    /// An expression is too large, or a value is out of range.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Statement to prove: the targets, as functions of the logical indices `Var::Axis`, are injective as a tuple
/// and target `k` stays below `slots[k]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) extents: &'a [Expr],
    pub(crate) targets: &'a [Expr],
    pub(crate) slots: &'a [Expr],
    pub(crate) facts: &'a Facts,
    /// Conditions of the domain over `Var::Axis`: an index tuple is an element exactly if all are non-negative.
    pub(crate) within: &'a [Expr],
    /// Logical index of one element, used in witnesses for the axes of other components. An empty slice means
    /// index 0 on every axis.
    pub(crate) origin: &'a [i128],
}

/// Proof that the targets determine the logical indices.
#[derive(Debug, Clone)]
pub(crate) struct InjectivityProof {
    pub(crate) proof: ProofMethod,
    /// Inverse of the map: one logical index per axis, over `Var::Storage(k)` with `k` the position of a target;
    /// `None` if proven by enumeration.
    pub(crate) inverse: Option<Vec<Expr>>,
    pub(crate) digits: Option<Digits>,
    /// True if every target is a weighted sum of the digits in `digits`.
    pub(crate) is_read: bool,
}

/// Set of axes connected by targets or conditions, and the targets that read them. No other target reads
/// these axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) axes: Vec<usize>,
    pub(crate) targets: Vec<usize>,
}

impl Component {
    /// Conditions among `conditions` that read an axis of the component.
    pub(crate) fn within(&self, conditions: &[Expr]) -> Vec<Expr> {
        conditions_on(&self.axes, conditions)
    }
}

/// Conditions that read any of the axes at these positions.
pub(crate) fn conditions_on(axes: &[usize], conditions: &[Expr]) -> Vec<Expr> {
    let is_read = |var| matches!(var, Var::Axis(axis) if usize::try_from(axis).is_ok_and(|axis| axes.contains(&axis)));
    conditions.iter().filter(|condition| condition.mentions(&is_read)).cloned().collect()
}

/// Independent components of a claim, ordered by their first axis. Axes that share a target or a condition
/// are in one component; targets that read no axis are in none.
pub(crate) fn components(axes: usize, targets: &[Expr], within: &[Expr]) -> Vec<Component> {
    let mut groups: Vec<Component> =
        (0..axes).map(|axis| Component { axes: alloc::vec![axis], targets: Vec::new() }).collect();
    for (k, target) in targets.iter().chain(within).enumerate() {
        let reads = |group: &Component| {
            target.mentions(&|var| matches!(var, Var::Axis(a) if usize::try_from(a).is_ok_and(|a| group.axes.contains(&a))))
        };
        let (read, mut rest): (Vec<_>, Vec<_>) = groups.into_iter().partition(reads);
        let mut merged = Component { axes: Vec::new(), targets: Vec::new() };
        for group in read {
            merged.axes.extend(group.axes);
            merged.targets.extend(group.targets);
        }
        if !merged.axes.is_empty() {
            if k < targets.len() {
                merged.targets.push(k);
            }
            merged.axes.sort_unstable();
            merged.targets.sort_unstable();
            rest.push(merged);
        }
        groups = rest;
    }
    groups.sort_by_key(|group| group.axes.first().copied());
    groups
}

/// Provers that may be used, from the most to the fewest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProverLevel {
    /// All provers: digits, elimination and enumeration.
    All,
    /// All provers, but no proof by digits whose normal form contains derived digits.
    Sums,
    /// Elimination and enumeration only, without digits.
    Elimination,
    /// Enumeration only.
    None,
}

/// Proves that the targets of a claim are injective, or refutes it with two colliding elements.
pub(crate) fn prove(
    claim: Claim<'_>,
    rules: ProverLevel,
    machine: &dyn Executor,
) -> Result<InjectivityProof, InjectivityError> {
    let rank = claim.extents.len();
    let mut inverse = alloc::vec![Expr::constant(0); rank];
    let mut all = Digits {
        targets: alloc::vec![digits::LinearForm::default(); claim.targets.len()],
        ..Digits::default()
    };
    let (mut proof, mut is_read) = (ProofMethod::Digits, true);
    let empty = claim.extents.iter().any(|extent| extent.as_const() == Some(0));
    for component in components(rank, claim.targets, claim.within) {
        match by_digits(claim, &component, rules)? {
            DigitProof::Solved { digits: read, decoded, is_sum } => {
                is_read &= is_sum;
                if read.derived.iter().any(|(_, made)| matches!(made, DerivedDigit::Parity(_))) {
                    proof = proof.with(ProofMethod::Gf2);
                }
                for (axis, index) in decoded.axes {
                    if let Some(slot) = inverse.get_mut(axis) {
                        *slot = rename_targets(&index, &component.targets)?;
                    }
                }
                merge(&mut all, read, &component);
            }
            // Without elements the claim holds vacuously, and the inverse is never read.
            DigitProof::Undetermined(_) | DigitProof::Unreadable if empty => {
                let inverse = Some(alloc::vec![Expr::constant(0); rank]);
                return Ok(InjectivityProof {
                    proof: ProofMethod::Digits,
                    inverse,
                    digits: None,
                    is_read,
                });
            }
            DigitProof::Undetermined(undecided) => {
                visit::decide(claim, &component, &undecided, machine)?;
                proof = ProofMethod::Enumeration;
            }
            DigitProof::Unreadable => {
                visit::decide(claim, &component, &DecodeFailure::default(), machine)?;
                proof = ProofMethod::Enumeration;
            }
        }
    }
    if proof == ProofMethod::Enumeration {
        // Enumeration requires static extents, and symbols elsewhere preclude a static inverse.
        let symbolic = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Symbol(_)));
        if claim.extents.iter().chain(claim.targets).chain(claim.slots).any(symbolic) {
            let (axes, targets) = ((0..rank).collect(), (0..claim.targets.len()).collect());
            return Err(InjectivityError::Unproven { axes, targets, points: None, slots: None });
        }
        return Ok(InjectivityProof { proof, inverse: None, digits: None, is_read });
    }
    constant_targets(claim, &mut all)?;
    Ok(InjectivityProof { proof, inverse: Some(inverse), digits: Some(all), is_read })
}

enum DigitProof {
    /// `is_sum` is true if every target is a weighted sum of the digits.
    Solved {
        digits: Digits,
        decoded: decode::AxisSolution,
        is_sum: bool,
    },
    Undetermined(DecodeFailure),
    Unreadable,
}

fn by_digits(
    claim: Claim<'_>,
    component: &Component,
    rules: ProverLevel,
) -> Result<DigitProof, ExprError> {
    if rules == ProverLevel::None {
        return Ok(DigitProof::Unreadable);
    }
    if rules == ProverLevel::Elimination {
        return by_elimination(claim, component);
    }
    let targets: Vec<Expr> =
        component.targets.iter().filter_map(|k| claim.targets.get(*k)).cloned().collect();
    let mut first = None;
    for bits in [BitSplit::AtDivisors, BitSplit::AtBits] {
        let read = digits::read(&component.axes, claim.extents, &targets, claim.facts, bits);
        let read = match read {
            Ok(Some(read)) if rules == ProverLevel::All || read.derived.is_empty() => read,
            // Overflow disqualifies the digits, not the map: enumeration may still decide.
            Ok(_) | Err(ExprError::Overflow | ExprError::TooLarge) => continue,
            Err(error) => return Err(error),
        };
        match decode::decode(&read, claim.extents, claim.facts) {
            Ok(Ok(decoded)) => {
                return Ok(DigitProof::Solved { digits: read, decoded, is_sum: true });
            }
            Ok(Err(undecided)) => first = first.or(Some(undecided)),
            Err(ExprError::Overflow | ExprError::TooLarge) => {}
            Err(error) => return Err(error),
        }
    }
    match (by_elimination(claim, component)?, first) {
        (DigitProof::Unreadable, Some(undecided)) => Ok(DigitProof::Undetermined(undecided)),
        (proof, _) => Ok(proof),
    }
}

/// Logical indices of a component over `Var::Storage(k)`, where `k` is the position of a target in the claim;
/// `None` if no prover other than enumeration determines them.
pub(crate) fn solve_axes(
    claim: Claim<'_>,
    component: &Component,
) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
    let DigitProof::Solved { decoded, .. } = by_digits(claim, component, ProverLevel::All)? else {
        return Ok(None);
    };
    let own = |(axis, index): (usize, Expr)| {
        Ok::<_, ExprError>((axis, rename_targets(&index, &component.targets)?))
    };
    decoded.axes.into_iter().map(own).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Proves a component by elimination, for symbolic weights and divisors that digits cannot express.
fn by_elimination(claim: Claim<'_>, component: &Component) -> Result<DigitProof, ExprError> {
    if claim.facts.symbols().is_empty() {
        return Ok(DigitProof::Unreadable);
    }
    match eliminate::eliminate(claim, component) {
        Ok(Some(axes)) => {
            let (digits, decoded) =
                (symbolic_strides::whole(claim, component), decode::AxisSolution { axes });
            Ok(DigitProof::Solved { digits, decoded, is_sum: false })
        }
        Ok(None) | Err(ExprError::Overflow | ExprError::TooLarge) => Ok(DigitProof::Unreadable),
        Err(error) => Err(error),
    }
}

/// Renumbers targets in `index` from positions in the component to positions in the claim, listed in
/// `targets`.
fn rename_targets(index: &Expr, targets: &[usize]) -> Result<Expr, ExprError> {
    index.substitute(&|var| match var {
        Var::Storage(k) => {
            let own = usize::try_from(k).ok().and_then(|k| targets.get(k))?;
            u32::try_from(*own).ok().map(|k| Expr::var(Var::Storage(k)))
        }
        _ => None,
    })
}

fn merge(all: &mut Digits, read: Digits, component: &Component) {
    let base = all.digits.len();
    all.digits.extend(read.digits);
    all.chains.extend(read.chains.into_iter().map(|mut chain| {
        chain.digits.iter_mut().for_each(|digit| *digit += base);
        chain.of_digit = chain.of_digit.map(|digit| digit + base);
        chain
    }));
    let moved = |form: digits::LinearForm| {
        let terms = form.terms.into_iter().map(|(digit, weight)| (digit + base, weight));
        digits::LinearForm { constant: form.constant, terms: terms.collect() }
    };
    all.derived.extend(read.derived.into_iter().map(|(digit, made)| {
        let made = match made {
            DerivedDigit::Parity(of) => {
                DerivedDigit::Parity(of.into_iter().map(|digit| digit + base).collect())
            }
            DerivedDigit::Sum(form) => DerivedDigit::Sum(moved(form)),
            DerivedDigit::Residue(form, k) => DerivedDigit::Residue(moved(form), k),
            DerivedDigit::Quotient(form, k) => DerivedDigit::Quotient(moved(form), k),
            DerivedDigit::Hilbert(grid, row, column) => {
                DerivedDigit::Hilbert(grid, moved(row), moved(column))
            }
        };
        (digit + base, made)
    }));
    for (form, target) in read.targets.into_iter().zip(&component.targets) {
        if let Some(slot) = all.targets.get_mut(*target) {
            *slot = moved(form);
        }
    }
}

/// Sets the constants of the linear forms of targets that read no axis.
fn constant_targets(claim: Claim<'_>, all: &mut Digits) -> Result<(), ExprError> {
    for (target, form) in claim.targets.iter().zip(&mut all.targets) {
        if let Some(value) = claim.facts.simplify(target)?.as_const()
            && form.terms.is_empty()
        {
            form.constant = value;
        }
    }
    Ok(())
}

/// Value of an axis or a symbol in an assignment; `None` for other variables or if it has no value.
pub(crate) fn value_of(var: Var, axes: &[i128], symbols: &[i128]) -> Option<i128> {
    match var {
        Var::Axis(k) => axes.get(usize::try_from(k).ok()?).copied(),
        Var::Symbol(k) => symbols.get(usize::try_from(k).ok()?).copied(),
        Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    }
}

/// Joins names as an English list: `n, h and w`.
pub fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [head @ .., last] => alloc::format!("{} and {last}", head.join(", ")),
    }
}
