//! Solver for the digits that the targets determine. Digits follow from the weights of sums and from the definitions of
//! derived digits. The rules are applied until no further digit becomes known.

use alloc::vec;
use alloc::vec::Vec;

use super::parity;
use crate::digits::{Chain, DerivedDigit, Digit, Digits, LinearForm};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::normal_form::simplify::Facts;

/// Sum `form` of digits whose value is `value`, an expression over the target values `Var::Storage`; `is_solved` is
/// true once all digits of the sum are known.
pub(super) struct KnownSum {
    pub(super) value: Expr,
    pub(super) form: LinearForm,
    pub(super) is_solved: bool,
}

/// State of the solver for one component: the sums of digits and the single digits whose values are known so far.
pub(super) struct DigitSolver<'a> {
    pub(super) digits: &'a Digits,
    pub(super) extents: &'a [Expr],
    pub(super) facts: &'a Facts,
    pub(super) sums: Vec<KnownSum>,
    /// Value of each digit, by position, as an expression over the target values `Var::Storage`; `None` if it is not
    /// known yet.
    values: Vec<Option<Expr>>,
}

/// Value of each digit as an expression over the target values `Var::Storage`, by digit position; `None` for digits
/// that the targets do not determine. `extents` are the extents of all logical axes.
pub(super) fn known_digits(
    digits: &Digits,
    extents: &[Expr],
    facts: &Facts,
) -> Result<Vec<Option<Expr>>, ExprError> {
    let sums = (0_u32..).zip(&digits.targets).map(|(k, form)| KnownSum {
        value: Expr::var(Var::Storage(k)),
        form: form.clone(),
        is_solved: false,
    });
    let values = vec![None; digits.digits.len()];
    let mut all = DigitSolver { digits, extents, facts, sums: sums.collect(), values };
    while all.read_sums()? || all.combine_digits()? || all.split_digits()? || all.multiply_out()? {}
    Ok(all.values)
}

impl DigitSolver<'_> {
    fn learn(&mut self, digit: usize, value: Expr) -> bool {
        match self.values.get_mut(digit) {
            Some(slot @ None) => {
                *slot = Some(value);
                true
            }
            _ => false,
        }
    }

    /// Value of the digit at position `digit` of `Digits::digits`, an expression over the target values `Var::Storage`;
    /// `None` if the value is not known yet.
    pub(super) fn value(&self, digit: usize) -> Option<Expr> {
        self.values.get(digit).cloned().flatten()
    }

    pub(super) fn is_known(&self, digit: usize) -> bool {
        self.values.get(digit).is_some_and(Option::is_some)
    }

    /// Recovers digits from sums of digits whose values are known: all digits of a sum whose weights separate them, as
    /// in `8*a + b` with `b < 8`, or one digit that is determined modulo the common divisor of the other weights, as
    /// `a` in `3*a + 8*b` with `a < 8`. True if any digit or sum was solved.
    fn read_sums(&mut self) -> Result<bool, ExprError> {
        let mut progress = false;
        for k in 0..self.sums.len() {
            let Some(known) = self.sums.get(k).filter(|known| !known.is_solved) else { continue };
            let Some(read) = self.separate(known)? else {
                for (digit, value) in self.read_leading_digit(known)? {
                    progress |= self.learn(digit, value);
                }
                continue;
            };
            for (digit, value) in read {
                self.learn(digit, value);
            }
            if let Some(known) = self.sums.get_mut(k) {
                known.is_solved = true;
            }
            progress = true;
        }
        Ok(progress)
    }

    /// Applies the rules between digits once. A subdivided digit follows from all digits of its chain. The digits of a
    /// chain follow from the value of the chain or of the digit that it subdivides. A derived digit (XOR, sum,
    /// remainder, quotient, Hilbert position) follows from its operands. True if any digit became known.
    fn combine_digits(&mut self) -> Result<bool, ExprError> {
        let digits = self.digits;
        let mut progress = false;
        for chain in digits.chains.iter().rev() {
            let Some(whole) = chain.of_digit.filter(|whole| !self.is_known(*whole)) else {
                continue;
            };
            if let Some(value) = self.value_of(&weighted(digits, chain.digits.iter()))? {
                progress |= self.learn(whole, value);
            }
        }
        for chain in &digits.chains {
            if let Some(whole) = self.chain_from_low_digits(chain)? {
                for (digit, value) in self.cut_up(chain, &whole)? {
                    progress |= self.learn(digit, value);
                }
            }
        }
        for chain in &digits.chains {
            let Some(whole) = chain.of_digit.and_then(|whole| self.value(whole)) else { continue };
            for (digit, value) in self.cut_up(chain, &whole)? {
                progress |= self.learn(digit, value);
            }
        }
        for (digit, made) in &digits.derived {
            if self.is_known(*digit) {
                continue;
            }
            let value = match made {
                DerivedDigit::Sum(form) => self.value_of(form)?,
                DerivedDigit::Residue(form, k) => self.divided(BinOp::Mod, form, *k)?,
                DerivedDigit::Quotient(form, k) => self.divided(BinOp::FloorDiv, form, *k)?,
                DerivedDigit::Hilbert(grid, row, column) => {
                    match (self.value_of(row)?, self.value_of(column)?) {
                        (Some(row), Some(column)) => {
                            Some(Expr::binary(BinOp::Hilbert(*grid), &row, &column)?)
                        }
                        _ => None,
                    }
                }
                DerivedDigit::Parity(of) => {
                    let of: Option<Vec<Expr>> = of.iter().map(|digit| self.value(*digit)).collect();
                    of.map(|of| parity::folded(&of)).transpose()?.flatten()
                }
            };
            if let Some(value) = value {
                progress |= self.learn(*digit, value);
            }
        }
        Ok(progress)
    }

    /// Derives the values of sums and digits from derived digits with a known value, by the definition of the derived
    /// digit: a known `form % k` gives `form` if `form < k`. True if anything became known.
    fn split_digits(&mut self) -> Result<bool, ExprError> {
        let mut progress = false;
        for (digit, value) in parity::solve(self.digits, &self.values)? {
            progress |= self.learn(digit, value);
        }
        let digits = self.digits;
        for (digit, made) in &digits.derived {
            let Some(value) = self.value(*digit) else {
                progress |= self.part_of_number(*digit, made)?;
                continue;
            };
            match made {
                DerivedDigit::Sum(form) => progress |= self.record_sum(&value, form),
                DerivedDigit::Residue(form, k) => {
                    progress |= self.record_division(BinOp::Mod, &value, form, *k)?;
                    for (digit, value) in self.solve_residue(&value, form, *k)? {
                        progress |= self.learn(digit, value);
                    }
                }
                DerivedDigit::Quotient(form, k) => {
                    progress |= self.combine_divmod(&value, form, *k)?;
                    progress |= self.record_division(BinOp::FloorDiv, &value, form, *k)?;
                    for (digit, value) in self.solve_quotient(&value, form, *k)? {
                        progress |= self.learn(digit, value);
                    }
                }
                DerivedDigit::Hilbert(grid, row, column) => {
                    let zero = Expr::constant(0);
                    let cell = Expr::binary(BinOp::HilbertCell(*grid), &value, &zero)?;
                    let columns = Expr::constant(i128::from(grid.columns()));
                    for (op, form) in [(BinOp::FloorDiv, row), (BinOp::Mod, column)] {
                        progress |= self.record_sum(&Expr::binary(op, &cell, &columns)?, form);
                    }
                }
                DerivedDigit::Parity(_) => {}
            }
        }
        Ok(progress)
    }

    /// Number `m` that the digits of a chain of one axis encode, computed from the known least significant digits.
    /// `None` if these do not determine the index within the extent of the axis, if all digits of the chain are known
    /// already, or if the chain subdivides a digit or encodes fused axes.
    fn chain_from_low_digits(&self, chain: &Chain) -> Result<Option<Expr>, ExprError> {
        let digits = self.digits;
        let ([axis], None) = (chain.axes.as_slice(), chain.of_digit) else { return Ok(None) };
        let low = chain.digits.iter().rev().take_while(|digit| self.is_known(**digit)).count();
        let above = chain.digits.len().checked_sub(low + 1).and_then(|k| chain.digits.get(k));
        let covered = above.map_or(0, |digit| own_weight(digits, *digit));
        let extent = self.extents.get(*axis).ok_or(ExprError::Unbound)?;
        if low == 0 || self.facts.bounds(extent)?.1 > covered {
            return Ok(None);
        }
        let known = weighted(digits, chain.digits.iter().rev().take(low));
        let Some(value) = self.value_of(&known)? else { return Ok(None) };
        // The index is sign * m + constant, below `covered`.
        let index = Expr::binary(BinOp::Mul, &value, &Expr::constant(chain.sign))?;
        let index = Expr::binary(BinOp::Add, &index, &Expr::constant(chain.constant))?;
        let index = Expr::binary(BinOp::Mod, &index, &Expr::constant(covered))?;
        let moved = Expr::binary(BinOp::Sub, &index, &Expr::constant(chain.constant))?;
        Ok(Some(Expr::binary(BinOp::Mul, &moved, &Expr::constant(chain.sign))?))
    }

    /// Derives sums and digits from an unknown derived digit of which a part is known. The digit at position `number`
    /// is defined by `made`, and a chain divides it into parts. If its lowest parts are known, they are a remainder of
    /// the form in `made`. If its highest parts are known, they are a quotient of that form, which is used for a
    /// [`DerivedDigit::Sum`] only. True if a sum or a digit became known.
    fn part_of_number(&mut self, number: usize, made: &DerivedDigit) -> Result<bool, ExprError> {
        let digits = self.digits;
        let (form, modulus) = match made {
            DerivedDigit::Sum(form) => (form, 0),
            DerivedDigit::Residue(form, k) => (form, *k),
            DerivedDigit::Quotient(..) | DerivedDigit::Parity(_) | DerivedDigit::Hilbert(..) => {
                return Ok(false);
            }
        };
        let chain = digits.chains.iter().find(|chain| chain.of_digit == Some(number));
        let Some(chain) = chain else { return Ok(false) };
        let weight = |digit: usize| digits.digits.get(digit).map(|digit| digit.weight);
        let is_determined = |digit: usize| {
            self.is_known(digit) || digits.digits.get(digit).is_some_and(Digit::is_single)
        };
        let mut progress = false;
        let low = chain.digits.iter().rev().take_while(|digit| is_determined(**digit)).count();
        let above = chain.digits.len().checked_sub(low + 1).and_then(|k| chain.digits.get(k));
        let high: Vec<usize> =
            chain.digits.iter().copied().take_while(|digit| is_determined(*digit)).collect();
        if let Some(reach) = above.and_then(|digit| weight(*digit)).filter(|_| low > 0)
            && modulus % reach == 0
        {
            let known = chain.digits.iter().rev().take(low);
            let value = self.value_of(&weighted(digits, known))?;
            if let Some(value) = value {
                progress |= self.record_division(BinOp::Mod, &value, form, reach)?;
                for (digit, value) in self.solve_residue(&value, form, reach)? {
                    progress |= self.learn(digit, value);
                }
            }
        }
        if let Some(reach) = high.last().and_then(|digit| weight(*digit)).filter(|_| modulus == 0) {
            let mut top = weighted(digits, high.iter());
            top.terms.iter_mut().for_each(|(_, weight)| *weight /= reach);
            if let Some(value) = self.value_of(&top)? {
                progress |= self.record_division(BinOp::FloorDiv, &value, form, reach)?;
                for (digit, value) in self.solve_quotient(&value, form, reach)? {
                    progress |= self.learn(digit, value);
                }
            }
        }
        Ok(progress)
    }

    /// Pairs of digit position and value for the unknown digits of a chain, given the `value` of the number that all
    /// its digits encode: `value % above // weight`, where `above` is the weight of the next higher digit.
    fn cut_up(&self, chain: &Chain, value: &Expr) -> Result<Vec<(usize, Expr)>, ExprError> {
        let mut read = Vec::new();
        let mut above: Option<i128> = None;
        for digit in &chain.digits {
            let weight = self.digits.digits.get(*digit).ok_or(ExprError::Unbound)?.weight;
            if !self.is_known(*digit) {
                let rest = match above {
                    Some(above) => Expr::binary(BinOp::Mod, value, &Expr::constant(above))?,
                    None => value.clone(),
                };
                let part = Expr::binary(BinOp::FloorDiv, &rest, &Expr::constant(weight))?;
                read.push((*digit, part));
            }
            above = Some(weight);
        }
        Ok(read)
    }

    /// Value of the sum of digits `form`, as an expression over the target values `Var::Storage`; `None` if the value
    /// of one of its digits is unknown.
    pub(super) fn value_of(&self, form: &LinearForm) -> Result<Option<Expr>, ExprError> {
        let (rest, value) = self.without_known(form, &Expr::constant(0), BinOp::Add)?;
        if !rest.terms.is_empty() {
            return Ok(None);
        }
        Ok(Some(Expr::binary(BinOp::Add, &value, &Expr::constant(rest.constant))?))
    }

    /// Pair `(rest, total)` after the known digits of `form` are moved to the other side of an equation. `rest` has the
    /// terms of `form` with unknown digits, and its constant. `total` is the argument `value` plus (`op` is `Add`) or
    /// minus (`Sub`) all terms of known digits. A subdivided digit of which some parts are known is first replaced by
    /// its parts.
    pub(super) fn without_known(
        &self,
        form: &LinearForm,
        value: &Expr,
        op: BinOp,
    ) -> Result<(LinearForm, Expr), ExprError> {
        let mut rest = LinearForm { constant: form.constant, terms: Vec::new() };
        let mut value = value.clone();
        for (digit, weight) in &form.terms {
            match self.values.get(*digit) {
                Some(Some(known)) => {
                    let part = Expr::binary(BinOp::Mul, known, &Expr::constant(*weight))?;
                    value = Expr::binary(op, &value, &part)?;
                }
                _ => match self.known_in_part(*digit) {
                    // Some digits of the chain that subdivides this digit are known.
                    Some(mut parts) => {
                        for (_, own) in &mut parts.terms {
                            *own = own.checked_mul(*weight).ok_or(ExprError::Overflow)?;
                        }
                        let (left, taken) = self.without_known(&parts, &value, op)?;
                        rest.terms.extend(left.terms);
                        value = taken;
                    }
                    None => rest.terms.push((*digit, *weight)),
                },
            }
        }
        Ok((rest, value))
    }

    /// Parts of a subdivided digit as a weighted sum, if at least one part is known, or is itself subdivided and known
    /// in part. `None` otherwise, or if the digit is not subdivided.
    fn known_in_part(&self, digit: usize) -> Option<LinearForm> {
        let chain = self.digits.chains.iter().find(|chain| chain.of_digit == Some(digit))?;
        let parts = weighted(self.digits, chain.digits.iter());
        let is_partly =
            |(part, _): &(usize, i128)| self.is_known(*part) || self.known_in_part(*part).is_some();
        parts.terms.iter().any(is_partly).then_some(parts)
    }

    fn divided(&self, op: BinOp, form: &LinearForm, k: i128) -> Result<Option<Expr>, ExprError> {
        let Some(value) = self.value_of(form)? else { return Ok(None) };
        Ok(Some(Expr::binary(op, &value, &Expr::constant(k))?))
    }
}

/// Weight of the digit at position `digit` of `digits.digits` in the number that its chain encodes.
fn own_weight(digits: &Digits, digit: usize) -> i128 {
    digits.digits.get(digit).map_or(1, |digit| digit.weight)
}

/// Weighted sum of the digits at the positions `some` of one chain, with their weights in the chain. Digits that are
/// always 0 are omitted.
pub(super) fn weighted<'a>(digits: &Digits, some: impl Iterator<Item = &'a usize>) -> LinearForm {
    let own = |digit: &usize| digits.digits.get(*digit).filter(|own| !own.is_single());
    LinearForm {
        constant: 0,
        terms: some.filter_map(|digit| Some((*digit, own(digit)?.weight))).collect(),
    }
}
