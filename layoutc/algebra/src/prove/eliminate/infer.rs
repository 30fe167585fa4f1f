//! Inference of values of unknown atoms (axes, quotients, XORs) from known ones. The value of an operation follows from
//! the values of its operands. An operand of a known XOR follows from the XOR and the other operand.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Elimination, MAX_EQUATIONS_OF_A_SUM, MAX_ROUNDS, is_symbolic};
use crate::expr::{BinOp, Expr, ExprError};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};

impl Elimination<'_> {
    /// Value of the sum `form` over `Var::Storage`. It is found if all atoms of the sum are known, or if the unknown
    /// ones cancel after at most [`MAX_EQUATIONS_OF_A_SUM`] equations are subtracted; `None` otherwise.
    fn value_of(&self, form: &Poly) -> Result<Option<Expr>, ExprError> {
        if let Some(value) = self.plain_value_of(form)? {
            return Ok(Some(value));
        }
        let (mut rest, mut sum) = (form.clone(), Expr::constant(0));
        for _ in 0..MAX_EQUATIONS_OF_A_SUM {
            let Some((taken, part)) = self.subtract_equation(&rest)? else { return Ok(None) };
            rest = taken;
            sum = Expr::binary(BinOp::Add, &sum, &part)?;
            if let Some(value) = self.plain_value_of(&rest)? {
                return Ok(Some(Expr::binary(BinOp::Add, &sum, &value)?));
            }
        }
        Ok(None)
    }

    /// Subtracts a multiple `t` of an equation `e = v` from the sum `form`, so that an unknown atom of `form` cancels.
    /// Quotients and other operations are tried before axes. An equation with an unknown atom that `form` lacks is not
    /// used. Returns `(form - t*e, t*v)`; `None` if no equation fits.
    fn subtract_equation(&self, form: &Poly) -> Result<Option<(Poly, Expr)>, ExprError> {
        let mut unknown: BTreeMap<Atom, Poly> = BTreeMap::new();
        for (monomial, coefficient) in form.terms() {
            let (others, indices): (Vec<Atom>, Vec<Atom>) =
                monomial.iter().cloned().partition(Atom::is_symbolic);
            if let [atom] = indices.as_slice()
                && !self.known.contains_key(atom)
            {
                let weight = unknown.entry(atom.clone()).or_default();
                weight.add_term(&Monomial::from(others), coefficient)?;
            }
        }
        for (atom, weight) in unknown.iter().rev() {
            for equation in &self.equations {
                let Some(own) = equation.unknown.get(atom) else { continue };
                let (times, remainder) = weight.divided_by(own)?;
                let is_within = equation
                    .unknown
                    .keys()
                    .all(|a| unknown.contains_key(a) || self.known.contains_key(a));
                if !remainder.is_zero() || !is_within {
                    continue;
                }
                let mut left = form.sub(&equation.constant.mul(&times)?)?;
                for (atom, weight) in &equation.unknown {
                    let part = Poly::atom(atom.clone()).mul(weight)?.mul(&times)?;
                    left = left.sub_owned(&part)?;
                }
                let times = self.facts.render(&times)?;
                return Ok(Some((left, Expr::binary(BinOp::Mul, &equation.value, &times)?)));
            }
        }
        Ok(None)
    }

    fn plain_value_of(&self, form: &Poly) -> Result<Option<Expr>, ExprError> {
        let mut sum = Expr::constant(0);
        for (monomial, coefficient) in form.terms() {
            let mut product = Expr::constant(coefficient);
            for atom in monomial.iter() {
                let part = if atom.is_symbolic() {
                    self.facts.render(&Poly::atom(atom.clone()))?
                } else {
                    match self.atom_value(atom)? {
                        Some(value) => value,
                        None => return Ok(None),
                    }
                };
                product = Expr::binary(BinOp::Mul, &product, &part)?;
            }
            sum = Expr::binary(BinOp::Add, &sum, &product)?;
        }
        Ok(Some(sum))
    }

    fn atom_value(&self, atom: &Atom) -> Result<Option<Expr>, ExprError> {
        if let Some(value) = self.known.get(atom) {
            return Ok(Some(value.clone()));
        }
        let Atom::Op(op, a, b) = atom else { return Ok(None) };
        if *op == BinOp::FloorDiv
            && let Some(value) = self.known_quotient(a, b)?
        {
            return Ok(Some(value));
        }
        match (self.value_of(a)?, self.value_of(b)?) {
            (Some(a), Some(b)) => Ok(Some(Expr::binary(*op, &a, &b)?)),
            _ => Ok(None),
        }
    }

    /// Value of the quotient `x // d`, from a known value in one of two cases; `None` otherwise.
    /// * A quotient `y // g` is known, where `g` divides `d`, and `x = y + g*z` with `z` over symbols:
    ///   `(y // g + z) // (d/g)`.
    /// * An equation `e = v` exists, where `x = e + c` with `c` over symbols: `(v + c) // d`.
    fn known_quotient(&self, x: &Poly, d: &Poly) -> Result<Option<Expr>, ExprError> {
        for (atom, value) in &self.known {
            let Atom::Op(BinOp::FloorDiv, own, g) = atom else { continue };
            let ((by, remainder), (blocks, left)) = (d.divided_by(g)?, x.sub(own)?.divided_by(g)?);
            if remainder.is_zero() && left.is_zero() && is_symbolic(&blocks) {
                let whole = Expr::binary(BinOp::Add, value, &self.facts.render(&blocks)?)?;
                return Ok(Some(Expr::binary(BinOp::FloorDiv, &whole, &self.facts.render(&by)?)?));
            }
        }
        for equation in &self.equations {
            let mut offset = x.sub(&equation.constant)?;
            for (atom, weight) in &equation.unknown {
                offset = offset.sub_owned(&Poly::atom(atom.clone()).mul(weight)?)?;
            }
            if is_symbolic(&offset) {
                let offset = self.facts.render(&offset)?;
                let whole = Expr::binary(BinOp::Add, &equation.value, &offset)?;
                return Ok(Some(Expr::binary(BinOp::FloorDiv, &whole, &self.facts.render(d)?)?));
            }
        }
        Ok(None)
    }

    /// Records the value of one unknown quotient, XOR or other operation that follows from the values of its operands,
    /// or from [`Self::known_quotient`]. If there is none, adds the equations of [`Self::divide`]. If these add none
    /// either, adds `operand = xor ^ other` for the unknown operand of a known XOR. True if a value or an equation is
    /// new.
    pub(super) fn infer(&mut self) -> Result<bool, ExprError> {
        let mut atoms: BTreeSet<Atom> = BTreeSet::new();
        for equation in &self.equations {
            let open = equation.unknown.keys().filter(|atom| !self.known.contains_key(atom));
            atoms.extend(open.filter(|atom| matches!(atom, Atom::Op(..))).cloned());
        }
        for atom in atoms {
            if let Some(value) = self.atom_value(&atom)? {
                self.learn(atom, &value)?;
                return Ok(true);
            }
        }
        if self.divide()? {
            return Ok(true);
        }
        let xors = self.known.iter().filter(|(atom, _)| matches!(atom, Atom::Op(BinOp::Xor, ..)));
        let xors: Vec<(Atom, Expr)> = xors.map(|(a, value)| (a.clone(), value.clone())).collect();
        for (atom, value) in xors {
            let Atom::Op(_, a, b) = &atom else { continue };
            for (known, other) in [(a, b), (b, a)] {
                if let Some(known) = self.value_of(known)?
                    && self.value_of(other)?.is_none()
                    && self.take(other, Expr::binary(BinOp::Xor, &value, &known)?)?
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Adds equations `sum // d = value // d` derived from equations `sum = value`. An equation is added only if
    /// `sum // d` contains an unknown quotient that occurs in an operand of a known XOR. The divisors `d` are those for
    /// which a quotient by `g` in `sum` becomes the divisor `d * g` of that unknown quotient. True if an equation is
    /// new.
    fn divide(&mut self) -> Result<bool, ExprError> {
        let mut wanted: BTreeSet<Atom> = BTreeSet::new();
        for atom in self.known.keys() {
            if let Atom::Op(BinOp::Xor, a, b) = atom {
                let both = a.terms().chain(b.terms()).flat_map(|(monomial, _)| monomial.iter());
                wanted.extend(both.filter(|atom| !self.known.contains_key(atom)).cloned());
            }
        }
        let mut made: Vec<(Poly, Expr)> = Vec::new();
        for atom in &wanted {
            let Atom::Op(BinOp::FloorDiv, _, d) = atom else { continue };
            for equation in &self.equations {
                let divisors = equation.unknown.keys().filter_map(|own| match own {
                    Atom::Op(BinOp::FloorDiv, _, g) => Some(g),
                    _ => None,
                });
                for g in divisors {
                    let (by, remainder) = d.divided_by(g)?;
                    if !remainder.is_zero() || by.as_constant() == Some(1) {
                        continue;
                    }
                    let mut form = equation.constant.clone();
                    for (atom, weight) in &equation.unknown {
                        form = form.add_owned(&Poly::atom(atom.clone()).mul(weight)?)?;
                    }
                    let quotient = self.forms.quotient(&form, &by, MAX_ROUNDS)?;
                    let is_mentioned =
                        quotient.terms().any(|(monomial, _)| monomial.contains(atom));
                    if is_mentioned {
                        let by = self.facts.render(&by)?;
                        let value = Expr::binary(BinOp::FloorDiv, &equation.value, &by)?;
                        made.push((quotient, self.simple(&value)?));
                    }
                }
            }
        }
        let mut is_new = false;
        for (form, value) in made {
            is_new |= self.take(&form, value)?;
        }
        Ok(is_new)
    }
}
