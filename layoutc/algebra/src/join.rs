//! Joining the digits of one number that stand side by side, and folding a quotient into a remainder.

use alloc::vec::Vec;

use crate::expr::{BinOp, ExprError, Var};
use crate::poly::{Atom, Monomial, Poly};
use crate::simplify::Facts;

impl Facts {
    /// Joins neighbouring digits of one number until nothing changes.
    pub(crate) fn join_digits(&self, mut p: Poly) -> Result<Poly, ExprError> {
        while let Some(joined) = self.join_once(&p)? {
            p = joined;
        }
        Ok(p)
    }

    fn join_once(&self, p: &Poly) -> Result<Option<Poly>, ExprError> {
        for (monomial, coefficient) in p.terms() {
            for (at, atom) in monomial.iter().enumerate() {
                let Some((x, a, b)) = digit_of(atom) else { continue };
                let mut cofactor = monomial.clone();
                cofactor.remove(at);
                if let Some(b) = &b
                    && let Some(joined) =
                        self.join_upper(p, (&cofactor, coefficient), (atom, &x, &a, b))?
                {
                    return Ok(Some(joined));
                }
                if b.is_none()
                    && a.as_constant() != Some(1)
                    && let Some(joined) =
                        self.fold_quotient(p, (&cofactor, coefficient), (atom, &x, &a))?
                {
                    return Ok(Some(joined));
                }
            }
        }
        Ok(None)
    }

    /// `c * (x//a % b) + c*b * (x//(a*b) [% d])` becomes `c * (x//a [% (b*d)])`.
    fn join_upper(
        &self,
        p: &Poly,
        (cofactor, coefficient): (&Monomial, i128),
        (atom, x, a, b): (&Atom, &Poly, &Poly, &Poly),
    ) -> Result<Option<Poly>, ExprError> {
        let weight = Poly::term(cofactor.clone(), coefficient);
        let upper_weight = weight.mul(b)?;
        let Some((upper_monomial, upper_coefficient)) = upper_weight.as_term() else {
            return Ok(None);
        };
        let upper_start = a.mul(b)?;
        // The quotient as a polynomial of its own: a number that ends at its range (x//(a*b) with no `%`).
        for (monomial, found) in p.terms() {
            if found != upper_coefficient {
                continue;
            }
            for (at, candidate) in monomial.iter().enumerate() {
                let mut rest = monomial.clone();
                rest.remove(at);
                if &rest != upper_monomial {
                    continue;
                }
                let Some((y, start, count)) = digit_of(candidate) else { continue };
                if &y != x || start != upper_start {
                    continue;
                }
                let mut sum = p.clone();
                let mut lower = cofactor.clone();
                lower.push(atom.clone());
                lower.sort();
                sum.add_term(lower, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
                sum.add_term(monomial.clone(), found.checked_neg().ok_or(ExprError::Overflow)?)?;
                let whole = self.floor_div(x, a)?;
                let whole = match count {
                    Some(d) => self.modulo(&whole, &b.mul(&d)?)?,
                    None => whole,
                };
                return Ok(Some(sum.add(&whole.mul(&weight)?)?));
            }
        }
        // The quotient may have simplified to something that is no atom: try it as a polynomial.
        let quotient = self.floor_div(x, &upper_start)?;
        if quotient.len() > 1 && quotient.len() < p.len() {
            let mut lower = cofactor.clone();
            lower.push(atom.clone());
            lower.sort();
            let mut sum = p.sub(&quotient.mul(&upper_weight)?)?;
            sum.add_term(lower, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
            let sum = sum.add(&self.floor_div(x, a)?.mul(&weight)?)?;
            return Ok((sum.len() < p.len()).then_some(sum));
        }
        Ok(None)
    }

    /// `c * (x//s) - c*b * (x//(s*b))` becomes `c * (x//s % b)`; with `s = 1`, `c*x - c*b*(x//b)` becomes `c*(x % b)`.
    fn fold_quotient(
        &self,
        p: &Poly,
        (cofactor, coefficient): (&Monomial, i128),
        (atom, x, a): (&Atom, &Poly, &Poly),
    ) -> Result<Option<Poly>, ExprError> {
        let mut monomial = cofactor.clone();
        monomial.push(atom.clone());
        monomial.sort();
        let mut bare = p.clone();
        bare.add_term(monomial, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
        for starts in [Poly::constant(1)].into_iter().chain(quotient_starts(p, x)) {
            let Some(start) = starts.as_term() else { continue };
            let (b, rest) = a.split_by(start)?;
            if !rest.is_zero() || b.as_constant() == Some(1) {
                continue;
            }
            // coefficient*cofactor = -weight*b
            let upper = Poly::term(cofactor.clone(), coefficient);
            let Some(b_term) = b.as_term() else { continue };
            let (weight, rest) = upper.split_by(b_term)?;
            if !rest.is_zero() {
                continue;
            }
            let weight = weight.scale(-1)?;
            let lower = self.floor_div(x, &starts)?;
            let digit = self.modulo(&lower, &b)?;
            let sum = bare.sub(&lower.mul(&weight)?)?.add(&digit.mul(&weight)?)?;
            if sum.len() < p.len() {
                return Ok(Some(sum));
            }
        }
        Ok(None)
    }
}

/// `atom = x // a % b`; `b` is `None` for a bare quotient or variable.
fn digit_of(atom: &Atom) -> Option<(Poly, Poly, Option<Poly>)> {
    match atom {
        Atom::Var(Var::Symbol(_)) => None,
        Atom::Var(_) => Some((Poly::atom(atom.clone()), Poly::constant(1), None)),
        Atom::Op(BinOp::FloorDiv, x, a) => Some((x.clone(), a.clone(), None)),
        Atom::Op(BinOp::Mod, y, b) => match y.as_atom() {
            Some(Atom::Op(BinOp::FloorDiv, x, a)) => Some((x.clone(), a.clone(), Some(b.clone()))),
            _ => Some((y.clone(), Poly::constant(1), Some(b.clone()))),
        },
        Atom::Op(..) => None,
    }
}

/// The `s` of every `x // s` in `p`.
fn quotient_starts(p: &Poly, x: &Poly) -> Vec<Poly> {
    let mut starts = Vec::new();
    for (monomial, _) in p.terms() {
        for atom in monomial {
            if let Atom::Op(BinOp::FloorDiv, y, s) = atom
                && y == x
            {
                starts.push(s.clone());
            }
        }
    }
    starts
}
