//! What the checker knows of digits and symbols, and the sums that expressions are on them.
//!
//! A digit counts from 0 below its extent, all combinations occur. `//` and `%` are carried out only where the terms
//! that the divisor does not divide provably stay within one block of it; anything else is refused.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::CheckError;
use super::terms::{Factor, Factors, Sum};
use crate::digits::Digits;
use crate::expr::{BinOp, Expr, ExprError, Node, Var};
use crate::layout::{Axis, Symbol};

/// Steps of one division by a sum of several terms.
const MAX_DIVISIONS: usize = 256;
/// How often the quotients of a sum are weakened to what they divide.
const MAX_RELAXATIONS: usize = 4;

/// `(scale, relaxed)` with `scale * sum >= relaxed`: every lone quotient weakened to what it divides, as
/// `k * (a // k)` lies in `a - k + 1 ..= a`. `None` when there is no quotient.
fn relax(sum: &Sum) -> Result<Option<(i128, Sum)>, ExprError> {
    // The most nested first: what it leaves may cancel against the others.
    let alone = sum.terms().filter(|(factors, _)| factors.len() == 1);
    let deepest = alone.flat_map(|(factors, _)| factors.iter()).map(Factor::depth).max();
    if deepest.is_none_or(|depth| depth == 0) {
        return Ok(None);
    }
    let chosen = |factors: &[Factor]| matches!(factors, [factor] if factor.depth() > 0 && Some(factor.depth()) == deepest);
    let mut scale = 1_i128;
    for (factors, _) in sum.terms().filter(|(factors, _)| chosen(factors)) {
        if let [Factor::Quotient(_, k)] = &**factors {
            scale = (scale / gcd(scale, *k)).checked_mul(*k).ok_or(ExprError::Overflow)?;
        }
    }
    if scale == 1 {
        return Ok(None);
    }
    let mut relaxed = Sum::default();
    for (factors, coefficient) in sum.terms() {
        let coefficient = coefficient.checked_mul(scale).ok_or(ExprError::Overflow)?;
        match &**factors {
            [Factor::Quotient(a, k)] if chosen(factors) => {
                let slack = if coefficient > 0 { k - 1 } else { 0 };
                let bound = a.minus(&Sum::constant(slack))?;
                relaxed = relaxed.plus(&bound.times(&Sum::constant(coefficient / k))?)?;
            }
            _ => relaxed.put(factors, coefficient)?,
        }
    }
    Ok(Some((scale, relaxed)))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// `(quotient, rest)` for a divisor of several terms, by its leading one.
fn divide(a: &Sum, b: &Sum) -> Result<(Sum, Sum), ExprError> {
    let (by, k) = b.lead().ok_or(ExprError::Divisor)?;
    let (mut quotient, mut rest) = (Sum::default(), a.clone());
    for _ in 0..MAX_DIVISIONS {
        let found = rest.terms().find_map(|(factors, coefficient)| {
            let left = factors.divided_by(by).filter(|_| coefficient % k == 0)?;
            Some(Sum::single(left, coefficient / k))
        });
        let Some(term) = found else { return Ok((quotient, rest)) };
        rest = rest.less(&term.times(b)?)?;
        quotient = quotient.and(&term)?;
    }
    Err(ExprError::TooLarge)
}

/// What the digits and symbols are.
pub(super) struct Domain<'a> {
    symbols: &'a [Symbol],
    /// More are made when one must be cut up.
    digits: RefCell<Vec<Digit>>,
    /// Each axis as a sum of digits.
    axes: Vec<Sum>,
    /// Greatest index of each axis.
    last: Vec<Sum>,
    /// Fused axes as one number, with its greatest value.
    fused: Vec<(Sum, Sum)>,
}

/// What is known of a digit.
struct Digit {
    /// Greatest value, a sum over symbols.
    greatest: Sum,
    /// What a digit is made of that stands for more: a storage index, a digit that is cut up.
    made_of: Option<Sum>,
}

impl<'a> Domain<'a> {
    pub(super) fn of_symbols(symbols: &'a [Symbol]) -> Self {
        Self {
            symbols,
            digits: RefCell::default(),
            axes: Vec::new(),
            last: Vec::new(),
            fused: Vec::new(),
        }
    }

    /// Checks that the chains count every index of every axis, and takes the axes as sums of their digits.
    pub(super) fn of_digits(
        symbols: &'a [Symbol],
        digits: &Digits,
        logical: &[Axis],
    ) -> Result<Self, CheckError> {
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
            domain.axes.push(sum.ok_or(CheckError::Chains(k))?);
        }
        Ok(domain)
    }

    fn add_chain(
        &mut self,
        chain: &crate::digits::Chain,
        digits: &Digits,
        logical: &[Axis],
        found: &mut [Option<Sum>],
    ) -> Result<(), CheckError> {
        let bad = CheckError::Chains(chain.axes.first().copied().unwrap_or(0));
        // From the minor end, each digit starts where those below it end.
        let mut reach = Sum::constant(1);
        let mut number = Sum::default();
        for digit in chain.digits.iter().rev() {
            let part = digits.digits.get(*digit).ok_or(CheckError::Missing)?;
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
            // Parts of a digit: made before it is used, reaching at least as far.
            let greatest = self.greatest(whole)?;
            let covers = self.at_least_zero(&reach.minus(&greatest)?.minus(&Sum::constant(1))?)?;
            let later = chain.digits.iter().all(|digit| *digit > whole);
            let plain = chain.sign == 1 && chain.constant == 0 && chain.axes.is_empty();
            if !covers || !later || !plain || !self.spell_digit(whole, number) {
                return Err(bad);
            }
            return Ok(());
        }
        let extent = |axis: &usize| {
            let axis = logical.get(*axis).ok_or(CheckError::Missing)?;
            Ok::<Sum, CheckError>(self.sum(&axis.extent, &|_| None)?)
        };
        let mut count = Sum::constant(1);
        for axis in &chain.axes {
            count = count.times(&extent(axis)?)?;
        }
        // m runs at least over the indices: -constant.. upwards, or constant.. downwards.
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
            let slot = found.get_mut(*axis).ok_or(CheckError::Missing)?;
            if slot.is_some() {
                return Err(CheckError::Chains(*axis));
            }
            if k == 0 {
                *slot = Some(rest);
                break;
            }
            // Fused axes: remainder and quotient of the number, kept whole where the digits do not tell them apart.
            let (quotient, remainder) = self.parts(&rest, &extent(axis)?)?;
            *slot = Some(remainder);
            rest = quotient;
        }
        if chain.axes.len() > 1 {
            self.fused.push(fused);
        }
        Ok(())
    }

    /// Takes the storage indices as numbers of their own, each below its extent: in `p // stride` they come apart
    /// although the digits behind them overlap. Gives the sums that stand for them.
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

    fn add_digit(&self, greatest: Sum, made_of: Option<Sum>) -> usize {
        let mut digits = self.digits.borrow_mut();
        digits.push(Digit { greatest, made_of });
        digits.len() - 1
    }

    /// Says what a digit is made of; false when that was said before, or there is no such digit.
    fn spell_digit(&self, digit: usize, made_of: Sum) -> bool {
        let mut digits = self.digits.borrow_mut();
        let Some(digit) = digits.get_mut(digit) else { return false };
        digit.made_of.replace(made_of).is_none()
    }

    fn greatest(&self, digit: usize) -> Result<Sum, ExprError> {
        let digits = self.digits.borrow();
        digits.get(digit).map(|digit| digit.greatest.clone()).ok_or(ExprError::Unbound)
    }

    /// Whether a factor stands for more than itself.
    fn stands_for_more(&self, factor: &Factor) -> bool {
        match factor {
            Factor::Digit(d) => self.digits.borrow().get(*d).is_some_and(|d| d.made_of.is_some()),
            Factor::Unit(_) | Factor::Quotient(..) => false,
        }
    }

    /// What a factor stands for, if for more than itself.
    fn spelled(&self, factor: &Factor) -> Option<Sum> {
        match factor {
            Factor::Digit(d) => self.digits.borrow().get(*d)?.made_of.clone(),
            Factor::Unit(_) | Factor::Quotient(..) => None,
        }
    }

    /// A product with its first factor that stands for more spelled out.
    fn spell(&self, factors: &Factors, coefficient: i128) -> Result<Option<Sum>, ExprError> {
        let Some(at) = factors.iter().position(|f| self.stands_for_more(f)) else {
            return Ok(None);
        };
        let mut term = Sum::constant(coefficient);
        for (k, factor) in factors.iter().enumerate() {
            let whole = || Sum::factor(factor.clone(), 1);
            let part = if k == at { self.spelled(factor).unwrap_or_else(whole) } else { whole() };
            term = term.times(&part)?;
        }
        Ok(Some(term))
    }

    /// The sum with everything spelled out. What stands for more was made before what stands for it: this ends.
    fn expand(&self, sum: &Sum) -> Result<Sum, ExprError> {
        let mut out = sum.clone();
        loop {
            let more = |factors: &Factors| factors.iter().any(|f| self.stands_for_more(f));
            let found = out.terms().find(|(factors, _)| more(factors));
            let found = found.map(|(factors, coefficient)| (factors.clone(), coefficient));
            let Some((factors, coefficient)) = found else { return Ok(out) };
            let Some(term) = self.spell(&factors, coefficient)? else { return Ok(out) };
            out = out.less(&Sum::single(factors, coefficient))?.and(&term)?;
        }
    }

    /// Whether two sums are the same once storage indices are spelled out.
    pub(super) fn equal(&self, a: &Sum, b: &Sum) -> Result<bool, ExprError> {
        Ok(self.expand(&a.minus(b)?)?.is_zero())
    }

    pub(super) fn axis(&self, k: usize) -> Option<Sum> {
        self.axes.get(k).cloned()
    }

    /// Whether `index`, evaluated on `back`, is the axis `k` on every element.
    pub(super) fn is_axis(
        &self,
        k: usize,
        index: &Expr,
        back: &dyn Fn(Var) -> Option<Sum>,
    ) -> Result<bool, CheckError> {
        let own = self.axes.get(k).ok_or(CheckError::Missing)?;
        // An index known modulo m is the index itself where the axis has at most m indices.
        if let Node::Bin(BinOp::Mod, inner, modulus) = index.node()
            && let Some(m) = modulus.as_const()
        {
            let last = self.last.get(k).ok_or(CheckError::Missing)?;
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

    /// An expression over symbols and whatever `value` knows, as a sum.
    pub(super) fn sum(
        &self,
        expr: &Expr,
        value: &dyn Fn(Var) -> Option<Sum>,
    ) -> Result<Sum, ExprError> {
        match expr.node() {
            Node::Const(c) => Ok(Sum::constant(*c)),
            Node::Var(Var::Symbol(k)) => {
                let symbol = usize::try_from(*k)
                    .ok()
                    .and_then(|k| self.symbols.get(k))
                    .ok_or(ExprError::Unbound)?;
                Ok(Sum::factor(Factor::Unit(*k), symbol.multiple))
            }
            Node::Var(var) => value(*var).ok_or(ExprError::Unbound),
            Node::Neg(a) => self.sum(a, value)?.times(&Sum::constant(-1)),
            Node::Bin(op, a, b) => {
                let (a, b) = (self.sum(a, value)?, self.sum(b, value)?);
                match op {
                    BinOp::Add => a.and(&b),
                    BinOp::Sub => a.less(&b),
                    BinOp::Mul => a.times(&b),
                    BinOp::FloorDiv => Ok(self.parts(&a, &b)?.0),
                    BinOp::Mod => Ok(self.parts(&a, &b)?.1),
                    BinOp::Min | BinOp::Max => self.extremum(*op, a, b),
                    BinOp::And | BinOp::Xor => self.bitwise(*op, &a, &b),
                }
            }
        }
    }

    /// Of the bitwise operations, what arithmetic tells: constants, `x & x`, `x ^ x`, and `x & (2^n - 1) = x % 2^n`.
    fn bitwise(&self, op: BinOp, a: &Sum, b: &Sum) -> Result<Sum, ExprError> {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant()) {
            return Ok(Sum::constant(crate::expr::apply(op, x, y)?));
        }
        if a == b {
            return Ok(if op == BinOp::And { a.clone() } else { Sum::default() });
        }
        for (value, mask) in [(a, b), (b, a)] {
            match mask.as_constant() {
                Some(0) if op == BinOp::Xor => return Ok(value.clone()),
                Some(mask)
                    if op == BinOp::And
                        && mask >= 0
                        && mask.count_ones() == mask.trailing_ones() =>
                {
                    let block = mask.checked_add(1).ok_or(ExprError::Overflow)?;
                    return Ok(self.parts(value, &Sum::constant(block))?.1);
                }
                _ => {}
            }
        }
        Err(ExprError::Unbound)
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

    /// `(a // b, a % b)`. Where the terms overlap, storage indices are spelled out one after another, the weightiest
    /// first; what stays together then becomes a quotient of its own.
    fn parts(&self, a: &Sum, b: &Sum) -> Result<(Sum, Sum), ExprError> {
        let (by, k) = b.lead().ok_or(ExprError::Divisor)?;
        if k < 1 || b.holds_digits() || !self.at_least_zero(&b.minus(&Sum::constant(1))?)? {
            return Err(ExprError::Divisor);
        }
        let mut spelled = None;
        loop {
            let a = spelled.as_ref().unwrap_or(a);
            let (quotient, rest) = if b.len() == 1 { a.split(by, k)? } else { divide(a, b)? };
            if let Some(parts) = self.within_a_block(&quotient, &rest, b)? {
                return Ok(parts);
            }
            match self.expand_one(a, by, k)? {
                Some(expanded) => spelled = Some(expanded),
                None if by.is_empty() && self.cut(&rest, k)? => {}
                None if by.is_empty() => return self.quotient(&quotient, &rest, k),
                None => return Err(ExprError::Unbound),
            }
        }
    }

    /// The parts when `rest` stays within one block of `b`.
    fn within_a_block(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        if let Some(parts) = self.in_block(quotient, rest, b, self.span(rest)?)? {
            return Ok(Some(parts));
        }
        // An axis, or a digit that is cut up, never exceeds its own extent.
        for (number, last) in self.bounded()? {
            let beside = rest.minus(&number)?;
            if number.as_constant().is_none() && beside.as_constant().is_some() {
                let span = (beside.clone(), beside.plus(&last)?);
                if let Some(parts) = self.in_block(quotient, rest, b, span)? {
                    return Ok(Some(parts));
                }
            }
        }
        Ok(None)
    }

    /// The same for a `rest` that spans `low..=high`.
    fn in_block(
        &self,
        quotient: &Sum,
        rest: &Sum,
        b: &Sum,
        (low, high): (Sum, Sum),
    ) -> Result<Option<(Sum, Sum)>, ExprError> {
        if self.at_least_zero(&low)?
            && self.at_least_zero(&b.minus(&high)?.less(&Sum::constant(1))?)?
        {
            return Ok(Some((quotient.clone(), rest.clone())));
        }
        if let (Some(low), Some(high), Some(k)) =
            (low.as_constant(), high.as_constant(), b.as_constant())
            && low.div_euclid(k) == high.div_euclid(k)
        {
            let whole = Sum::constant(low.div_euclid(k));
            return Ok(Some((quotient.plus(&whole)?, rest.minus(&whole.times(b)?)?)));
        }
        Ok(None)
    }

    /// The sum with the weightiest storage index that the divisor does not divide spelled out.
    fn expand_one(&self, a: &Sum, by: &Factors, k: i128) -> Result<Option<Sum>, ExprError> {
        let crossing = a.terms().filter(|(factors, coefficient)| {
            (!by.is_empty() || coefficient % k != 0)
                && factors.iter().any(|f| self.stands_for_more(f))
        });
        let heaviest = crossing.max_by_key(|(_, coefficient)| coefficient.unsigned_abs());
        let Some((factors, coefficient)) = heaviest else { return Ok(None) };
        let Some(term) = self.spell(factors, coefficient)? else { return Ok(None) };
        let without = a.minus(&Sum::single(factors.clone(), coefficient))?;
        Ok(Some(without.and(&term)?))
    }

    /// Cuts up a digit of `rest` that reaches into the next block of `k`: `d = c * high + low`, all of whose values
    /// occur, and perhaps more. False when there is none.
    fn cut(&self, rest: &Sum, k: i128) -> Result<bool, ExprError> {
        for (factors, weight) in rest.terms() {
            let [factor @ Factor::Digit(digit)] = &**factors else { continue };
            let Some(greatest) = self.greatest(*digit)?.as_constant() else { continue };
            if weight < 1
                || k % weight != 0
                || greatest < k / weight
                || self.stands_for_more(factor)
            {
                continue;
            }
            let below = k / weight;
            let high = self.add_digit(Sum::constant(greatest / below), None);
            let low = self.add_digit(Sum::constant(below - 1), None);
            let parts = Sum::factor(Factor::Digit(high), below);
            let parts = parts.plus(&Sum::factor(Factor::Digit(low), 1))?;
            return Ok(self.spell_digit(*digit, parts));
        }
        Ok(false)
    }

    /// `rest // k` as a factor of its own: `x // a // k` is `x // (a*k)`.
    fn quotient(&self, quotient: &Sum, rest: &Sum, k: i128) -> Result<(Sum, Sum), ExprError> {
        if !self.at_least_zero(&self.span(rest)?.0)? {
            return Err(ExprError::Unbound);
        }
        let mut terms = rest.terms();
        let lone = match (terms.next(), terms.next()) {
            (Some((factors, 1)), None) => &**factors,
            _ => &[],
        };
        let part = match lone {
            [Factor::Quotient(x, a)] => {
                let divisor = a.checked_mul(k).ok_or(ExprError::Overflow)?;
                Factor::Quotient(Arc::clone(x), divisor)
            }
            _ => Factor::Quotient(Arc::new(rest.clone()), k),
        };
        let part = Sum::factor(part, 1);
        let remainder = rest.minus(&part.times(&Sum::constant(k))?)?;
        Ok((quotient.plus(&part)?, remainder))
    }

    /// Least and greatest value over the digits: sums over symbols.
    fn span(&self, sum: &Sum) -> Result<(Sum, Sum), ExprError> {
        let (mut low, mut high) = (Sum::default(), Sum::default());
        for (factors, coefficient) in sum.terms() {
            let mut reach = Sum::constant(coefficient);
            let mut digits = 0;
            for factor in factors.iter() {
                reach = match factor {
                    Factor::Digit(d) => {
                        digits += 1;
                        reach.times(&self.greatest(*d)?)?
                    }
                    // A quotient that holds digits runs from 0 to its bound.
                    Factor::Quotient(x, _) if x.holds_digits() => {
                        digits += 1;
                        reach.times(&Sum::constant(self.factor_bounds(factor)?.1))?
                    }
                    other => reach.times(&Sum::factor(other.clone(), 1))?,
                };
            }
            if digits == 0 {
                low = low.and(&reach)?;
                high = high.and(&reach)?;
            } else if coefficient < 0 {
                low = low.and(&reach)?;
            } else {
                high = high.and(&reach)?;
            }
        }
        Ok((low, high))
    }

    /// Whether a sum over symbols is at least 0 for all their values.
    fn at_least_zero(&self, sum: &Sum) -> Result<bool, ExprError> {
        if let Some(value) = sum.as_constant() {
            return Ok(value >= 0);
        }
        let (mut sum, mut bound) = (sum.clone(), 0_i128);
        for _ in 0..MAX_RELAXATIONS {
            if self.least(&sum)? >= bound {
                return Ok(true);
            }
            // Whole numbers: sum >= bound where scale * sum > scale * (bound - 1).
            let Some((scale, relaxed)) = relax(&sum)? else { return Ok(false) };
            bound = bound
                .checked_sub(1)
                .and_then(|b| b.checked_mul(scale))
                .and_then(|b| b.checked_add(1))
                .ok_or(ExprError::Overflow)?;
            sum = relaxed;
        }
        Ok(self.least(&sum)? >= bound)
    }

    fn least(&self, sum: &Sum) -> Result<i128, ExprError> {
        let mut total = 0_i128;
        for (factors, coefficient) in sum.terms() {
            let mut bounds = (1_i128, 1_i128);
            for factor in factors.iter() {
                let (low, high) = self.factor_bounds(factor)?;
                let product = |x: i128, y: i128| x.checked_mul(y).ok_or(ExprError::Overflow);
                bounds = (product(bounds.0, low)?, product(bounds.1, high)?);
            }
            let worst = if coefficient > 0 { bounds.0 } else { bounds.1 };
            let part = worst.checked_mul(coefficient).ok_or(ExprError::Overflow)?;
            total = total.checked_add(part).ok_or(ExprError::Overflow)?;
        }
        Ok(total)
    }

    /// Bounds of a factor that is no digit; never negative.
    fn factor_bounds(&self, factor: &Factor) -> Result<(i128, i128), ExprError> {
        match factor {
            Factor::Digit(d) => {
                let high = self.greatest(*d)?;
                let high = -self.least(&Sum::default().minus(&high)?)?;
                Ok((0, high.max(0)))
            }
            Factor::Unit(k) => {
                let symbol = usize::try_from(*k)
                    .ok()
                    .and_then(|k| self.symbols.get(k))
                    .ok_or(ExprError::Unbound)?;
                let least = symbol.min.max(0).saturating_add(symbol.multiple - 1) / symbol.multiple;
                Ok((least, (symbol.max / symbol.multiple).max(least)))
            }
            Factor::Quotient(a, k) => {
                let (_, high) = self.span(a)?;
                let low = if a.holds_digits() { 0 } else { self.least(a)?.max(0) };
                let high = -self.least(&Sum::default().minus(&high)?)?;
                Ok((low.div_euclid(*k), high.max(low).div_euclid(*k)))
            }
        }
    }

    /// Axes and digits that are cut up, spelled out, each from 0 to a greatest value that its parts may exceed.
    fn bounded(&self) -> Result<Vec<(Sum, Sum)>, ExprError> {
        let mut bounded = Vec::new();
        for (axis, last) in self.axes.iter().zip(&self.last) {
            bounded.push((self.expand(axis)?, last.clone()));
        }
        for (number, last) in &self.fused {
            bounded.push((self.expand(number)?, last.clone()));
        }
        for digit in self.digits.borrow().iter() {
            if let Some(parts) = &digit.made_of {
                bounded.push((self.expand(parts)?, digit.greatest.clone()));
            }
        }
        Ok(bounded)
    }

    /// Whether `a >= b` for all digits and symbols.
    fn never_below(&self, a: &Sum, b: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(&a.minus(b)?)?;
        self.at_least_zero(&low)
    }

    /// Whether the sum is at least 0 on every element: by its digits, or as an axis or a digit that is cut up (or its
    /// distance to the end), whose range is known better.
    pub(super) fn never_negative(&self, sum: &Sum) -> Result<bool, ExprError> {
        let (low, _) = self.span(sum)?;
        if self.at_least_zero(&low)? {
            return Ok(true);
        }
        let sum = &self.expand(sum)?;
        let (low, _) = self.span(sum)?;
        if self.at_least_zero(&low)? {
            return Ok(true);
        }
        // Take out what is bounded, one number after another: c * number is at least 0 for c > 0, else c * last.
        let mut rest = sum.clone();
        for (number, last) in self.bounded()? {
            let Some(factor) = rest.factor_of(&number) else { continue };
            rest = rest.less(&number.times(&Sum::constant(factor))?)?;
            if factor < 0 {
                rest = rest.and(&last.times(&Sum::constant(factor))?)?;
            }
            if self.at_least_zero(&self.span(&rest)?.0)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `0 <= sum < slots` on every element.
    pub(super) fn stays_inside(&self, sum: &Sum, slots: &Sum) -> Result<bool, ExprError> {
        let above = slots.minus(sum)?.less(&Sum::constant(1))?;
        Ok(self.never_negative(sum)? && self.never_negative(&above)?)
    }
}
