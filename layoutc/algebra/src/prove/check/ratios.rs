//! Floor quotients whose divisor is a sum over symbols.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::division::divide;
use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use crate::expr::ExprError;

impl CheckerContext<'_> {
    /// Floor quotient and remainder `(quotient + rest // b, rest % b)`, for a `rest // b` that is not known to be
    /// constant. A nested quotient in `rest`, or a common factor of `rest` and `b`, simplifies `rest // b`; otherwise
    /// it becomes a `Factor::Ratio`. [`ExprError::Unbound`] if neither simplifies it, and none of `rest`, `rest + b`
    /// and `rest + 2*b` is proven non-negative.
    pub(super) fn ratio(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
    ) -> Result<(Sum, Sum), ExprError> {
        self.step()?;
        if let Some(part) = self.merged(rest, b)? {
            let remainder = rest.minus(&part.times(b)?)?;
            return Ok((quotient.plus(&part)?, remainder));
        }
        for unit in common(rest, b)? {
            let (high, low) = divide(rest, &unit)?;
            let (outer, excess) = divide(b, &unit)?;
            if !excess.is_zero() || high.is_zero() || !self.stays_inside(&low, &unit)? {
                continue;
            }
            let part = self.divmod(&high, &outer)?.0;
            let remainder = rest.minus(&part.times(b)?)?;
            return Ok((quotient.plus(&part)?, remainder));
        }
        // Offset the dividend by up to two multiples of `b` to make it non-negative.
        for blocks in [0, 1, 2] {
            let moved = rest.plus(&b.times(&Sum::constant(blocks))?)?;
            if self.never_negative(&moved)? {
                let ratio = Sum::factor(Factor::Ratio(Arc::new(moved), Arc::new(b.clone())), 1);
                let part = ratio.minus_owned(&Sum::constant(blocks))?;
                let remainder = rest.minus(&part.times(b)?)?;
                return Ok((quotient.plus(&part)?, remainder));
            }
        }
        Err(ExprError::Unbound)
    }

    /// Floor quotient `rest // b` for `rest = c + x // a`, computed as `(a*c + x) // (a*b)`. `None` if no quotient
    /// `x // a` occurs in `rest` with coefficient 1.
    pub(super) fn merged(&self, rest: &Sum, b: &Sum) -> Result<Option<Sum>, ExprError> {
        let nested = rest.terms().find_map(|(factors, coefficient)| match &**factors {
            [factor] if coefficient == 1 => Some((factor, factor.division()?)),
            _ => None,
        });
        let Some((factor, (x, a))) = nested else { return Ok(None) };
        let addend = rest.minus(&Sum::factor(factor.clone(), 1))?;
        let whole = addend.times(&a)?.plus_owned(x)?;
        Ok(Some(self.divmod(&whole, &a.times(b)?)?.0))
    }
}

/// Common factors of `b` and single terms of `rest`, in descending order and without repetition. The factor 1 and `b`
/// itself are omitted.
fn common(rest: &Sum, b: &Sum) -> Result<Vec<Sum>, ExprError> {
    let mut units: Vec<Sum> = Vec::new();
    for (factors, coefficient) in rest.terms() {
        let mut unit = Sum::constant(
            b.terms().fold(coefficient.saturating_abs(), |n, (_, c)| crate::expr::gcd(c, n)),
        );
        for factor in factors.iter() {
            let next = unit.times(&Sum::factor(factor.clone(), 1))?;
            if divide(b, &next)?.1.is_zero() {
                unit = next;
            }
        }
        if unit.as_constant() != Some(1) && unit != *b && !units.contains(&unit) {
            units.push(unit);
        }
    }
    // The greatest first: by symbols, then by coefficient.
    units.sort_by(|x, y| y.lead().cmp(&x.lead()));
    Ok(units)
}
