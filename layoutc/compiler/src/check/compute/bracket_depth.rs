//! Nesting depth of the brackets in the generated code of a value. Compilers limit this depth.

use super::value::InferredValue;
use crate::model::compute::{Arithmetic, TypedExpr, TypedExprKind};

/// Maximum bracket nesting depth of a value, as estimated by [`of`]. A deeper value is an error. C requires compilers
/// to accept 63, the default of clang is 256, and the indices of reads need some levels too.
pub(super) const MOST: usize = 200;

/// Estimated maximum nesting depth of brackets in the generated code of a value, without those of index expressions.
pub(super) fn of(built: &InferredValue) -> usize {
    match built {
        InferredValue::FloatLiteral(value) | InferredValue::Typed(value) => brackets(value),
        InferredValue::Number(_) | InferredValue::Index(_) => 0,
    }
}

fn brackets(value: &TypedExpr) -> usize {
    let own = match &value.kind {
        TypedExprKind::Integer(_)
        | TypedExprKind::Float(_)
        | TypedExprKind::Bool(_)
        | TypedExprKind::Index(_) => 0,
        // Operators are left-associative; arithmetic on signed integers is done in another type.
        TypedExprKind::Binary(op, a, b) if is_chained(*op, a) => {
            return brackets(a).max(brackets(b).saturating_add(2));
        }
        TypedExprKind::Binary(..) => 2,
        _ => 1,
    };
    let inside = value.children().into_iter().map(brackets).max();
    inside.unwrap_or(0).saturating_add(own)
}

/// True if the left operand of `op` is an operation that needs no parentheses, as `a + b` in `a + b - c`.
fn is_chained(op: Arithmetic, left: &TypedExpr) -> bool {
    let is_sum = |op| matches!(op, Arithmetic::Add | Arithmetic::Subtract);
    match left.kind {
        TypedExprKind::Binary(own, ..) => {
            is_sum(op) && (is_sum(own) || own == Arithmetic::Multiply)
                || op == Arithmetic::Multiply && own == Arithmetic::Multiply
        }
        _ => false,
    }
}
