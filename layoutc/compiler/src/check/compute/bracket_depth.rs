//! Bracket nesting of a value in the generated code, which compilers limit.

use super::value::InferredValue;
use crate::model::compute::{Arithmetic, TypedExpr, TypedExprKind};

/// Limit on nested brackets: C requires compilers to accept 63, clang's default is 256, and indices need some too.
pub(super) const MOST: usize = 200;

/// Number of nested brackets that a value needs.
pub(super) fn of(built: &InferredValue) -> usize {
    match built {
        InferredValue::FloatLiteral(value) | InferredValue::Typed(value) => brackets(value),
        InferredValue::Number(_) | InferredValue::Index(_) => 0,
    }
}

fn brackets(value: &TypedExpr) -> usize {
    let all = |parts: &[&TypedExpr]| parts.iter().map(|part| brackets(part)).max().unwrap_or(0);
    let own = |least: usize, inside: usize| least.saturating_add(inside);
    match &value.kind {
        TypedExprKind::Integer(_)
        | TypedExprKind::Float(_)
        | TypedExprKind::Bool(_)
        | TypedExprKind::Index(_) => 0,
        TypedExprKind::Read(read) => {
            read.outside.as_ref().map_or(1, |outside| own(1, brackets(&outside.value)))
        }
        // Gathered indices are declared as variables.
        TypedExprKind::Gather(gather) => {
            let index = gather.index.iter().map(|index| brackets(&index.value)).max();
            own(1, index.unwrap_or(0).max(brackets(&gather.outside)))
        }
        TypedExprKind::Negate(a) | TypedExprKind::Not(a) | TypedExprKind::Convert(a) => {
            own(1, brackets(a))
        }
        // Operators are left-associative; arithmetic on signed integers is done in another type.
        TypedExprKind::Binary(op, a, b) if is_chained(*op, a) => {
            brackets(a).max(own(2, brackets(b)))
        }
        TypedExprKind::Binary(_, a, b) => own(2, all(&[a, b])),
        TypedExprKind::Compare(_, a, b) => own(1, all(&[a, b])),
        TypedExprKind::Select(condition, a, b) => own(1, all(&[condition, a, b])),
        TypedExprKind::Call(_, args) => own(1, all(&args.iter().collect::<Vec<_>>())),
    }
}

/// True if the left operand needs no parentheses before this operator, as `a + b` in `a + b - c`.
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
