//! Rewriting to the normal form, with the ranges of the variables known.
//!
//! The rules are the identities of floor division on integers, each with its side condition checked on ranges:
//! `(k*q + r) // k = q` and `(k*q + r) % k = r` for `0 <= r < k`; `(g*a + r) // (g*k) = a // k` for `0 <= r < g`;
//! `x // a // b = x // (a*b)`; `x % (k*m) // k = x // k % m`; and digits of one number that stand side by side join:
//! `x // a % b + x // (a*b) % c * b = x // a % (b*c)`.
//! Where a result is printed (see [`Facts::simplify`]) sums are written as a person nests them, `(a * 32 + b) * 64 + c`.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError, Node, Var};
use crate::layout::Symbol;
use crate::poly::{Atom, Monomial, Poly, divide_monomial, gcd};

/// How often the quotients of a sum are weakened to what they divide.
const MAX_RELAXATIONS: usize = 4;

/// A closed interval whose bounds are polynomials over symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval {
    pub(crate) low: Poly,
    pub(crate) high: Poly,
}

/// What is known of the variables: ranges of indices, facts of symbols.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    symbols: Vec<Symbol>,
    ranges: BTreeMap<Var, Interval>,
}

impl Facts {
    /// Facts of symbols only.
    pub fn new(symbols: &[Symbol]) -> Self {
        Self { symbols: symbols.to_vec(), ranges: BTreeMap::new() }
    }

    /// The symbols.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Says that `var` counts `0..extent`, an expression over symbols. An extent that may be 0 is taken as at least
    /// 1: with no index at all, whatever is said of every index holds.
    ///
    /// # Errors
    /// [`ExprError`] when the extent does not fit.
    pub fn set_extent(&mut self, var: Var, extent: &Expr) -> Result<(), ExprError> {
        let extent = self.normalize(extent)?;
        let high = if extent.as_constant() == Some(0) { Poly::zero() } else { extent.plus(-1)? };
        self.ranges.insert(var, Interval { low: Poly::zero(), high });
        Ok(())
    }

    /// The simplest expression found that equals `expr` for all values of the variables in their ranges.
    ///
    /// # Errors
    /// [`ExprError`] when a constant leaves the integer range or the expression grows too large.
    pub fn simplify(&self, expr: &Expr) -> Result<Expr, ExprError> {
        self.render(&self.normalize(expr)?)
    }

    /// Whether `a - b` is known to be at least 0 for all values of the variables.
    ///
    /// # Errors
    /// As [`Facts::simplify`].
    pub fn proves_ge(&self, a: &Expr, b: &Expr) -> Result<bool, ExprError> {
        let difference = self.normalize(a)?.sub(&self.normalize(b)?)?;
        self.at_least_zero(&difference)
    }

    /// Whether the two are equal for all values of the variables, as far as the normal form can tell.
    ///
    /// # Errors
    /// As [`Facts::simplify`].
    pub fn proves_eq(&self, a: &Expr, b: &Expr) -> Result<bool, ExprError> {
        Ok(self.normalize(a)?.sub(&self.normalize(b)?)?.is_zero())
    }

    /// The least and the greatest value, as far as intervals can tell, over all values of variables and symbols.
    ///
    /// # Errors
    /// As [`Facts::simplify`].
    pub fn bounds(&self, expr: &Expr) -> Result<(i128, i128), ExprError> {
        let range = self.range(&self.normalize(expr)?)?;
        Ok((self.numeric(&range.low)?.0, self.numeric(&range.high)?.1))
    }

    pub(crate) fn normalize(&self, expr: &Expr) -> Result<Poly, ExprError> {
        match expr.node() {
            Node::Const(value) => Ok(Poly::constant(*value)),
            Node::Var(var) => Ok(self.variable(*var)),
            Node::Neg(a) => self.normalize(a)?.scale(-1),
            Node::Bin(op, a, b) => {
                let (a, b) = (self.normalize(a)?, self.normalize(b)?);
                match op {
                    BinOp::Add => self.join_digits(a.add(&b)?),
                    BinOp::Sub => self.join_digits(a.sub(&b)?),
                    BinOp::Mul => a.mul(&b),
                    BinOp::FloorDiv => self.floor_div(&a, &b),
                    BinOp::Mod => self.modulo(&a, &b),
                    BinOp::And | BinOp::Xor => self.bitwise(*op, a, b),
                    BinOp::Min | BinOp::Max => self.extremum(*op, a, b),
                }
            }
        }
    }

    fn variable(&self, var: Var) -> Poly {
        if let Var::Symbol(k) = var {
            let multiple = self.symbol(k).map_or(1, |s| s.multiple);
            return Poly::term(alloc::vec![Atom::Var(var)], multiple);
        }
        match self.ranges.get(&var) {
            Some(range) if range.low == range.high => range.low.clone(),
            _ => Poly::atom(Atom::Var(var)),
        }
    }

    fn symbol(&self, k: u32) -> Option<&Symbol> {
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
        Ok(Poly::atom(Atom::Op(op, a, b)))
    }

    fn extremum(&self, op: BinOp, a: Poly, b: Poly) -> Result<Poly, ExprError> {
        let a_is_more = self.at_least_zero(&a.sub(&b)?)?;
        let b_is_more = self.at_least_zero(&b.sub(&a)?)?;
        Ok(match (op, a_is_more, b_is_more) {
            (BinOp::Min, true, _) | (BinOp::Max, _, true) => b,
            (BinOp::Min, _, true) | (BinOp::Max, true, _) => a,
            _ => Poly::atom(Atom::Op(op, a, b)),
        })
    }

    // ---- division ----------------------------------------------------------------------------------------------

    pub(crate) fn floor_div(&self, p: &Poly, divisor: &Poly) -> Result<Poly, ExprError> {
        if divisor.as_constant().is_some_and(|k| k <= 0) {
            return Err(ExprError::Divisor);
        }
        if divisor.as_constant() == Some(1) {
            return Ok(p.clone());
        }
        let Some(term) = divisor.as_term() else {
            return Ok(Poly::atom(Atom::Op(BinOp::FloorDiv, p.clone(), divisor.clone())));
        };
        let (quotient, rest) = p.split_by(term)?;
        if let Some(whole) = self.whole_multiples(&rest, divisor)? {
            return self.join_digits(quotient.add(&whole)?);
        }
        let reduced = match divisor.as_constant() {
            Some(k) => self.div_constant(&rest, k)?,
            None => None,
        };
        let reduced = match reduced {
            Some(reduced) => reduced,
            None => Poly::atom(Atom::Op(BinOp::FloorDiv, rest, divisor.clone())),
        };
        self.join_digits(quotient.add(&reduced)?)
    }

    /// `t` when `t*divisor <= rest < (t+1)*divisor` for all values.
    fn whole_multiples(&self, rest: &Poly, divisor: &Poly) -> Result<Option<Poly>, ExprError> {
        let range = self.range(rest)?;
        if let (Some(low), Some(high), Some(k)) =
            (range.low.as_constant(), range.high.as_constant(), divisor.as_constant())
        {
            let t = low.div_euclid(k);
            return Ok((t == high.div_euclid(k)).then(|| Poly::constant(t)));
        }
        let below = divisor.sub(&range.high)?.plus(-1)?;
        let fits = self.at_least_zero(&range.low)? && self.at_least_zero(&below)?;
        Ok(fits.then(Poly::zero))
    }

    fn div_constant(&self, rest: &Poly, k: i128) -> Result<Option<Poly>, ExprError> {
        // x // a // k = x // (a*k); a constant beside it moves inside.
        if let Some((x, a)) = self.lone_division(rest)? {
            let product = a.checked_mul(k).ok_or(ExprError::Overflow)?;
            return Ok(Some(self.floor_div(&x, &Poly::constant(product))?));
        }
        // x % (k*m) // k = x // k % m
        if let Some(Atom::Op(BinOp::Mod, x, m)) = rest.as_atom()
            && let Some(m) = m.as_constant()
            && m % k == 0
        {
            let quotient = self.floor_div(x, &Poly::constant(k))?;
            return Ok(Some(self.modulo(&quotient, &Poly::constant(m / k))?));
        }
        // (g*a + r) // (g*m) = a // m for 0 <= r < g
        if let Some((g, a, _)) = self.coarser(rest, k)? {
            return Ok(Some(self.floor_div(&a, &Poly::constant(k / g))?));
        }
        Ok(None)
    }

    /// `(x + a*c, a)` when `p` is `x // a + c` with a constant `c`.
    fn lone_division(&self, p: &Poly) -> Result<Option<(Poly, i128)>, ExprError> {
        let constant = p.constant_term();
        let bare = p.plus(constant.checked_neg().ok_or(ExprError::Overflow)?)?;
        if let Some(Atom::Op(BinOp::FloorDiv, x, a)) = bare.as_atom()
            && let Some(a) = a.as_constant()
        {
            let moved = a.checked_mul(constant).ok_or(ExprError::Overflow)?;
            return Ok(Some((x.plus(moved)?, a)));
        }
        Ok(None)
    }

    /// `(g, a, r)` with `p = g*a + r`, `0 <= r < g`, and `g > 1` a divisor of `k`; the largest such `g`.
    fn coarser(&self, p: &Poly, k: i128) -> Result<Option<(i128, Poly, Poly)>, ExprError> {
        let mut candidates: Vec<i128> = p
            .terms()
            .filter(|(monomial, _)| !monomial.is_empty())
            .map(|(_, coefficient)| gcd(coefficient, k))
            .filter(|g| *g > 1)
            .collect();
        candidates.sort_unstable();
        candidates.dedup();
        for g in candidates.into_iter().rev() {
            let (a, r) = p.split_by((&Vec::new(), g))?;
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
        if divisor.as_constant() == Some(1) {
            return Ok(Poly::zero());
        }
        let Some(term) = divisor.as_term() else {
            return Ok(Poly::atom(Atom::Op(BinOp::Mod, p.clone(), divisor.clone())));
        };
        let p = match divisor.as_constant() {
            Some(k) => self.drop_inner_mod(p, k)?,
            None => p.clone(),
        };
        let (_, rest) = p.split_by(term)?;
        if let Some(whole) = self.whole_multiples(&rest, divisor)? {
            return self.join_digits(rest.sub(&whole.mul(divisor)?)?);
        }
        if let Some(k) = divisor.as_constant() {
            if let Some((g, a, r)) = self.coarser(&rest, k)? {
                let outer = self.modulo(&a, &Poly::constant(k / g))?.scale(g)?;
                return self.join_digits(outer.add(&r)?);
            }
        }
        Ok(Poly::atom(Atom::Op(BinOp::Mod, rest, divisor.clone())))
    }

    /// `c * (x % m)` counts as `c * x` modulo `k` when `k` divides `c*m`.
    fn drop_inner_mod(&self, p: &Poly, k: i128) -> Result<Poly, ExprError> {
        let mut out = Poly::zero();
        for (monomial, coefficient) in p.terms() {
            if let [Atom::Op(BinOp::Mod, x, m)] = monomial.as_slice()
                && let Some(m) = m.as_constant()
                && coefficient.checked_mul(m).ok_or(ExprError::Overflow)? % k == 0
            {
                out = out.add(&x.scale(coefficient)?)?;
            } else {
                out.add_term(monomial.clone(), coefficient)?;
            }
        }
        Ok(out)
    }

    // ---- joining digits ----------------------------------------------------------------------------------------

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
                    && !a.as_constant().is_some_and(|a| a == 1)
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

    // ---- ranges ------------------------------------------------------------------------------------------------

    /// Bounds of a polynomial over the variables' ranges: polynomials over symbols.
    pub(crate) fn range(&self, p: &Poly) -> Result<Interval, ExprError> {
        let (mut low, mut high) = (Poly::zero(), Poly::zero());
        for (monomial, coefficient) in p.terms() {
            let mut symbolic = Poly::constant(coefficient);
            let mut indices: Vec<&Atom> = Vec::new();
            for atom in monomial {
                if atom.is_symbolic() {
                    symbolic = symbolic.mul(&Poly::atom(atom.clone()))?;
                } else {
                    indices.push(atom);
                }
            }
            let interval = match indices.as_slice() {
                [] => Interval { low: symbolic.clone(), high: symbolic },
                [atom] => self.scaled(&self.atom_range(atom)?, &symbolic, coefficient)?,
                several => self.product_range(several, &symbolic)?,
            };
            low = low.add(&interval.low)?;
            high = high.add(&interval.high)?;
        }
        Ok(Interval { low, high })
    }

    fn scaled(&self, range: &Interval, factor: &Poly, sign: i128) -> Result<Interval, ExprError> {
        // Symbols are never negative, so the coefficient's sign is the factor's.
        let (low, high) = (range.low.mul(factor)?, range.high.mul(factor)?);
        Ok(if sign < 0 { Interval { low: high, high: low } } else { Interval { low, high } })
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
            BinOp::Min | BinOp::Max | BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                let low = self.numeric(&a.low)?.0.min(self.numeric(&b.low)?.0);
                let high = self.numeric(&a.high)?.1.max(self.numeric(&b.high)?.1);
                Ok(interval(low, high))
            }
        }
    }

    /// Whether a polynomial is at least 0 for all values of variables and symbols.
    pub(crate) fn at_least_zero(&self, p: &Poly) -> Result<bool, ExprError> {
        if let Some(value) = p.as_constant() {
            return Ok(value >= 0);
        }
        let mut low = self.range(p)?.low;
        for _ in 0..MAX_RELAXATIONS {
            if self.numeric(&low)?.0 >= 0 {
                return Ok(true);
            }
            match relax(&low)? {
                Some(relaxed) => low = relaxed,
                None => return Ok(false),
            }
        }
        Ok(self.numeric(&low)?.0 >= 0)
    }

    /// Least and greatest value of a polynomial over symbols.
    pub(crate) fn numeric(&self, p: &Poly) -> Result<(i128, i128), ExprError> {
        let (mut low, mut high) = (0_i128, 0_i128);
        for (monomial, coefficient) in p.terms() {
            let mut bounds = (coefficient, coefficient);
            for atom in monomial {
                bounds = multiply_bounds(bounds, self.numeric_atom(atom)?)?;
            }
            low = low.checked_add(bounds.0).ok_or(ExprError::Overflow)?;
            high = high.checked_add(bounds.1).ok_or(ExprError::Overflow)?;
        }
        Ok((low, high))
    }

    fn numeric_atom(&self, atom: &Atom) -> Result<(i128, i128), ExprError> {
        match atom {
            Atom::Var(Var::Symbol(k)) => {
                let symbol = self.symbol(*k).ok_or(ExprError::Unbound)?;
                let least = symbol.min.div_euclid(symbol.multiple)
                    + i128::from(symbol.min.rem_euclid(symbol.multiple) != 0);
                Ok((least, symbol.max.div_euclid(symbol.multiple).max(least)))
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

    // ---- back to expressions -----------------------------------------------------------------------------------

    /// The polynomial as a person writes it: nested by common factors, quotients and remainders in place.
    pub(crate) fn render(&self, p: &Poly) -> Result<Expr, ExprError> {
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
        let factor_out = terms.len() >= 2 && !is_one(&common);
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
        self.append(head, &last)
    }

    fn times(&self, a: &Expr, factor: &(Monomial, i128)) -> Result<Expr, ExprError> {
        let mut product = a.clone();
        let (atoms, coefficient) = self.leave_symbols(factor);
        for atom in atoms {
            product = Expr::binary(BinOp::Mul, &product, &self.atom_expr(&atom)?)?;
        }
        if coefficient == 1 {
            return Ok(product);
        }
        Expr::binary(BinOp::Mul, &product, &Expr::constant(coefficient))
    }

    /// Symbols back from quotients: `(atoms, coefficient)` in which `Var::Symbol` means the symbol itself again.
    /// A symbol whose multiple does not divide the coefficient becomes `symbol // multiple`.
    fn leave_symbols(&self, (monomial, coefficient): &(Monomial, i128)) -> (Vec<Atom>, i128) {
        let mut coefficient = *coefficient;
        let mut atoms = Vec::new();
        for atom in monomial {
            let Atom::Var(Var::Symbol(k)) = atom else {
                atoms.push(atom.clone());
                continue;
            };
            let multiple = self.symbol(*k).map_or(1, |s| s.multiple);
            if multiple > 1 && coefficient % multiple != 0 {
                atoms.push(Atom::Op(
                    BinOp::FloorDiv,
                    Poly::atom(atom.clone()),
                    Poly::constant(multiple),
                ));
            } else {
                coefficient /= multiple;
                atoms.push(atom.clone());
            }
        }
        (atoms, coefficient)
    }

    fn atom_expr(&self, atom: &Atom) -> Result<Expr, ExprError> {
        match atom {
            Atom::Var(var) => Ok(Expr::var(*var)),
            // Made by `leave_symbols`: the symbol stands for itself here.
            Atom::Op(BinOp::FloorDiv, a, b)
                if matches!(a.as_atom(), Some(Atom::Var(Var::Symbol(k)))
                    if self.symbol(*k).map(|s| s.multiple) == b.as_constant() && b.as_constant() != Some(1)) =>
            {
                let var = match a.as_atom() {
                    Some(Atom::Var(var)) => *var,
                    _ => return Err(ExprError::Unbound),
                };
                Expr::binary(BinOp::FloorDiv, &Expr::var(var), &self.render(b)?)
            }
            Atom::Op(op, a, b) => Expr::binary(*op, &self.render(a)?, &self.render(b)?),
        }
    }

    /// A term with its sign: a lone negative term is a negation.
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
        let (atoms, coefficient) = self.leave_symbols(term);
        let mut atoms: Vec<Expr> =
            atoms.iter().map(|a| self.atom_expr(a)).collect::<Result<_, _>>()?;
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
        // Something positive leads: `15 - i`, not `-i + 15`.
        let lead = terms.iter().position(|term| term.1 > 0).unwrap_or(0);
        let Some(first) = terms.get(lead) else { return Ok(Expr::constant(0)) };
        let mut sum = self.signed_product(first)?;
        for (at, term) in terms.iter().enumerate() {
            if at != lead {
                sum = self.append(sum, term)?;
            }
        }
        Ok(sum)
    }

    fn append(&self, sum: Expr, term: &(Monomial, i128)) -> Result<Expr, ExprError> {
        if term.1 < 0 {
            let positive = (term.0.clone(), term.1.checked_neg().ok_or(ExprError::Overflow)?);
            return Expr::binary(BinOp::Sub, &sum, &self.product(&positive)?);
        }
        Expr::binary(BinOp::Add, &sum, &self.product(term)?)
    }
}

/// Quotients weakened to what they divide, the most nested first, for what they leave may cancel against the others:
/// `k*(x//k)` lies in `x - k + 1 ..= x`. `None` when there is nothing to weaken.
fn relax(p: &Poly) -> Result<Option<Poly>, ExprError> {
    let loose = |monomial: &Monomial, coefficient: i128| match monomial.as_slice() {
        [atom @ Atom::Op(BinOp::FloorDiv, x, k)] => {
            let k = k.as_constant().filter(|k| coefficient % k == 0)?;
            Some((depth(atom), x.clone(), k))
        }
        _ => None,
    };
    let deepest = p.terms().filter_map(|(m, c)| loose(m, c)).map(|(depth, ..)| depth).max();
    if deepest.is_none() {
        return Ok(None);
    }
    let mut out = Poly::zero();
    for (monomial, coefficient) in p.terms() {
        match loose(monomial, coefficient) {
            Some((depth, x, k)) if Some(depth) == deepest => {
                let bound = if coefficient > 0 { x.plus(1 - k)? } else { x };
                out = out.add(&bound.scale(coefficient / k)?)?;
            }
            _ => out.add_term(monomial.clone(), coefficient)?,
        }
    }
    Ok(Some(out))
}

/// How many operations are nested in one another.
fn depth(atom: &Atom) -> usize {
    match atom {
        Atom::Var(_) => 0,
        Atom::Op(_, a, b) => {
            let inside = a.terms().chain(b.terms()).flat_map(|(monomial, _)| monomial);
            1 + inside.map(depth).max().unwrap_or(0)
        }
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

fn multiply_bounds(a: (i128, i128), b: (i128, i128)) -> Result<(i128, i128), ExprError> {
    let product = |x: i128, y: i128| x.checked_mul(y).ok_or(ExprError::Overflow);
    let corners = [product(a.0, b.0)?, product(a.0, b.1)?, product(a.1, b.0)?, product(a.1, b.1)?];
    Ok(corners.iter().fold((corners[0], corners[0]), |(low, high), v| (low.min(*v), high.max(*v))))
}

/// Bounds of `a & b` and `a ^ b`: for values that are not negative, `0..=min` and `0..2^bits`.
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

/// How a term ranks in a sum: symbolic strides first, then large coefficients, the constant last.
fn weight_of(term: &(Monomial, i128)) -> (bool, usize, u128) {
    let symbols = term.0.iter().filter(|atom| atom.is_symbolic()).count();
    (!term.0.is_empty(), symbols, term.1.unsigned_abs())
}

/// The greatest single term that divides all: symbolic atoms and an integer.
fn common_factor(terms: &[(Monomial, i128)]) -> (Monomial, i128) {
    let mut atoms: Option<Monomial> = None;
    let mut coefficient = 0;
    for (monomial, c) in terms {
        coefficient = gcd(coefficient, *c);
        let symbolic: Monomial = monomial.iter().filter(|a| a.is_symbolic()).cloned().collect();
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
    (atoms.unwrap_or_default(), coefficient)
}

fn is_one(factor: &(Monomial, i128)) -> bool {
    factor.0.is_empty() && factor.1 == 1
}

fn divides(factor: &(Monomial, i128), term: &(Monomial, i128)) -> bool {
    term.1 % factor.1 == 0 && divide_monomial(&term.0, &factor.0).is_some()
}

fn divide_term(term: &(Monomial, i128), factor: &(Monomial, i128)) -> (Monomial, i128) {
    let atoms = divide_monomial(&term.0, &factor.0).unwrap_or_else(|| term.0.clone());
    (atoms, term.1 / factor.1)
}
