//! How deep a value nests in the generated code: compilers take so many brackets inside one another and no more.

use super::value::InferredValue;
use crate::model::compute::{Arithmetic, TypedExpr, TypedExprKind};

/// The most: C asks for 63 of compilers, clang takes 256 without being told otherwise, and indices have some too.
pub(super) const MOST: usize = 200;

/// The brackets inside one another that a value needs.
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
        // Indices that are read have names of their own.
        TypedExprKind::Gather(gather) => {
            let index = gather.index.iter().map(|index| brackets(&index.value)).max();
            own(1, index.unwrap_or(0).max(brackets(&gather.outside)))
        }
        TypedExprKind::Negate(a) | TypedExprKind::Not(a) | TypedExprKind::Convert(a) => {
            own(1, brackets(a))
        }
        // Operators bind to the left; those of signed integers are computed in another type.
        TypedExprKind::Binary(op, a, b) if is_chained(*op, a) => {
            brackets(a).max(own(2, brackets(b)))
        }
        TypedExprKind::Binary(_, a, b) => own(2, all(&[a, b])),
        TypedExprKind::Compare(_, a, b) => own(1, all(&[a, b])),
        TypedExprKind::Select(condition, a, b) => own(1, all(&[condition, a, b])),
        TypedExprKind::Call(_, args) => own(1, all(&args.iter().collect::<Vec<_>>())),
    }
}

/// Whether a left operand needs no brackets beside this operator: `a + b` in `a + b - c`.
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
