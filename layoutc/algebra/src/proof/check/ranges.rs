//! The least and the greatest values of sums, and what never goes below another: by the digits, by what is cut up, and
//! by quotients weakened to what they divide.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::parts::remainders;
use super::sums::{Domain, gcd};
use super::terms::{Factor, Sum};
use crate::expr::ExprError;

/// How often the quotients of a sum are weakened to what they divide.
const MAX_RELAXATIONS: usize = 4;

/// Numbers that are never negative, each with its greatest value.
pub(super) type Bounded = Rc<[(Sum, Sum)]>;

/// `(scale, relaxed)` with `scale * sum >= relaxed`: every lone quotient weakened to what it divides, as
/// `k * (a // k)` lies in `a - k + 1 ..= a`. `None` when there is no quotient.
fn relax(sum: &Sum) -> Result<Option<(i128, Sum)>, ExprError> {
    // The most nested first: what it leaves may cancel against the others.
    let alone = sum.terms().filter(|(factors, _)| factors.len() == 1);
    let deepest = alone.flat_map(|(factors, _)| factors.iter()).map(Factor::depth).max();
    if deepest.is_none_or(|depth| depth == 0) {
        return Ok(None);
    }
    let chosen = |factors: &[Factor]| matches!(factors, [factor] if factor.depth() > 0 && Some(factor.depth()) == deepest);
    let mut scale = 1_i128;
    for (factors, _) in sum.terms().filter(|(factors, _)| chosen(factors)) {
        if let [Factor::Quotient(_, k)] = &**factors {
            scale = (scale / gcd(scale, *k)).checked_mul(*k).ok_or(ExprError::Overflow)?;
        }
    }
    if scale == 1 {
        return Ok(None);
    }
    let mut relaxed = Sum::default();
    for (factors, coefficient) in sum.terms() {
        let coefficient = coefficient.checked_mul(scale).ok_or(ExprError::Overflow)?;
        match &**factors {
            [Factor::Quotient(a, k)] if chosen(factors) => {
                let slack = if coefficient > 0 { k - 1 } else { 0 };
                let bound = a.minus(&Sum::constant(slack))?;
                relaxed = relaxed.plus(&bound.times(&Sum::constant(coefficient / k))?)?;
            }
            _ => relaxed.put(factors, coefficient)?,
        }
    }
    Ok(Some((scale, relaxed)))
}

/// Whole numbers: `sum >= bound` where `scale * sum > scale * (bound - 1)`.
fn scaled_bound(bound: i128, scale: i128) -> Result<i128, ExprError> {
    let below = bound.checked_sub(1).and_then(|bound| bound.checked_mul(scale));
    below.and_then(|bound| bound.checked_add(1)).ok_or(ExprError::Overflow)
}

impl Domain<'_> {
    /// Least and greatest value over the digits: sums over symbols.
    pub(super) fn span(&self, sum: &Sum) -> Result<(Sum, Sum), ExprError> {
        let (mut low, mut high) = (Sum::default(), Sum::default());
        for (factors, coefficient) in sum.terms() {
            let mut reach = Sum::constant(coefficient);
            let mut digits = 0;
            for factor in factors.iter() {
                reach = match factor {
                    Factor::Digit(d) => {
                        digits += 1;
                        reach.times(&self.greatest(*d)?)?
                    }
                    // A quotient that holds digits runs from 0 to its bound.
                    Factor::Quotient(x, _) if x.holds_digits() => {
                        digits += 1;
                        reach.times(&Sum::constant(self.factor_bounds(factor)?.1))?
                    }
                    other => reach.times(&Sum::factor(other.clone(), 1))?,
                };
            }
            if digits == 0 {
                low = low.and(&reach)?;
                high = high.and(&reach)?;
            } else if coefficient < 0 {
                low = low.and(&reach)?;
            } else {
                high = high.and(&reach)?;
            }
        }
        Ok((low, high))
    }

    /// Whether a sum over symbols is at least 0 for all their values.
    pub(super) fn at_least_zero(&self, sum: &Sum) -> Result<bool, ExprError> {
        if let Some(value) = sum.as_constant() {
            return Ok(value >= 0);
        }
        let (mut sum, mut bound) = (sum.clone(), 0_i128);
        for _ in 0..MAX_RELAXATIONS {
            if self.least(&sum)? >= bound {
                return Ok(true);
            }
            let Some((scale, relaxed)) = relax(&sum)? else { return Ok(false) };
            bound = scaled_bound(bound, scale)?;
            sum = relaxed;
        }
        Ok(self.least(&sum)? >= bound)
    }

    fn least(&self, sum: &Sum) -> Result<i128, ExprError> {
        let mut total = 0_i128;
        for (factors, coefficient) in sum.terms() {
            let mut bounds = (1_i128, 1_i128);
            for factor in factors.iter() {
                let (low, high) = self.factor_bounds(factor)?;
                let product = |x: i128, y: i128| x.checked_mul(y).ok_or(ExprError::Overflow);
                bounds = (product(bounds.0, low)?, product(bounds.1, high)?);
            }
            let worst = if coefficient > 0 { bounds.0 } else { bounds.1 };
            let part = worst.checked_mul(coefficient).ok_or(ExprError::Overflow)?;
            total = total.checked_add(part).ok_or(ExprError::Overflow)?;
        }
        Ok(total)
    }

    /// Bounds of a factor; never negative.
    fn factor_bounds(&self, factor: &Factor) -> Result<(i128, i128), ExprError> {
        self.step()?;
        match factor {
            Factor::Digit(d) => {
                let high = self.greatest(*d)?;
                let high = -self.least(&Sum::default().minus(&high)?)?;
                Ok((0, high.max(0)))
            }
            Factor::Unit(k) => {
                let symbol = usize::try_from(*k)
                    .ok()
                    .and_then(|k| self.symbols.get(k))
                    .ok_or(ExprError::Unbound)?;
                let least = symbol.min.max(0).saturating_add(symbol.multiple - 1) / symbol.multiple;
                Ok((least, (symbol.max / symbol.multiple).max(least)))
            }
            Factor::Quotient(a, k) => {
                let (_, high) = self.span(a)?;
                let low = if a.holds_digits() { 0 } else { self.least(a)?.max(0) };
                let high = -self.least(&Sum::default().minus(&high)?)?;
                Ok((low.div_euclid(*k), high.max(low).div_euclid(*k)))
            }
        }
    }

    /// Axes and digits that are cut up, spelled out, each from 0 to a greatest value that its parts may exceed.
    pub(super) fn bounded(&self) -> Result<Bounded, ExprError> {
        let changes = self.changes.get();
        if let Some((known, bounded)) = &*self.bounds.borrow()
            && *known == changes
        {
            return Ok(Rc::clone(bounded));
        }
        // To spell out a quotient asks for this again.
        if self.is_bounding.replace(true) {
            return Ok(Rc::default());
        }
        let bounded = self.all_bounded();
        self.is_bounding.set(false);
        let bounded: Bounded = bounded?.into();
        *self.bounds.borrow_mut() = Some((changes, Rc::clone(&bounded)));
        Ok(bounded)
    }

    fn all_bounded(&self) -> Result<Vec<(Sum, Sum)>, ExprError> {
        let mut bounded = Vec::new();
        for (axis, last) in self.axes.iter().zip(&self.last) {
            bounded.push((self.expand(axis)?, last.clone()));
        }
        for (number, last) in &self.fused {
            bounded.push((self.expand(number)?, last.clone()));
        }
        let made: Vec<(Sum, Sum)> = self
            .digits
            .borrow()
            .iter()
            .filter_map(|digit| Some((digit.made_of.clone()?, digit.greatest.clone())))
            .collect();
        for (parts, greatest) in made {
            bounded.push((self.expand(&parts)?, greatest));
        }
        Ok(bounded)
    }

    /// Whether `a >= b` for all digits and symbols.
    pub(super) fn never_below(&self, a: &Sum, b: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(&a.minus(b)?)?;
        self.at_least_zero(&low)
    }

    /// Whether the sum is at least 0 on every element: by its digits, or as an axis or a digit that is cut up (or its
    /// distance to the end), whose range is known better.
    pub(super) fn never_negative(&self, sum: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(sum)?;
        if self.at_least_zero(&low)? {
            return Ok(true);
        }
        let (mut sum, mut bound) = (self.expand(sum)?, 0_i128);
        for _ in 0..=MAX_RELAXATIONS {
            if self.reaches(&sum, bound)? {
                return Ok(true);
            }
            // What quotients are weakened to may cancel against the rest.
            let Some((scale, relaxed)) = relax(&sum)? else { return Ok(false) };
            (sum, bound) = (relaxed, scaled_bound(bound, scale)?);
        }
        Ok(false)
    }

    /// Whether a sum that is spelled out is at least `bound` on every element: by its digits, or once what is bounded is
    /// taken out, one number after another: `c * number` is at least 0 for `c > 0`, else `c * last`.
    fn reaches(&self, sum: &Sum, bound: i128) -> Result<bool, ExprError> {
        let mut rest = sum.minus(&Sum::constant(bound))?;
        if self.at_least_zero(&self.span(&rest)?.0)? {
            return Ok(true);
        }
        for (number, last) in remainders(sum)?.iter().chain(&*self.bounded()?) {
            let Some(factor) = rest.factor_of(number) else { continue };
            rest = rest.less(&number.times(&Sum::constant(factor))?)?;
            if factor < 0 {
                rest = rest.and(&last.times(&Sum::constant(factor))?)?;
            }
            if self.at_least_zero(&self.span(&rest)?.0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `0 <= sum < slots` on every element.
    pub(super) fn stays_inside(&self, sum: &Sum, slots: &Sum) -> Result<bool, ExprError> {
        let above = slots.minus(sum)?.less(&Sum::constant(1))?;
        Ok(self.never_negative(sum)? && self.never_negative(&above)?)
    }
}
