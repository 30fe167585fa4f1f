//! Arithmetic on expressions over symbols, for strides, counts and bounds; constants are folded.

use layoutc_algebra::expr::{BinOp, Expr, ExprError, ExprNode, Var, apply, gcd};
use layoutc_algebra::symbol::Symbol;

/// Expression `a op b`, folded if both operands are constants, the result is 0 (`x * 0`, `x % 1`), or one operand is
/// neutral (`x + 0`, `x * 1`, `x // 1`).
///
/// # Errors
/// [`ExprError::Overflow`] or [`ExprError::Divisor`] if a folded constant overflows or its divisor is not positive,
/// [`ExprError::TooLarge`] if the expression becomes too large.
pub(crate) fn fold(op: BinOp, a: &Expr, b: &Expr) -> Result<Expr, ExprError> {
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
        return Ok(Expr::constant(apply(op, x, y)?));
    }
    match (op, a.as_const(), b.as_const()) {
        (BinOp::Add, Some(0), _) | (BinOp::Mul, Some(1), _) => Ok(b.clone()),
        (BinOp::Add | BinOp::Sub, _, Some(0)) | (BinOp::Mul | BinOp::FloorDiv, _, Some(1)) => {
            Ok(a.clone())
        }
        (BinOp::Mul, Some(0), _) | (BinOp::Mul, _, Some(0)) | (BinOp::Mod, _, Some(1)) => {
            Ok(Expr::constant(0))
        }
        _ => Expr::binary(op, a, b),
    }
}

/// `a + b`.
pub(crate) fn sum(a: &Expr, b: &Expr) -> Result<Expr, ExprError> {
    fold(BinOp::Add, a, b)
}

/// `a * b`.
pub(crate) fn product(a: &Expr, b: &Expr) -> Result<Expr, ExprError> {
    fold(BinOp::Mul, a, b)
}

/// `a * k`.
pub(crate) fn scale(a: &Expr, k: i128) -> Result<Expr, ExprError> {
    if k == 1 {
        return Ok(a.clone());
    }
    product(a, &Expr::constant(k))
}

/// Quotient `a / k` rounded up, as `(a + k - 1) // k`, for a positive `k`.
pub(crate) fn ceil_div(a: &Expr, k: i128) -> Result<Expr, ExprError> {
    if k == 1 {
        return Ok(a.clone());
    }
    let up = Expr::constant(apply(BinOp::Sub, k, 1)?);
    fold(BinOp::FloorDiv, &sum(a, &up)?, &Expr::constant(k))
}

/// Known divisor of `expr` for all values of the symbols, from constants and the multiples that `symbols` declare: 4
/// for `8 * n + 4`. It is 1 if none is known, and 0 only if the value is always 0.
pub(crate) fn divisor(expr: &Expr, symbols: &[Symbol]) -> i128 {
    match expr.node() {
        ExprNode::Const(value) => value.saturating_abs(),
        ExprNode::Var(Var::Symbol(k)) => {
            usize::try_from(*k).ok().and_then(|k| symbols.get(k)).map_or(1, |s| s.multiple.max(1))
        }
        ExprNode::Neg(a) => divisor(a, symbols),
        ExprNode::Bin(BinOp::Add | BinOp::Sub, a, b) => {
            gcd(divisor(a, symbols), divisor(b, symbols))
        }
        ExprNode::Bin(BinOp::Mul, a, b) => {
            divisor(a, symbols).checked_mul(divisor(b, symbols)).unwrap_or(1)
        }
        ExprNode::Var(_) | ExprNode::Bin(..) => 1,
    }
}

/// True if `k` is known to divide `expr` for all values of the symbols, by [`divisor`].
pub(crate) fn is_multiple(expr: &Expr, k: i128, symbols: &[Symbol]) -> bool {
    divisor(expr, symbols).checked_rem(k) == Some(0)
}

/// Value of `expr` with each symbol at a large value in its range: its maximum, but at most 2^20 unless its minimum is
/// greater. `i128::MAX` if the evaluation fails. For ordering strides and sizes, not for proofs.
pub(crate) fn typical(expr: &Expr, symbols: &[Symbol]) -> i128 {
    let value = |var: Var| match var {
        Var::Symbol(k) => {
            let symbol = symbols.get(usize::try_from(k).ok()?)?;
            Some(symbol.max.min(1 << 20).max(symbol.min))
        }
        Var::Axis(_) | Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => None,
    };
    expr.evaluate(&value).unwrap_or(i128::MAX)
}
