//! Proofs that sums over symbols are non-negative. A sum is tested at the ends of the range of a factor in which it is
//! linear or monotonic; the ranges of other factors are bisected. Quotients are replaced by their rational bounds.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::division::divide;
use super::sums::CheckerContext;
use super::terms::{Factor, Factors, Sum};
use crate::expr::ExprError;

/// Maximum number of times that the most deeply nested quotients of a sum are replaced by their bounds in one proof; a
/// proof that needs more fails.
pub(super) const MAX_RELAXATIONS: usize = 6;
/// Maximum number of distinct factors of a sum that is tested at the ends of their ranges; a sum with more factors is
/// not proven by this test.
const MAX_FACTORS: usize = 8;
/// Maximum number of sums that one call of `holds_at_ends` examines; a test that needs more fails.
const MAX_QUESTIONS: u32 = 400;

/// Inclusive bounds `(least, greatest)` of each factor of a sum. No bound is negative.
type FactorBounds = BTreeMap<Factor, (i128, i128)>;

/// Coefficients of a sum as a polynomial in one of its factors `f`: position `k` is the coefficient of `f^k`.
struct PowerCoefficients(Vec<Sum>);

impl PowerCoefficients {
    fn of(sum: &Sum, factor: &Factor) -> Result<Self, ExprError> {
        let mut powers = alloc::vec![Sum::default()];
        for (factors, coefficient) in sum.terms() {
            let (mut left, mut power) = (factors.clone(), 0);
            while let Some(less) = left.without(factor) {
                (left, power) = (less, power + 1);
            }
            powers.resize(powers.len().max(power + 1), Sum::default());
            if let Some(part) = powers.get_mut(power) {
                part.put(&left, coefficient)?;
            }
        }
        Ok(Self(powers))
    }

    fn is_straight(&self) -> bool {
        self.0.len() < 3
    }

    /// Value of the sum with the factor of the polynomial replaced by `value`.
    fn at(&self, value: &Sum) -> Result<Sum, ExprError> {
        let mut sum = Sum::default();
        for part in self.0.iter().rev() {
            sum = sum.times(value)?.plus_owned(part)?;
        }
        Ok(sum)
    }
}

impl CheckerContext<'_> {
    /// True if a sum over symbols is proven non-negative for every combination of values of its factors within the
    /// bounds of these factors.
    pub(super) fn holds_at_ends(&self, sum: &Sum) -> Result<bool, ExprError> {
        let mut ends = FactorBounds::new();
        for factor in sum.factors() {
            if !ends.contains_key(factor) {
                ends.insert(factor.clone(), self.factor_bounds(factor)?);
            }
        }
        let mut left = MAX_QUESTIONS;
        Ok(ends.len() <= MAX_FACTORS && holds(sum, &ends, &mut left).unwrap_or(false))
    }

    /// Sum whose non-negativity implies that of `sum`, in which all quotients of the deepest nesting level are replaced
    /// by their bounds. `None` if `sum` has no quotients, or is not linear in one of the quotients.
    pub(super) fn relaxed(&self, sum: &Sum) -> Result<Option<Sum>, ExprError> {
        let Some(level) = sum.factors().map(Factor::depth).max().filter(|depth| *depth > 0) else {
            return Ok(None);
        };
        let mut sum = sum.clone();
        loop {
            let deepest = sum.factors().filter(|factor| factor.depth() >= level).max();
            let Some(factor) = deepest.cloned() else { return Ok(Some(sum)) };
            let Some(weakened) = self.weakened(&sum, &factor)? else { return Ok(None) };
            sum = weakened;
        }
    }

    /// Sum whose non-negativity implies that of `sum`, in which the quotient `q = x // d` is replaced by a bound from
    /// `x - d + 1 <= d*q <= x`. If `d` does not divide the weight of `q`, the sum is scaled by `d`: an integer is at
    /// least 0 if `d` times the integer exceeds `-d`. `None` if the sum is not linear in `q`.
    fn weakened(&self, sum: &Sum, quotient: &Factor) -> Result<Option<Sum>, ExprError> {
        let Some((x, d)) = quotient.division() else { return Ok(None) };
        let PowerCoefficients(powers) = PowerCoefficients::of(sum, quotient)?;
        let [rest, weight] = powers.as_slice() else { return Ok(None) };
        let lower = x.minus(&d)?.plus_owned(&Sum::constant(1))?;
        let (blocks, remainder) = divide(weight, &d)?;
        if remainder.is_zero()
            && let Some(is_positive) = self.sign(&blocks)?
        {
            let bound = blocks.times(if is_positive { &lower } else { x })?;
            return Ok(Some(rest.plus(&bound)?));
        }
        let (mut up, mut down) = (Sum::default(), Sum::default());
        for (factors, coefficient) in weight.terms() {
            (if coefficient > 0 { &mut up } else { &mut down }).put(factors, coefficient)?;
        }
        let whole = rest.times(&d)?.plus_owned(&up.times(&lower)?)?.plus_owned(&down.times(x)?)?;
        Ok(Some(whole.plus_owned(&d)?.minus_owned(&Sum::constant(1))?))
    }

    /// Sign of a sum: `Some(true)` if the sum is proven never negative, `Some(false)` if it is proven never positive,
    /// `None` if neither is proven. A sum with digits is decided only if all its coefficients have the same sign.
    pub(super) fn sign(&self, sum: &Sum) -> Result<Option<bool>, ExprError> {
        if sum.terms().all(|(_, coefficient)| coefficient > 0) {
            return Ok(Some(true));
        }
        if sum.terms().all(|(_, coefficient)| coefficient < 0) {
            return Ok(Some(false));
        }
        if sum.has_digits() {
            return Ok(None);
        }
        for is_positive in [true, false] {
            let signed = if is_positive { sum.clone() } else { Sum::default().minus_owned(sum)? };
            if self.least(&signed)? >= 0 || self.holds_at_ends(&signed)? {
                return Ok(Some(is_positive));
            }
        }
        Ok(None)
    }
}

/// Integer lower bound of a sum within the bounds of its factors: the sum of the minima of its terms.
fn least(sum: &Sum, ends: &FactorBounds) -> Result<i128, ExprError> {
    let mut total = 0_i128;
    for (factors, coefficient) in sum.terms() {
        let mut part = coefficient;
        for factor in factors.iter() {
            let (low, high) = ends.get(factor).ok_or(ExprError::Unbound)?;
            let end = if coefficient > 0 { low } else { high };
            part = part.checked_mul(*end).ok_or(ExprError::Overflow)?;
        }
        total = total.checked_add(part).ok_or(ExprError::Overflow)?;
    }
    Ok(total)
}

/// True if a sum is proven non-negative for all values of its factors within `ends`. `left` is the number of sums that
/// may still be examined, and each sum decreases it by 1; [`ExprError::TooLarge`] at 0.
fn holds(sum: &Sum, ends: &FactorBounds, left: &mut u32) -> Result<bool, ExprError> {
    *left = left.checked_sub(1).ok_or(ExprError::TooLarge)?;
    if least(sum, ends)? >= 0 {
        return Ok(true);
    }
    let Some(factor) = most_frequent(sum) else { return Ok(false) };
    let (low, high) = ends.get(&factor).copied().ok_or(ExprError::Unbound)?;
    let powers = PowerCoefficients::of(sum, &factor)?;
    let mut at = |value: i128| holds(&powers.at(&Sum::constant(value))?, ends, left);
    if powers.is_straight() || high - low < 2 {
        return Ok(at(low)? && at(high)?);
    }
    let between = |low: i128, high: i128| {
        let mut own = ends.clone();
        own.insert(factor.clone(), (low, high));
        own
    };
    // If a step of the factor always changes the sum in the same direction, the minimum is at one end.
    let next = Sum::factor(factor.clone(), 1).plus_owned(&Sum::constant(1))?;
    let step = powers.at(&next)?.minus_owned(sum)?;
    for (step, end) in [(step.clone(), low), (Sum::default().minus_owned(&step)?, high)] {
        if holds(&step, &between(low, high - 1), left)? {
            return holds(&powers.at(&Sum::constant(end))?, ends, left);
        }
    }
    let middle = low + (high - low) / 2;
    Ok(holds(sum, &between(low, middle), left)? && holds(sum, &between(middle + 1, high), left)?)
}

/// Factor that occurs most often in a sum, where `f^k` counts as `k` occurrences; `None` if each factor occurs only
/// once.
fn most_frequent(sum: &Sum) -> Option<Factor> {
    let mut counts: BTreeMap<&Factor, usize> = BTreeMap::new();
    for factor in sum.factors() {
        *counts.entry(factor).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 1).map(|(factor, _)| factor.clone())
}

impl Factors {
    /// Product of the factors without one occurrence of `factor`; `None` if `factor` does not occur.
    pub(super) fn without(&self, factor: &Factor) -> Option<Self> {
        self.divided_by(&Self::One(factor.clone()))
    }
}
