//! Ranges of expressions by interval arithmetic.

use layoutc_algebra::expr::{BinOp, Expr, ExprNode, Var};

/// Function that returns the range of a variable; `None` for a variable that is not in scope.
pub(crate) type Ranges<'a> = dyn Fn(Var) -> Option<Range> + 'a;

/// Range of an expression's values, `low..=high`, not necessarily attained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    /// Inclusive lower bound; `None` if unbounded.
    pub low: Option<i128>,
    /// Inclusive upper bound; `None` if unbounded.
    pub high: Option<i128>,
}

impl Range {
    /// Range `low..=high`.
    pub(crate) fn new(low: i128, high: i128) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    /// Any value of at least 0.
    pub(crate) const NATURAL: Self = Self { low: Some(0), high: None };
    /// Any value.
    pub(crate) const ANY: Self = Self { low: None, high: None };

    /// True if every value is at least 0.
    pub(crate) fn is_natural(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }

    /// Range of an expression over variables with the ranges `ranges`. A variable without a range counts as
    /// [`Range::ANY`].
    pub(crate) fn of(expr: &Expr, ranges: &Ranges<'_>) -> Self {
        match expr.node() {
            ExprNode::Const(value) => Self::new(*value, *value),
            ExprNode::Var(var) => ranges(*var).unwrap_or(Self::ANY),
            ExprNode::Neg(a) => Self::of(a, ranges).negated(),
            ExprNode::Bin(op, a, b) => {
                Self::of_operation(*op, Self::of(a, ranges), Self::of(b, ranges))
            }
        }
    }

    /// Range of `-x` for `x` in this range. A bound that overflows becomes `None`.
    #[must_use]
    pub(crate) fn negated(self) -> Self {
        let negated = |bound: Option<i128>| bound.and_then(i128::checked_neg);
        Self { low: negated(self.high), high: negated(self.low) }
    }

    /// Range of the operation `op` on operands in the ranges `a` and `b`. A divisor counts as at least 1. If a bound
    /// overflows, the range is wider, possibly unbounded.
    #[must_use]
    pub(crate) fn of_operation(op: BinOp, a: Self, b: Self) -> Self {
        match op {
            BinOp::Add => Range { low: sum_bound(a.low, b.low), high: sum_bound(a.high, b.high) },
            BinOp::Sub => Self::of_operation(BinOp::Add, a, b.negated()),
            BinOp::Mul => product_range(a, b),
            BinOp::FloorDiv => {
                // A divisor is positive in every division that is executed; it may be 0 if a symbol's value leaves no
                // elements.
                let Some(least) = b.low.map(|low| low.max(1)) else { return Range::ANY };
                // The quotient moves towards 0 as the divisor grows: only the least divisor gives the bounds.
                let low = a.low.map(|low| if low >= 0 { 0 } else { low.div_euclid(least) });
                let exact = b.high == Some(least);
                let low = if exact { a.low.map(|low| low.div_euclid(least)) } else { low };
                let high = a.high.map(|high| if high < 0 { -1 } else { high.div_euclid(least) });
                Range { low, high }
            }
            BinOp::Mod => {
                let bound = b.high.map(|high| high - 1);
                let high = match (a.is_natural(), a.high, bound) {
                    (true, Some(high), Some(bound)) => Some(high.min(bound)),
                    (true, high, None) => high,
                    (_, _, bound) => bound,
                };
                Range { low: Some(0), high }
            }
            BinOp::And => conjunction(a, b),
            BinOp::Xor => exclusive(a, b),
            BinOp::Min => Range {
                low: a.low.zip(b.low).map(|(a, b)| a.min(b)),
                high: match (a.high, b.high) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (one, other) => one.or(other),
                },
            },
            BinOp::Max => Range {
                low: match (a.low, b.low) {
                    (Some(a), Some(b)) => Some(a.max(b)),
                    (one, other) => one.or(other),
                },
                high: a.high.zip(b.high).map(|(a, b)| a.max(b)),
            },
            BinOp::Hilbert(grid) | BinOp::HilbertCell(grid) => {
                Range::new(0, i128::from(grid.cells()) - 1)
            }
        }
    }
}

fn sum_bound(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a?.checked_add(b?)
}

/// Range of `a & b`: a non-negative operand bounds the result, as its sign bit is 0.
fn conjunction(a: Range, b: Range) -> Range {
    let natural = [a, b].into_iter().filter(|range| range.is_natural());
    let mut bounds = natural.map(|range| range.high);
    match (bounds.next(), bounds.next()) {
        (Some(Some(one)), Some(Some(other))) => Range { low: Some(0), high: Some(one.min(other)) },
        (Some(one), Some(other)) => Range { low: Some(0), high: one.or(other) },
        (Some(one), None) => Range { low: Some(0), high: one },
        _ => exclusive(a, b),
    }
}

/// Range of `a ^ b`, and of other bitwise combinations: as many bits as the wider operand needs, and a sign if an
/// operand may be negative.
fn exclusive(a: Range, b: Range) -> Range {
    let natural = a.is_natural() && b.is_natural();
    let bounds = [a.low, a.high, b.low, b.high];
    // In two's complement `-1 - n` has the bits of `n`, inverted.
    let needed = bounds.map(|bound| bound.map(|value| if value < 0 { -1 - value } else { value }));
    let most = needed.into_iter().try_fold(0, |all, value| value.map(|value| all | value));
    match most.map(ones) {
        Some(most) => Range { low: Some(if natural { 0 } else { -1 - most }), high: Some(most) },
        None if natural => Range { low: Some(0), high: None },
        None => Range::ANY,
    }
}

/// Least `2^k - 1` that is at least `value`.
fn ones(value: i128) -> i128 {
    match i128::BITS - value.leading_zeros() {
        0 => 0,
        bits => i128::MAX >> (i128::BITS - 1).saturating_sub(bits),
    }
}

fn product_range(a: Range, b: Range) -> Range {
    if a.is_natural() && b.is_natural() {
        let low = a.low.zip(b.low).and_then(|(a, b)| a.checked_mul(b));
        let high = a.high.zip(b.high).and_then(|(a, b)| a.checked_mul(b));
        return Range { low: low.or(Some(0)), high };
    }
    let (Some(al), Some(ah), Some(bl), Some(bh)) = (a.low, a.high, b.low, b.high) else {
        return Range::ANY;
    };
    let corners = [(al, bl), (al, bh), (ah, bl), (ah, bh)];
    let mut bounds = Range { low: None, high: None };
    for (x, y) in corners {
        let Some(value) = x.checked_mul(y) else { return Range::ANY };
        bounds.low = Some(bounds.low.map_or(value, |low| low.min(value)));
        bounds.high = Some(bounds.high.map_or(value, |high| high.max(value)));
    }
    bounds
}

#[cfg(test)]
mod tests {
    use layoutc_algebra::expr::BinOp;

    use super::Range;

    #[test]
    fn bitwise_operations_of_signed_values_stay_in_range() {
        let ends = -9_i128..=9;
        for (low, high) in ends.clone().flat_map(|l| (l..=9).map(move |h| (l, h))) {
            for (least, most) in ends.clone().step_by(3).flat_map(|l| (l..=9).map(move |h| (l, h)))
            {
                let (a, b) = (Range::new(low, high), Range::new(least, most));
                for op in [BinOp::And, BinOp::Xor] {
                    let found = Range::of_operation(op, a, b);
                    let (from, to) = (found.low.expect("a bound"), found.high.expect("a bound"));
                    let values = (low..=high).flat_map(|x| (least..=most).map(move |y| (x, y)));
                    for (x, y) in values {
                        let value = if op == BinOp::And { x & y } else { x ^ y };
                        assert!(from <= value && value <= to, "{x} {op:?} {y} in {from}..={to}");
                    }
                    assert!((-16..16).contains(&from) && (-16..16).contains(&to), "{found:?}");
                }
            }
        }
    }

    #[test]
    fn bitwise_operations_of_unbounded_values_are_unbounded() {
        let natural = Range::NATURAL;
        let some = Range::new(-4, 5);
        assert_eq!(Range::of_operation(BinOp::Xor, natural, some), Range::ANY);
        assert_eq!(Range::of_operation(BinOp::Xor, natural, natural), natural);
        assert_eq!(Range::of_operation(BinOp::And, natural, some), natural);
        assert_eq!(Range::of_operation(BinOp::And, natural, Range::new(1, 5)), Range::new(0, 5));
        assert_eq!(Range::of_operation(BinOp::And, some, Range::ANY), Range::ANY);
    }
}
