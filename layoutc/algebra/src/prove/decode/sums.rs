//! Sums of digits with known values: first the targets, then sums derived from known quotients and remainders.

use alloc::vec;
use alloc::vec::Vec;

use super::solver::{DigitSolver, KnownSum, weighted};
use crate::digits::{DerivedDigit, LinearForm, modulo, sum};
use crate::expr::{BinOp, Expr, ExprError};

/// Number of sums of digits with known values, in the proof of one component, from which on `multiply_out` records no
/// further sums. Other rules may record more. A component is a set of axes that targets or conditions connect.
const MAX_KNOWN_SUMS: usize = 64;

impl DigitSolver<'_> {
    /// Records a sum that follows from `value = form op k`, where `op` is `//` or `%`. If `form` separates into
    /// `k * whole + rest` with `rest` in `0..k`, the sum is `whole = value` for `//`, and `rest = value` for `%`. False
    /// if `form` does not separate, the sum is empty, or a value of the sum is already known.
    pub(super) fn record_division(
        &mut self,
        op: BinOp,
        value: &Expr,
        form: &LinearForm,
        k: i128,
    ) -> Result<bool, ExprError> {
        let form = self.expand_sums(form)?;
        let (whole, rest) = form.split(k);
        let (low, high) = self.span(&rest)?;
        let is_apart = low >= 0 && high < k;
        let part = if op == BinOp::Mod { rest } else { whole };
        Ok(is_apart && !part.terms.is_empty() && self.record_sum(value, &part))
    }

    /// Form with each derived digit that is defined as a sum replaced by that sum, recursively.
    fn expand_sums(&self, form: &LinearForm) -> Result<LinearForm, ExprError> {
        let mut out = LinearForm { constant: form.constant, terms: Vec::new() };
        for (digit, weight) in &form.terms {
            let made = self.digits.derived.iter().find(|(made, _)| made == digit);
            let part = match made {
                Some((_, DerivedDigit::Sum(of))) => self.expand_sums(of)?,
                _ => LinearForm { constant: 0, terms: vec![(*digit, 1)] },
            };
            out = sum(&out, &part, *weight)?;
        }
        Ok(out)
    }

    /// Records that the sum of digits `form` has the value `value`. False if a value of the sum is known already.
    pub(super) fn record_sum(&mut self, value: &Expr, form: &LinearForm) -> bool {
        let is_new = self.sums.iter().all(|known| known.form != *form);
        if is_new {
            self.sums.push(KnownSum { value: value.clone(), form: form.clone(), is_solved: false });
        }
        is_new
    }

    /// Eliminates quotients from known sums. A sum `u * (x // k) + others` is combined with the known remainder
    /// `x % k`: `k * sum + u * remainder` is the value of `u * x + k * others`. True if a new sum is recorded.
    pub(super) fn multiply_out(&mut self) -> Result<bool, ExprError> {
        let mut whole = Vec::new();
        for known in self.sums.iter().filter(|known| !known.is_solved) {
            for (digit, unit) in &known.form.terms {
                let Some((rest, form, k)) = self.remainder_of(*digit, *unit, &known.form)? else {
                    continue;
                };
                let scaled =
                    |value: &Expr, by: i128| Expr::binary(BinOp::Mul, value, &Expr::constant(by));
                let value =
                    Expr::binary(BinOp::Add, &scaled(&known.value, k)?, &scaled(&rest, *unit)?)?;
                let mut others = known.form.clone();
                others.terms.retain(|(own, _)| own != digit);
                let form = sum(&sum(&LinearForm::default(), &others, k)?, &form, *unit)?;
                whole.push((value, form));
            }
        }
        let mut progress = false;
        for (value, form) in whole {
            if self.sums.len() < MAX_KNOWN_SUMS {
                progress |= self.record_sum(&value, &form);
            }
        }
        Ok(progress)
    }

    /// Triple `(value of form % k, form, k)` for an unknown digit that equals `form // k`: a derived quotient, or the
    /// highest digit of a chain. `None` if `form % k` is unknown. Also `None` if the sum `within`, in which the digit
    /// has the weight `unit`, contains a lower digit of the same chain, and both weights are in the proportion of the
    /// weights in the chain.
    fn remainder_of(
        &self,
        digit: usize,
        unit: i128,
        within: &LinearForm,
    ) -> Result<Option<(Expr, LinearForm, i128)>, ExprError> {
        let digits = self.digits;
        if self.is_known(digit) {
            return Ok(None);
        }
        if let Some((_, DerivedDigit::Quotient(form, k))) =
            digits.derived.iter().find(|(own, _)| *own == digit)
        {
            return Ok(self.residue_of(form, *k)?.map(|rest| (rest, form.clone(), *k)));
        }
        // The most significant digit of a chain whose other digits are known and not part of the same sum.
        let chain = digits.chains.iter().find(|chain| chain.digits.first() == Some(&digit));
        let Some((chain, own)) = chain.zip(digits.digits.get(digit)) else { return Ok(None) };
        let low = weighted(digits, chain.digits.iter().skip(1));
        // The chain as a whole is not a quotient.
        let is_in_same_sum = low.terms.iter().any(|(other, weight)| {
            let found = within.terms.iter().find(|(digit, _)| digit == other);
            found
                .is_some_and(|(_, found)| found.checked_mul(own.weight) == weight.checked_mul(unit))
        });
        if own.weight < 2 || low.terms.is_empty() || is_in_same_sum {
            return Ok(None);
        }
        let Some(rest) = self.value_of(&low)? else { return Ok(None) };
        Ok(Some((rest, weighted(digits, chain.digits.iter()), own.weight)))
    }

    /// Records that the sum `form` has the value `k * quotient + form % k`, where `quotient` is the value of
    /// `form // k`. False if the value of `form % k` is unknown, or a value of `form` is known already.
    pub(super) fn combine_divmod(
        &mut self,
        quotient: &Expr,
        form: &LinearForm,
        k: i128,
    ) -> Result<bool, ExprError> {
        let Some(remainder) = self.residue_of(form, k)? else { return Ok(false) };
        let whole = Expr::binary(BinOp::Mul, quotient, &Expr::constant(k))?;
        let value = Expr::binary(BinOp::Add, &whole, &remainder)?;
        Ok(self.record_sum(&value, form))
    }

    /// Value of `form % k`; `None` if no derived digit with a known value is this remainder.
    fn residue_of(&self, form: &LinearForm, k: i128) -> Result<Option<Expr>, ExprError> {
        let wanted = DerivedDigit::Residue(modulo(form, k, &self.digits.derived)?, k);
        let digit = self.digits.derived.iter().find(|(_, made)| *made == wanted);
        Ok(digit.and_then(|(digit, _)| self.value(*digit)))
    }
}
