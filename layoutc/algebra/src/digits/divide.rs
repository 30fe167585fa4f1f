//! Division of weighted sums of digits by constants, and the refinements of the chain plans that enable it.

use alloc::vec::Vec;

use super::read::{DigitReader, RefineResult, add, sum};
use super::refine::{ChainSource, Refinement, refine};
use super::{DerivedDigit, LinearForm};
use crate::expr::{BinOp, ExprError};
use crate::normal_form::poly::Poly;

impl DigitReader<'_> {
    /// Quotient `form // k` or remainder `form % k`, depending on `op`, as a weighted sum of digits. If the current
    /// digits do not suffice, returns the refinement to apply before the next attempt, or adds a derived digit if no
    /// refinement helps. `x` is the polynomial that equals `form`; with `None`, no chain is requested for the value.
    pub(super) fn part(
        &mut self,
        op: BinOp,
        (x, form): (Option<&Poly>, &LinearForm),
        k: i128,
    ) -> RefineResult {
        let (quotient, rest) = match self.divide(form, k)? {
            Ok(parts) => parts,
            Err(request)
                if !self.breaks_bits(&request)
                    && !self.is_unsplittable(&request, form, k)
                    && self.is_effective(&request) =>
            {
                return Ok(Err(request));
            }
            Err(_) if let Some((whole, rest)) = self.scaled_axis(form, k) => {
                let part = match self.part(op, (x, &rest), k)? {
                    Ok(part) => part,
                    Err(request) => return Ok(Err(request)),
                };
                return Ok(Ok(if op == BinOp::Mod { part } else { sum(&whole, &part, 1)? }));
            }
            Err(_)
                if let Some(x) = x
                    && let Some(request) = self.name_dividend(x, form, k)? =>
            {
                return Ok(Err(request));
            }
            Err(_) if op == BinOp::Mod => return Ok(Ok(self.residue(form, k)?)),
            Err(_) => return Ok(self.quotient(form, k)?.ok_or(Refinement::Impossible)),
        };
        Ok(Ok(if op == BinOp::Mod { rest } else { quotient }))
    }

    /// Pair `(whole, rest)` with `form = k * whole + rest`, where the constant and each weight of `form` are divided by
    /// `k`: `9*i // 2 = 4*i + i // 2`. All digits of `form` must belong to the chain of one axis or of one group of
    /// fused axes, and none may be subdivided. `k` must divide all weights except one. This weight `w` must exceed `k`,
    /// and `w % k` must divide `k`, so that a split of the axis makes `rest // k` a sum of digits. `None` otherwise.
    fn scaled_axis(&self, form: &LinearForm, k: i128) -> Option<(LinearForm, LinearForm)> {
        let plan = self.plan_of(form.terms.first()?.0)?;
        let is_of_axis = |digit: usize| {
            self.plan_of(digit) == Some(plan)
                && self.chains.iter().all(|chain| chain.of_digit != Some(digit))
        };
        let all = form.terms.iter().all(|(digit, _)| is_of_axis(*digit));
        let mut left = form.terms.iter().filter(|(_, weight)| weight % k != 0);
        let (Some((_, weight)), None) = (left.next(), left.next()) else { return None };
        let serves = *weight > k && k % (weight % k) == 0;
        if self.plans.get(plan)?.of != ChainSource::Axes || !all || !serves {
            return None;
        }
        let part = |constant: i128, weight: &dyn Fn(i128) -> i128| {
            let terms = form.terms.iter().map(|(digit, own)| (*digit, weight(*own)));
            LinearForm { constant, terms: terms.filter(|(_, weight)| *weight != 0).collect() }
        };
        let constant = form.constant;
        Some((part(constant.div_euclid(k), &|w| w / k), part(constant.rem_euclid(k), &|w| w % k)))
    }

    /// True if splits and reflections of digits cannot make `rest // k` constant, where `rest` is the sum of the terms
    /// of `form` whose weights `k` does not divide: `rest` has several terms, and can reach `k` however their digits
    /// are split. The caller then does not apply `request`. False if `request` is a fusion, or a fusion applies to
    /// `form`.
    fn is_unsplittable(&self, request: &Refinement, form: &LinearForm, k: i128) -> bool {
        if matches!(request, Refinement::Fuse(_))
            || !matches!(self.fusion(form), Refinement::Impossible)
        {
            return false;
        }
        let rest: Vec<_> = form.terms.iter().filter(|(_, weight)| weight % k != 0).collect();
        let least = rest.iter().map(|(digit, weight)| {
            let size = weight.saturating_abs();
            let reach = self.greatest(*digit).saturating_mul(size);
            if k % size == 0 { reach.min(k - size) } else { reach }
        });
        rest.len() > 1 && least.fold(0_i128, i128::saturating_add) >= k
    }

    /// True if [`refine`] can apply `request` and makes progress by it, tried on a copy of the plans.
    pub(super) fn is_effective(&self, request: &Refinement) -> bool {
        refine(&mut self.plans.to_vec(), request, self.extents)
    }

    /// Pair `(form // k, form % k)` in the current digits, or the refinement to apply before the division is tried
    /// again. [`ExprError::Divisor`] for `k` below 1, [`ExprError::Overflow`] if a value overflows.
    fn divide(&self, form: &LinearForm, k: i128) -> RefineResult<(LinearForm, LinearForm)> {
        if k < 1 {
            return Err(ExprError::Divisor);
        }
        let (mut quotient, mut rest) = form.split(k);
        let (mut low, mut high) = self.span(&rest)?;
        if low.div_euclid(k) != high.div_euclid(k) {
            (low, high) = self.tight_span(&rest)?;
        }
        let whole = low.div_euclid(k);
        if whole == high.div_euclid(k) {
            quotient.constant = add(quotient.constant, whole)?;
            rest.constant = add(rest.constant, -whole.checked_mul(k).ok_or(ExprError::Overflow)?)?;
            return Ok(Ok((quotient, rest)));
        }
        let request = self.request(form, &rest, k);
        match self.expand_heaviest_digit(form, k)? {
            // A request that nests in the splits of its chain takes precedence over expansion.
            Some(form) if !self.nests(&request) => self.divide(&form, k),
            _ => Ok(Err(request)),
        }
    }

    /// True if `request` is a split at a weight for which
    /// [`ChainPlan::split_position`](super::refine::ChainPlan::split_position) gives a position: the new weight is a
    /// multiple of the next smaller weight of its chain, and divides the next larger one.
    fn nests(&self, request: &Refinement) -> bool {
        match request {
            Refinement::Split(plan, weight) => {
                self.plans.get(*plan).is_some_and(|plan| plan.split_position(*weight).is_some())
            }
            _ => false,
        }
    }

    /// `form` with one subdivided digit replaced by the digits of the chain that subdivides it: the digit of largest
    /// absolute weight among those whose weight `k` does not divide. `None` if `form` has no subdivided digit of such a
    /// weight.
    pub(super) fn expand_heaviest_digit(
        &self,
        form: &LinearForm,
        k: i128,
    ) -> Result<Option<LinearForm>, ExprError> {
        let parts = |digit: usize| self.chains.iter().find(|chain| chain.of_digit == Some(digit));
        let heaviest = form
            .terms
            .iter()
            .filter(|(digit, weight)| weight % k != 0 && parts(*digit).is_some())
            .max_by_key(|(_, weight)| weight.unsigned_abs());
        let Some((digit, weight)) = heaviest else { return Ok(None) };
        let Some(chain) = parts(*digit) else { return Ok(None) };
        let mut without = form.clone();
        without.terms.retain(|(d, _)| d != digit);
        Ok(Some(sum(&without, &self.chain_form(chain), *weight)?))
    }

    /// Refinement to apply so that `rest // k` becomes constant, where `rest` is the sum of the terms of `form` whose
    /// weights `k` does not divide; [`Refinement::Impossible`] if none applies. Further refinements may be necessary
    /// afterwards.
    fn request(&self, form: &LinearForm, rest: &LinearForm, k: i128) -> Refinement {
        if let Some((digit, _)) = rest.terms.iter().find(|(_, weight)| *weight < 0) {
            return self.plan_of(*digit).map_or(Refinement::Impossible, Refinement::Reflect);
        }
        // If a weight neither divides `k` nor is a multiple of it, only a fused value can be split.
        if rest.terms.iter().any(|(_, weight)| k % weight != 0) {
            return self.fusion(form);
        }
        // A digit whose term crosses a multiple of `k` is split at this multiple.
        for (digit, weight) in &rest.terms {
            let greatest = self.greatest(*digit);
            let crosses = k % weight == 0 && *weight < k && greatest >= k / weight;
            if !crosses {
                continue;
            }
            let (Some(found), Some(plan)) = (self.digits.get(*digit), self.plan_of(*digit)) else {
                return self.cut(*digit, k / weight);
            };
            let alone = rest.terms.len() == 1 && rest.constant != 0 && form.constant % weight == 0;
            if alone {
                let by = form.constant / weight * found.weight;
                if by > 0 && self.plans.get(plan).is_some_and(|p| p.sign == 1 && p.axes.len() == 1)
                {
                    return Refinement::Shift(plan, by);
                }
            }
            return Refinement::Split(plan, found.weight.saturating_mul(k / weight));
        }
        self.shift_or_fuse(form, rest, k)
    }

    fn shift_or_fuse(&self, form: &LinearForm, rest: &LinearForm, k: i128) -> Refinement {
        if let [(digit, weight)] = rest.terms.as_slice()
            && rest.constant != 0
            && k % weight == 0
            && form.constant % weight == 0
            && form.constant > 0
            && let (Some(found), Some(plan)) = (self.digits.get(*digit), self.plan_of(*digit))
        {
            return Refinement::Shift(plan, form.constant / weight * found.weight);
        }
        self.fusion(form)
    }

    /// Position in `plans` of the plan whose chain contains the digit at position `digit`; `None` for a derived
    /// digit.
    fn plan_of(&self, digit: usize) -> Option<usize> {
        self.planned.get(self.owner.get(digit).copied().flatten()?).copied()
    }

    /// Request to split the digit at position `digit` into `digit // factor` and `digit % factor`. For an XOR of
    /// digits, the request is to split the first of them; for other derived digits it is [`Refinement::Impossible`].
    pub(super) fn cut(&self, digit: usize, factor: i128) -> Refinement {
        if let (Some(found), Some(plan)) = (self.digits.get(digit), self.plan_of(digit)) {
            return Refinement::Split(plan, found.weight.saturating_mul(factor));
        }
        match self.derived.iter().find(|(made, _)| *made == digit) {
            Some((_, DerivedDigit::Parity(of))) => {
                of.first().map_or(Refinement::Impossible, |first| self.cut(*first, factor))
            }
            _ => Refinement::Impossible,
        }
    }

    /// Request to fuse the longest sequence of chains whose factors in `form` (see [`Self::unit`]) are row-major: each
    /// factor is that of the next chain times the number of values of the next chain. For the chains of `h`, `w` with 4
    /// and 8 values, `16*h + 2*w` has the factors 16 = 2 * 8 and 2. [`Refinement::Impossible`] if the longest sequence
    /// has fewer than two chains.
    fn fusion(&self, form: &LinearForm) -> Refinement {
        let mut units: Vec<(usize, i128)> = (0..self.chains.len())
            .filter_map(|chain| Some((chain, self.unit(form, chain)?)))
            .collect();
        units.sort_by_key(|(_, unit)| core::cmp::Reverse(*unit));
        let mut best: Vec<usize> = Vec::new();
        let mut run: Vec<usize> = Vec::new();
        let mut above: Option<i128> = None;
        for (chain, unit) in units {
            let reach = self.count(chain).and_then(|count| count.checked_mul(unit));
            if above.is_none() || above != reach {
                run.clear();
            }
            run.push(chain);
            above = Some(unit);
            if run.len() > best.len() {
                best.clone_from(&run);
            }
        }
        let plans: Vec<usize> =
            best.iter().filter_map(|chain| self.planned.get(*chain)).copied().collect();
        if plans.len() > 1 { Refinement::Fuse(plans) } else { Refinement::Impossible }
    }

    /// Positive factor `u` such that every digit of the chain at position `chain` has weight `u * w` in `form`, where
    /// `w` is the weight of the digit in the chain. `None` if there is no such factor, or if the chain does not encode
    /// the index of axes counted up from 0.
    fn unit(&self, form: &LinearForm, chain: usize) -> Option<i128> {
        if !self.plans.get(*self.planned.get(chain)?)?.is_plain() {
            return None;
        }
        let parts = self.chain_form(self.chains.get(chain)?).terms;
        let weight_of =
            |digit: usize| form.terms.iter().find(|(d, _)| *d == digit).map(|(_, weight)| *weight);
        let (first, own) = parts.first()?;
        let unit = weight_of(*first)?.checked_div(*own)?;
        let all = parts.iter().all(|(digit, own)| weight_of(*digit) == own.checked_mul(unit));
        (all && unit > 0).then_some(unit)
    }

    /// Number of values of the chain at position `chain` of `chains`: the product of the extents of the axes that the
    /// chain encodes. `None` if an extent is symbolic, or the product overflows.
    fn count(&self, chain: usize) -> Option<i128> {
        let axes = &self.chains.get(chain)?.axes;
        axes.iter().try_fold(1_i128, |n, axis| n.checked_mul(self.extents.get(*axis)?.as_const()?))
    }
}
