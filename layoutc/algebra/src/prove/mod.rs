//! Proofs that a map is injective: `prove` turns a `Claim` into an `InjectivityProof` or an [`InjectivityError`].
//!
//! The targets of a claim are the index expressions that must be injective as a tuple. Each component of axes, which
//! shares no target or domain condition with other axes, is proven by itself. The provers are tried in this order:
//! digits (including XORs and remainders), elimination (for symbolic weights), exact enumeration. The module
//! `by_enumeration` decides a component that digits and elimination do not prove. The module `collision` only tries
//! pairs of elements that a failed digit proof predicts to collide; without a collision it proves nothing.
//!
//! The module [`check`] verifies a finished layout independently of the provers. If it rejects a proof, the loop over
//! `ProverSet` in `builder/finish.rs` tries again with fewer provers.

pub(crate) mod difference_bounds;

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::digits::{self, BitSplit, DerivedDigit, Digits};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::ProofMethod;
use crate::normal_form::simplify::Facts;

mod by_enumeration;
pub mod check;
mod collision;
mod decode;
mod eliminate;
mod enumerate;
mod executor;
mod symbolic_strides;

use decode::DecodeFailure;
pub use decode::UndeterminedDigit;
pub(crate) use enumerate::{EnumerationDomain, Extremes, count, extremes, find, first_nonzero};
pub use enumerate::{MAX_POINTS, MAX_SLOTS};
pub use executor::{Executor, SequentialExecutor};
pub(crate) use symbolic_strides::order;

/// Reason why a map is not proven injective, or another claim about its layout is not proven: a collision, an undecided
/// claim, or an error of the proof.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectivityError {
    /// Two elements have equal values of all targets, so that the targets are not injective as a tuple.
    #[error("elements {first:?} and {second:?} share the slot {target:?}")]
    NotInjective {
        /// Logical index of one of the two elements, one value per logical axis, outermost first.
        first: Vec<i128>,
        /// Logical index of the other element, one value per logical axis, outermost first.
        second: Vec<i128>,
        /// Values of the targets at the two elements, which are equal; one entry per target.
        target: Vec<i128>,
        /// Values of the symbols for which the two elements collide: `symbols[k]` is that of `Var::Symbol(k)`. Empty
        /// if neither extents nor targets contain symbols.
        symbols: Vec<i128>,
        /// Digits of logical indices that no target contains as a whole, except digits of fused axes. May be
        /// incomplete, and is empty if the targets could not be decomposed into digits.
        lost: Vec<UndeterminedDigit>,
        /// Positions of the targets that read an axis of the component in which the elements collide.
        targets: Vec<usize>,
        /// Proof technique that found the collision.
        proof: ProofMethod,
    },
    /// A claim is neither proven nor refuted: that the targets of one component are injective, that the first element
    /// is aligned as requested, or, in a layout with symbols, any claim that the checker neither verifies for all
    /// values of the symbols nor refutes at sampled values.
    #[error("neither proven nor refuted")]
    Unproven {
        /// Positions of the logical axes of the undecided component, a set of axes connected by shared targets or
        /// domain conditions. All axes if the claim is about the whole layout.
        axes: Vec<usize>,
        /// Positions of the targets that read these axes. All targets if the claim is about the whole layout.
        targets: Vec<usize>,
        /// Number of index tuples of the component; `None` if the component contains symbols, or the claim is about the
        /// whole layout.
        points: Option<i128>,
        /// Number of slots of the component, the product of the numbers of values of its targets; `None` if `points` is
        /// `None`.
        slots: Option<i128>,
    },
    /// The independent checker, which derives the claims again, rejects the certificate of the proof.
    #[error("invalid certificate: {0}")]
    Certificate(#[from] check::CertificateError),
    /// An expression of the proof cannot be built or evaluated, for example because a value overflows.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Statement to prove about the expressions `targets` over the logical indices `Var::Axis` and symbols. The tuple of
/// all targets differs between any two elements, and `targets[k]` is in `0..slots[k]`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub(crate) extents: &'a [Expr],
    pub(crate) targets: &'a [Expr],
    pub(crate) slots: &'a [Expr],
    pub(crate) facts: &'a Facts,
    /// Conditions of the domain over `Var::Axis`: an index tuple is an element exactly if all are non-negative.
    pub(crate) within: &'a [Expr],
    /// Logical index of one element. A counterexample in one component takes the indices along all other axes from
    /// it. An empty slice means index 0 on every axis.
    pub(crate) origin: &'a [i128],
}

/// Proof that the targets of a [`Claim`] are injective, so that they determine the logical indices.
#[derive(Debug, Clone)]
pub(crate) struct InjectivityProof {
    pub(crate) proof: ProofMethod,
    /// Inverse of the map: one logical index per axis, in the order of the axes, as an expression over
    /// `Var::Storage(k)`, the value of the target at position `k`. `None` if a component is proven by enumeration.
    pub(crate) inverse: Option<Vec<Expr>>,
    pub(crate) digits: Option<Digits>,
    /// True if every target that reads an axis equals its linear form in `digits`, a weighted sum of digits. False if a
    /// component is proven by elimination. Without meaning if `digits` is `None`.
    pub(crate) targets_are_sums: bool,
}

/// Set of logical axes that targets or domain conditions connect, and the targets that read these axes, both as
/// ascending lists of positions. No other target reads an axis of the component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Component {
    pub(crate) axes: Vec<usize>,
    pub(crate) targets: Vec<usize>,
}

impl Component {
    /// Conditions among `conditions` that read an axis of the component, in their order.
    pub(crate) fn within(&self, conditions: &[Expr]) -> Vec<Expr> {
        conditions_on(&self.axes, conditions)
    }
}

/// Conditions among `conditions` that read any of the logical axes at the positions `axes`, in their order.
pub(crate) fn conditions_on(axes: &[usize], conditions: &[Expr]) -> Vec<Expr> {
    let is_read = |var| matches!(var, Var::Axis(axis) if usize::try_from(axis).is_ok_and(|axis| axes.contains(&axis)));
    conditions.iter().filter(|condition| condition.mentions(&is_read)).cloned().collect()
}

/// Independent components of the logical axes `0..axes`, ordered by their first axis. Axes that one target or one
/// condition in `within` reads are in one component. A target that reads no axis is in none.
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

/// Set of provers that may be used; each variant allows fewer provers than the variant before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProverSet {
    /// All provers: digits, elimination and enumeration.
    All,
    /// All provers, except proofs by digits that contain derived digits: XORs, quotients or remainders of sums.
    Sums,
    /// Elimination and enumeration only, without digits.
    Elimination,
    /// Enumeration only.
    EnumerationOnly,
}

/// Proves that the targets of a claim are injective, with the provers that `level` allows. `executor` runs and caches
/// enumerations.
///
/// # Errors
/// [`InjectivityError::NotInjective`] with two colliding elements if the targets are not injective.
/// [`InjectivityError::Unproven`] with the component that is neither proven nor refuted, or with all axes if a
/// component is proven by enumeration and the claim contains symbols. [`InjectivityError::Expr`] if an expression
/// becomes too large or cannot be evaluated.
pub(crate) fn prove(
    claim: Claim<'_>,
    level: ProverSet,
    executor: &dyn Executor,
) -> Result<InjectivityProof, InjectivityError> {
    let rank = claim.extents.len();
    let mut inverse = alloc::vec![Expr::constant(0); rank];
    let mut all = Digits {
        targets: alloc::vec![digits::LinearForm::default(); claim.targets.len()],
        ..Digits::default()
    };
    let (mut proof, mut targets_are_sums) = (ProofMethod::Digits, true);
    let empty = claim.extents.iter().any(|extent| extent.as_const() == Some(0));
    for component in components(rank, claim.targets, claim.within) {
        match by_digits(claim, &component, level)? {
            DigitProof::Solved { digits: read, decoded, is_sum } => {
                targets_are_sums &= is_sum;
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
                    targets_are_sums,
                });
            }
            DigitProof::Undetermined(undecided) => {
                by_enumeration::decide(claim, &component, &undecided, executor)?;
                proof = ProofMethod::Enumeration;
            }
            DigitProof::Unreadable => {
                by_enumeration::decide(claim, &component, &DecodeFailure::default(), executor)?;
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
        return Ok(InjectivityProof { proof, inverse: None, digits: None, targets_are_sums });
    }
    targets_are_sums &= constant_targets(claim, &mut all)?;
    Ok(InjectivityProof { proof, inverse: Some(inverse), digits: Some(all), targets_are_sums })
}

enum DigitProof {
    /// Proof with the logical indices `decoded` as expressions over the targets of the component. `is_sum` is true if
    /// every target is a weighted sum of `digits`, and false for a proof by elimination.
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
    level: ProverSet,
) -> Result<DigitProof, ExprError> {
    if level == ProverSet::EnumerationOnly {
        return Ok(DigitProof::Unreadable);
    }
    if level == ProverSet::Elimination {
        return by_elimination(claim, component);
    }
    let targets: Vec<Expr> =
        component.targets.iter().filter_map(|k| claim.targets.get(*k)).cloned().collect();
    let mut first = None;
    for bits in [BitSplit::AtDivisors, BitSplit::AtBits] {
        let read = digits::read(&component.axes, claim.extents, &targets, claim.facts, bits);
        let read = match read {
            Ok(Some(read)) if level == ProverSet::All || read.derived.is_empty() => read,
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

/// Pairs `(axis, index)`, one for each axis of a component. `axis` is the position of the logical axis. `index` is an
/// expression over `Var::Storage(k)`, where `k` is the position of a target in the claim. `None` if neither digits nor
/// elimination determine the indices.
pub(crate) fn solve_axes(
    claim: Claim<'_>,
    component: &Component,
) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
    let DigitProof::Solved { decoded, .. } = by_digits(claim, component, ProverSet::All)? else {
        return Ok(None);
    };
    let own = |(axis, index): (usize, Expr)| {
        Ok::<_, ExprError>((axis, rename_targets(&index, &component.targets)?))
    };
    decoded.axes.into_iter().map(own).collect::<Result<Vec<_>, _>>().map(Some)
}

/// Proves a component by elimination, for symbolic weights and divisors that digits cannot express. The result is
/// `Unreadable` if the claim has no symbols or elimination fails.
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

/// Expression `index` with each `Var::Storage(k)` replaced by `Var::Storage(targets[k])`: from positions of targets
/// in a component to positions in the claim.
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

/// Sets the constant of the linear form `all.targets[k]` for each target `k` of the claim that has a constant value and
/// a form without digits. Returns false if a target consists of symbols only, whose value is in no linear form.
fn constant_targets(claim: Claim<'_>, all: &mut Digits) -> Result<bool, ExprError> {
    let mut are_constant = true;
    for (target, form) in claim.targets.iter().zip(&mut all.targets) {
        if form.terms.is_empty() {
            match claim.facts.simplify(target)?.as_const() {
                Some(value) => form.constant = value,
                None => are_constant &= target.mentions(&|var| matches!(var, Var::Axis(_))),
            }
        }
    }
    Ok(are_constant)
}

/// Value of a variable: `axes[k]` for `Var::Axis(k)` and `symbols[k]` for `Var::Symbol(k)`; `None` for other
/// variables, or if the slice has no entry `k`.
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
