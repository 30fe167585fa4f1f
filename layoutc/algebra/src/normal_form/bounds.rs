//! Bounds of polynomials over the ranges of their variables: symbolic bounds ([`Facts::range`]), polynomials over
//! symbols, and numeric bounds ([`Facts::numeric`]), integers.

use alloc::vec::Vec;

use crate::expr::{BinOp, ExprError, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::normal_form::simplify::{Facts, Interval};

impl Facts {
    /// Inclusive bounds of a polynomial for all indices in their ranges, as polynomials over symbols. The polynomial
    /// need not attain the bounds.
    pub(crate) fn range(&self, p: &Poly) -> Result<Interval, ExprError> {
        if let Some((low, high)) = self.constant_range(p) {
            return Ok(Interval { low: Poly::constant(low), high: Poly::constant(high) });
        }
        let mut groups: Vec<(Vec<&Atom>, Poly)> = Vec::new();
        for (monomial, coefficient) in p.terms() {
            let (symbolic, indices): (Vec<&Atom>, Vec<&Atom>) =
                monomial.iter().partition(|atom| atom.is_symbolic());
            let symbolic: Vec<Atom> = symbolic.into_iter().cloned().collect();
            let weight = Poly::term(Monomial::from(symbolic), coefficient);
            match groups.iter_mut().find(|(own, _)| *own == indices) {
                Some((_, sum)) => *sum = sum.add(&weight)?,
                None => groups.push((indices, weight)),
            }
        }
        let (mut low, mut high) = (Poly::zero(), Poly::zero());
        for (indices, weight) in groups {
            let interval = self.group_range(&indices, &weight)?;
            low = low.add_owned(&interval.low)?;
            high = high.add_owned(&interval.high)?;
        }
        Ok(Interval { low, high })
    }

    /// Inclusive bounds, as polynomials over symbols, of `weight` times the product of the atoms `indices`. The atoms
    /// contain indices; `weight` is a polynomial over symbols of any sign.
    fn group_range(&self, indices: &[&Atom], weight: &Poly) -> Result<Interval, ExprError> {
        let [atom] = indices else {
            return if indices.is_empty() {
                Ok(Interval { low: weight.clone(), high: weight.clone() })
            } else {
                self.product_range(indices, weight)
            };
        };
        let range = self.atom_range(atom)?;
        let (least, greatest) = self.numeric(weight)?;
        if least >= 0 || greatest <= 0 {
            return scaled(&range, weight, if least >= 0 { 1 } else { -1 });
        }
        for sign in [1, -1] {
            if self.is_never_negative(&weight.scale(sign)?)? {
                return scaled(&range, weight, sign);
            }
        }
        let (mut low, mut high) = (Poly::zero(), Poly::zero());
        for (monomial, coefficient) in weight.terms() {
            for atom in monomial.iter() {
                if self.numeric_atom(atom)?.0 < 0 {
                    return self.product_range(indices, weight);
                }
            }
            let part = Poly::term(monomial.clone(), coefficient);
            let interval = scaled(&range, &part, coefficient)?;
            low = low.add_owned(&interval.low)?;
            high = high.add_owned(&interval.high)?;
        }
        Ok(Interval { low, high })
    }

    /// Inclusive integer bounds `(low, high)` of a polynomial, equal to those of [`Facts::range`]. Handles sums of
    /// indices with constant ranges, and of their quotients and remainders by constants; `None` for most other
    /// polynomials, such as products of indices, and if arithmetic overflows.
    fn constant_range(&self, p: &Poly) -> Option<(i128, i128)> {
        let (mut low, mut high) = (p.constant_term(), p.constant_term());
        for (monomial, coefficient) in p.terms() {
            let (least, greatest) = match &**monomial {
                [] => continue,
                [atom] => self.constant_atom_range(atom)?,
                _ => return None,
            };
            let (least, greatest) =
                (least.checked_mul(coefficient)?, greatest.checked_mul(coefficient)?);
            low = low.checked_add(least.min(greatest))?;
            high = high.checked_add(least.max(greatest))?;
        }
        Some((low, high))
    }

    fn constant_atom_range(&self, atom: &Atom) -> Option<(i128, i128)> {
        match atom {
            Atom::Var(var) => {
                let range = self.ranges.get(var)?;
                Some((range.low.as_constant()?, range.high.as_constant()?))
            }
            Atom::Op(BinOp::FloorDiv, a, b) => {
                let by = b.as_constant().filter(|by| *by > 0)?;
                let (low, high) = self.constant_range(a)?;
                Some((low.div_euclid(by), high.div_euclid(by)))
            }
            // [`Facts::range`] keeps a remainder over symbols alone exact.
            Atom::Op(BinOp::Mod, _, b) if !atom.is_symbolic() => {
                Some((0, b.as_constant()?.checked_sub(1)?))
            }
            Atom::Op(..) => None,
        }
    }

    fn product_range(&self, atoms: &[&Atom], factor: &Poly) -> Result<Interval, ExprError> {
        let (mut low, mut high) = self.numeric(factor)?;
        for atom in atoms {
            let range = self.atom_range(atom)?;
            let (a, b) = (self.numeric(&range.low)?.0, self.numeric(&range.high)?.1);
            (low, high) = multiply_bounds((low, high), (a, b))?;
        }
        Ok(Interval { low: Poly::constant(low), high: Poly::constant(high) })
    }

    fn atom_range(&self, atom: &Atom) -> Result<Interval, ExprError> {
        match atom {
            Atom::Var(var) => match self.ranges.get(var) {
                Some(range) => Ok(range.clone()),
                None if matches!(var, Var::Symbol(_)) => {
                    let exact = Poly::atom(atom.clone());
                    Ok(Interval { low: exact.clone(), high: exact })
                }
                None => Err(ExprError::Unbound),
            },
            Atom::Op(op, a, b) => self.operation_range(*op, a, b),
        }
    }

    fn operation_range(&self, op: BinOp, a: &Poly, b: &Poly) -> Result<Interval, ExprError> {
        let interval = |low: i128, high: i128| Interval {
            low: Poly::constant(low),
            high: Poly::constant(high),
        };
        match op {
            BinOp::FloorDiv => {
                let range = self.range(a)?;
                let low = self.floor_div(&range.low, b)?;
                let high = self.floor_div(&range.high, b)?;
                Ok(Interval { low, high })
            }
            BinOp::Mod => Ok(Interval { low: Poly::zero(), high: b.plus(-1)? }),
            BinOp::And | BinOp::Xor => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                let (a_low, a_high) = (self.numeric(&a.low)?.0, self.numeric(&a.high)?.1);
                let (b_low, b_high) = (self.numeric(&b.low)?.0, self.numeric(&b.high)?.1);
                let (low, high) = bitwise_bounds(op, (a_low, a_high), (b_low, b_high));
                Ok(interval(low, high))
            }
            BinOp::Hilbert(grid) | BinOp::HilbertCell(grid) => {
                Ok(interval(0, i128::from(grid.cells()) - 1))
            }
            BinOp::Min | BinOp::Max | BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                let low = self.numeric(&a.low)?.0.min(self.numeric(&b.low)?.0);
                let high = self.numeric(&a.high)?.1.max(self.numeric(&b.high)?.1);
                Ok(interval(low, high))
            }
        }
    }

    /// Inclusive integer bounds `(low, high)` of a polynomial over symbols, for all legal values of the symbols: the
    /// sums of the bounds of its terms.
    pub(crate) fn numeric(&self, p: &Poly) -> Result<(i128, i128), ExprError> {
        let (mut low, mut high) = (0_i128, 0_i128);
        for (monomial, coefficient) in p.terms() {
            let mut bounds = (coefficient, coefficient);
            for atom in monomial.iter() {
                bounds = multiply_bounds(bounds, self.numeric_atom(atom)?)?;
            }
            low = low.checked_add(bounds.0).ok_or(ExprError::Overflow)?;
            high = high.checked_add(bounds.1).ok_or(ExprError::Overflow)?;
        }
        Ok((low, high))
    }

    pub(crate) fn numeric_atom(&self, atom: &Atom) -> Result<(i128, i128), ExprError> {
        match atom {
            Atom::Var(Var::Symbol(k)) => {
                let symbol = self.symbol(*k).ok_or(ExprError::Unbound)?;
                let units = |value: i128| value / symbol.multiple.max(1);
                Ok((units(symbol.least()), units(symbol.greatest())))
            }
            Atom::Var(_) => {
                let range = self.atom_range(atom)?;
                Ok((self.numeric(&range.low)?.0, self.numeric(&range.high)?.1))
            }
            Atom::Op(BinOp::FloorDiv, a, b) => {
                let (a, b) = (self.numeric(a)?, self.numeric(b)?);
                let least = b.0.max(1);
                let corners = [
                    a.0.div_euclid(least),
                    a.0.div_euclid(b.1.max(1)),
                    a.1.div_euclid(least),
                    a.1.div_euclid(b.1.max(1)),
                ];
                Ok(corners
                    .iter()
                    .fold((corners[0], corners[0]), |(l, h), v| (l.min(*v), h.max(*v))))
            }
            Atom::Op(op, a, b) => {
                let range = self.operation_range(*op, a, b)?;
                Ok((self.numeric(&range.low)?.0, self.numeric(&range.high)?.1))
            }
        }
    }
}

/// Interval of the products of `factor` with the values in `range`. `factor` has the sign of `sign` for all values of
/// the symbols; a negative sign swaps the bounds.
fn scaled(range: &Interval, factor: &Poly, sign: i128) -> Result<Interval, ExprError> {
    let (low, high) = (range.low.mul(factor)?, range.high.mul(factor)?);
    Ok(if sign < 0 { Interval { low: high, high: low } } else { Interval { low, high } })
}

fn multiply_bounds(a: (i128, i128), b: (i128, i128)) -> Result<(i128, i128), ExprError> {
    let product = |x: i128, y: i128| x.checked_mul(y).ok_or(ExprError::Overflow);
    let corners = [product(a.0, b.0)?, product(a.0, b.1)?, product(a.1, b.0)?, product(a.1, b.1)?];
    Ok(corners.iter().fold((corners[0], corners[0]), |(low, high), v| (low.min(*v), high.max(*v))))
}

/// Inclusive bounds `(low, high)` of `a op b`, where `op` is `&`, `^`, min or max, for operands in the inclusive ranges
/// `a` and `b`. For `&` with a non-negative operand, `low` is 0 and `high` is the upper bound of that operand; of two
/// such operands, the smaller upper bound. Otherwise, `n` is the number of bits of the largest absolute bound, at most
/// 127: `high` is `2^n - 1`, and `low` is 0, or `-2^n` if an operand may be negative.
pub(crate) fn bitwise_bounds(op: BinOp, a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    let magnitude = |(low, high): (i128, i128)| low.unsigned_abs().max(high.unsigned_abs());
    let bits = 128 - magnitude(a).max(magnitude(b)).leading_zeros();
    let full = if bits >= 127 { i128::MAX } else { (1_i128 << bits) - 1 };
    let positive = a.0 >= 0 && b.0 >= 0;
    match (op, positive) {
        (BinOp::And, true) => (0, a.1.min(b.1)),
        (BinOp::And, false) if a.0 >= 0 => (0, a.1),
        (BinOp::And, false) if b.0 >= 0 => (0, b.1),
        (_, true) => (0, full),
        (_, false) => (-full - 1, full),
    }
}
