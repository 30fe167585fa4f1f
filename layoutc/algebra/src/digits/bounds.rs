//! Bounds of weighted sums of digits, over all values of the digits and symbols.

use alloc::vec::Vec;

use super::read::{DigitReader, add};
use super::{Chain, LinearForm};
use crate::expr::ExprError;

impl DigitReader<'_> {
    /// Bounds `(least, greatest)` of a linear form if every digit takes all values below its extent independently.
    pub(super) fn span(&self, form: &LinearForm) -> Result<(i128, i128), ExprError> {
        let mut span = (form.constant, form.constant);
        for (digit, weight) in &form.terms {
            reach(&mut span, self.greatest(*digit), *weight)?;
        }
        Ok(span)
    }

    /// Bounds `(least, greatest)` of a linear form that are at least as tight as those of [`Self::span`]: leading
    /// digits of a chain, with weights in the proportion of the weights in the chain, together do not exceed the
    /// greatest number of the chain (`most`).
    pub(super) fn tight_span(&self, form: &LinearForm) -> Result<(i128, i128), ExprError> {
        let mut span = (form.constant, form.constant);
        let mut left = form.terms.clone();
        for (chain, most) in self.chains.iter().zip(&self.most) {
            if let Some((taken, least, unit)) = self.high_run(chain, &left) {
                reach(&mut span, most.div_euclid(least), unit)?;
                left.retain(|(digit, _)| !taken.contains(digit));
            }
        }
        for (digit, weight) in &left {
            reach(&mut span, self.greatest(*digit), *weight)?;
        }
        Ok(span)
    }

    /// Longest sequence of leading digits of `chain` that occur in `terms` with weights proportional to those in the
    /// chain. Digits that are always 0 are skipped. Returns `(digits, weight, unit)`: the positions of the digits, the
    /// weight of the last one in the chain, and its weight in `terms`. For a chain with the weights 12, 4 and 1 whose
    /// digits have the weights 24, 8 and 3 in `terms`, the sequence has two digits, `weight` is 4, and `unit` is 8.
    /// `None` for fewer than two digits.
    fn high_run(&self, chain: &Chain, terms: &[(usize, i128)]) -> Option<(Vec<usize>, i128, i128)> {
        let mut run = Vec::new();
        let mut lowest: Option<(i128, i128)> = None;
        for digit in &chain.digits {
            let found = self.digits.get(*digit)?;
            if found.is_single() {
                continue;
            }
            let Some((_, unit)) = terms.iter().find(|(own, _)| own == digit) else { break };
            let in_step = lowest.is_none_or(|(weight, above)| {
                unit.checked_mul(weight / found.weight.max(1)) == Some(above)
            });
            if !in_step {
                break;
            }
            run.push(*digit);
            lowest = Some((found.weight, *unit));
        }
        let (weight, unit) = lowest.filter(|_| run.len() > 1)?;
        Some((run, weight, unit))
    }
}

/// Widens the bounds `span` of a sum, its least and greatest value, by a further term `weight * value` with `value` in
/// `0..=most`.
fn reach(span: &mut (i128, i128), most: i128, weight: i128) -> Result<(), ExprError> {
    let reach = most.checked_mul(weight).ok_or(ExprError::Overflow)?;
    let side = if reach < 0 { &mut span.0 } else { &mut span.1 };
    *side = add(*side, reach)?;
    Ok(())
}
