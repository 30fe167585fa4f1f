//! Polynomials with integer coefficients over atoms, which represent index expressions in normal form.
//!
//! An atom is a variable or a non-ring operation (`//`, `%`, `&`, `^`, min, max, curves) on polynomials in normal
//! form. Ranges of variables are handled by [`crate::normal_form::simplify`]. Polynomials are cloned often: clones
//! share the operands of atoms, and neither a constant polynomial nor a monomial of one atom allocates.

pub(crate) mod monomial;

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Ordering;

use self::monomial::{Atom, Monomial};
use crate::expr::{BinOp, ExprError, Var};

/// Maximum number of terms of a polynomial; beyond it operations fail with `ExprError::TooLarge`.
const MAX_TERMS: usize = 4096;
/// Maximum number of steps of a long division by a polynomial of several terms; a longer division gives the quotient
/// 0.
const MAX_DIVISIONS: usize = 256;
/// Maximum number of terms that an addition inserts into a polynomial one by one. More terms are merged in one pass.
const FEW_TERMS: usize = 4;

/// Polynomial with integer coefficients over atoms, such as `4*n + c // 4 + 1`: a constant plus a sum of monomials
/// with nonzero coefficients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Poly {
    constant: i128,
    /// Pairs of monomial and nonzero coefficient, without the monomial 1, sorted by monomial.
    terms: Vec<(Monomial, i128)>,
}

impl PartialOrd for Poly {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Poly {
    fn cmp(&self, other: &Self) -> Ordering {
        if core::ptr::eq(self, other) { Ordering::Equal } else { self.terms().cmp(other.terms()) }
    }
}

static ONE: Monomial = Monomial::One;

impl Poly {
    pub(crate) fn zero() -> Self {
        Self::default()
    }

    /// Reference to a static polynomial that is the constant 1.
    pub(crate) fn one() -> &'static Self {
        static ONE: Poly = Poly { constant: 1, terms: Vec::new() };
        &ONE
    }

    pub(crate) fn constant(value: i128) -> Self {
        Self { constant: value, terms: Vec::new() }
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self::term(Monomial::Single(atom), 1)
    }

    /// Polynomial that is the single atom `a op b`, without simplification.
    pub(crate) fn op(op: BinOp, a: Poly, b: Poly) -> Self {
        Self::atom(Atom::Op(op, Arc::new(a), Arc::new(b)))
    }

    pub(crate) fn term(monomial: Monomial, coefficient: i128) -> Self {
        if monomial.is_empty() {
            return Self::constant(coefficient);
        }
        let terms = if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] };
        Self { constant: 0, terms }
    }

    /// Polynomial `constant + terms`. The terms must be sorted by monomial, without repetition, with nonzero
    /// coefficients. [`ExprError::TooLarge`] beyond [`MAX_TERMS`] terms.
    fn bounded(constant: i128, terms: Vec<(Monomial, i128)>) -> Result<Self, ExprError> {
        let sum = Self { constant, terms };
        if sum.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(sum) }
    }

    /// Nonzero terms as pairs of monomial and coefficient, sorted by monomial. The constant comes first, with the
    /// empty monomial.
    pub(crate) fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> {
        let constant = (self.constant != 0).then_some((&ONE, self.constant));
        let others = self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient));
        constant.into_iter().chain(others)
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len() + usize::from(self.constant != 0)
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.as_constant() == Some(0)
    }

    /// Value of the polynomial if it contains no atom; `None` otherwise.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Constant term of the polynomial, possibly 0.
    pub(crate) fn constant_term(&self) -> i128 {
        self.constant
    }

    /// Monomial and coefficient of the only term, which may be the constant; `None` for the polynomial 0 or several
    /// terms.
    pub(crate) fn as_term(&self) -> Option<(&Monomial, i128)> {
        if self.len() == 1 { self.terms().next() } else { None }
    }

    /// Atom `a` if the polynomial is exactly `a`, without coefficient and constant; `None` otherwise.
    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        self.as_atom_plus_constant().filter(|(_, constant)| *constant == 0).map(|(atom, _)| atom)
    }

    /// Atom and constant `(a, c)` if the polynomial is `a + c`, where `c` may be 0; `None` otherwise.
    pub(crate) fn as_atom_plus_constant(&self) -> Option<(&Atom, i128)> {
        match self.terms.as_slice() {
            [(Monomial::Single(atom), 1)] => Some((atom, self.constant)),
            _ => None,
        }
    }

    pub(crate) fn add_term(
        &mut self,
        monomial: &Monomial,
        coefficient: i128,
    ) -> Result<(), ExprError> {
        self.put(monomial, coefficient)?;
        if self.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(()) }
    }

    /// Adds `coefficient * monomial` to the polynomial, without the limit of [`MAX_TERMS`] terms that
    /// [`Poly::add_term`] checks.
    fn put(&mut self, monomial: &Monomial, coefficient: i128) -> Result<(), ExprError> {
        let add = |present: i128| present.checked_add(coefficient).ok_or(ExprError::Overflow);
        if monomial.is_empty() {
            self.constant = add(self.constant)?;
            return Ok(());
        }
        match self.terms.binary_search_by(|(present, _)| present.cmp(monomial)) {
            Ok(at) => {
                let sum = add(self.terms.get(at).map_or(0, |(_, present)| *present))?;
                match self.terms.get_mut(at) {
                    Some(term) if sum != 0 => term.1 = sum,
                    _ => drop(self.terms.remove(at)),
                }
            }
            Err(_) if coefficient == 0 => {}
            Err(at) => self.terms.insert(at, (monomial.clone(), coefficient)),
        }
        Ok(())
    }

    pub(crate) fn add(&self, other: &Poly) -> Result<Self, ExprError> {
        self.add_scaled(other, 1)
    }

    /// Sum `self + other`, which reuses the allocation of `self` if `other` has few terms.
    pub(crate) fn add_owned(self, other: &Poly) -> Result<Self, ExprError> {
        self.add_scaled_owned(other, 1)
    }

    /// Difference `self - other`, which reuses the allocation of `self` if `other` has few terms.
    pub(crate) fn sub_owned(self, other: &Poly) -> Result<Self, ExprError> {
        self.add_scaled_owned(other, -1)
    }

    /// Sum `self + other * factor` for a nonzero factor. The terms of `other` are inserted into the allocation of
    /// `self` if there are at most [`FEW_TERMS`]; otherwise both lists of terms are merged into a new allocation.
    /// [`ExprError::TooLarge`] beyond [`MAX_TERMS`] terms.
    fn add_scaled_owned(mut self, other: &Poly, factor: i128) -> Result<Self, ExprError> {
        if other.terms.len() > FEW_TERMS {
            return self.add_scaled(other, factor);
        }
        for (monomial, coefficient) in other.terms() {
            self.put(monomial, coefficient.checked_mul(factor).ok_or(ExprError::Overflow)?)?;
        }
        Self::bounded(self.constant, self.terms)
    }

    /// Sum `self + other * factor` for a nonzero factor.
    fn add_scaled(&self, other: &Poly, factor: i128) -> Result<Self, ExprError> {
        let scaled = |c: i128| c.checked_mul(factor).ok_or(ExprError::Overflow);
        let sum = |a: i128, b: i128| a.checked_add(b).ok_or(ExprError::Overflow);
        let constant = sum(self.constant, scaled(other.constant)?)?;
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) => a.0.cmp(&b.0),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return Self::bounded(constant, terms),
            };
            let own = if order == Ordering::Greater { None } else { left.next() };
            let others = if order == Ordering::Less { None } else { right.next() };
            let Some((monomial, _)) = own.or(others) else { continue };
            let total = sum(own.map_or(0, |t| t.1), scaled(others.map_or(0, |t| t.1))?)?;
            if total != 0 {
                terms.push((monomial.clone(), total));
            }
        }
    }

    pub(crate) fn scale(&self, factor: i128) -> Result<Self, ExprError> {
        if factor == 0 {
            return Ok(Self::zero());
        }
        let scaled = |c: i128| c.checked_mul(factor).ok_or(ExprError::Overflow);
        let terms = self.terms.iter().map(|(m, c)| Ok((m.clone(), scaled(*c)?)));
        Ok(Self { constant: scaled(self.constant)?, terms: terms.collect::<Result<_, _>>()? })
    }

    pub(crate) fn sub(&self, other: &Poly) -> Result<Self, ExprError> {
        self.add_scaled(other, -1)
    }

    pub(crate) fn plus(&self, constant: i128) -> Result<Self, ExprError> {
        let constant = self.constant.checked_add(constant).ok_or(ExprError::Overflow)?;
        Self::bounded(constant, self.terms.clone())
    }

    pub(crate) fn mul(&self, other: &Poly) -> Result<Self, ExprError> {
        if let Some(factor) = other.as_constant() {
            return self.scale(factor);
        }
        if let Some(factor) = self.as_constant() {
            return other.scale(factor);
        }
        let mut product = Self::zero();
        for (a, x) in self.terms() {
            for (b, y) in other.terms() {
                let coefficient = x.checked_mul(y).ok_or(ExprError::Overflow)?;
                product.add_term(&a.times(b), coefficient)?;
            }
        }
        Ok(product)
    }

    /// Division by the single term `divisor = (monomial, coefficient)`: `(quotient, rest)` with
    /// `self = divisor * quotient + rest`. The quotient receives every term that the divisor divides; for a constant
    /// divisor the constant is split with a rest in `0..divisor`. `4*n + 2*c + 7` by 4 gives `(n + 1, 2*c + 3)`.
    pub(crate) fn split_by(&self, divisor: (&Monomial, i128)) -> Result<(Self, Self), ExprError> {
        let (atoms, factor) = divisor;
        if atoms.is_empty() {
            return Ok(self.split_by_constant(factor));
        }
        let (mut quotient, mut rest) = (Self::zero(), Self::zero());
        for (monomial, coefficient) in self.terms() {
            match monomial.divided_by(atoms) {
                Some(cofactor) if coefficient % factor == 0 => {
                    quotient.add_term(&cofactor, coefficient / factor)?;
                }
                _ => rest.add_term(monomial, coefficient)?,
            }
        }
        Ok((quotient, rest))
    }

    /// Division by a polynomial: `(quotient, rest)` with `self = divisor * quotient + rest`, by long division with the
    /// term of the divisor that has the most atoms. Beyond [`MAX_DIVISIONS`] steps the result is `(0, self)`.
    /// [`ExprError::Divisor`] for the divisor 0.
    pub(crate) fn divided_by(&self, divisor: &Poly) -> Result<(Self, Self), ExprError> {
        if let Some(term) = divisor.as_term() {
            return self.split_by(term);
        }
        let rank = |monomial: &Monomial| (monomial.len(), monomial.clone());
        let Some((lead, factor)) = divisor.terms().max_by_key(|(monomial, _)| rank(monomial))
        else {
            return Err(ExprError::Divisor);
        };
        let (mut quotient, mut rest) = (Self::zero(), self.clone());
        for _ in 0..MAX_DIVISIONS {
            let found = rest.terms().find_map(|(monomial, coefficient)| {
                let left = monomial.divided_by(lead).filter(|_| coefficient % factor == 0)?;
                Some((left, coefficient / factor))
            });
            let Some((monomial, coefficient)) = found else { return Ok((quotient, rest)) };
            let part = Self::term(monomial, coefficient);
            rest = rest.sub_owned(&part.mul(divisor)?)?;
            quotient = quotient.add_owned(&part)?;
        }
        Ok((Self::zero(), self.clone()))
    }

    /// Division by a positive constant: `(quotient, rest)` with `self = factor * quotient + rest`. The quotient
    /// receives every term whose coefficient `factor` divides; the constant is split with a rest in `0..factor`.
    pub(crate) fn split_by_constant(&self, factor: i128) -> (Self, Self) {
        let mut quotient = Self::constant(self.constant.div_euclid(factor));
        let mut rest = Self::constant(self.constant.rem_euclid(factor));
        for (monomial, coefficient) in &self.terms {
            if coefficient % factor == 0 {
                quotient.terms.push((monomial.clone(), coefficient / factor));
            } else {
                rest.terms.push((monomial.clone(), *coefficient));
            }
        }
        (quotient, rest)
    }

    /// True if a variable for which `test` returns true occurs in the polynomial, also inside an operation.
    pub(crate) fn mentions(&self, test: &dyn Fn(Var) -> bool) -> bool {
        self.terms.iter().flat_map(|(monomial, _)| monomial.iter()).any(|atom| atom.mentions(test))
    }
}
