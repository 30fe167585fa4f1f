//! Bracket nesting of a value in the generated code, which compilers limit.

use super::value::InferredValue;
use crate::model::compute::{Arithmetic, TypedExpr, TypedExprKind};

/// Maximum depth of nested brackets in a value: C requires compilers to accept 63, clang's default is 256, and
/// indices need some too. A deeper value is an error.
pub(super) const MOST: usize = 200;

/// Number of nested brackets that a value needs in generated code.
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

/// True if a left operand needs no parentheses before the operator, as `a + b` in `a + b - c`.
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
