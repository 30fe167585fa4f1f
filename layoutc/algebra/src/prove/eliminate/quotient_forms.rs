//! Normal forms of expressions in which every remainder is expressed by its quotient, `x % d = x - d*(x // d)`. As a
//! result, a remainder cancels against a quotient of the same operands.

use alloc::vec::Vec;

use super::trials::Trials;
use crate::expr::gcd;
use crate::expr::{BinOp, ExprError};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};

/// Maximum nesting depth of quotients that are simplified; a deeper quotient is kept as an atom.
const MAX_DEPTH: usize = 24;

pub(super) struct QuotientForms<'a> {
    pub(super) trials: &'a Trials<'a>,
}

impl QuotientForms<'_> {
    /// Normal form of `p` in which every remainder `x % d` is replaced by `x - d*(x // d)`, including remainders within
    /// the operands of operations.
    pub(super) fn of(&self, p: &Poly) -> Result<Poly, ExprError> {
        let mut sum = Poly::zero();
        for (monomial, coefficient) in p.terms() {
            let mut product = Poly::constant(coefficient);
            for atom in monomial.iter() {
                product = product.mul(&self.atom(atom)?)?;
            }
            sum = sum.add_owned(&product)?;
        }
        Ok(sum)
    }

    fn atom(&self, atom: &Atom) -> Result<Poly, ExprError> {
        let Atom::Op(op, a, b) = atom else { return Ok(Poly::atom(atom.clone())) };
        let (a, b) = (self.of(a)?, self.of(b)?);
        match op {
            BinOp::FloorDiv => self.quotient(&a, &b, MAX_DEPTH),
            BinOp::Mod => a.clone().sub_owned(&b.mul(&self.quotient(&a, &b, MAX_DEPTH)?)?),
            _ => Ok(Poly::op(*op, a, b)),
        }
    }

    /// Floor quotient `p // d`. Multiples of `d` are moved out of the dividend: `(d*a + x) // d` gives `a + x // d`. If
    /// `x // d` is 0 or -1 at every sample element, the result is `a` or `a - 1`. `depth` is the number of nested
    /// quotients that may still be simplified; a deeper quotient is kept as an atom.
    pub(super) fn quotient(&self, p: &Poly, d: &Poly, depth: usize) -> Result<Poly, ExprError> {
        let (mut whole, mut rest) = p.divided_by(d)?;
        if let Some(k) = d.as_constant() {
            if k < 1 {
                return Err(ExprError::Divisor);
            }
            let mut low = Poly::zero();
            for (monomial, coefficient) in rest.terms() {
                whole.add_term(monomial, coefficient / k)?;
                low.add_term(monomial, coefficient % k)?;
            }
            rest = low;
        }
        let opaque = |rest: Poly, d: &Poly| Poly::op(BinOp::FloorDiv, rest, d.clone());
        if rest.is_zero() || self.trials.stays_inside(&rest, d) {
            return Ok(whole);
        }
        let below = rest.add(d)?;
        if self.trials.stays_inside(&below, d) {
            return whole.plus(-1);
        }
        if depth == 0 {
            return whole.add_owned(&opaque(rest, d));
        }
        if let Some((outer, x)) = nested(&rest, d)? {
            return whole.add_owned(&self.quotient(&x, &outer, depth - 1)?);
        }
        for unit in common(&rest, d)? {
            let ((high, low), (outer, remainder)) = (rest.divided_by(&unit)?, d.divided_by(&unit)?);
            if remainder.is_zero() && !high.is_zero() && self.trials.stays_inside(&low, &unit) {
                return whole.add_owned(&self.quotient(&high, &outer, depth - 1)?);
            }
        }
        whole.add_owned(&opaque(rest, d))
    }
}

/// Pair `(divisor, dividend)` of a single quotient equal to `rest // d`: `(a*d, a*c + x)` if `rest` is `c + x // a`,
/// otherwise `None`.
fn nested(rest: &Poly, d: &Poly) -> Result<Option<(Poly, Poly)>, ExprError> {
    let found = rest.terms().find_map(|(monomial, coefficient)| match &**monomial {
        [atom @ Atom::Op(BinOp::FloorDiv, x, a)] if coefficient == 1 => Some((atom, x, a)),
        _ => None,
    });
    let Some((atom, x, a)) = found else { return Ok(None) };
    let addend = rest.sub(&Poly::atom(atom.clone()))?;
    Ok(Some((a.mul(d)?, addend.mul(a)?.add_owned(x)?)))
}

/// Common factors of `d` and single terms of `rest`, in descending order. The factor 1 and `d` itself are omitted.
fn common(rest: &Poly, d: &Poly) -> Result<Vec<Poly>, ExprError> {
    let mut units: Vec<Poly> = Vec::new();
    for (monomial, coefficient) in rest.terms() {
        let content = d.terms().fold(coefficient, |n, (_, c)| gcd(n, c));
        let mut unit = Poly::constant(content);
        for atom in monomial.iter().filter(|atom| atom.is_symbolic()) {
            let next = unit.mul(&Poly::term(Monomial::Single(atom.clone()), 1))?;
            if d.divided_by(&next)?.1.is_zero() {
                unit = next;
            }
        }
        if unit.as_constant() != Some(1) && unit != *d && !units.contains(&unit) {
            units.push(unit);
        }
    }
    units.sort_by(|a, b| b.cmp(a));
    Ok(units)
}
