//! Equations derived from others: the quotient and the remainder of one equation by a weight, and differences of two
//! equations in which an atom cancels.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use super::{Elimination, Equation};
use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::Atom;

impl Elimination<'_> {
    /// Splits equations `w*a + b = v`, where `0 <= b < w` at every sample element, into `a = v // w` and `b = v % w`,
    /// and adds these. Each equation is split as stored, and also with known values substituted. True if an equation is
    /// new.
    pub(super) fn split_equations(&mut self) -> Result<bool, ExprError> {
        let mut all: Vec<Equation> = Vec::new();
        for equation in self.equations.iter_mut().filter(|equation| !equation.is_done) {
            equation.is_done = true;
            all.push(equation.clone());
        }
        for equation in self.reduced()? {
            if all.iter().all(|own| own.unknown != equation.unknown) {
                all.push(equation);
            }
        }
        let mut is_new = false;
        for equation in all {
            for weight in self.weights(&equation)? {
                let Some(parts) = self.parts(&equation, &weight)? else { continue };
                let mut helps = false;
                for part in parts {
                    helps |= self.add(part);
                }
                is_new |= helps;
                if helps {
                    break;
                }
            }
        }
        Ok(is_new)
    }

    /// Candidate divisors for splitting an equation, in descending order: the absolute values of its weights, and the
    /// greatest common divisors of pairs of constant weights. The divisor 1 and weights of unknown sign are omitted.
    fn weights(&self, equation: &Equation) -> Result<Vec<Poly>, ExprError> {
        let mut weights: Vec<Poly> = Vec::new();
        for weight in equation.unknown.values() {
            if let Some(sign) = self.sign(weight) {
                let weight = weight.scale(sign)?;
                let shared = weight.as_constant().map(|own| {
                    let others = weights.iter().filter_map(Poly::as_constant);
                    others.map(|other| Poly::constant(gcd(own, other))).collect::<Vec<_>>()
                });
                for weight in shared.into_iter().flatten().chain([weight]) {
                    if weight.as_constant() != Some(1) && !weights.contains(&weight) {
                        weights.push(weight);
                    }
                }
            }
        }
        weights.sort_by_key(|weight| {
            core::cmp::Reverse(self.facts.numeric(weight).map_or(0, |n| n.1))
        });
        Ok(weights)
    }

    /// Equations `[a = v // by, b = v % by]` for an equation `by*a + b = v`, if `0 <= b < by` at every sample element;
    /// `None` otherwise. A quotient with a negative weight is tried as a part of `a` and as a part of `b`, because a
    /// remainder `x % d` is `x - d * (x // d)`.
    fn parts(&self, equation: &Equation, by: &Poly) -> Result<Option<[Equation; 2]>, ExprError> {
        let mut candidates: Vec<BTreeSet<&Atom>> = alloc::vec![BTreeSet::new()];
        let mut falling = BTreeSet::new();
        for (atom, weight) in &equation.unknown {
            let is_quotient = matches!(atom, Atom::Op(BinOp::FloorDiv, ..));
            if is_quotient && self.sign(weight) == Some(-1) {
                candidates.push(BTreeSet::from([atom]));
                falling.insert(atom);
            }
        }
        candidates.push(falling);
        for inside in candidates {
            if let Some(parts) = self.parts_with(equation, by, &inside)? {
                return Ok(Some(parts));
            }
        }
        Ok(None)
    }

    fn parts_with(
        &self,
        equation: &Equation,
        by: &Poly,
        inside: &BTreeSet<&Atom>,
    ) -> Result<Option<[Equation; 2]>, ExprError> {
        let (mut outer, mut inner) = (BTreeMap::new(), BTreeMap::new());
        let (mut low, blocks) = (Poly::zero(), equation.constant.divided_by(by)?);
        for (atom, weight) in &equation.unknown {
            let (whole, rest) = if inside.contains(atom) {
                (Poly::zero(), weight.clone())
            } else {
                weight.divided_by(by)?
            };
            if !whole.is_zero() {
                outer.insert(atom.clone(), whole);
            }
            if !rest.is_zero() {
                low = low.add_owned(&Poly::atom(atom.clone()).mul(&rest)?)?;
                inner.insert(atom.clone(), rest);
            }
        }
        if outer.is_empty() || inner.is_empty() {
            return Ok(None);
        }
        // The constant goes into the low half, its multiples of `by` into the high half, or the low half starts at 0.
        let least = self.facts.range(&low)?.low;
        for shift in [&equation.constant, &blocks.1, &least.scale(-1)?] {
            let moved = low.add(shift)?;
            if !self.forms.trials.stays_inside(&moved, by) {
                continue;
            }
            let left = equation.constant.sub(shift)?;
            let value = Expr::binary(BinOp::Sub, &equation.value, &self.facts.render(&left)?)?;
            let by = self.facts.render(by)?;
            let part = |op, unknown, constant: &Poly| {
                let value = self.simple(&Expr::binary(op, &value, &by)?)?;
                let constant = constant.clone();
                Ok::<_, ExprError>(Equation { unknown, constant, value, is_done: false })
            };
            let high = part(BinOp::FloorDiv, outer, &Poly::zero())?;
            return Ok(Some([high, part(BinOp::Mod, inner, shift)?]));
        }
        Ok(None)
    }

    /// Adds equations in which an atom that two equations share cancels, as differences of multiples of the two. Only
    /// the first pair of equations that gives a new one is used. A difference with more atoms than the longer of the
    /// two equations is dropped. True if an equation is new.
    pub(super) fn combine(&mut self) -> Result<bool, ExprError> {
        let all = self.reduced()?;
        for (one, other) in (0..all.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let (Some(a), Some(b)) = (all.get(one), all.get(other)) else { continue };
            let shared: Vec<Atom> =
                a.unknown.keys().filter(|atom| b.unknown.contains_key(atom)).cloned().collect();
            let most = a.unknown.len().max(b.unknown.len());
            let mut made = Vec::new();
            for atom in shared {
                let equation = self.difference(a, b, &atom)?;
                if equation.unknown.len() <= most {
                    made.push(equation);
                }
            }
            let mut is_new = false;
            for equation in made {
                is_new |= self.add(equation);
            }
            if is_new {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Equation `u*a - v*b`, with factors `u` and `v` over symbols for which `atom` cancels.
    fn difference(&self, a: &Equation, b: &Equation, atom: &Atom) -> Result<Equation, ExprError> {
        let weight = |of: &Equation| of.unknown.get(atom).cloned().ok_or(ExprError::Unbound);
        let (x, y) = (weight(a)?, weight(b)?);
        let ((up, remainder), (down, other)) = (x.divided_by(&y)?, y.divided_by(&x)?);
        let (u, v) = if remainder.is_zero() {
            (Poly::constant(1), up)
        } else if other.is_zero() {
            (down, Poly::constant(1))
        } else {
            (y, x)
        };
        let mut unknown: BTreeMap<Atom, Poly> = BTreeMap::new();
        for (atom, weight) in &a.unknown {
            unknown.insert(atom.clone(), weight.mul(&u)?);
        }
        for (atom, weight) in &b.unknown {
            let own = unknown.entry(atom.clone()).or_default();
            *own = own.sub(&weight.mul(&v)?)?;
        }
        unknown.retain(|_, weight| !weight.is_zero());
        let part =
            |value: &Expr, by: &Poly| Expr::binary(BinOp::Mul, value, &self.facts.render(by)?);
        let value = Expr::binary(BinOp::Sub, &part(&a.value, &u)?, &part(&b.value, &v)?)?;
        let constant = a.constant.mul(&u)?.sub_owned(&b.constant.mul(&v)?)?;
        Ok(Equation { unknown, constant, value: self.simple(&value)?, is_done: false })
    }
}
