//! State of the check of a certificate ([`CheckerContext`]), and the conversion of expressions to sums over digits and
//! symbols. The state holds the digits, the symbols, and the known ranges of digits.
//!
//! Digits without a definition are independent, and each takes all values from 0 to its greatest value. Claims that
//! cannot be verified are rejected.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::cell::{Cell, RefCell};

use super::CertificateError;
use super::curves::CurveDigit;
use super::ranges::KnownRanges;
use super::terms::{Factor, Factors, Sum};
use crate::digits::Digits;
use crate::expr::curve::CurveGrid;
use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var};
use crate::symbol::{Axis, Symbol};

/// Maximum number of steps (divisions and range computations) in the check of one certificate, which fails with
/// `ExprError::TooLarge` beyond it. Nested quotients may otherwise repeat the same queries exponentially often.
const MAX_STEPS: u32 = 100_000;

/// State of the check of one certificate: the symbols, the digits, each axis index as a sum of digits, and caches.
pub(super) struct CheckerContext<'a> {
    pub(super) symbols: &'a [Symbol],
    /// Facts about each digit, by position: first the digits of the proof, then the digits that the check adds, for
    /// example for parts of a digit, storage indices and XORs.
    pub(super) digits: RefCell<Vec<CheckerDigit>>,
    /// Index of each logical axis as a sum of digits.
    pub(super) axes: Vec<Sum>,
    /// Last index of each logical axis, its extent minus 1, as a sum over symbols.
    pub(super) last: Vec<Sum>,
    /// Pairs `(index, last)`, one for each group of fused axes. `index` is the row-major index over the group, as a sum
    /// of digits. `last` is its greatest value, the product of the extents minus 1, as a sum over symbols.
    pub(super) fused: Vec<(Sum, Sum)>,
    /// Number of changes to the list of digits so far; a change invalidates the cache `bounds`.
    pub(super) changes: Cell<usize>,
    /// Pair `(changes, ranges)`: the cached result of `known_ranges`, and the value of `changes` at which it was
    /// computed. `None` before the first use.
    pub(super) bounds: RefCell<Option<(usize, KnownRanges)>>,
    /// Number of steps (divisions and range computations) of the check so far; beyond `MAX_STEPS`, the check fails.
    steps: Cell<u32>,
    /// True while `known_ranges` computes its result; a nested call then returns no ranges.
    pub(super) is_bounding: Cell<bool>,
    /// Current nesting depth of range checks inside divisions of sums with symbols, at most `MAX_NESTED`.
    pub(super) nested: Cell<u32>,
    /// Digit that represents the XOR of a set of digits, for each such XOR in use. The key has the positions of the
    /// operands in `digits`, the entry the position of the digit.
    pub(super) parities: RefCell<BTreeMap<BTreeSet<usize>, usize>>,
    /// Digit that represents the XOR of a set of values with unknown bits, for each such XOR in use. The key has the
    /// values, the entry the position of the digit in `digits`.
    pub(super) xors: RefCell<BTreeMap<BTreeSet<Sum>, usize>>,
    /// Grids whose Hilbert curves were verified to visit every cell once.
    pub(super) curves: BTreeSet<CurveGrid>,
    /// Digits that represent positions of cells along the curves of the grids in `curves`.
    pub(super) places: RefCell<Vec<CurveDigit>>,
}

/// Digit of the checker, which takes values from 0 to its greatest value.
pub(super) struct CheckerDigit {
    /// Greatest value of the digit, as a sum over symbols.
    pub(super) greatest: Sum,
    /// Definition of the digit: the sum that equals it. For example, it is the index itself for the digit of a storage
    /// index, and `w * high + low` for a digit split into two. `None` if the digit has no definition.
    pub(super) made_of: Option<Sum>,
}

impl<'a> CheckerContext<'a> {
    pub(super) fn of_symbols(symbols: &'a [Symbol]) -> Self {
        Self {
            symbols,
            digits: RefCell::default(),
            axes: Vec::new(),
            last: Vec::new(),
            fused: Vec::new(),
            changes: Cell::default(),
            bounds: RefCell::default(),
            steps: Cell::default(),
            is_bounding: Cell::default(),
            nested: Cell::default(),
            parities: RefCell::default(),
            xors: RefCell::default(),
            curves: BTreeSet::new(),
            places: RefCell::default(),
        }
    }

    /// Context of a digit proof. Each axis of `logical` is expressed as a sum of the proof's `digits`; a digit has the
    /// same position in the context as in `digits`. [`CertificateError::Chains`] if the chains do not cover every index
    /// of every axis.
    pub(super) fn of_digits(
        symbols: &'a [Symbol],
        digits: &Digits,
        logical: &[Axis],
    ) -> Result<Self, CertificateError> {
        let mut domain = Self::of_symbols(symbols);
        for digit in &digits.digits {
            let extent = domain.sum(&digit.extent, &|_| None)?;
            domain.add_digit(extent.minus(&Sum::constant(1))?, None);
        }
        for axis in logical {
            domain.last.push(domain.sum(&axis.extent, &|_| None)?.minus(&Sum::constant(1))?);
        }
        let mut found: Vec<Option<Sum>> = alloc::vec![None; logical.len()];
        for chain in &digits.chains {
            domain.add_chain(chain, digits, logical, &mut found)?;
        }
        for (k, sum) in found.into_iter().enumerate() {
            domain.axes.push(sum.ok_or(CertificateError::Chains(k))?);
        }
        Ok(domain)
    }

    fn add_chain(
        &mut self,
        chain: &crate::digits::Chain,
        digits: &Digits,
        logical: &[Axis],
        found: &mut [Option<Sum>],
    ) -> Result<(), CertificateError> {
        let bad = CertificateError::Chains(chain.axes.first().copied().unwrap_or(0));
        // From the least significant digit: each weight must equal the product of the extents below.
        let mut reach = Sum::constant(1);
        let mut number = Sum::default();
        for digit in chain.digits.iter().rev() {
            let part = digits.digits.get(*digit).ok_or(CertificateError::Missing)?;
            let weight = Sum::constant(part.weight);
            if reach != weight {
                return Err(bad);
            }
            let greatest = self.greatest(*digit)?;
            if greatest.as_constant() != Some(0) {
                number = number.plus(&Sum::factor(Factor::Digit(*digit), part.weight))?;
            }
            reach = weight.times(&greatest.plus(&Sum::constant(1))?)?;
        }
        if let Some(whole) = chain.of_digit {
            // The parts of a subdivided digit come after it and cover its range.
            let greatest = self.greatest(whole)?;
            let covers = self.at_least_zero(&reach.minus(&greatest)?.minus(&Sum::constant(1))?)?;
            let later = chain.digits.iter().all(|digit| *digit > whole);
            let plain = chain.sign == 1 && chain.constant == 0 && chain.axes.is_empty();
            if !covers || !later || !plain || !self.define_digit(whole, number) {
                return Err(bad);
            }
            return Ok(());
        }
        let extent = |axis: &usize| {
            let axis = logical.get(*axis).ok_or(CertificateError::Missing)?;
            Ok::<Sum, CertificateError>(self.sum(&axis.extent, &|_| None)?)
        };
        let mut count = Sum::constant(1);
        for axis in &chain.axes {
            count = count.times(&extent(axis)?)?;
        }
        // m covers at least the indices: from -constant up, or from constant down.
        let start = if chain.sign == 1 { -chain.constant } else { 0 };
        let covers = self.at_least_zero(&reach.minus(&count)?.minus(&Sum::constant(start))?)?;
        let turned = Sum::constant(chain.constant + 1).minus(&count)?.is_zero();
        let whole = chain.axes.len() == 1 || (chain.sign == 1 && chain.constant == 0);
        let counted = chain.sign == 1 || (chain.sign == -1 && turned);
        if !covers || !counted || !whole || start < 0 {
            return Err(bad);
        }
        let value =
            number.times(&Sum::constant(chain.sign))?.plus(&Sum::constant(chain.constant))?;
        let fused = (value.clone(), count.minus(&Sum::constant(1))?);
        let mut rest = value;
        for (k, axis) in chain.axes.iter().enumerate().rev() {
            let slot = found.get_mut(*axis).ok_or(CertificateError::Missing)?;
            if slot.is_some() {
                return Err(CertificateError::Chains(*axis));
            }
            if k == 0 {
                *slot = Some(rest);
                break;
            }
            // Fused axes are remainders and quotients of the chain, opaque ones if the digits do not separate them.
            let (quotient, remainder) = self.divmod(&rest, &extent(axis)?)?;
            *slot = Some(remainder);
            rest = quotient;
        }
        if chain.axes.len() > 1 {
            self.fused.push(fused);
        }
        Ok(())
    }

    /// Adds one digit per storage index, in `0..extent` and defined as the index, and returns the digits as sums. A
    /// physical index `p` then is a sum with one digit per storage axis. The quotient `p // stride` separates these
    /// digits, even if the digits in their definitions overlap.
    pub(super) fn add_storage(
        &self,
        indices: &[Sum],
        extents: &[Sum],
    ) -> Result<Vec<Sum>, ExprError> {
        let mut stand_ins = Vec::new();
        for (index, extent) in indices.iter().zip(extents) {
            let digit = self.add_digit(extent.minus(&Sum::constant(1))?, Some(index.clone()));
            stand_ins.push(Sum::factor(Factor::Digit(digit), 1));
        }
        Ok(stand_ins)
    }

    pub(super) fn add_digit(&self, greatest: Sum, made_of: Option<Sum>) -> usize {
        self.changes.set(self.changes.get() + 1);
        let mut digits = self.digits.borrow_mut();
        digits.push(CheckerDigit { greatest, made_of });
        digits.len() - 1
    }

    /// Sets the definition of the digit at position `digit` to `made_of`, the sum that equals the digit. True if the
    /// digit exists and had no definition; otherwise nothing changes, and the result is false.
    pub(super) fn define_digit(&self, digit: usize, made_of: Sum) -> bool {
        let mut digits = self.digits.borrow_mut();
        let free = digits.get_mut(digit).filter(|digit| digit.made_of.is_none());
        let Some(digit) = free else { return false };
        self.changes.set(self.changes.get() + 1);
        digit.made_of = Some(made_of);
        true
    }

    pub(super) fn greatest(&self, digit: usize) -> Result<Sum, ExprError> {
        let digits = self.digits.borrow();
        digits.get(digit).map(|digit| digit.greatest.clone()).ok_or(ExprError::Unbound)
    }

    /// True if a factor is a digit with a definition, or a quotient whose dividend contains one.
    pub(super) fn has_definition(&self, factor: &Factor) -> bool {
        match factor {
            Factor::Digit(d) => self.digits.borrow().get(*d).is_some_and(|d| d.made_of.is_some()),
            Factor::Quotient(x, _) | Factor::Ratio(x, _) => {
                x.factors().any(|factor| self.has_definition(factor))
            }
            Factor::Unit(_) => false,
        }
    }

    /// Sum that is the definition of a factor, or the factor itself if it has none. For a quotient, it is the quotient
    /// of the expanded dividend by the divisor.
    fn definition_of(&self, factor: &Factor) -> Result<Sum, ExprError> {
        let made_of = match factor {
            Factor::Digit(d) => self.digits.borrow().get(*d).and_then(|d| d.made_of.clone()),
            Factor::Quotient(x, k) => Some(self.divmod(&self.expand(x)?, &Sum::constant(*k))?.0),
            Factor::Ratio(x, d) => Some(self.divmod(&self.expand(x)?, d)?.0),
            Factor::Unit(_) => None,
        };
        Ok(made_of.unwrap_or_else(|| Sum::factor(factor.clone(), 1)))
    }

    /// Product `coefficient * factors` as a sum, with its first defined factor replaced by its definition; `None` if
    /// no factor has a definition.
    pub(super) fn expand_first(
        &self,
        factors: &Factors,
        coefficient: i128,
    ) -> Result<Option<Sum>, ExprError> {
        let Some(at) = factors.iter().position(|f| self.has_definition(f)) else {
            return Ok(None);
        };
        let mut term = Sum::constant(coefficient);
        for (k, factor) in factors.iter().enumerate() {
            let whole = || Sum::factor(factor.clone(), 1);
            let part = if k == at { self.definition_of(factor)? } else { whole() };
            term = term.times(&part)?;
        }
        Ok(Some(term))
    }

    /// Sum in which all digits and quotients with a definition are replaced by their definitions, until no factor has a
    /// definition. Definitions are acyclic.
    pub(super) fn expand(&self, sum: &Sum) -> Result<Sum, ExprError> {
        let mut out = sum.clone();
        loop {
            let more = |factors: &Factors| factors.iter().any(|f| self.has_definition(f));
            let found = out.terms().find(|(factors, _)| more(factors));
            let found = found.map(|(factors, coefficient)| (factors.clone(), coefficient));
            let Some((factors, coefficient)) = found else { return Ok(out) };
            let Some(term) = self.expand_first(&factors, coefficient)? else { return Ok(out) };
            out = out.minus_owned(&Sum::single(factors, coefficient))?.plus_owned(&term)?;
        }
    }

    /// True if two sums are proven equal on every element. They are equal after expansion, or, if the layout has
    /// symbols, each is proven to be at least the other.
    pub(super) fn equal(&self, a: &Sum, b: &Sum) -> Result<bool, ExprError> {
        let difference = self.expand(&a.minus(b)?)?;
        if difference.is_zero() || self.symbols.is_empty() {
            return Ok(difference.is_zero());
        }
        Ok(self.never_negative(&difference)?
            && self.never_negative(&Sum::default().minus_owned(&difference)?)?)
    }

    pub(super) fn axis(&self, k: usize) -> Option<Sum> {
        self.axes.get(k).cloned()
    }

    /// True if the inverse expression `index` is proven to return the index along the logical axis at position `k` on
    /// every element. `back` returns the sum, over digits, that a variable `Var::Physical` of `index` stands for.
    pub(super) fn is_axis(
        &self,
        k: usize,
        index: &Expr,
        back: &dyn Fn(Var) -> Option<Sum>,
    ) -> Result<bool, CertificateError> {
        let own = self.axes.get(k).ok_or(CertificateError::Missing)?;
        // An index known modulo m is exact if the extent of the axis is at most m.
        if let ExprNode::Bin(BinOp::Mod, inner, modulus) = index.node()
            && let Some(m) = modulus.as_const()
        {
            let last = self.last.get(k).ok_or(CertificateError::Missing)?;
            let fits = self.at_least_zero(&Sum::constant(m - 1).minus(last)?)?;
            if let (true, Ok(inner)) = (fits, self.sum(inner, back)) {
                let difference = self.expand(&inner.minus(own)?)?;
                if difference.terms().all(|(_, coefficient)| coefficient % m == 0) {
                    return Ok(true);
                }
            }
        }
        Ok(self.equal(&self.sum(index, back)?, own)?)
    }

    /// Sum equal to an expression. `value` returns the sum that a variable other than a symbol stands for; `None`
    /// gives [`ExprError::Unbound`].
    pub(super) fn sum(
        &self,
        expr: &Expr,
        value: &dyn Fn(Var) -> Option<Sum>,
    ) -> Result<Sum, ExprError> {
        match expr.node() {
            ExprNode::Const(c) => Ok(Sum::constant(*c)),
            ExprNode::Var(Var::Symbol(k)) => {
                let symbol = usize::try_from(*k)
                    .ok()
                    .and_then(|k| self.symbols.get(k))
                    .ok_or(ExprError::Unbound)?;
                Ok(match symbol.only() {
                    Some(value) => Sum::constant(value),
                    None => Sum::factor(Factor::Unit(*k), symbol.multiple),
                })
            }
            ExprNode::Var(var) => value(*var).ok_or(ExprError::Unbound),
            ExprNode::Neg(a) => self.sum(a, value)?.times(&Sum::constant(-1)),
            ExprNode::Bin(op, a, b) => {
                let (a, b) = (self.sum(a, value)?, self.sum(b, value)?);
                match op {
                    BinOp::Add => a.plus_owned(&b),
                    BinOp::Sub => a.minus_owned(&b),
                    BinOp::Mul => a.times(&b),
                    BinOp::FloorDiv => Ok(self.divmod(&a, &b)?.0),
                    BinOp::Mod => Ok(self.divmod(&a, &b)?.1),
                    BinOp::Min | BinOp::Max => self.extremum(*op, a, b),
                    BinOp::And | BinOp::Xor => self.bitwise(*op, &a, &b),
                    BinOp::Hilbert(grid) => self.distance(*grid, a, b),
                    BinOp::HilbertCell(grid) => self.cell(*grid, &a),
                }
            }
        }
    }

    fn extremum(&self, op: BinOp, a: Sum, b: Sum) -> Result<Sum, ExprError> {
        let least = op == BinOp::Min;
        if self.never_below(&a, &b)? {
            return Ok(if least { b } else { a });
        }
        if self.never_below(&b, &a)? {
            return Ok(if least { a } else { b });
        }
        Err(ExprError::Unbound)
    }

    /// Counts a step of the check; [`ExprError::TooLarge`] beyond `MAX_STEPS` steps.
    pub(super) fn step(&self) -> Result<(), ExprError> {
        let steps = self.steps.get();
        self.steps.set(steps.saturating_add(1));
        if steps < MAX_STEPS { Ok(()) } else { Err(ExprError::TooLarge) }
    }
}
