//! Interval arithmetic on expressions as they are written, which determines the extents of storage axes.
//!
//! By the language definition, the extent of a storage axis follows from the expression as written: `e % k` ranges
//! over `0..k` for any `e`, so that the last block has its full size. The tighter ranges of
//! [`crate::normal_form::simplify`] must not be used here. Expressions that subtract a term, which interval
//! arithmetic overestimates, are bounded by [`crate::prove::difference_bounds`].

use crate::expr::{BinOp, Expr, ExprError, ExprNode, Var};
use crate::normal_form::bounds::bitwise_bounds;
use crate::normal_form::poly::Poly;
use crate::normal_form::simplify::{Facts, Interval};

/// Interval that contains all values of `expr`, by interval arithmetic on the expression as written. `range` returns
/// the interval of a variable that is not a symbol; `None` gives [`ExprError::Unbound`]. [`ExprError::Overflow`] if
/// an intermediate value does not fit 64 bits.
pub(crate) fn interval(
    expr: &Expr,
    range: &dyn Fn(Var) -> Option<Interval>,
    facts: &Facts,
) -> Result<Interval, ExprError> {
    let found = interval_of(expr, range, facts)?;
    // The language has 64-bit integers: a larger intermediate value is an error even if it fits 128 bits.
    let (low, high) = numeric(&found, facts)?;
    if low < i128::from(i64::MIN) || high > i128::from(i64::MAX) {
        return Err(ExprError::Overflow);
    }
    Ok(found)
}

fn interval_of(
    expr: &Expr,
    range: &dyn Fn(Var) -> Option<Interval>,
    facts: &Facts,
) -> Result<Interval, ExprError> {
    match expr.node() {
        ExprNode::Const(value) => Ok(point(Poly::constant(*value))),
        ExprNode::Var(var @ Var::Symbol(_)) => Ok(point(facts.normalize(&Expr::var(*var))?)),
        ExprNode::Var(var) => range(*var).ok_or(ExprError::Unbound),
        ExprNode::Neg(a) => negated(&interval(a, range, facts)?),
        ExprNode::Bin(op, a, b) => {
            let (a, b) = (interval(a, range, facts)?, interval(b, range, facts)?);
            operation(*op, &a, &b, facts)
        }
    }
}

pub(crate) fn negated(a: &Interval) -> Result<Interval, ExprError> {
    Ok(Interval { low: a.high.scale(-1)?, high: a.low.scale(-1)? })
}

fn point(value: Poly) -> Interval {
    Interval { low: value.clone(), high: value }
}

pub(crate) fn operation(
    op: BinOp,
    a: &Interval,
    b: &Interval,
    facts: &Facts,
) -> Result<Interval, ExprError> {
    match op {
        BinOp::Add => Ok(Interval { low: a.low.add(&b.low)?, high: a.high.add(&b.high)? }),
        BinOp::Sub => Ok(Interval { low: a.low.sub(&b.high)?, high: a.high.sub(&b.low)? }),
        BinOp::Mul => product(a, b, facts),
        // The check of the map ensures that a divisor is positive and contains no axis, so that its interval is a
        // single value.
        BinOp::FloorDiv => Ok(Interval {
            low: facts.floor_div(&a.low, &b.low)?,
            high: facts.floor_div(&a.high, &b.low)?,
        }),
        BinOp::Mod => Ok(Interval { low: Poly::zero(), high: b.low.plus(-1)? }),
        BinOp::And | BinOp::Xor | BinOp::Min | BinOp::Max => {
            let (a, b) = (numeric(a, facts)?, numeric(b, facts)?);
            let (low, high) = bitwise_bounds(op, a, b);
            Ok(Interval { low: Poly::constant(low), high: Poly::constant(high) })
        }
        BinOp::Hilbert(grid) | BinOp::HilbertCell(grid) => {
            Ok(Interval { low: Poly::zero(), high: Poly::constant(i128::from(grid.cells()) - 1) })
        }
    }
}

fn numeric(a: &Interval, facts: &Facts) -> Result<(i128, i128), ExprError> {
    Ok((facts.numeric(&a.low)?.0, facts.numeric(&a.high)?.1))
}

/// Interval of the products `x * y` with `x` in `a` and `y` in `b`. The bounds are polynomials over symbols if `a` and
/// `b` are proven non-negative, otherwise integers; [`ExprError::Overflow`] if these do not fit 128 bits.
fn product_of_ranges(a: &Interval, b: &Interval, facts: &Facts) -> Result<Interval, ExprError> {
    if facts.at_least_zero(&a.low)? && facts.at_least_zero(&b.low)? {
        return Ok(Interval { low: a.low.mul(&b.low)?, high: a.high.mul(&b.high)? });
    }
    let ends =
        |of: &Interval| Ok::<_, ExprError>([facts.numeric(&of.low)?.0, facts.numeric(&of.high)?.1]);
    let (a, b) = (ends(a)?, ends(b)?);
    let corners = a.into_iter().flat_map(|a| b.map(|b| a.checked_mul(b)));
    let corners: Option<alloc::vec::Vec<i128>> = corners.collect();
    let corners = corners.ok_or(ExprError::Overflow)?;
    let (least, most) = (corners.iter().min(), corners.iter().max());
    let (Some(least), Some(most)) = (least, most) else { return Err(ExprError::Overflow) };
    Ok(Interval { low: Poly::constant(*least), high: Poly::constant(*most) })
}

/// Interval of the products `x * y` with `x` in `a` and `y` in `b`. If neither is a single value, it is that of
/// [`product_of_ranges`]. Otherwise the bounds are polynomials over symbols; [`ExprError::Overflow`] if only one is a
/// single value, and its sign is not known.
fn product(a: &Interval, b: &Interval, facts: &Facts) -> Result<Interval, ExprError> {
    if a.low != a.high && b.low != b.high {
        return product_of_ranges(a, b, facts);
    }
    let (factor, range) = if a.low == a.high { (a, b) } else { (b, a) };
    let (x, y) = (range.low.mul(&factor.low)?, range.high.mul(&factor.low)?);
    if a.low == a.high && b.low == b.high {
        return Ok(Interval { low: x, high: y });
    }
    let (least, greatest) = facts.numeric(&factor.low)?;
    if least >= 0 {
        return Ok(Interval { low: x, high: y });
    }
    if greatest <= 0 {
        return Ok(Interval { low: y, high: x });
    }
    Err(ExprError::Overflow)
}
