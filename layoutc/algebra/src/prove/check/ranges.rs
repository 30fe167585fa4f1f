//! Bounds of sums, and proofs that sums are non-negative. They use the ranges of the digits, the known ranges
//! of axes and subdivided digits, and rational bounds of quotients.

use alloc::rc::Rc;
use alloc::vec::Vec;

use super::division::{divide, remainders};
use super::signs::MAX_RELAXATIONS;
use super::sums::CheckerContext;
use super::terms::{Factor, Sum};
use crate::expr::ExprError;

/// Pairs `(sum, greatest)`, one for each sum of digits that is known to be in `0..=greatest`, such as the index of an
/// axis.
pub(super) type KnownRanges = Rc<[(Sum, Sum)]>;

impl CheckerContext<'_> {
    /// Inclusive lower and upper bound of a sum over all values of its digits. The two bounds are sums over symbols.
    pub(super) fn span(&self, sum: &Sum) -> Result<(Sum, Sum), ExprError> {
        if !sum.has_symbols() && self.symbols.is_empty() {
            return self.constant_span(sum);
        }
        let (mut low, mut high) = (Sum::default(), Sum::default());
        for (counted, weight) in self.by_digits(sum)? {
            if counted.is_empty() {
                (low, high) = (low.plus_owned(&weight)?, high.plus_owned(&weight)?);
                continue;
            }
            let mut reach = Sum::constant(1);
            for factor in &counted {
                reach = reach.times(&self.high(factor)?)?;
            }
            let mut take = |weight: &Sum, is_positive: bool| {
                let end = if is_positive { &mut high } else { &mut low };
                *end = end.plus(&weight.times(&reach)?)?;
                Ok::<(), ExprError>(())
            };
            if let Some(is_positive) = self.sign(&weight)? {
                take(&weight, is_positive)?;
                continue;
            }
            for (factors, coefficient) in weight.terms() {
                take(&Sum::single(factors.clone(), coefficient), coefficient > 0)?;
            }
        }
        Ok((low, high))
    }

    /// Terms of a sum, as pairs `(product, weight)`, grouped by the digits that they contain. `product` is a list of
    /// the factors of a term that contain digits. `weight` is a sum over symbols, the total of the other factors of all
    /// terms with this product: `n*d + 2*d + n` gives `(d, n + 2)` and the empty product with the weight `n`.
    fn by_digits(&self, sum: &Sum) -> Result<Vec<(Vec<Factor>, Sum)>, ExprError> {
        self.step()?;
        let mut groups: Vec<(Vec<Factor>, Sum)> = Vec::new();
        for (factors, coefficient) in sum.terms() {
            let (counted, others): (Vec<Factor>, Vec<Factor>) = factors
                .iter()
                .cloned()
                .partition(|factor| Sum::factor(factor.clone(), 1).has_digits());
            let mut weight = Sum::constant(coefficient);
            for factor in others {
                weight = weight.times(&Sum::factor(factor, 1))?;
            }
            match groups.iter_mut().find(|(own, _)| *own == counted) {
                Some((_, sum)) => *sum = sum.plus(&weight)?,
                None => groups.push((counted, weight)),
            }
        }
        Ok(groups)
    }

    /// Inclusive upper bound of a factor that contains digits, as a sum over symbols.
    fn high(&self, factor: &Factor) -> Result<Sum, ExprError> {
        let (x, divisor) = match factor {
            Factor::Digit(digit) => return self.greatest(*digit),
            Factor::Unit(_) => return Ok(Sum::factor(factor.clone(), 1)),
            Factor::Quotient(x, k) => (x, Sum::constant(*k)),
            Factor::Ratio(x, d) => (x, Sum::clone(d)),
        };
        match self.divmod(&self.upper(x)?, &divisor) {
            Ok((quotient, _)) => Ok(quotient),
            Err(ExprError::Unbound) => Ok(Sum::constant(self.factor_bounds(factor)?.1)),
            Err(error) => Err(error),
        }
    }

    /// Inclusive upper bound of a sum, as a sum over symbols. If the sum is one of [`Self::known_ranges`] plus a sum
    /// over symbols, the bound is the greatest value of that range plus that sum. Otherwise it follows from the ranges
    /// of the digits.
    fn upper(&self, sum: &Sum) -> Result<Sum, ExprError> {
        for (number, last) in self.known_ranges()?.iter() {
            let others = sum.minus(number)?;
            if number.has_digits() && !others.has_digits() {
                return others.plus_owned(last);
            }
        }
        Ok(self.span(sum)?.1)
    }

    /// Inclusive lower and upper bound of a sum without symbols, over all values of its digits.
    fn constant_span(&self, sum: &Sum) -> Result<(Sum, Sum), ExprError> {
        let (mut low, mut high) = (Sum::default(), Sum::default());
        for (factors, coefficient) in sum.terms() {
            let mut reach = Sum::constant(coefficient);
            for factor in factors.iter() {
                reach = reach.times(&match factor {
                    Factor::Digit(d) => self.greatest(*d)?,
                    other => Sum::constant(self.factor_bounds(other)?.1),
                })?;
            }
            if factors.is_empty() {
                (low, high) = (low.plus_owned(&reach)?, high.plus_owned(&reach)?);
            } else if coefficient < 0 {
                low = low.plus_owned(&reach)?;
            } else {
                high = high.plus_owned(&reach)?;
            }
        }
        Ok((low, high))
    }

    /// True if a sum over symbols is proven non-negative for all values of the symbols, after at most
    /// [`MAX_RELAXATIONS`] replacements of quotients by their bounds.
    pub(super) fn at_least_zero(&self, sum: &Sum) -> Result<bool, ExprError> {
        if let Some(value) = sum.as_constant() {
            return Ok(value >= 0);
        }
        let mut sum = sum.clone();
        for _ in 0..MAX_RELAXATIONS {
            if self.least(&sum)? >= 0 || self.holds_at_ends(&sum)? {
                return Ok(true);
            }
            let Some(relaxed) = self.relaxed(&sum)? else { return Ok(false) };
            sum = relaxed;
        }
        Ok(self.least(&sum)? >= 0 || self.holds_at_ends(&sum)?)
    }

    /// Inclusive integer lower bound of a sum over symbols: the sum of the minima of its terms.
    pub(super) fn least(&self, sum: &Sum) -> Result<i128, ExprError> {
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

    /// Inclusive bounds `(least, greatest)` of a factor, over all values of its digits and symbols. Every factor is
    /// non-negative.
    pub(super) fn factor_bounds(&self, factor: &Factor) -> Result<(i128, i128), ExprError> {
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
                let units = |value: i128| value / symbol.multiple.max(1);
                Ok((units(symbol.least()), units(symbol.greatest())))
            }
            Factor::Quotient(a, k) => {
                let (low, high) = self.ends(a)?;
                Ok((low.div_euclid(*k), high.div_euclid(*k)))
            }
            Factor::Ratio(a, d) => {
                let (low, high) = self.ends(a)?;
                let least = self.least(d)?.max(1);
                let most = -self.least(&Sum::default().minus(d)?)?;
                Ok((low / most.max(1), high / least))
            }
        }
    }

    /// Inclusive bounds `(least, greatest)` of a sum that is the dividend of a quotient and therefore non-negative.
    fn ends(&self, number: &Sum) -> Result<(i128, i128), ExprError> {
        let (_, high) = self.span(number)?;
        let low = if number.has_digits() { 0 } else { self.least(number)?.max(0) };
        let high = -self.least(&Sum::default().minus(&high)?)?;
        Ok((low, high.max(low)))
    }

    /// Pairs `(sum, greatest)` of a sum of digits and its greatest value: for the index of each axis, for the index of
    /// each group of fused axes, and for each digit with a definition, where `sum` is the definition. The ranges of the
    /// single digits may allow a greater value. Empty while the ranges are being computed.
    pub(super) fn known_ranges(&self) -> Result<KnownRanges, ExprError> {
        let changes = self.changes.get();
        if let Some((known, bounded)) = &*self.bounds.borrow()
            && *known == changes
        {
            return Ok(Rc::clone(bounded));
        }
        // Expanding a quotient re-enters this function.
        if self.is_bounding.replace(true) {
            return Ok(Rc::default());
        }
        let bounded = self.compute_ranges();
        self.is_bounding.set(false);
        let bounded: KnownRanges = bounded?.into();
        *self.bounds.borrow_mut() = Some((changes, Rc::clone(&bounded)));
        Ok(bounded)
    }

    fn compute_ranges(&self) -> Result<Vec<(Sum, Sum)>, ExprError> {
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

    /// True if `a >= b` is proven for all values of the digits and symbols.
    pub(super) fn never_below(&self, a: &Sum, b: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(&a.minus(b)?)?;
        self.at_least_zero(&low)
    }

    /// True if a sum is proven non-negative on every element: by the ranges of its digits, by the known ranges of
    /// axes and subdivided digits, or after quotients are replaced by rational bounds.
    pub(super) fn never_negative(&self, sum: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(sum)?;
        if self.at_least_zero(&low)? {
            return Ok(true);
        }
        let mut sum = self.expand(sum)?;
        for _ in 0..=MAX_RELAXATIONS {
            if self.reaches_zero(&sum)? {
                return Ok(true);
            }
            // Replaced quotients may cancel against other terms.
            let Some(relaxed) = self.relaxed(&sum)? else { return Ok(false) };
            sum = relaxed;
        }
        Ok(false)
    }

    /// True if an expanded sum is proven non-negative on every element. First the ranges of its digits are tried. Then
    /// parts `c * number` of the sum, with a known range `number` in `0..=last`, are replaced by their least value: 0
    /// for `c >= 0`, and `c * last` for `c <= 0`.
    fn reaches_zero(&self, sum: &Sum) -> Result<bool, ExprError> {
        let mut rest = sum.clone();
        if self.at_least_zero(&self.span(&rest)?.0)? {
            return Ok(true);
        }
        for (number, last) in remainders(sum)?.iter().chain(&*self.known_ranges()?) {
            let Some(factor) = self.weight_of(&rest, number)? else { continue };
            let Some(is_positive) = self.sign(&factor)? else { continue };
            rest = rest.minus_owned(&number.times(&factor)?)?;
            if !is_positive {
                rest = rest.plus_owned(&last.times(&factor)?)?;
            }
            if self.at_least_zero(&self.span(&rest)?.0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Factor by which `number` occurs in `sum`: 2 for `x + y` in `2*x + 2*y + z`. If no constant fits and `sum` has
    /// symbols, the factor is computed from one product of digits, the most deeply nested one in `number`: it is the
    /// weight of that product in `sum`, divided by its weight in `number`. `None` if `sum` lacks the product, or the
    /// division has a remainder.
    fn weight_of(&self, sum: &Sum, number: &Sum) -> Result<Option<Sum>, ExprError> {
        if let Some(factor) = sum.factor_of(number) {
            return Ok(Some(Sum::constant(factor)));
        }
        if !sum.has_symbols() {
            return Ok(None);
        }
        let depth = |counted: &[Factor]| counted.iter().map(Factor::depth).max();
        let lead = self.by_digits(number)?.into_iter().max_by_key(|(counted, _)| depth(counted));
        let Some((counted, own)) = lead.filter(|(counted, _)| !counted.is_empty()) else {
            return Ok(None);
        };
        let coefficient = self.by_digits(sum)?.into_iter().find(|(other, _)| *other == counted);
        let Some((_, coefficient)) = coefficient else { return Ok(None) };
        let (factor, remainder) = divide(&coefficient, &own)?;
        Ok((remainder.is_zero() && !factor.is_zero()).then_some(factor))
    }

    /// True if `0 <= sum < slots` is proven on every element.
    pub(super) fn stays_inside(&self, sum: &Sum, slots: &Sum) -> Result<bool, ExprError> {
        let above = slots.minus(sum)?.minus_owned(&Sum::constant(1))?;
        Ok(self.never_negative(sum)? && self.never_negative(&above)?)
    }
}
