//! Lowering of algebra expressions to IR expressions with names: folds constants, flattens sums, and uses truncating
//! instead of floor division if the dividend is never negative. The value does not change.
#![expect(clippy::wildcard_enum_match_arm, reason = "trees that do not fold stay as they are")]

use layoutc_algebra::expr::{
    BinOp, CompareOp, Expr as Algebra, ExprComparison, ExprNode, Predicate, Var, apply,
};
use thiserror::Error;

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::ir::{Compare, Expr};

/// Maximum depth of a lowered expression: JSON readers commonly stop at 128 levels.
pub const MAX_DEPTH: u32 = 96;

/// Error of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// A literal does not fit 64 bits.
    #[error("`{value}` does not fit 64 bits")]
    Literal {
        /// Value of the literal.
        value: i128,
    },
    /// A variable has no binding in the scope.
    #[error("an expression mentions a variable that is not in scope")]
    Scope,
    /// The expression is deeper than [`MAX_DEPTH`].
    #[error("an expression nests deeper than {MAX_DEPTH} levels")]
    Depth,
    /// A macro is too long: floor division expands its dividend twice.
    #[error("the macro `{name}` would have {nodes} terms, and the most are {most}")]
    Macro {
        /// Name of the macro.
        name: String,
        /// Number of terms of the macro.
        nodes: u64,
        /// Maximum number of terms.
        most: u64,
    },
    /// The manifest requests a schedule that is not possible.
    #[error("{message}")]
    Choice {
        /// Message: the request, and why it is not possible.
        message: String,
        /// Help: a possible alternative.
        help: String,
        /// Location of the request.
        place: FileSpan,
    },
    /// An expression cannot be built.
    #[error(transparent)]
    Expr(#[from] layoutc_algebra::expr::ExprError),
}

impl PlanError {
    /// Diagnostic of [`PlanError::Choice`]; `None` for any other error.
    pub(crate) fn refusal(&self) -> Option<Diagnostic> {
        let Self::Choice { message, help, place } = self else { return None };
        Some(Diagnostic::error(Code::LimitChoice, message, place.clone(), "").help(help))
    }
}

/// Range of an expression's values: `low..=high`, `None` if unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Least value.
    pub low: Option<i128>,
    /// Greatest value.
    pub high: Option<i128>,
}

impl Range {
    /// Range `low..=high`.
    pub fn new(low: i128, high: i128) -> Self {
        Self { low: Some(low), high: Some(high) }
    }

    /// Any value of at least 0.
    pub const NATURAL: Self = Self { low: Some(0), high: None };
    /// Any value.
    pub const ANY: Self = Self { low: None, high: None };

    fn not_negative(self) -> bool {
        self.low.is_some_and(|low| low >= 0)
    }
}

/// Expression and range of a variable.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Expression that replaces the variable, mostly a name.
    pub tree: Expr,
    /// Range of its values.
    pub range: Range,
}

/// Maps each variable to its binding, `None` if it is not in scope; see [`lower`].
pub type Scope<'a> = dyn Fn(Var) -> Option<Binding> + 'a;

/// Lowers `expr` with the bindings of `scope`.
///
/// # Errors
/// [`PlanError::Literal`], [`PlanError::Scope`], [`PlanError::Depth`].
pub fn lower(expr: &Algebra, scope: &Scope<'_>) -> Result<Expr, PlanError> {
    Ok(walk(expr, scope, MAX_DEPTH)?.0)
}

/// Range of `expr`; [`Range::ANY`] if it cannot be lowered.
pub fn range(expr: &Algebra, scope: &Scope<'_>) -> Range {
    walk(expr, scope, MAX_DEPTH).map_or(Range::ANY, |(_, range)| range)
}

/// Lowers `predicate` to a conjunction; `true` if it is empty.
///
/// # Errors
/// Same as [`lower`].
pub fn lower_predicate(predicate: &Predicate, scope: &Scope<'_>) -> Result<Expr, PlanError> {
    let one = |comparison: &ExprComparison| {
        let op = match comparison.op {
            CompareOp::Eq => Compare::Eq,
            CompareOp::Lt => Compare::Lt,
            CompareOp::Ge => Compare::Ge,
        };
        let a = lower(&comparison.left, scope)?;
        Ok(Expr::compare(op, a, lower(&comparison.right, scope)?))
    };
    let mut all = predicate.all.iter().map(one).collect::<Result<Vec<_>, PlanError>>()?;
    Ok(match all.len() {
        0 => Expr::Bool { value: true },
        1 => all.swap_remove(0),
        _ => Expr::All { args: all },
    })
}

/// Integer literal.
///
/// # Errors
/// [`PlanError::Literal`] if the value does not fit 64 bits.
pub fn literal(value: i128) -> Result<Expr, PlanError> {
    i64::try_from(value).map(Expr::int).map_err(|_| PlanError::Literal { value })
}

fn walk(expr: &Algebra, scope: &Scope<'_>, depth: u32) -> Result<(Expr, Range), PlanError> {
    let below = depth.checked_sub(1).ok_or(PlanError::Depth)?;
    match expr.node() {
        ExprNode::Const(value) => Ok((literal(*value)?, Range::new(*value, *value))),
        ExprNode::Var(var) => {
            let binding = scope(*var).ok_or(PlanError::Scope)?;
            Ok((binding.tree, binding.range))
        }
        ExprNode::Neg(a) => {
            let (tree, range) = walk(a, scope, below)?;
            Ok((negate(tree)?, negated(range)))
        }
        // Sums are left-deep and are flattened: their depth does not add up.
        ExprNode::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (left, left_range) = walk(a, scope, if is_sum(a) { depth } else { below })?;
            let (right, right_range) = walk(b, scope, below)?;
            let (right, right_range) = if *op == BinOp::Sub {
                (negate(right)?, negated(right_range))
            } else {
                (right, right_range)
            };
            let range = Range {
                low: sum_bound(left_range.low, right_range.low),
                high: sum_bound(left_range.high, right_range.high),
            };
            Ok((add(left, right)?, range))
        }
        ExprNode::Bin(op, a, b) => {
            let (left, left_range) = walk(a, scope, below)?;
            let (right, right_range) = walk(b, scope, below)?;
            let range = op_range(*op, left_range, right_range);
            Ok((operate(*op, left, left_range, right)?, range))
        }
    }
}

fn is_sum(expr: &Algebra) -> bool {
    matches!(expr.node(), ExprNode::Bin(BinOp::Add | BinOp::Sub, ..))
}

fn negated(range: Range) -> Range {
    Range {
        low: range.high.and_then(i128::checked_neg),
        high: range.low.and_then(i128::checked_neg),
    }
}

fn sum_bound(a: Option<i128>, b: Option<i128>) -> Option<i128> {
    a?.checked_add(b?)
}

/// `-a`; a literal if `a` is one.
fn negate(tree: Expr) -> Result<Expr, PlanError> {
    Ok(match tree {
        Expr::Int { value } => literal(-i128::from(value))?,
        Expr::Neg { a } => *a,
        other => Expr::Neg { a: Box::new(other) },
    })
}

/// `a + b`: sums are flattened, integers are folded into the last term.
pub fn add(a: Expr, b: Expr) -> Result<Expr, PlanError> {
    let mut terms = both(a, b, |side| match side {
        Expr::Add { args } => Ok(args),
        other => Err(other),
    });
    let constant = integers(&terms).sum();
    terms.retain(|term| !matches!(term, Expr::Int { .. }));
    if constant != 0 || terms.is_empty() {
        terms.push(literal(constant)?);
    }
    Ok(if terms.len() == 1 { terms.swap_remove(0) } else { Expr::Add { args: terms } })
}

/// `a * b`: products are flattened, integers are folded into the last factor.
pub fn multiply(a: Expr, b: Expr) -> Result<Expr, PlanError> {
    let mut factors = both(a, b, |side| match side {
        Expr::Mul { args } => Ok(args),
        other => Err(other),
    });
    let constant = integers(&factors).try_fold(1, |held, value| apply(BinOp::Mul, held, value))?;
    if constant == 0 {
        return Ok(Expr::int(0));
    }
    factors.retain(|factor| !matches!(factor, Expr::Int { .. }));
    if constant != 1 || factors.is_empty() {
        factors.push(literal(constant)?);
    }
    Ok(if factors.len() == 1 { factors.swap_remove(0) } else { Expr::Mul { args: factors } })
}

/// Operands of `a`, then of `b`. `operands` returns the operands of a nested operation of the same kind, else its
/// argument as `Err`.
fn both(a: Expr, b: Expr, operands: fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(2);
    match operands(a) {
        Ok(own) => all = own,
        Err(a) => all.push(a),
    }
    match operands(b) {
        Ok(own) => all.extend(own),
        Err(b) => all.push(b),
    }
    all
}

fn integers(operands: &[Expr]) -> impl Iterator<Item = i128> {
    operands.iter().filter_map(|operand| match operand {
        Expr::Int { value } => Some(i128::from(*value)),
        _ => None,
    })
}

fn operate(op: BinOp, a: Expr, a_range: Range, b: Expr) -> Result<Expr, PlanError> {
    if let (Expr::Int { value: left }, Expr::Int { value: right }) = (&a, &b) {
        return literal(apply(op, i128::from(*left), i128::from(*right))?);
    }
    let natural = a_range.not_negative();
    let by_one = matches!(b, Expr::Int { value: 1 });
    Ok(match op {
        BinOp::Add => add(a, b)?,
        BinOp::Sub => add(a, negate(b)?)?,
        BinOp::Mul => multiply(a, b)?,
        BinOp::FloorDiv if by_one => a,
        BinOp::Mod if by_one => Expr::int(0),
        BinOp::FloorDiv if natural => Expr::Div { a: Box::new(a), b: Box::new(b) },
        BinOp::FloorDiv => Expr::FloorDiv { a: Box::new(a), b: Box::new(b) },
        BinOp::Mod if natural => Expr::Mod { a: Box::new(a), b: Box::new(b) },
        BinOp::Mod => Expr::FloorMod { a: Box::new(a), b: Box::new(b) },
        BinOp::And => match a {
            Expr::BitAnd { mut args } => {
                args.push(b);
                Expr::BitAnd { args }
            }
            other => Expr::BitAnd { args: vec![other, b] },
        },
        BinOp::Xor => match a {
            Expr::BitXor { mut args } => {
                args.push(b);
                Expr::BitXor { args }
            }
            other => Expr::BitXor { args: vec![other, b] },
        },
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Hilbert(grid) => {
            let (rows, columns) = (i64::from(grid.rows()), i64::from(grid.columns()));
            Expr::Hilbert { a: Box::new(a), b: Box::new(b), rows, columns }
        }
        BinOp::HilbertCell(grid) => {
            let (rows, columns) = (i64::from(grid.rows()), i64::from(grid.columns()));
            Expr::HilbertCell { a: Box::new(a), rows, columns }
        }
    })
}

fn op_range(op: BinOp, a: Range, b: Range) -> Range {
    match op {
        BinOp::Add => Range { low: sum_bound(a.low, b.low), high: sum_bound(a.high, b.high) },
        BinOp::Sub => op_range(BinOp::Add, a, negated(b)),
        BinOp::Mul => product(a, b),
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
            let high = match (a.not_negative(), a.high, bound) {
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

/// Range of `a & b`: a non-negative operand bounds the result, as its sign bit is 0.
fn conjunction(a: Range, b: Range) -> Range {
    let natural = [a, b].into_iter().filter(|range| range.not_negative());
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
    let natural = a.not_negative() && b.not_negative();
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

fn product(a: Range, b: Range) -> Range {
    if a.not_negative() && b.not_negative() {
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

    use super::{Range, op_range};

    #[test]
    fn bitwise_operations_of_signed_values_stay_in_range() {
        let ends = -9_i128..=9;
        for (low, high) in ends.clone().flat_map(|l| (l..=9).map(move |h| (l, h))) {
            for (least, most) in ends.clone().step_by(3).flat_map(|l| (l..=9).map(move |h| (l, h)))
            {
                let (a, b) = (Range::new(low, high), Range::new(least, most));
                for op in [BinOp::And, BinOp::Xor] {
                    let found = op_range(op, a, b);
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
        assert_eq!(op_range(BinOp::Xor, natural, some), Range::ANY);
        assert_eq!(op_range(BinOp::Xor, natural, natural), natural);
        assert_eq!(op_range(BinOp::And, natural, some), natural);
        assert_eq!(op_range(BinOp::And, natural, Range::new(1, 5)), Range::new(0, 5));
        assert_eq!(op_range(BinOp::And, some, Range::ANY), Range::ANY);
    }
}
