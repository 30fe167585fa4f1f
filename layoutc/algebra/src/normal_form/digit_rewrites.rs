//! Rewrites of sums of digits `x // a % b`: adjacent digits of one value are joined, `x % 4 + 4 * (x // 4)` to `x`,
//! and quotients are folded into remainders, `x - 4 * (x // 4)` to `x % 4`.

use crate::expr::{BinOp, ExprError};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::Facts;

impl Facts {
    /// Joins adjacent digits of one value, such as `x % 4 + 4 * (x // 4)` to `x`, and folds quotients into
    /// remainders, such as `x - 4 * (x // 4)` to `x % 4`, until no rewrite applies to `p`.
    pub(crate) fn join_digits(&self, mut p: Poly) -> Result<Poly, ExprError> {
        while let Some(joined) = self.join_once(&p)? {
            p = joined;
        }
        Ok(p)
    }

    fn join_once(&self, p: &Poly) -> Result<Option<Poly>, ExprError> {
        // A rewrite combines at least two terms of the polynomial.
        if p.len() < 2 {
            return Ok(None);
        }
        for (monomial, coefficient) in p.terms() {
            for (at, atom) in monomial.iter().enumerate() {
                let Some(digit) = DigitTerm::of(atom) else { continue };
                let cofactor = monomial.without(at);
                let joined = match digit.count {
                    Some(count) => {
                        self.join_upper(p, (&cofactor, coefficient), (monomial, digit, count))?
                    }
                    None => self.fold_quotient(p, (&cofactor, coefficient), (monomial, digit))?,
                };
                if joined.is_some() {
                    return Ok(joined);
                }
            }
        }
        Ok(None)
    }

    /// Joins a digit and the next more significant digit of one value `x`: `c * (x//a % b) + c*b * (x//(a*b) % d)` in
    /// `p` becomes `c * (x//a % (b*d))`. If the second term is the quotient without `% d`, the result is `c * (x//a)`.
    /// The arguments describe the first term: its weight is `c = coefficient * cofactor`, its monomial is `lower`, its
    /// digit is `digit`, and the modulus of the digit is `b`. The second term may also be a quotient that has
    /// simplified to several terms. `None` if `p` has no matching second term.
    fn join_upper(
        &self,
        p: &Poly,
        (cofactor, coefficient): (&Monomial, i128),
        (lower, digit, b): (&Monomial, DigitTerm<'_>, &Poly),
    ) -> Result<Option<Poly>, ExprError> {
        let (x, a) = (digit.number, digit.start);
        let weight = Poly::term(cofactor.clone(), coefficient);
        let upper_weight = weight.mul(b)?;
        let Some((upper_monomial, upper_coefficient)) = upper_weight.as_term() else {
            return Ok(None);
        };
        let upper_start = a.mul(b)?;
        // The upper digit as a single term; without `%` it is the most significant digit.
        for (monomial, found) in p.terms() {
            if found != upper_coefficient || monomial.len() != upper_monomial.len() + 1 {
                continue;
            }
            for (at, candidate) in monomial.iter().enumerate() {
                let Some(upper) = DigitTerm::of(candidate) else { continue };
                if upper.number != x
                    || upper.start != &upper_start
                    || monomial.without(at) != *upper_monomial
                {
                    continue;
                }
                let mut sum = p.clone();
                sum.add_term(lower, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
                sum.add_term(monomial, found.checked_neg().ok_or(ExprError::Overflow)?)?;
                let whole = self.floor_div(x, a)?;
                let whole = match upper.count {
                    Some(d) => self.modulo(&whole, &b.mul(d)?)?,
                    None => whole,
                };
                return Ok(Some(sum.add_owned(&whole.mul(&weight)?)?));
            }
        }
        // The upper quotient may have simplified to a sum: match it as a polynomial of several terms.
        if p.len() < 3 {
            return Ok(None);
        }
        let quotient = self.floor_div(x, &upper_start)?;
        if quotient.len() > 1 && quotient.len() < p.len() {
            let mut sum = p.sub(&quotient.mul(&upper_weight)?)?;
            sum.add_term(lower, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
            let sum = sum.add_owned(&self.floor_div(x, a)?.mul(&weight)?)?;
            return Ok((sum.len() < p.len()).then_some(sum));
        }
        Ok(None)
    }

    /// Folds a quotient into a remainder: `c * (x//s) - c*b * (x//(s*b))` in `p` becomes `c * (x//s % b)`. With
    /// `s = 1`, `c*x - c*b*(x//b)` becomes `c * (x % b)`. The arguments describe the second term: its weight is
    /// `-c*b = coefficient * cofactor`, its monomial is `upper`, and its quotient is `digit`. `None` if no rewrite
    /// makes `p` shorter.
    fn fold_quotient(
        &self,
        p: &Poly,
        (cofactor, coefficient): (&Monomial, i128),
        (upper, digit): (&Monomial, DigitTerm<'_>),
    ) -> Result<Option<Poly>, ExprError> {
        let (x, a) = (digit.number, digit.start);
        for start in [Poly::one()].into_iter().chain(quotient_starts(p, x)) {
            let Some(start_term) = start.as_term() else { continue };
            let (b, rest) = a.split_by(start_term)?;
            if !rest.is_zero() || b.as_constant() == Some(1) {
                continue;
            }
            // coefficient*cofactor = -weight*b
            let Some(b_term) = b.as_term() else { continue };
            let (weight, rest) = Poly::term(cofactor.clone(), coefficient).split_by(b_term)?;
            if !rest.is_zero() {
                continue;
            }
            let weight = weight.scale(-1)?;
            let lower = self.floor_div(x, start)?;
            let digit = self.modulo(&lower, &b)?;
            let mut bare = p.clone();
            bare.add_term(upper, coefficient.checked_neg().ok_or(ExprError::Overflow)?)?;
            let sum = bare.sub_owned(&lower.mul(&weight)?)?.add_owned(&digit.mul(&weight)?)?;
            if sum.len() < p.len() {
                return Ok(Some(sum));
            }
        }
        Ok(None)
    }
}

/// Digit `number // start % count` of the value `number`, or the quotient `number // start` if `count` is `None`.
#[derive(Debug, Clone, Copy)]
struct DigitTerm<'a> {
    number: &'a Poly,
    start: &'a Poly,
    count: Option<&'a Poly>,
}

impl<'a> DigitTerm<'a> {
    fn of(atom: &'a Atom) -> Option<Self> {
        match atom {
            Atom::Op(BinOp::FloorDiv, number, start) => Some(Self { number, start, count: None }),
            Atom::Op(BinOp::Mod, y, count) => Some(match y.as_atom() {
                Some(Atom::Op(BinOp::FloorDiv, number, start)) => {
                    Self { number, start, count: Some(count) }
                }
                _ => Self { number: y, start: Poly::one(), count: Some(count) },
            }),
            Atom::Var(_) | Atom::Op(..) => None,
        }
    }
}

/// Divisors `s` of all quotients `x // s` that are factors in `p`, for the given dividend `x`.
fn quotient_starts<'a>(p: &'a Poly, x: &'a Poly) -> impl Iterator<Item = &'a Poly> {
    let atoms = p.terms().flat_map(|(monomial, _)| monomial.iter());
    atoms.filter_map(move |atom| match atom {
        Atom::Op(BinOp::FloorDiv, y, s) if **y == *x => Some(&**s),
        Atom::Var(_) | Atom::Op(..) => None,
    })
}
