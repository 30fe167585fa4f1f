//! Steps along logical axes that may leave all targets unchanged, as pairs `(axis, distance)`. They are candidates for
//! collisions, which are tried before enumeration.

use alloc::vec::Vec;

use super::mixed_radix::inverse;
use crate::digits::{DerivedDigit, Digits, LinearForm};
use crate::expr::Expr;
use crate::expr::gcd;

/// Maximum number of candidate steps for one component; further ones are dropped.
const MOST: usize = 48;
/// Largest change of an undetermined digit that is tried whatever the sums contain: steps are generated for every
/// change from 1 up to this number.
const REPEATS: i128 = 4;
/// Maximum number of nested derived or subdivided digits through which the change of a digit is traced to a logical
/// axis.
const DEEP: usize = 4;

struct CollisionSteps<'a> {
    digits: &'a Digits,
    extents: &'a [Expr],
    found: Vec<(usize, i128)>,
}

impl CollisionSteps<'_> {
    /// Adds to `found` the steps along axes that may change the digit at position `digit` by `count`. `deep` is the
    /// number of derived or subdivided digits through which the change is traced so far.
    fn add(&mut self, digit: usize, count: i128, deep: usize) {
        let digits = self.digits;
        let Some(own) = digits.digits.get(digit) else { return };
        if let Some(chain) = digits.chains.iter().find(|chain| chain.digits.contains(&digit)) {
            let step = own.weight.saturating_mul(count);
            match (chain.axes.as_slice(), chain.of_digit) {
                ([axis], _) => self.note(*axis, step),
                ([_, ..], _) => self.note_fused(&chain.axes, step),
                (_, Some(whole)) if deep < DEEP => self.add(whole, step, deep + 1),
                _ => {}
            }
            return;
        }
        let Some((_, made)) = digits.derived.iter().find(|(made, _)| *made == digit) else {
            return;
        };
        if deep == DEEP {
            return;
        }
        match made {
            DerivedDigit::Sum(form) => self.through(form, 0, count, deep),
            DerivedDigit::Residue(form, k) => self.through(form, *k, count, deep),
            DerivedDigit::Quotient(form, k) => {
                self.through(form, 0, count.saturating_mul(*k), deep);
            }
            DerivedDigit::Parity(of) => {
                of.iter().for_each(|digit| self.add(*digit, count, deep + 1));
            }
            DerivedDigit::Hilbert(_, row, column) => {
                self.through(row, 0, count, deep);
                self.through(column, 0, count, deep);
            }
        }
    }

    /// Adds to `found` the steps along axes that may change the value of `form` by `count`: modulo `k`, or exactly if
    /// `k` is 0. `deep` is as for [`Self::add`].
    fn through(&mut self, form: &LinearForm, k: i128, count: i128, deep: usize) {
        for (digit, weight) in &form.terms {
            let steps = match k {
                0 if count % weight == 0 => Some(count / weight),
                0 => None,
                _ => inverse(*weight, k).map(|inverse| inverse.saturating_mul(count) % k),
            };
            if let Some(steps) = steps {
                self.add(*digit, steps, deep + 1);
            }
        }
    }

    /// Adds to `found` the steps along a single axis that change the row-major index of the fused `axes`, outermost
    /// first, by `step`. An axis whose weight `w` in the index divides `step` gives the step `step / w`: 2 rows for
    /// `step` 8 and rows of 4.
    fn note_fused(&mut self, axes: &[usize], step: i128) {
        let mut weight = 1_i128;
        for axis in axes.iter().rev() {
            if step % weight == 0 {
                self.note(*axis, step / weight);
            }
            let extent = self.extents.get(*axis).and_then(Expr::as_const).unwrap_or(0);
            weight = weight.saturating_mul(extent).max(1);
        }
    }

    fn note(&mut self, axis: usize, step: i128) {
        let step = step.saturating_abs();
        if step > 0 && self.found.len() < MOST && !self.found.contains(&(axis, step)) {
            self.found.push((axis, step));
        }
    }
}

/// Candidate steps `(axis, distance)` that change an unknown digit, one for which `known[digit]` is `None`. `axis` is
/// the position of the logical axis; the distance is positive. The digit changes by 1 to [`REPEATS`], by a full period
/// of a remainder, or by an amount that another unknown digit of the same sum compensates. `extents` are the extents of
/// all logical axes.
pub(super) fn steps(
    digits: &Digits,
    extents: &[Expr],
    known: &[Option<Expr>],
) -> Vec<(usize, i128)> {
    let mut steps = CollisionSteps { digits, extents, found: Vec::new() };
    let is_known = |digit: usize| known.get(digit).is_some_and(Option::is_some);
    let sums = digits.targets.iter().map(|form| (form, 0));
    let made = digits.derived.iter().filter_map(|(_, made)| match made {
        DerivedDigit::Residue(form, k) => Some((form, *k)),
        DerivedDigit::Sum(form) | DerivedDigit::Quotient(form, _) => Some((form, 0)),
        DerivedDigit::Parity(_) | DerivedDigit::Hilbert(..) => None,
    });
    let forms: Vec<(&LinearForm, i128)> = sums.chain(made).collect();
    for (form, k) in &forms {
        let unknown: Vec<(usize, i128)> =
            form.terms.iter().copied().filter(|(digit, _)| !is_known(*digit)).collect();
        for (digit, weight) in &unknown {
            steps.add(*digit, 1, 0);
            if *k > 0 {
                steps.add(*digit, k / gcd(*weight, *k).max(1), 0);
            }
            for (other, other_weight) in unknown.iter().filter(|(other, _)| other != digit) {
                let shared = gcd(*weight, *other_weight).max(1);
                steps.add(*digit, other_weight / shared, 0);
                if let Some((axis, step)) = opposing_step(
                    digits,
                    (*digit, other_weight / shared),
                    (*other, weight / shared),
                ) {
                    steps.note(axis, step);
                }
            }
        }
    }
    let lost = digits.chains.iter().flat_map(|chain| &chain.digits);
    for digit in lost.filter(|digit| !is_known(**digit)) {
        (1..=REPEATS).for_each(|count| steps.add(*digit, count, 0));
    }
    steps.found
}

/// Step `(axis, step)` along one axis that adds `forth` to the digit `one` and subtracts `back` from the digit
/// `other`; `None` unless the two digits belong to the same axis, which is not fused.
fn opposing_step(
    digits: &Digits,
    (one, forth): (usize, i128),
    (other, back): (usize, i128),
) -> Option<(usize, i128)> {
    let chain_of =
        |digit: usize| digits.chains.iter().position(|chain| chain.digits.contains(&digit));
    let chain = chain_of(one).filter(|chain| chain_of(other) == Some(*chain))?;
    let [axis] = digits.chains.get(chain)?.axes.as_slice() else { return None };
    let weight = |digit: usize| digits.digits.get(digit).map(|digit| digit.weight);
    let forth = weight(one)?.checked_mul(forth)?;
    Some((*axis, forth.checked_sub(weight(other)?.checked_mul(back)?)?))
}
