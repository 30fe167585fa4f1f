//! The ring part of the normal form: polynomials with integer coefficients over atoms.
//!
//! An atom is a variable or an operation that the ring does not know (`//`, `%`, `&`, `^`, min, max) on polynomials in
//! normal form. Nothing here knows the range of a variable; [`crate::simplify`] does.

use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

use crate::expr::{BinOp, ExprError, Var};

/// The most terms that a polynomial may have.
const MAX_TERMS: usize = 4096;

/// What the ring treats as indivisible.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Atom {
    /// A variable. `Var::Symbol(k)` stands for the symbol divided by what it is a multiple of.
    Var(Var),
    /// `//`, `%`, `&`, `^`, min or max of two polynomials; never a ring operation.
    Op(BinOp, Poly, Poly),
}

/// A product of atoms, sorted; empty is 1.
pub(crate) type Monomial = Vec<Atom>;

/// A sum of monomials with coefficients that are not 0; empty is 0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Poly {
    terms: BTreeMap<Monomial, i128>,
}

impl Poly {
    pub(crate) fn zero() -> Self {
        Self::default()
    }

    pub(crate) fn constant(value: i128) -> Self {
        Self::term(Vec::new(), value)
    }

    pub(crate) fn atom(atom: Atom) -> Self {
        Self::term(vec![atom], 1)
    }

    pub(crate) fn term(monomial: Monomial, coefficient: i128) -> Self {
        let mut terms = BTreeMap::new();
        if coefficient != 0 {
            terms.insert(monomial, coefficient);
        }
        Self { terms }
    }

    pub(crate) fn terms(&self) -> impl DoubleEndedIterator<Item = (&Monomial, i128)> {
        self.terms.iter().map(|(monomial, coefficient)| (monomial, *coefficient))
    }

    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// The value when the polynomial is a constant.
    pub(crate) fn as_constant(&self) -> Option<i128> {
        match self.terms.len() {
            0 => Some(0),
            1 => self.terms.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// The constant term.
    pub(crate) fn constant_term(&self) -> i128 {
        self.terms.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// The only term, if there is exactly one.
    pub(crate) fn as_term(&self) -> Option<(&Monomial, i128)> {
        if self.terms.len() == 1 { self.terms().next() } else { None }
    }

    /// The atom when the polynomial is one atom with coefficient 1.
    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        match self.as_term()? {
            (monomial, 1) if monomial.len() == 1 => monomial.first(),
            _ => None,
        }
    }

    pub(crate) fn add_term(
        &mut self,
        monomial: Monomial,
        coefficient: i128,
    ) -> Result<(), ExprError> {
        use alloc::collections::btree_map::Entry;
        match self.terms.entry(monomial) {
            Entry::Vacant(slot) => {
                if coefficient != 0 {
                    slot.insert(coefficient);
                }
            }
            Entry::Occupied(mut slot) => {
                let sum = slot.get().checked_add(coefficient).ok_or(ExprError::Overflow)?;
                if sum == 0 {
                    slot.remove();
                } else {
                    slot.insert(sum);
                }
            }
        }
        if self.terms.len() > MAX_TERMS { Err(ExprError::TooLarge) } else { Ok(()) }
    }

    pub(crate) fn add(&self, other: &Poly) -> Result<Self, ExprError> {
        let mut sum = self.clone();
        for (monomial, coefficient) in other.terms() {
            sum.add_term(monomial.clone(), coefficient)?;
        }
        Ok(sum)
    }

    pub(crate) fn scale(&self, factor: i128) -> Result<Self, ExprError> {
        let mut scaled = Self::zero();
        for (monomial, coefficient) in self.terms() {
            let product = coefficient.checked_mul(factor).ok_or(ExprError::Overflow)?;
            scaled.add_term(monomial.clone(), product)?;
        }
        Ok(scaled)
    }

    pub(crate) fn sub(&self, other: &Poly) -> Result<Self, ExprError> {
        self.add(&other.scale(-1)?)
    }

    pub(crate) fn plus(&self, constant: i128) -> Result<Self, ExprError> {
        self.add(&Self::constant(constant))
    }

    pub(crate) fn mul(&self, other: &Poly) -> Result<Self, ExprError> {
        let mut product = Self::zero();
        for (a, x) in self.terms() {
            for (b, y) in other.terms() {
                let coefficient = x.checked_mul(y).ok_or(ExprError::Overflow)?;
                product.add_term(multiply_monomials(a, b), coefficient)?;
            }
        }
        Ok(product)
    }

    /// `(quotient, rest)` with `self = divisor * quotient + rest`, where the quotient takes every term that the
    /// divisor (a single term) divides. The constant term splits with a rest of `0..divisor` for a constant divisor.
    pub(crate) fn split_by(&self, divisor: (&Monomial, i128)) -> Result<(Self, Self), ExprError> {
        let (mut quotient, mut rest) = (Self::zero(), Self::zero());
        let (atoms, factor) = divisor;
        for (monomial, coefficient) in self.terms() {
            if atoms.is_empty() && monomial.is_empty() {
                quotient.add_term(Vec::new(), coefficient.div_euclid(factor))?;
                rest.add_term(Vec::new(), coefficient.rem_euclid(factor))?;
                continue;
            }
            match divide_monomial(monomial, atoms) {
                Some(cofactor) if coefficient % factor == 0 => {
                    quotient.add_term(cofactor, coefficient / factor)?;
                }
                _ => rest.add_term(monomial.clone(), coefficient)?,
            }
        }
        Ok((quotient, rest))
    }

    /// Whether a variable for which `test` holds occurs.
    pub(crate) fn mentions(&self, test: &dyn Fn(Var) -> bool) -> bool {
        self.terms.keys().flatten().any(|atom| atom.mentions(test))
    }
}

impl Atom {
    /// Whether a variable for which `test` holds occurs.
    pub(crate) fn mentions(&self, test: &dyn Fn(Var) -> bool) -> bool {
        match self {
            Atom::Var(var) => test(*var),
            Atom::Op(_, a, b) => a.mentions(test) || b.mentions(test),
        }
    }

    /// Whether only symbols occur.
    pub(crate) fn is_symbolic(&self) -> bool {
        !self.mentions(&|var| !matches!(var, Var::Symbol(_)))
    }
}

fn multiply_monomials(a: &Monomial, b: &Monomial) -> Monomial {
    let mut product = a.clone();
    product.extend(b.iter().cloned());
    product.sort();
    product
}

/// `monomial / divisor` when every atom of the divisor occurs.
pub(crate) fn divide_monomial(monomial: &Monomial, divisor: &Monomial) -> Option<Monomial> {
    let mut left = monomial.clone();
    for atom in divisor {
        let at = left.iter().position(|a| a == atom)?;
        left.remove(at);
    }
    Some(left)
}

/// The greatest common divisor, not negative; `gcd(0, n) = |n|`.
pub(crate) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(i128::MAX)
}
