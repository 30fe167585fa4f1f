//! Floor quotients and remainders of sums in the checker. The dividend is split into the terms that are multiples of
//! the divisor, and the rest. If the quotient of the rest is provably constant, the result is a sum; otherwise that
//! quotient becomes an indivisible factor.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::sums::CheckerContext;
use super::terms::{Factor, Factors, Sum};
use crate::expr::ExprError;
use crate::expr::gcd;

/// Maximum number of terms of the quotient in a long division by a sum of several terms; beyond it the division fails
/// with `ExprError::TooLarge`.
const MAX_DIVISIONS: usize = 256;
/// Maximum nesting depth of range checks inside divisions of sums with symbols. A deeper check is not made, and its
/// quotient counts as not constant.
const MAX_NESTED: u32 = 3;

/// Long division of `a` by the leading term of `b` ([`Sum::lead`]): `(quotient, rest)` with `a = b * quotient + rest`,
/// where that term divides no term of `rest`. [`ExprError::Divisor`] for the divisor 0.
pub(super) fn divide(a: &Sum, b: &Sum) -> Result<(Sum, Sum), ExprError> {
    let (by, k) = b.lead().ok_or(ExprError::Divisor)?;
    if b.len() == 1 {
        return a.split(by, k);
    }
    let (mut quotient, mut rest) = (Sum::default(), a.clone());
    for _ in 0..MAX_DIVISIONS {
        let found = rest.terms().find_map(|(factors, coefficient)| {
            let left = factors.divided_by(by).filter(|_| coefficient % k == 0)?;
            Some(Sum::single(left, coefficient / k))
        });
        let Some(term) = found else { return Ok((quotient, rest)) };
        rest = rest.minus_owned(&term.times(b)?)?;
        quotient = quotient.plus_owned(&term)?;
    }
    Err(ExprError::TooLarge)
}

/// Pairs `(remainder, greatest)`, one for each quotient `x // k` in the sum: the remainder `x - k * (x // k)`, and its
/// greatest value `k - 1`.
pub(super) fn remainders(sum: &Sum) -> Result<Vec<(Sum, Sum)>, ExprError> {
    let mut remainders = Vec::new();
    for (factors, _) in sum.terms() {
        for factor in factors.iter() {
            let Some((x, d)) = factor.division() else { continue };
            let blocks = Sum::factor(factor.clone(), 1).times(&d)?;
            let remainder = (x.minus(&blocks)?, d.minus_owned(&Sum::constant(1))?);
            if !remainders.contains(&remainder) {
                remainders.push(remainder);
            }
        }
    }
    Ok(remainders)
}

impl CheckerContext<'_> {
    /// Floor quotient and remainder `(a // b, a % b)` as sums. If the terms of `a` do not determine the quotient,
    /// digits of `a` are replaced by their definitions; if that fails, the quotient becomes a factor.
    /// [`ExprError::Divisor`] if `b` contains digits, is not proven at least 1, or has a leading coefficient
    /// ([`Sum::lead`]) below 1.
    pub(super) fn divmod(&self, a: &Sum, b: &Sum) -> Result<(Sum, Sum), ExprError> {
        self.step()?;
        if let (Some(value), Some(k)) = (a.as_constant(), b.as_constant().filter(|k| *k > 0)) {
            return Ok((Sum::constant(value.div_euclid(k)), Sum::constant(value.rem_euclid(k))));
        }
        let (by, k) = b.lead().ok_or(ExprError::Divisor)?;
        if k < 1 || b.has_digits() || !self.at_least_zero(&b.minus(&Sum::constant(1))?)? {
            return Err(ExprError::Divisor);
        }
        let mut spelled = None;
        loop {
            let a = spelled.as_ref().unwrap_or(a);
            let (quotient, rest) = divide(a, b)?;
            if rest.is_zero() {
                return Ok((quotient, rest));
            }
            if let Some(parts) = self.divide_exact(&quotient, &rest, b)? {
                return Ok(parts);
            }
            if let Some(parts) = self.reduce_coefficients(&quotient, &rest, b)? {
                return Ok(parts);
            }
            match self.expand_one(a, by, k)? {
                Some(expanded) => spelled = Some(expanded),
                None if by.is_empty() && self.cut(&rest, k)? => {}
                None if by.is_empty() => return self.quotient(&quotient, &rest, k),
                None => return self.ratio(&quotient, &rest, b),
            }
        }
    }

    /// Floor quotient and remainder of `b * quotient + rest` by `b`, for a constant `b`. Multiples of `b` are moved
    /// from the coefficients of `rest` to the quotient, as in `9*x = 8*x + x` for 8. `None` unless `rest // b` is then
    /// provably constant.
    fn reduce_coefficients(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        let Some(k) = b.as_constant() else { return Ok(None) };
        for middle in [k - 1, k / 2] {
            let (mut whole, mut left) = (quotient.clone(), Sum::default());
            for (factors, coefficient) in rest.terms() {
                let low = coefficient.rem_euclid(k);
                let low = if low > middle { low - k } else { low };
                whole.put(factors, (coefficient - low) / k)?;
                left.put(factors, low)?;
            }
            if left != *rest
                && let Some(parts) = self.divide_exact(&whole, &left, b)?
            {
                return Ok(Some(parts));
            }
        }
        Ok(None)
    }

    /// Floor quotient and remainder of `b * quotient + rest` by `b`, if `rest // b` is provably constant; `None`
    /// otherwise.
    fn divide_exact(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        if let Some(parts) = self.in_block(quotient, rest, b, self.span(rest)?)? {
            return Ok(Some(parts));
        }
        // An axis, or a subdivided digit, never exceeds its own extent.
        for (number, last) in self.known_ranges()?.iter().chain(&remainders(rest)?) {
            let others = rest.minus(number)?;
            if number.as_constant().is_none() && others.as_constant().is_some() {
                let span = (others.clone(), others.plus(last)?);
                if let Some(parts) = self.in_block(quotient, rest, b, span)? {
                    return Ok(Some(parts));
                }
            }
        }
        if rest.has_symbols() || b.has_symbols() {
            return self.in_block_of_symbols(quotient, rest, b);
        }
        Ok(None)
    }

    /// Floor quotient and remainder of `b * quotient + rest` by `b` for operands with symbols. The result is exact if
    /// `rest` is proven to be in `0..b` or in `-b..0`; otherwise `None`.
    fn in_block_of_symbols(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        // The range checks may call this function again.
        if self.nested.get() >= MAX_NESTED {
            return Ok(None);
        }
        self.nested.set(self.nested.get() + 1);
        let mut found = None;
        for blocks in [0, 1] {
            let moved = b.times(&Sum::constant(blocks)).and_then(|by| rest.plus(&by));
            match moved.and_then(|moved| Ok((self.stays_inside(&moved, b)?, moved))) {
                Ok((true, moved)) => {
                    found =
                        Some(quotient.minus(&Sum::constant(blocks)).map(|whole| (whole, moved)));
                    break;
                }
                Ok(_) => {}
                Err(error) => found = Some(Err(error)),
            }
        }
        self.nested.set(self.nested.get() - 1);
        found.transpose()
    }

    /// Floor quotient and remainder of `b * quotient + rest` by `b`, if `rest // b` is proven to have one value for all
    /// of the inclusive range `low..=high` of `rest`; `None` otherwise.
    fn in_block(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
        (low, high): (Sum, Sum),
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        if self.at_least_zero(&low)?
            && self.at_least_zero(&b.minus(&high)?.minus_owned(&Sum::constant(1))?)?
        {
            return Ok(Some((quotient.clone(), rest.clone())));
        }
        if let (Some(low), Some(high), Some(k)) =
            (low.as_constant(), high.as_constant(), b.as_constant())
            && low.div_euclid(k) == high.div_euclid(k)
        {
            let whole = Sum::constant(low.div_euclid(k));
            return Ok(Some((quotient.plus(&whole)?, rest.minus(&whole.times(b)?)?)));
        }
        Ok(None)
    }

    /// Sum equal to `a`, in which one term is expanded: its first factor with a definition is replaced by the
    /// definition. The term is the one with the largest absolute coefficient among the terms with such a factor. If the
    /// divisor `k * by` is the constant `k`, terms whose coefficient is a multiple of `k` are not expanded. `None` if
    /// there is no term to expand.
    fn expand_one(&self, a: &Sum, by: &Factors, k: i128) -> Result<Option<Sum>, ExprError> {
        let crossing = a.terms().filter(|(factors, coefficient)| {
            (!by.is_empty() || coefficient % k != 0)
                && factors.iter().any(|f| self.has_definition(f))
        });
        let heaviest = crossing.max_by_key(|(_, coefficient)| coefficient.unsigned_abs());
        let Some((factors, coefficient)) = heaviest else { return Ok(None) };
        let Some(term) = self.expand_first(factors, coefficient)? else { return Ok(None) };
        let without = a.minus(&Sum::single(factors.clone(), coefficient))?;
        Ok(Some(without.plus_owned(&term)?))
    }

    /// Splits a digit of `rest` at a multiple of the divisor `k`. The digit `d`, with a weight `w` that divides `k`, is
    /// defined as `(k/w) * high + low`, with a new digit `high` and a new digit `low` in `0..k/w`. The values of the
    /// new digits include all values of `d`. False if no digit of `rest` has such a weight and values of `k/w` or more.
    fn cut(&self, rest: &Sum, k: i128) -> Result<bool, ExprError> {
        for (factors, weight) in rest.terms() {
            let [factor @ Factor::Digit(digit)] = &**factors else { continue };
            let Some(greatest) = self.greatest(*digit)?.as_constant() else { continue };
            if weight < 1 || k % weight != 0 || greatest < k / weight || self.has_definition(factor)
            {
                continue;
            }
            let below = k / weight;
            let high = self.add_digit(Sum::constant(greatest / below), None);
            let low = self.add_digit(Sum::constant(below - 1), None);
            let parts = Sum::factor(Factor::Digit(high), below);
            let parts = parts.plus(&Sum::factor(Factor::Digit(low), 1))?;
            return Ok(self.define_digit(*digit, parts));
        }
        Ok(false)
    }

    /// Canonical form of the quotient `x // k`. Multiples of `k` are moved from the dividend to the result, as in
    /// `(9*x + y) // 4 = 2*x + (x + y) // 4`, so that the lower bound of the dividend is in `0..k`. If the lower bound
    /// contains symbols, the quotient remains as it is.
    fn canonical_quotient(&self, x: Sum, k: i128) -> Result<Sum, ExprError> {
        let (mut whole, mut rest) = (Sum::default(), Sum::default());
        for (factors, coefficient) in x.terms().filter(|(factors, _)| !factors.is_empty()) {
            whole.put(factors, coefficient / k)?;
            rest.put(factors, coefficient % k)?;
        }
        let Some(least) = self.span(&rest)?.0.as_constant() else {
            return Ok(Sum::factor(Factor::Quotient(Arc::new(x), k), 1));
        };
        let constant = x.constant_term();
        let blocks = constant.checked_add(least).ok_or(ExprError::Overflow)?.div_euclid(k);
        whole.put(&Factors::None, blocks)?;
        rest.put(&Factors::None, constant - blocks.checked_mul(k).ok_or(ExprError::Overflow)?)?;
        if rest.as_constant().is_some_and(|rest| (0..k).contains(&rest)) {
            return Ok(whole);
        }
        whole.plus(&Sum::factor(Factor::Quotient(Arc::new(rest), k), 1))
    }

    /// Pair `(high, g)` with `sum = g * high + low` and `low` in `0..g`, where `g > 1` divides `k`; `sum // k` then is
    /// `high // (k/g)`. `4*x + y` with `y < 4` gives `(x, 4)` for `k = 8`. `None` if the terms separate for no such
    /// `g`.
    fn without_low(&self, sum: &Sum, k: i128) -> Result<Option<(Sum, i128)>, ExprError> {
        let mut divisors: Vec<i128> = sum.terms().map(|(_, weight)| gcd(weight, k)).collect();
        divisors.retain(|g| *g > 1);
        divisors.sort_unstable_by(|a, b| b.cmp(a));
        divisors.dedup();
        for g in divisors {
            let (mut high, mut low) = (Sum::default(), Sum::default());
            for (factors, weight) in sum.terms() {
                let (part, weight) =
                    if weight % g == 0 { (&mut high, weight / g) } else { (&mut low, weight) };
                part.put(factors, weight)?;
            }
            // The constant is split between `high` and `low`.
            let constant = low.constant_term();
            high.put(&Factors::None, constant.div_euclid(g))?;
            low.put(&Factors::None, -(constant.div_euclid(g) * g))?;
            let (least, most) = self.span(&low)?;
            if let (Some(least), Some(most)) = (least.as_constant(), most.as_constant())
                && least >= 0
                && most < g
            {
                return Ok(Some((high, g)));
            }
        }
        Ok(None)
    }

    /// Floor quotient and remainder of `k * quotient + rest` by `k`. If no rule simplifies `rest // k`, it becomes a
    /// `Factor::Quotient`. [`ExprError::Unbound`] if `rest` has no provable lower bound.
    fn quotient(&self, quotient: &Sum, rest: &Sum, k: i128) -> Result<(Sum, Sum), ExprError> {
        let low = self.span(rest)?.0;
        if !self.at_least_zero(&low)? {
            // Offset the dividend by the multiple of `k` below its minimum.
            let by = Sum::constant(k);
            let (blocks, left) = divide(&low, &by)?;
            let below = match left.as_constant() {
                Some(left) => blocks.plus_owned(&Sum::constant(left.div_euclid(k)))?,
                None => Sum::constant(self.least(&low)?.div_euclid(k)),
            };
            let moved = rest.minus(&below.times(&by)?)?;
            if !self.at_least_zero(&self.span(&moved)?.0)? {
                return Err(ExprError::Unbound);
            }
            return self.quotient(&quotient.plus(&below)?, &moved, k);
        }
        if rest.factors().any(|factor| matches!(factor, Factor::Ratio(..)))
            && let Some(part) = self.merged(rest, &Sum::constant(k))?
        {
            let remainder = rest.minus(&part.times(&Sum::constant(k))?)?;
            return Ok((quotient.plus(&part)?, remainder));
        }
        if let Some((high, g)) = self.without_low(rest, k)? {
            let part = self.divmod(&high, &Sum::constant(k / g))?.0;
            let remainder = rest.minus(&part.times(&Sum::constant(k))?)?;
            return Ok((quotient.plus(&part)?, remainder));
        }
        let nested = rest.terms().find_map(|(factors, coefficient)| match &**factors {
            [factor @ Factor::Quotient(x, a)] if coefficient == 1 => Some((factor, x, *a)),
            _ => None,
        });
        // (b + x // a) // k = (a*b + x) // (a*k)
        let part = match nested {
            Some((factor, x, a)) => {
                let addend = rest.minus(&Sum::factor(factor.clone(), 1))?;
                let whole = addend.times(&Sum::constant(a))?.plus(x)?;
                self.canonical_quotient(whole, a.checked_mul(k).ok_or(ExprError::Overflow)?)?
            }
            None => self.canonical_quotient(rest.clone(), k)?,
        };
        let remainder = rest.minus(&part.times(&Sum::constant(k))?)?;
        Ok((quotient.plus(&part)?, remainder))
    }
}
