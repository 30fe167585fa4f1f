//! Range of the offsets that the digits of a GPU relayout produce.

use layoutc_algebra::expr::{BinOp, Expr as Algebra};

use crate::loops::arith::{fold, product};
use crate::loops::error::PlanError;
use crate::loops::gpu_relayout::digits::{Digit, Digits};
use crate::loops::range::{Range, Ranges};

/// Greatest index of 32 bits.
const MOST: i128 = i32::MAX as i128;

impl Digits {
    /// True if the offsets of all values of the digits, padding included, are known to fit 32 bits. Also true if the
    /// number of elements or one of `slots`, the numbers of slots of source and destination, may not fit 32 bits: such
    /// a kernel has 64-bit indices anyway.
    pub(crate) fn stay_near(
        &self,
        slots: [&Algebra; 2],
        ranges: &Ranges<'_>,
    ) -> Result<bool, PlanError> {
        let elements = self
            .list
            .iter()
            .try_fold(Algebra::constant(1), |elements, digit| product(&elements, &digit.extent))?;
        let mut counts = slots.into_iter().chain([&elements]);
        // Larger counts need 64-bit indices anyway.
        let narrow =
            counts.all(|count| Range::of(count, ranges).high.is_some_and(|count| count <= MOST));
        Ok(!narrow
            || self.is_near(|digit| &digit.from, &self.from, ranges)?
                && self.is_near(|digit| &digit.to, &self.to, ranges)?)
    }

    /// True if the sum of all digits times their `stride` is known to fit 32 bits, both with and without `constant`.
    /// Each digit takes all values below its room.
    fn is_near(
        &self,
        stride: fn(&Digit) -> &Algebra,
        constant: &Algebra,
        ranges: &Ranges<'_>,
    ) -> Result<bool, PlanError> {
        let mut reached = Range::new(0, 0);
        for digit in &self.list {
            let last = fold(BinOp::Sub, &digit.room, &Algebra::constant(1))?;
            let step = Range::of(stride(digit), ranges);
            let end = Range::of(&last, ranges).high.map(|last| last.max(0));
            reached = Range {
                low: after(reached.low, end, step.low.map(|step| step.min(0))),
                high: after(reached.high, end, step.high.map(|step| step.max(0))),
            };
        }
        let constant = Range::of(constant, ranges);
        let one = Some(1);
        let ends = [
            reached.low,
            reached.high,
            after(reached.low, one, constant.low),
            after(reached.high, one, constant.high),
        ];
        Ok(ends.into_iter().all(|end| end.is_some_and(|end| end.saturating_abs() <= MOST)))
    }
}

/// `start + count * step`; `None` if an operand is unknown or the result overflows.
fn after(start: Option<i128>, count: Option<i128>, step: Option<i128>) -> Option<i128> {
    start?.checked_add(count?.checked_mul(step?)?)
}

#[cfg(test)]
mod tests {
    use layoutc_algebra::expr::Var;

    use super::*;

    /// Digit of `extent` values with strides `from` in the source and `to` in the destination.
    fn digits(extent: i128, from: Algebra, to: Algebra) -> Digits {
        let extent = Algebra::constant(extent);
        let digit = Digit {
            name: "a".to_owned(),
            chain: 0,
            weight: 1,
            room: extent.clone(),
            extent,
            lead: 0,
            from,
            to,
        };
        let (from, to) = (Algebra::constant(0), Algebra::constant(0));
        Digits { list: vec![digit], chains: Vec::new(), from, to, end: None }
    }

    fn near(digits: &Digits, symbol: Range) -> bool {
        let slots = Algebra::constant(1000);
        digits.stay_near([&slots, &slots], &|_| Some(symbol)).is_ok_and(|near| near)
    }

    #[test]
    fn offsets_fit_32_bits_if_their_bound_is_known() {
        let (one, symbol) = (Algebra::constant(1), Algebra::var(Var::Symbol(0)));
        let known = |most| Range::new(0, most);
        assert!(near(&digits(10, one.clone(), symbol.clone()), known(100)));
        assert!(!near(&digits(10, one.clone(), symbol.clone()), known(MOST)));
        assert!(near(&digits(1, one.clone(), symbol.clone()), known(MOST)));
        assert!(!near(&digits(10, one.clone(), symbol.clone()), Range::NATURAL));
        assert!(!near(&digits(10, symbol, one), Range::ANY));
    }

    #[test]
    fn negative_strides_are_bounded() {
        let (one, back) = (Algebra::constant(1), Algebra::constant(-300_000_000));
        assert!(near(&digits(7, one.clone(), back.clone()), Range::ANY));
        assert!(!near(&digits(9, one.clone(), back.clone()), Range::ANY));
        let from_end = Digits { to: Algebra::constant(6 * 300_000_000), ..digits(7, one, back) };
        assert!(near(&from_end, Range::ANY));
    }
}
