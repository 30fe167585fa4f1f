//! Recovery of the digits of a sum from the value of the sum. Either the weights separate the digits, as in
//! `v = 8*a + b` with `b < 8`. Or a digit is determined modulo the common divisor of the other weights, as in
//! `v = 3*a + 8*b` with `a < 8`.

use alloc::vec::Vec;

use super::greatest;
use super::solver::{DigitSolver, KnownSum};
use crate::digits::{Chain, LinearForm};
use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError};

impl DigitSolver<'_> {
    /// Solves `value = form % k` for the unknown digits of `form`, if they are one digit, or several of one chain that
    /// form a gapless mixed-radix number. A number of weight `w` must have at most `k / gcd(w, k)` values:
    /// `value = 3*d % 8` gives `d = 3*value % 8` for `d < 8`. Returns pairs of digit position and value; empty if the
    /// form cannot be solved.
    pub(super) fn solve_residue(
        &self,
        value: &Expr,
        form: &LinearForm,
        k: i128,
    ) -> Result<Vec<(usize, Expr)>, ExprError> {
        let (rest, value) = self.without_known(form, value, BinOp::Sub)?;
        let value = Expr::binary(BinOp::Sub, &value, &Expr::constant(rest.constant))?;
        let Some(number) = self.number(&rest, k)? else { return Ok(Vec::new()) };
        let shared = gcd(number.unit, k);
        let modulus = k / shared.max(1);
        if number.count > modulus {
            return Ok(Vec::new());
        }
        let Some(inverse) = inverse(number.unit / shared.max(1), modulus) else {
            return Ok(Vec::new());
        };
        let mut left = value;
        if shared > 1 {
            left = Expr::binary(BinOp::Mod, &left, &Expr::constant(k))?;
            left = Expr::binary(BinOp::FloorDiv, &left, &Expr::constant(shared))?;
        }
        left = Expr::binary(BinOp::Mul, &left, &Expr::constant(inverse))?;
        left = Expr::binary(BinOp::Mod, &left, &Expr::constant(modulus))?;
        number.digits_of(&left)
    }

    /// Solves `value = form // k` for the unknown digits of `form`, if `form = w*number + c` with `w >= k`. The number
    /// is the least one with that quotient, `(k*value - c + w - 1) // w`. Returns pairs of digit position and value;
    /// empty if the form is different.
    pub(super) fn solve_quotient(
        &self,
        value: &Expr,
        form: &LinearForm,
        k: i128,
    ) -> Result<Vec<(usize, Expr)>, ExprError> {
        let value = Expr::binary(BinOp::Mul, value, &Expr::constant(k))?;
        let (rest, value) = self.without_known(form, &value, BinOp::Sub)?;
        match self.number(&rest, 0)?.filter(|number| number.unit >= k) {
            Some(number) => {
                let up = Expr::constant(number.unit - 1 - rest.constant);
                let value = Expr::binary(BinOp::Add, &value, &up)?;
                let value = Expr::binary(BinOp::FloorDiv, &value, &Expr::constant(number.unit))?;
                number.digits_of(&value)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Pairs `(digit, value)` for one digit of a known sum, or one mixed-radix number of digits, that is determined
    /// modulo the common divisor of all other weights: `a = 3*v % 8` for `v = 3*a + 8*b` and `a < 8`. `digit` is the
    /// position of the digit. Empty if there is no such digit.
    pub(super) fn read_leading_digit(
        &self,
        known: &KnownSum,
    ) -> Result<Vec<(usize, Expr)>, ExprError> {
        let (rest, value) = self.without_known(&known.form, &known.value, BinOp::Sub)?;
        for (digit, _) in &rest.terms {
            let others = rest.terms.iter().filter(|(other, _)| other != digit);
            let k = others.fold(0, |n, (_, weight)| gcd(n, *weight));
            if k < 2 {
                continue;
            }
            let mut own = LinearForm { constant: rest.constant, terms: rest.terms.clone() };
            own.terms.retain(|(_, weight)| weight % k != 0);
            own.terms.iter_mut().for_each(|(_, weight)| *weight = weight.rem_euclid(k));
            let read = self.solve_residue(&value, &own, k)?;
            if !read.is_empty() {
                return Ok(read);
            }
        }
        Ok(Vec::new())
    }

    /// Digits of the sum `rest` as one gapless mixed-radix number times a unit, as in `3 * (4*a + b)` with `b < 4`;
    /// `None` if they do not form one. The constant of `rest` is ignored. Weights are compared modulo `k`, or exactly
    /// if `k` is 0.
    fn number(&self, rest: &LinearForm, k: i128) -> Result<Option<MixedRadixNumber>, ExprError> {
        let mut terms: Vec<(usize, i128, i128)> = Vec::new();
        for (digit, weight) in &rest.terms {
            let found = self.digits.digits.get(*digit).ok_or(ExprError::Unbound)?;
            terms.push((*digit, found.weight, *weight));
        }
        terms.sort_by_key(|(_, own, _)| *own);
        let Some((first, base, unit)) = terms.first().copied() else { return Ok(None) };
        let chain = self.digits.chains.iter().find(|chain| chain.digits.contains(&first));
        let is_of_chain = |digit: usize| chain.is_some_and(|chain| chain.digits.contains(&digit));
        let mut number = MixedRadixNumber { unit, least: 0, count: 1, digits: Vec::new() };
        for (digit, own, weight) in terms {
            let place = own / base;
            let wanted = unit.checked_mul(place).ok_or(ExprError::Overflow)?;
            let is_next = own % base == 0 && place == number.count;
            let is_in_step = if k == 0 { weight == wanted } else { (weight - wanted) % k == 0 };
            if !is_next || !is_in_step || (digit != first && !is_of_chain(digit)) {
                return Ok(None);
            }
            let reach = greatest(self.digits, digit, self.facts)?.checked_add(1);
            number.count =
                reach.and_then(|reach| reach.checked_mul(place)).ok_or(ExprError::Overflow)?;
            number.digits.push((digit, place));
        }
        // A number that includes the most significant digit ends with the range of the chain.
        if let Some(chain) = chain
            && number.digits.len() > 1
            && number.digits.last().is_some_and(|(last, _)| self.highest(chain) == Some(*last))
            && let Some((least, most)) = self.ends(chain)?
        {
            number.least = least.div_euclid(base);
            number.count = number.count.min(most.div_euclid(base) + 1);
        }
        Ok(Some(number))
    }

    /// Position of the most significant digit of a chain that is not always 0; `None` if all its digits are always 0.
    fn highest(&self, chain: &Chain) -> Option<usize> {
        let counts =
            |digit: &&usize| self.digits.digits.get(**digit).is_some_and(|d| !d.is_single());
        chain.digits.iter().find(counts).copied()
    }

    /// Inclusive bounds `(least, greatest)` of the number that the digits of a chain encode, over all values of the
    /// symbols. The ranges of the single digits may allow values outside of the bounds. `None` for fused axes.
    fn ends(&self, chain: &Chain) -> Result<Option<(i128, i128)>, ExprError> {
        if let Some(digit) = chain.of_digit {
            return Ok(Some((0, greatest(self.digits, digit, self.facts)?)));
        }
        let [axis] = chain.axes.as_slice() else { return Ok(None) };
        let extent = self.extents.get(*axis).ok_or(ExprError::Unbound)?;
        let last = self.facts.bounds(extent)?.1.max(1) - 1;
        Ok(Some(if chain.sign == 1 { (-chain.constant, last - chain.constant) } else { (0, last) }))
    }

    /// Pairs `(digit, value)` for all unknown digits of a known sum, where `digit` is the position of the digit. `None`
    /// unless two conditions hold: the absolute value of every weight exceeds the greatest sum of the absolute values
    /// of all terms with smaller absolute weights; and the greatest value of every term with a negative weight does not
    /// depend on symbols.
    pub(super) fn separate(
        &self,
        known: &KnownSum,
    ) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
        let (rest, value) = self.without_known(&known.form, &known.value, BinOp::Sub)?;
        if let Some(read) = self.separated(&rest, &value)? {
            return Ok(Some(read));
        }
        // A complete chain is bounded by its range, which its high digits alone may exceed.
        if rest == known.form { Ok(None) } else { self.separated(&known.form, &known.value) }
    }

    fn separated(
        &self,
        rest: &LinearForm,
        value: &Expr,
    ) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
        let mut value = value.clone();
        let mut constant = rest.constant;
        let mut parts = self.parts(rest)?;
        for part in parts.iter().filter(|part| part.number.unit < 0) {
            // A negative weight counts down from the end: w*d = w*(b-1) + |w|*(b-1-d)
            if !part.is_exact {
                return Ok(None);
            }
            let reach = part.number.count - 1;
            let end = reach.checked_mul(part.number.unit).ok_or(ExprError::Overflow)?;
            constant = constant.checked_add(end).ok_or(ExprError::Overflow)?;
        }
        for part in &parts {
            let start = part.number.least.checked_mul(part.number.unit.max(0));
            let start = start.ok_or(ExprError::Overflow)?;
            constant = constant.checked_add(start).ok_or(ExprError::Overflow)?;
        }
        value = Expr::binary(BinOp::Sub, &value, &Expr::constant(constant))?;
        parts.sort_by_key(|part| part.number.unit.unsigned_abs());
        let mut reach = 0_i128;
        for part in &parts {
            let step = part.number.unit.checked_abs().ok_or(ExprError::Overflow)?;
            if step <= reach {
                return Ok(None);
            }
            let own = part.number.reach().checked_mul(step).ok_or(ExprError::Overflow)?;
            reach = reach.checked_add(own).ok_or(ExprError::Overflow)?;
        }
        let mut read = Vec::new();
        for part in parts.iter().rev() {
            let step = Expr::constant(part.number.unit.abs());
            let mut number = Expr::binary(BinOp::FloorDiv, &value, &step)?;
            value = Expr::binary(BinOp::Mod, &value, &step)?;
            if part.number.unit < 0 {
                let end = Expr::constant(part.number.count - 1);
                number = Expr::binary(BinOp::Sub, &end, &number)?;
            } else if part.number.least > 0 {
                number = Expr::binary(BinOp::Add, &number, &Expr::constant(part.number.least))?;
            }
            read.extend(part.number.digits_of(&number)?);
        }
        Ok(Some(read))
    }

    /// Inclusive bounds `(low, high)` of a sum of digits, over all values of the digits and symbols.
    pub(super) fn span(&self, form: &LinearForm) -> Result<(i128, i128), ExprError> {
        let (mut low, mut high) = (form.constant, form.constant);
        for part in self.parts(form)? {
            let MixedRadixNumber { unit, least, count, .. } = part.number;
            let ends = (least.checked_mul(unit), (count - 1).checked_mul(unit));
            let (Some(start), Some(end)) = ends else { return Err(ExprError::Overflow) };
            low = low.checked_add(start.min(end)).ok_or(ExprError::Overflow)?;
            high = high.checked_add(start.max(end)).ok_or(ExprError::Overflow)?;
        }
        Ok((low, high))
    }

    /// Terms into which the digits of the sum `rest` are grouped. Two or more leading digits of a chain that form a
    /// mixed-radix number become one term, bounded by the range of the chain. Every other digit is a term by itself.
    fn parts(&self, rest: &LinearForm) -> Result<Vec<IndependentTerm>, ExprError> {
        let mut left = rest.terms.clone();
        let mut parts = Vec::new();
        for chain in &self.digits.chains {
            let is_present = |digit: &&usize| left.iter().any(|(own, _)| own == *digit);
            let counts = |digit: &&usize| {
                self.digits.digits.get(**digit).is_some_and(|digit| !digit.is_single())
            };
            let high: Vec<usize> =
                chain.digits.iter().filter(counts).take_while(is_present).copied().collect();
            if high.len() < 2 {
                continue;
            }
            let of_chain = left.iter().filter(|(digit, _)| high.contains(digit));
            let own = LinearForm { constant: 0, terms: of_chain.copied().collect() };
            if let Some(number) = self.number(&own, 0)? {
                let extent = chain.axes.first().and_then(|axis| self.extents.get(*axis));
                let is_exact = extent.is_none_or(|extent| extent.as_const().is_some());
                left.retain(|(digit, _)| !high.contains(digit));
                parts.push(IndependentTerm { number, is_exact });
            }
        }
        for (digit, weight) in left {
            let reach = greatest(self.digits, digit, self.facts)?;
            let extent = self.digits.digits.get(digit).and_then(|d| d.extent.as_const());
            let count = reach.checked_add(1).ok_or(ExprError::Overflow)?;
            let number =
                MixedRadixNumber { unit: weight, least: 0, count, digits: alloc::vec![(digit, 1)] };
            parts.push(IndependentTerm { number, is_exact: extent == Some(count) });
        }
        Ok(parts)
    }
}

/// Term of a sum of digits whose value is recovered as one number, from which the digits follow.
struct IndependentTerm {
    number: MixedRadixNumber,
    /// True if the greatest value of the term does not depend on symbols, and the term takes it.
    is_exact: bool,
}

/// Digits of a chain that form a gapless mixed-radix number, as pairs of digit position and weight in the number, the
/// least significant first.
struct MixedRadixNumber {
    /// Weight of the number in the sum that contains it; may be negative.
    unit: i128,
    /// Least value that the number takes, at least 0.
    least: i128,
    /// Exclusive upper bound of the number.
    count: i128,
    digits: Vec<(usize, i128)>,
}

impl MixedRadixNumber {
    /// Greatest value of the number after it is shifted to start at 0, in units of `|unit|`. For a positive `unit` the
    /// shifted number is `number - least`, and the result is `count - 1 - least`. For a negative one it is
    /// `count - 1 - number`, and the result is `count - 1`, which is an upper bound if `least > 0`.
    fn reach(&self) -> i128 {
        self.count - 1 - if self.unit < 0 { 0 } else { self.least }
    }

    /// Pairs `(digit, value)` for the digits of a number with the given value, the most significant first. The value of
    /// a digit is the quotient by its weight of what the digits before it leave: 23 with the weights 8 and 1 gives 2
    /// and 7.
    fn digits_of(&self, value: &Expr) -> Result<Vec<(usize, Expr)>, ExprError> {
        let (mut left, mut read) = (value.clone(), Vec::new());
        for (digit, weight) in self.digits.iter().rev() {
            let step = Expr::constant(*weight);
            read.push((*digit, Expr::binary(BinOp::FloorDiv, &left, &step)?));
            left = Expr::binary(BinOp::Mod, &left, &step)?;
        }
        Ok(read)
    }
}

/// Inverse of `a` modulo `m`, in `0..m`, for `m >= 1`: `inverse(3, 8)` is 3. `None` if `a` and `m` have a common
/// factor.
pub(super) fn inverse(a: i128, m: i128) -> Option<i128> {
    let (mut r, mut next) = (m, a.rem_euclid(m));
    let (mut s, mut step) = (0_i128, 1_i128);
    while next != 0 {
        let quotient = r / next;
        (r, next) = (next, r - quotient * next);
        (s, step) = (step, s.checked_sub(quotient.checked_mul(step)?)?);
    }
    (r == 1).then(|| s.rem_euclid(m))
}
