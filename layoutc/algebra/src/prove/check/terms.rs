//! Polynomials of the checker, independent of the simplifier: a [`Sum`] has integer coefficients and products of
//! [`Factor`]s, which are digits, symbols and quotients.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Deref;

use crate::expr::ExprError;

/// Maximum number of terms of a sum; beyond it operations fail with `ExprError::TooLarge`.
const MAX_TERMS: usize = 4096;
/// Maximum number of terms that an addition inserts into a sum one by one. More terms are merged in one pass.
const FEW_TERMS: usize = 4;

/// Non-negative factor of a term: a digit, a symbol divided by its declared multiple (`Unit`), a floor quotient by a
/// constant, or a floor quotient by a sum over symbols (`Ratio`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Factor {
    Digit(usize),
    Unit(u32),
    Quotient(Arc<Sum>, i128),
    /// Floor quotient of the first sum by the second sum. The second is a sum over symbols that is at least 1.
    Ratio(Arc<Sum>, Arc<Sum>),
}

impl Factor {
    /// Dividend and divisor of a quotient factor; `None` for digits and symbols.
    pub(super) fn division(&self) -> Option<(&Sum, Sum)> {
        match self {
            Self::Digit(_) | Self::Unit(_) => None,
            Self::Quotient(x, k) => Some((x, Sum::constant(*k))),
            Self::Ratio(x, d) => Some((x, Sum::clone(d))),
        }
    }

    /// Nesting depth of quotients in the factor; 0 for digits and symbols, 1 for `d // 4` with a digit `d`.
    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Digit(_) | Self::Unit(_) => 0,
            Self::Quotient(x, _) => 1 + x.factors().map(Self::depth).max().unwrap_or(0),
            Self::Ratio(x, d) => {
                1 + x.factors().chain(d.factors()).map(Self::depth).max().unwrap_or(0)
            }
        }
    }
}

/// Product of factors, sorted, with repetition for powers; empty for a constant term. A single factor needs no
/// allocation.
#[derive(Debug, Clone)]
pub(super) enum Factors {
    None,
    One(Factor),
    Several(Arc<[Factor]>),
}

impl Factors {
    fn new(mut factors: Vec<Factor>) -> Self {
        if factors.len() < 2 {
            return factors.pop().map_or(Self::None, Self::One);
        }
        factors.sort();
        Self::Several(factors.into())
    }

    fn times(&self, other: &Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => Self::new(self.iter().chain(other.iter()).cloned().collect()),
        }
    }

    /// Quotient `self / by`: the product without one occurrence of each factor in `by`. `None` if one of these
    /// factors does not occur.
    pub(super) fn divided_by(&self, by: &Self) -> Option<Self> {
        if by.is_empty() {
            return Some(self.clone());
        }
        let mut left = self.to_vec();
        for factor in by.iter() {
            let at = left.iter().position(|own| own == factor)?;
            left.remove(at);
        }
        Some(Self::new(left))
    }
}

impl Deref for Factors {
    type Target = [Factor];

    fn deref(&self) -> &[Factor] {
        match self {
            Self::None => &[],
            Self::One(factor) => core::slice::from_ref(factor),
            Self::Several(factors) => factors,
        }
    }
}

impl PartialEq for Factors {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Factors {}

impl PartialOrd for Factors {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Factors {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

/// Sum of products of factors with nonzero integer coefficients, plus a constant, which may be 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sum {
    constant: i128,
    /// Terms that contain factors, as pairs of product and nonzero coefficient, sorted by product.
    rest: Vec<(Factors, i128)>,
}

impl PartialOrd for Sum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Sum {
    fn cmp(&self, other: &Self) -> Ordering {
        self.terms().cmp(other.terms())
    }
}

static NO_FACTORS: Factors = Factors::None;

impl Sum {
    pub(super) fn constant(value: i128) -> Self {
        Self { constant: value, rest: Vec::new() }
    }

    pub(super) fn factor(factor: Factor, coefficient: i128) -> Self {
        Self::single(Factors::One(factor), coefficient)
    }

    pub(super) fn single(factors: Factors, coefficient: i128) -> Self {
        if factors.is_empty() {
            return Self::constant(coefficient);
        }
        let rest = if coefficient == 0 { Vec::new() } else { alloc::vec![(factors, coefficient)] };
        Self { constant: 0, rest }
    }

    /// Nonzero terms as pairs of product and coefficient, sorted by product. The constant comes first, with the empty
    /// product.
    pub(super) fn terms(&self) -> impl Iterator<Item = (&Factors, i128)> {
        let constant = (self.constant != 0).then_some((&NO_FACTORS, self.constant));
        constant.into_iter().chain(self.rest.iter().map(|(f, coefficient)| (f, *coefficient)))
    }

    /// Factors of all terms, in the order of the terms, with repetition.
    pub(super) fn factors(&self) -> impl Iterator<Item = &Factor> {
        self.rest.iter().flat_map(|(factors, _)| factors.iter())
    }

    pub(super) fn len(&self) -> usize {
        self.rest.len() + usize::from(self.constant != 0)
    }

    pub(super) fn is_zero(&self) -> bool {
        self.as_constant() == Some(0)
    }

    pub(super) fn as_constant(&self) -> Option<i128> {
        self.rest.is_empty().then_some(self.constant)
    }

    /// Constant term of the sum, possibly 0.
    pub(super) fn constant_term(&self) -> i128 {
        self.constant
    }

    pub(super) fn is_constant_at_least_zero(&self) -> bool {
        self.as_constant().is_some_and(|value| value >= 0)
    }

    /// Term with the most factors, as a pair of product and coefficient; of several such terms, the last in the order
    /// of [`Sum::terms`]. `None` for the sum 0.
    pub(super) fn lead(&self) -> Option<(&Factors, i128)> {
        self.terms().max_by_key(|(factors, _)| (factors.len(), *factors))
    }

    /// Constant `c` for which `self` contains each term of `number`, without its constant term, with `c` times the
    /// coefficient: 2 for `x + y` in `2*x + 2*y + z`. `None` if there is none.
    pub(super) fn factor_of(&self, number: &Sum) -> Option<i128> {
        let mut factor = None;
        for (factors, coefficient) in &number.rest {
            let at = self.rest.binary_search_by(|(own, _)| own.cmp(factors)).ok()?;
            let present = self.rest.get(at)?.1;
            let own = present
                .checked_div(*coefficient)
                .filter(|f| f.checked_mul(*coefficient) == Some(present))?;
            if factor.is_some_and(|factor| factor != own) {
                return None;
            }
            factor = Some(own);
        }
        factor
    }

    pub(super) fn has_digits(&self) -> bool {
        self.factors().any(|factor| match factor {
            Factor::Digit(_) => true,
            Factor::Unit(_) => false,
            Factor::Quotient(x, _) | Factor::Ratio(x, _) => x.has_digits(),
        })
    }

    pub(super) fn has_symbols(&self) -> bool {
        self.factors().any(|factor| match factor {
            Factor::Digit(_) => false,
            Factor::Unit(_) | Factor::Ratio(..) => true,
            Factor::Quotient(x, _) => x.has_symbols(),
        })
    }

    pub(super) fn put(&mut self, factors: &Factors, coefficient: i128) -> Result<(), ExprError> {
        self.take(factors, coefficient)?;
        if self.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(()) }
    }

    /// Adds `coefficient * factors` to the sum, without the limit of [`MAX_TERMS`] terms that [`Sum::put`] checks.
    fn take(&mut self, factors: &Factors, coefficient: i128) -> Result<(), ExprError> {
        let add = |present: i128| present.checked_add(coefficient).ok_or(ExprError::Overflow);
        if factors.is_empty() {
            self.constant = add(self.constant)?;
            return Ok(());
        }
        match self.rest.binary_search_by(|(own, _)| own.cmp(factors)) {
            Ok(at) => {
                let total = add(self.rest.get(at).map_or(0, |(_, present)| *present))?;
                match self.rest.get_mut(at) {
                    Some(term) if total != 0 => term.1 = total,
                    _ => drop(self.rest.remove(at)),
                }
            }
            Err(at) if coefficient != 0 => self.rest.insert(at, (factors.clone(), coefficient)),
            Err(_) => {}
        }
        Ok(())
    }

    /// Sum `self + other`, which reuses the allocation of `self` if `other` has few terms.
    pub(super) fn plus_owned(self, other: &Sum) -> Result<Self, ExprError> {
        self.plus_signed_owned(other, 1)
    }

    /// Difference `self - other`, which reuses the allocation of `self` if `other` has few terms.
    pub(super) fn minus_owned(self, other: &Sum) -> Result<Self, ExprError> {
        self.plus_signed_owned(other, -1)
    }

    /// Sum `self + sign * other`, reusing the allocation of `self` if `other` has at most `FEW_TERMS` terms.
    fn plus_signed_owned(mut self, other: &Sum, sign: i128) -> Result<Self, ExprError> {
        if other.rest.len() > FEW_TERMS {
            return self.plus_signed(other, sign);
        }
        for (factors, coefficient) in other.terms() {
            self.take(factors, coefficient.checked_mul(sign).ok_or(ExprError::Overflow)?)?;
        }
        if self.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(self) }
    }

    pub(super) fn plus(&self, other: &Sum) -> Result<Self, ExprError> {
        self.plus_signed(other, 1)
    }

    pub(super) fn minus(&self, other: &Sum) -> Result<Self, ExprError> {
        self.plus_signed(other, -1)
    }

    /// Sum `self + sign * other`, in a new allocation.
    fn plus_signed(&self, other: &Sum, sign: i128) -> Result<Self, ExprError> {
        let add = |present: i128, other: i128| {
            let other = other.checked_mul(sign).ok_or(ExprError::Overflow)?;
            present.checked_add(other).ok_or(ExprError::Overflow)
        };
        let mut rest = Vec::with_capacity(self.rest.len() + other.rest.len());
        let mut others = other.rest.iter().peekable();
        for (factors, present) in &self.rest {
            while let Some((factors, coefficient)) = others.next_if(|(f, _)| f < factors) {
                rest.push((factors.clone(), add(0, *coefficient)?));
            }
            let same = others.next_if(|(f, _)| f == factors);
            let total =
                same.map_or(Ok(*present), |(_, coefficient)| add(*present, *coefficient))?;
            if total != 0 {
                rest.push((factors.clone(), total));
            }
        }
        for (factors, coefficient) in others {
            rest.push((factors.clone(), add(0, *coefficient)?));
        }
        let sum = Self { constant: add(self.constant, other.constant)?, rest };
        if sum.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(sum) }
    }

    pub(super) fn times(&self, other: &Sum) -> Result<Self, ExprError> {
        if let Some(factor) = other.as_constant() {
            return self.scaled(factor);
        }
        if let Some(factor) = self.as_constant() {
            return other.scaled(factor);
        }
        let mut out = Sum::default();
        for (a, x) in self.terms() {
            for (b, y) in other.terms() {
                out.put(&a.times(b), x.checked_mul(y).ok_or(ExprError::Overflow)?)?;
            }
        }
        Ok(out)
    }

    fn scaled(&self, factor: i128) -> Result<Self, ExprError> {
        if factor == 0 {
            return Ok(Self::default());
        }
        let scaled = |c: i128| c.checked_mul(factor).ok_or(ExprError::Overflow);
        let rest = self.rest.iter().map(|(factors, c)| Ok((factors.clone(), scaled(*c)?)));
        Ok(Self { constant: scaled(self.constant)?, rest: rest.collect::<Result<_, _>>()? })
    }

    /// Division by the term `k * by`, for a nonzero `k`: `(quotient, rest)` with `self = k*by * quotient + rest`. The
    /// quotient receives every term that `k * by` divides. For a constant divisor, the constant is split, and its rest
    /// is in `0..|k|`.
    pub(super) fn split(&self, by: &Factors, k: i128) -> Result<(Sum, Sum), ExprError> {
        let (mut quotient, mut rest) = (Sum::default(), Sum::default());
        for (factors, coefficient) in self.terms() {
            if by.is_empty() && factors.is_empty() {
                quotient.put(factors, coefficient.div_euclid(k))?;
                rest.put(factors, coefficient.rem_euclid(k))?;
                continue;
            }
            match factors.divided_by(by) {
                Some(left) if coefficient % k == 0 => quotient.put(&left, coefficient / k)?,
                _ => rest.put(factors, coefficient)?,
            }
        }
        Ok((quotient, rest))
    }
}
