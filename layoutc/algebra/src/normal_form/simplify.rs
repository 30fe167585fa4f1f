//! Simplification of index expressions by their normal form, given the ranges of the variables.
//!
//! The rules are identities of integer floor division, with side conditions checked on ranges: `(k*q + r) // k = q`
//! and `(k*q + r) % k = r` for `0 <= r < k`; `(g*a + r) // (g*k) = a // k` for `0 <= r < g`;
//! `x // a // b = x // (a*b)`; `x % (k*m) // k = x // k % m`; adjacent digits of one value join:
//! `x // a % b + x // (a*b) % c * b = x // a % (b*c)`. [`Facts::simplify`] renders the result in nested form,
//! `(a * 32 + b) * 64 + c`.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var};
use crate::normal_form::poly::Poly;
use crate::normal_form::poly::monomial::{Atom, Monomial};
use crate::symbol::Symbol;

/// Closed interval `low..=high` whose bounds are polynomials over symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: Poly,
    pub(crate) high: Poly,
}

/// Assumptions under which expressions are simplified: the declared symbols, and the known ranges of index variables.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    symbols: Vec<Symbol>,
    pub(crate) ranges: BTreeMap<Var, Interval>,
}

impl Facts {
    /// Facts about `symbols` alone, where `Var::Symbol(k)` is `symbols[k]`; no index variable has a range yet.
    pub fn new(symbols: &[Symbol]) -> Self {
        Self { symbols: symbols.to_vec(), ranges: BTreeMap::new() }
    }

    /// Expression with every symbol that has a single legal value replaced by that value.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub(crate) fn fixed(&self, expr: &Expr) -> Result<Expr, ExprError> {
        let only = |var: Var| match var {
            Var::Symbol(k) => self.symbol(k).and_then(Symbol::only).map(Expr::constant),
            _ => None,
        };
        if expr.mentions(&|var| only(var).is_some()) {
            expr.substitute(&only)
        } else {
            Ok(expr.clone())
        }
    }

    /// Declared symbols: `Var::Symbol(k)` is `symbols[k]`.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Sets the range of `var` to `0..extent`, where `extent` is an expression over symbols. The constant extent 0
    /// gives the range `0..=0`, and a symbolic extent gives `0..=extent - 1` even if it may be 0: statements about all
    /// indices of an empty axis hold vacuously.
    ///
    /// # Errors
    /// Errors of [`Facts::simplify`].
    pub fn set_extent(&mut self, var: Var, extent: &Expr) -> Result<(), ExprError> {
        let extent = self.normalize(extent)?;
        let high = if extent.as_constant() == Some(0) { Poly::zero() } else { extent.plus(-1)? };
        self.ranges.insert(var, Interval { low: Poly::zero(), high });
        Ok(())
    }

    /// Simplified form of `expr`, equal to `expr` for all values of the variables in their ranges: `(i * 4 + j) // 4`
    /// gives `i` for `j` in `0..4`.
    ///
    /// # Errors
    /// [`ExprError::Overflow`] if a value leaves 128 bits, [`ExprError::TooLarge`] if the expression or its normal form
    /// becomes too large, [`ExprError::Divisor`] if a constant divisor is below 1, [`ExprError::Unbound`] if the bounds
    /// of a symbol that is not declared, or of an index variable without a range, are needed.
    pub fn simplify(&self, expr: &Expr) -> Result<Expr, ExprError> {
        if expr.as_const().is_some() {
            return Ok(expr.clone());
        }
        self.render(&self.normalize(expr)?)
    }

    /// True if `a >= b` is proven for all values of the variables; false if it is refuted or undecided.
    ///
    /// # Errors
    /// Errors of [`Facts::simplify`].
    pub fn proves_ge(&self, a: &Expr, b: &Expr) -> Result<bool, ExprError> {
        let difference = self.normalize(a)?.sub(&self.normalize(b)?)?;
        self.at_least_zero(&difference)
    }

    /// True if the normal forms of `a` and `b` are equal, which proves `a == b` for all values of the variables;
    /// false does not refute it.
    ///
    /// # Errors
    /// Errors of [`Facts::simplify`].
    pub fn proves_eq(&self, a: &Expr, b: &Expr) -> Result<bool, ExprError> {
        Ok(self.normalize(a)?.sub(&self.normalize(b)?)?.is_zero())
    }

    /// Inclusive bounds `(low, high)` of `expr` for all values of indices and symbols, by interval arithmetic on the
    /// normal form. The expression need not attain the bounds.
    ///
    /// # Errors
    /// Errors of [`Facts::simplify`].
    pub fn bounds(&self, expr: &Expr) -> Result<(i128, i128), ExprError> {
        if let Some(value) = expr.as_const() {
            return Ok((value, value));
        }
        let range = self.range(&self.normalize(expr)?)?;
        Ok((self.numeric(&range.low)?.0, self.numeric(&range.high)?.1))
    }

    pub(crate) fn normalize(&self, expr: &Expr) -> Result<Poly, ExprError> {
        self.combine(expr, &|part| self.normalize(part))
    }

    /// Normal form of `expr`, computed from the normal forms of the operands of its root, which `form` returns.
    pub(crate) fn combine(
        &self,
        expr: &Expr,
        form: &dyn Fn(&Expr) -> Result<Poly, ExprError>,
    ) -> Result<Poly, ExprError> {
        match expr.node() {
            ExprNode::Const(value) => Ok(Poly::constant(*value)),
            ExprNode::Var(var) => Ok(self.variable(*var)),
            ExprNode::Neg(a) => form(a)?.scale(-1),
            ExprNode::Bin(op, a, b) => {
                let (a, b) = (form(a)?, form(b)?);
                match op {
                    BinOp::Add => self.join_digits(a.add_owned(&b)?),
                    BinOp::Sub => self.join_digits(a.sub_owned(&b)?),
                    BinOp::Mul => a.mul(&b),
                    BinOp::FloorDiv => self.floor_div(&a, &b),
                    BinOp::Mod => self.modulo(&a, &b),
                    BinOp::And | BinOp::Xor => self.bitwise(*op, a, b),
                    BinOp::Min | BinOp::Max => self.extremum(*op, a, b),
                    BinOp::Hilbert(grid) => self.distance(*grid, a, b),
                    BinOp::HilbertCell(grid) => self.cell(*grid, a),
                }
            }
        }
    }

    fn variable(&self, var: Var) -> Poly {
        if let Var::Symbol(k) = var {
            let symbol = self.symbol(k);
            if let Some(value) = symbol.and_then(Symbol::only) {
                return Poly::constant(value);
            }
            let multiple = symbol.map_or(1, |s| s.multiple);
            return Poly::term(Monomial::Single(Atom::Var(var)), multiple);
        }
        match self.ranges.get(&var) {
            Some(range) if range.low == range.high => range.low.clone(),
            _ => Poly::atom(Atom::Var(var)),
        }
    }

    pub(crate) fn symbol(&self, k: u32) -> Option<&Symbol> {
        self.symbols.get(usize::try_from(k).ok()?)
    }

    fn bitwise(&self, op: BinOp, a: Poly, b: Poly) -> Result<Poly, ExprError> {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return Ok(Poly::constant(crate::expr::apply(op, x, y)?));
        }
        // `x & (2^n - 1)` is `x % 2^n`.
        if op == BinOp::And {
            for (value, mask) in [(&a, &b), (&b, &a)] {
                if let Some(m) = mask.as_constant()
                    && m >= 0
                    && (m + 1).count_ones() == 1
                {
                    return self.modulo(value, &Poly::constant(m + 1));
                }
            }
        }
        if op == BinOp::Xor {
            if a == b {
                return Ok(Poly::zero());
            }
            if a.is_zero() {
                return Ok(b);
            }
            if b.is_zero() {
                return Ok(a);
            }
        } else if a == b {
            return Ok(a);
        }
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        Ok(Poly::op(op, a, b))
    }

    fn extremum(&self, op: BinOp, a: Poly, b: Poly) -> Result<Poly, ExprError> {
        let a_is_more = self.at_least_zero(&a.sub(&b)?)?;
        let b_is_more = self.at_least_zero(&b.sub(&a)?)?;
        Ok(match (op, a_is_more, b_is_more) {
            (BinOp::Min, true, _) | (BinOp::Max, _, true) => b,
            (BinOp::Min, _, true) | (BinOp::Max, true, _) => a,
            _ => Poly::op(op, a, b),
        })
    }

    pub(crate) fn floor_div(&self, p: &Poly, divisor: &Poly) -> Result<Poly, ExprError> {
        if divisor.as_constant().is_some_and(|k| k <= 0) {
            return Err(ExprError::Divisor);
        }
        match (p.as_constant(), divisor.as_constant()) {
            (_, Some(1)) => return Ok(p.clone()),
            (Some(value), Some(k)) => return Ok(Poly::constant(value.div_euclid(k))),
            _ => {}
        }
        let (quotient, rest) = p.divided_by(divisor)?;
        if let Some(whole) = self.whole_multiples(&rest, divisor)? {
            return self.join_digits(quotient.add_owned(&whole)?);
        }
        let (quotient, rest) = constant_inside(quotient, rest, divisor)?;
        let reduced = match divisor.as_constant() {
            Some(k) => self.div_constant(&rest, k)?,
            None => self.div_nested(&rest, divisor)?,
        };
        let reduced = match reduced {
            Some(reduced) => reduced,
            None => Poly::op(BinOp::FloorDiv, rest, divisor.clone()),
        };
        self.join_digits(quotient.add_owned(&reduced)?)
    }

    /// Quotient `t = rest // divisor` as a constant polynomial, if one integer `t` is proven to satisfy
    /// `t*divisor <= rest < (t+1)*divisor` for all values of the variables; `None` otherwise. If a bound of `rest` or
    /// the divisor contains symbols, only `t = 0` and `t = -1` are tried.
    fn whole_multiples(&self, rest: &Poly, divisor: &Poly) -> Result<Option<Poly>, ExprError> {
        let range = self.range(rest)?;
        if let (Some(low), Some(high), Some(k)) =
            (range.low.as_constant(), range.high.as_constant(), divisor.as_constant())
        {
            let t = low.div_euclid(k);
            return Ok((t == high.div_euclid(k)).then(|| Poly::constant(t)));
        }
        let below = divisor.sub(&range.high)?.plus(-1)?;
        if self.at_least_zero(&range.low)? {
            return Ok(self.at_least_zero(&below)?.then(Poly::zero));
        }
        // A `rest` in `-divisor..0` has the quotient -1.
        let is_below = self.at_least_zero(&range.low.add(divisor)?)?
            && self.at_least_zero(&range.high.scale(-1)?.plus(-1)?)?;
        Ok(is_below.then(|| Poly::constant(-1)))
    }

    /// Quotient `rest // divisor` for a divisor `d` with symbols, by the rules `x // a // d = x // (a*d)` and
    /// `x % (d*m) // d = x // d % m`; `None` if neither rule applies.
    fn div_nested(&self, rest: &Poly, divisor: &Poly) -> Result<Option<Poly>, ExprError> {
        if let Some((Atom::Op(op @ (BinOp::FloorDiv | BinOp::Mod), x, a), constant)) =
            rest.as_atom_plus_constant()
        {
            if *op == BinOp::FloorDiv {
                let moved = x.add(&a.scale(constant)?)?;
                return Ok(Some(self.floor_div(&moved, &a.mul(divisor)?)?));
            }
            let (part, remainder) = a.divided_by(divisor)?;
            if constant == 0 && remainder.is_zero() {
                let quotient = self.floor_div(x, divisor)?;
                return Ok(Some(self.modulo(&quotient, &part)?));
            }
        }
        Ok(None)
    }

    fn div_constant(&self, rest: &Poly, k: i128) -> Result<Option<Poly>, ExprError> {
        // x // a // k = x // (a*k); an added constant moves inside
        if let Some((x, a)) = lone_division(rest)? {
            return Ok(Some(self.floor_div(&x, &a.scale(k)?)?));
        }
        // x % (k*m) // k = x // k % m
        if let Some(Atom::Op(BinOp::Mod, x, m)) = rest.as_atom() {
            let (part, remainder) = m.split_by_constant(k);
            if remainder.is_zero() {
                let quotient = self.floor_div(x, &Poly::constant(k))?;
                return Ok(Some(self.modulo(&quotient, &part)?));
            }
        }
        // (g*a + r) // (g*m) = a // m for 0 <= r < g
        if let Some((g, a, _)) = self.common_factor_split(rest, k)? {
            return Ok(Some(self.floor_div(&a, &Poly::constant(k / g))?));
        }
        Ok(None)
    }

    /// Decomposition `(g, a, r)` of the dividend `p` of a division by `k`: `p = g*a + r`, where `g` divides `k` and `r`
    /// is proven to be in `0..g`. Hence `p // k = a // (k/g)` and `p % k = g * (a % (k/g)) + r`. The candidates for `g`
    /// are the values `gcd(c, k)` above 1 for the coefficients `c` of the terms of `p` other than the constant,
    /// greatest first. `None` if no candidate qualifies.
    fn common_factor_split(
        &self,
        p: &Poly,
        k: i128,
    ) -> Result<Option<(i128, Poly, Poly)>, ExprError> {
        let mut candidates: Vec<i128> = p
            .terms()
            .filter(|(monomial, _)| !monomial.is_empty())
            .map(|(_, coefficient)| gcd(coefficient, k))
            .filter(|g| *g > 1)
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for g in candidates.into_iter().rev() {
            let (a, r) = p.split_by_constant(g);
            let range = self.range(&r)?;
            let below = Poly::constant(g - 1).sub(&range.high)?;
            if self.at_least_zero(&range.low)? && self.at_least_zero(&below)? {
                return Ok(Some((g, a, r)));
            }
        }
        Ok(None)
    }

    pub(crate) fn modulo(&self, p: &Poly, divisor: &Poly) -> Result<Poly, ExprError> {
        if divisor.as_constant().is_some_and(|k| k <= 0) {
            return Err(ExprError::Divisor);
        }
        match (p.as_constant(), divisor.as_constant()) {
            (_, Some(1)) => return Ok(Poly::zero()),
            (Some(value), Some(k)) => return Ok(Poly::constant(value.rem_euclid(k))),
            _ => {}
        }
        let p = drop_inner_mod(p, divisor)?;
        let (quotient, rest) = p.divided_by(divisor)?;
        if let Some(whole) = self.whole_multiples(&rest, divisor)? {
            return self.join_digits(rest.sub_owned(&whole.mul(divisor)?)?);
        }
        let (_, rest) = constant_inside(quotient, rest, divisor)?;
        if let Some(k) = divisor.as_constant()
            && let Some((g, a, r)) = self.common_factor_split(&rest, k)?
        {
            let outer = self.modulo(&a, &Poly::constant(k / g))?.scale(g)?;
            return self.join_digits(outer.add_owned(&r)?);
        }
        Ok(Poly::op(BinOp::Mod, rest, divisor.clone()))
    }
}

/// Pair `(dividend, divisor)` if `p` is a single quotient plus a constant: `(x + a*c, a)` for `x // a + c`, which
/// equals `(x + a*c) // a`. `None` otherwise.
fn lone_division(p: &Poly) -> Result<Option<(Poly, &Poly)>, ExprError> {
    if let Some((Atom::Op(BinOp::FloorDiv, x, a), constant)) = p.as_atom_plus_constant() {
        return Ok(Some((x.add(&a.scale(constant)?)?, a)));
    }
    Ok(None)
}

/// Polynomial congruent to `p` modulo `k`, without the remainders that the division by `k` makes redundant:
/// `c * (x % m)` becomes `c * x` if `k` divides `c*m`. With `k` 4, `x % 12` becomes `x`.
fn drop_inner_mod<'a>(p: &'a Poly, k: &Poly) -> Result<Cow<'a, Poly>, ExprError> {
    let is_mod = |(monomial, _): (&Monomial, _)| matches!(**monomial, [Atom::Op(BinOp::Mod, ..)]);
    if !p.terms().any(is_mod) {
        return Ok(Cow::Borrowed(p));
    }
    let mut out = Poly::zero();
    for (monomial, coefficient) in p.terms() {
        if let [Atom::Op(BinOp::Mod, x, m)] = &**monomial
            && m.scale(coefficient)?.divided_by(k)?.1.is_zero()
        {
            out = out.add_owned(&x.scale(coefficient)?)?;
        } else {
            out.add_term(monomial, coefficient)?;
        }
    }
    Ok(Cow::Owned(out))
}

/// Pair `(quotient, rest)` of a division by `divisor`, where `rest` is the undivided part of the dividend. If `rest`
/// has a constant, a positive constant of the quotient is moved back into `rest`: `(x + 5) // 2` instead of
/// `(x + 1) // 2 + 2`, so that all digits of `x + 5` have the same dividend.
fn constant_inside(quotient: Poly, rest: Poly, divisor: &Poly) -> Result<(Poly, Poly), ExprError> {
    // A negative quotient stays outside: `(n + 6) // 7 - 1` is not rewritten to `(n - 1) // 7`.
    if rest.constant_term() == 0 || quotient.constant_term() < 0 {
        return Ok((quotient, rest));
    }
    let moved = Poly::constant(quotient.constant_term());
    Ok((quotient.sub_owned(&moved)?, rest.add_owned(&moved.mul(divisor)?)?))
}
