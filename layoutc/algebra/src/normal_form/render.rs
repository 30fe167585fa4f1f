//! Conversion of polynomials to nested expressions, such as `32*64*a + 64*b + c` to `(a * 32 + b) * 64 + c`.

use alloc::vec::Vec;

use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::Facts;

impl Facts {
    /// Expression equal to the polynomial, nested by factoring out common factors: `(a * 32 + b) * 64 + c`.
    pub(crate) fn render(&self, p: &Poly) -> Result<Expr, ExprError> {
        if let Some(value) = p.as_constant() {
            return Ok(Expr::constant(value));
        }
        if let Some((monomial, coefficient)) = p.as_term() {
            return self.signed_product(&(monomial.clone(), coefficient));
        }
        let mut terms: Vec<(Monomial, i128)> = p.terms().map(|(m, c)| (m.clone(), c)).collect();
        terms.sort_by(|a, b| weight_of(b).cmp(&weight_of(a)).then_with(|| a.0.cmp(&b.0)));
        self.nest(terms)
    }

    fn nest(&self, mut terms: Vec<(Monomial, i128)>) -> Result<Expr, ExprError> {
        if terms.len() < 2 {
            return match terms.pop() {
                None => Ok(Expr::constant(0)),
                Some(term) => self.signed_product(&term),
            };
        }
        let rest = terms.split_off(terms.len() - 1);
        let Some(last) = rest.into_iter().next() else { return Ok(Expr::constant(0)) };
        let common = common_factor(&terms);
        let whole = terms.len() >= 2 && divides(&common, &last);
        // Factor out only if that leaves the smallest term bare: `(n * 32 + c) * 64 + h`.
        let bare = terms.last().is_some_and(|(_, coefficient)| *coefficient == common.1);
        let factor_out = terms.len() >= 2 && !is_one(&common) && bare;
        if !factor_out {
            terms.push(last);
            return self.flat_sum(&terms);
        }
        let mut inner = Vec::new();
        for term in &terms {
            inner.push(divide_term(term, &common));
        }
        if whole && !last.0.is_empty() {
            inner.push(divide_term(&last, &common));
            return self.times(&self.nest(inner)?, &common);
        }
        let head = self.times(&self.nest(inner)?, &common)?;
        self.append(&head, &last)
    }

    fn times(&self, a: &Expr, factor: &(Monomial, i128)) -> Result<Expr, ExprError> {
        let mut product = a.clone();
        let (atoms, coefficient) = self.factors(factor)?;
        for atom in atoms {
            product = Expr::binary(BinOp::Mul, &product, &atom)?;
        }
        if coefficient == 1 {
            return Ok(product);
        }
        Expr::binary(BinOp::Mul, &product, &Expr::constant(coefficient))
    }

    /// Pair `(factors, rest)` of the term `(monomial, coefficient)`. `factors` are expressions, one per atom, and
    /// `rest` is the coefficient that remains. A symbol atom stands for the integer `symbol / multiple`. If `multiple`
    /// divides the coefficient, the factor is `symbol` and the coefficient is divided by `multiple`; otherwise the
    /// factor is `symbol // multiple`. For a symbol `n` of multiple 4, the coefficient 8 gives `([n], 2)`, and 6 gives
    /// `([n // 4], 6)`.
    fn factors(
        &self,
        (monomial, coefficient): &(Monomial, i128),
    ) -> Result<(Vec<Expr>, i128), ExprError> {
        let mut coefficient = *coefficient;
        let mut factors = Vec::new();
        for atom in monomial.iter() {
            factors.push(match atom {
                Atom::Var(var @ Var::Symbol(k)) => {
                    let multiple = self.symbol(*k).map_or(1, |s| s.multiple);
                    let symbol = Expr::var(*var);
                    if coefficient % multiple == 0 {
                        coefficient /= multiple;
                        symbol
                    } else {
                        Expr::binary(BinOp::FloorDiv, &symbol, &Expr::constant(multiple))?
                    }
                }
                Atom::Var(var) => Expr::var(*var),
                Atom::Op(op, a, b) => Expr::binary(*op, &self.render(a)?, &self.render(b)?)?,
            });
        }
        Ok((factors, coefficient))
    }

    /// Expression equal to the term `(monomial, coefficient)`. A term without atoms gives a constant; in any other
    /// term, a negative coefficient gives the negation of a product.
    fn signed_product(&self, term: &(Monomial, i128)) -> Result<Expr, ExprError> {
        if term.0.is_empty() {
            return Ok(Expr::constant(term.1));
        }
        if term.1 < 0 {
            let positive = (term.0.clone(), term.1.checked_neg().ok_or(ExprError::Overflow)?);
            return Expr::negate(&self.product(&positive)?);
        }
        self.product(term)
    }

    fn product(&self, term: &(Monomial, i128)) -> Result<Expr, ExprError> {
        if term.0.is_empty() {
            return Ok(Expr::constant(term.1));
        }
        let (mut atoms, coefficient) = self.factors(term)?;
        // Indices before symbols: `n * batch`.
        atoms.sort_by_key(|a| !a.mentions(&|var| !matches!(var, Var::Symbol(_))));
        let mut product: Option<Expr> = None;
        for atom in atoms {
            product = Some(match product {
                None => atom,
                Some(head) => Expr::binary(BinOp::Mul, &head, &atom)?,
            });
        }
        let product = product.unwrap_or_else(|| Expr::constant(1));
        if coefficient == 1 {
            return Ok(product);
        }
        Expr::binary(BinOp::Mul, &product, &Expr::constant(coefficient))
    }

    fn flat_sum(&self, terms: &[(Monomial, i128)]) -> Result<Expr, ExprError> {
        // A positive term leads: `15 - i`, not `-i + 15`.
        let lead = terms.iter().position(|term| term.1 > 0).unwrap_or(0);
        let Some(first) = terms.get(lead) else { return Ok(Expr::constant(0)) };
        let mut sum = self.signed_product(first)?;
        for (at, term) in terms.iter().enumerate() {
            if at != lead {
                sum = self.append(&sum, term)?;
            }
        }
        Ok(sum)
    }

    fn append(&self, sum: &Expr, term: &(Monomial, i128)) -> Result<Expr, ExprError> {
        if term.1 < 0 {
            let positive = (term.0.clone(), term.1.checked_neg().ok_or(ExprError::Overflow)?);
            return Expr::binary(BinOp::Sub, sum, &self.product(&positive)?);
        }
        Expr::binary(BinOp::Add, sum, &self.product(term)?)
    }
}

/// Sort key of a term for a rendered sum, greatest key first:
/// `(is not the constant, number of symbolic atoms, absolute value of the coefficient)`, so that the constant comes
/// last.
fn weight_of(term: &(Monomial, i128)) -> (bool, usize, u128) {
    let symbols = term.0.iter().filter(|atom| atom.is_symbolic()).count();
    (!term.0.is_empty(), symbols, term.1.unsigned_abs())
}

/// Greatest common divisor `(monomial, coefficient)` of `terms`, where `monomial` contains only atoms over symbols:
/// `(n, 4)` for `8*n*i` and `4*n*j` with a symbol `n` and axes `i`, `j`.
fn common_factor(terms: &[(Monomial, i128)]) -> (Monomial, i128) {
    let mut atoms: Option<Vec<Atom>> = None;
    let mut coefficient = 0;
    for (monomial, c) in terms {
        coefficient = gcd(coefficient, *c);
        let symbolic: Vec<Atom> = monomial.iter().filter(|a| a.is_symbolic()).cloned().collect();
        atoms = Some(match atoms {
            None => symbolic,
            Some(common) => {
                let mut left = symbolic;
                common
                    .into_iter()
                    .filter(|a| {
                        left.iter().position(|b| a == b).map(|at| left.remove(at)).is_some()
                    })
                    .collect()
            }
        });
    }
    (atoms.unwrap_or_default().into(), coefficient)
}

fn is_one(factor: &(Monomial, i128)) -> bool {
    factor.0.is_empty() && factor.1 == 1
}

fn divides(factor: &(Monomial, i128), term: &(Monomial, i128)) -> bool {
    term.1 % factor.1 == 0 && term.0.divided_by(&factor.0).is_some()
}

fn divide_term(term: &(Monomial, i128), factor: &(Monomial, i128)) -> (Monomial, i128) {
    let atoms = term.0.divided_by(&factor.0).unwrap_or_else(|| term.0.clone());
    (atoms, term.1 / factor.1)
}
