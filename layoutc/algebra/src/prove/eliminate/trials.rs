//! Sample elements on which the side conditions of elimination are tested, such as `0 <= b < w` for a split. There are
//! several for each sample assignment of values to the symbols. If a condition holds on the samples but not everywhere,
//! the checker rejects the resulting proof.

use alloc::vec::Vec;

use crate::expr::{Expr, Var, apply};
use crate::layout::symbol_values::samples;
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;
use crate::normal_form::simplify::Facts;
use crate::prove::{Claim, value_of};

/// Number of random elements per assignment of values to the symbols.
const RANDOM: usize = 6;

/// Sample element: `symbols[k]` is the value of `Var::Symbol(k)`, and `index` is the logical index of the element.
struct TrialPoint {
    symbols: Vec<i128>,
    index: Vec<i128>,
}

pub(super) struct Trials<'a> {
    facts: &'a Facts,
    points: Vec<TrialPoint>,
}

impl<'a> Trials<'a> {
    /// Samples index tuples for each sample assignment of values to the symbols, without regard to domain conditions:
    /// index 0 on all axes, the last index on all axes, the last index on one axis and 0 on all others, and [`RANDOM`]
    /// random indices.
    pub(super) fn new(claim: Claim<'a>) -> Self {
        let mut points = Vec::new();
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for symbols in samples(claim.facts.symbols(), claim.extents) {
            let last = |extent: &Expr| {
                extent.evaluate(&|var| value_of(var, &[], &symbols)).map_or(0, |extent| extent - 1)
            };
            let last: Vec<i128> = claim.extents.iter().map(last).collect();
            let mut add =
                |index: Vec<i128>| points.push(TrialPoint { symbols: symbols.clone(), index });
            add(alloc::vec![0; last.len()]);
            for k in 0..last.len() {
                let alone = |(at, end): (usize, &i128)| if at == k { *end } else { 0 };
                add(last.iter().enumerate().map(alone).collect());
            }
            for _ in 0..RANDOM {
                let mut any = |end: &i128| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    i128::from(state >> 8).rem_euclid(end.saturating_add(1).max(1))
                };
                add(last.iter().map(&mut any).collect());
            }
            add(last);
        }
        Self { facts: claim.facts, points }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// True if `test(a, b)` is true for the values of `a` and `b` at every sample element. False if a value cannot be
    /// computed, for example because it overflows.
    pub(super) fn all(&self, a: &Poly, b: &Poly, test: &dyn Fn(i128, i128) -> bool) -> bool {
        self.points.iter().all(|point| {
            let values = (self.value(a, point), self.value(b, point));
            matches!(values, (Some(a), Some(b)) if test(a, b))
        })
    }

    /// True if `0 <= a < b` at every sample element.
    pub(super) fn stays_inside(&self, a: &Poly, b: &Poly) -> bool {
        self.all(a, b, &|a, b| 0 <= a && a < b)
    }

    /// True if `inverse`, pairs of axis and index over the target values `Var::Storage`, returns the logical index at
    /// every sample element.
    pub(super) fn is_inverse(&self, targets: &[&Expr], inverse: &[(usize, Expr)]) -> bool {
        self.points.iter().all(|point| {
            let at = |var: Var| value_of(var, &point.index, &point.symbols);
            let slots: Option<Vec<i128>> =
                targets.iter().map(|target| target.evaluate(&at).ok()).collect();
            let Some(slots) = slots else { return false };
            let back = |var: Var| match var {
                Var::Storage(k) => slots.get(usize::try_from(k).ok()?).copied(),
                _ => value_of(var, &[], &point.symbols),
            };
            inverse
                .iter()
                .all(|(axis, index)| index.evaluate(&back).ok() == point.index.get(*axis).copied())
        })
    }

    fn value(&self, p: &Poly, point: &TrialPoint) -> Option<i128> {
        let mut sum = 0_i128;
        for (monomial, coefficient) in p.terms() {
            let mut part = coefficient;
            for atom in monomial.iter() {
                part = part.checked_mul(self.atom(atom, point)?)?;
            }
            sum = sum.checked_add(part)?;
        }
        Some(sum)
    }

    fn atom(&self, atom: &Atom, point: &TrialPoint) -> Option<i128> {
        match atom {
            Atom::Var(var @ Var::Symbol(k)) => {
                let value = value_of(*var, &[], &point.symbols)?;
                value.checked_div(self.facts.symbol(*k)?.multiple)
            }
            Atom::Var(var) => value_of(*var, &point.index, &[]),
            Atom::Op(op, a, b) => apply(*op, self.value(a, point)?, self.value(b, point)?).ok(),
        }
    }
}
