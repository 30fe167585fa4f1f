//! How deep a value nests in the generated code: compilers take so many brackets inside one another and no more.

use super::value::Built;
use crate::model::compute::{Arithmetic, Value, ValueKind};

/// The most: C asks for 63 of compilers, clang takes 256 without being told otherwise, and indices have some too.
pub(super) const MOST: usize = 200;

/// The brackets inside one another that a value needs.
pub(super) fn of(built: &Built) -> usize {
    match built {
        Built::Loose(value) | Built::Typed(value) => brackets(value),
        Built::Number(_) | Built::Index(_) => 0,
    }
}

fn brackets(value: &Value) -> usize {
    let all = |parts: &[&Value]| parts.iter().map(|part| brackets(part)).max().unwrap_or(0);
    let own = |least: usize, inside: usize| least.saturating_add(inside);
    match &value.kind {
        ValueKind::Integer(_) | ValueKind::Float(_) | ValueKind::Bool(_) | ValueKind::Index(_) => 0,
        ValueKind::Read(read) => {
            read.outside.as_ref().map_or(1, |outside| own(1, brackets(&outside.value)))
        }
        // Indices that are read have names of their own.
        ValueKind::Gather(gather) => {
            let index = gather.index.iter().map(|index| brackets(&index.value)).max();
            own(1, index.unwrap_or(0).max(brackets(&gather.outside)))
        }
        ValueKind::Negate(a) | ValueKind::Not(a) | ValueKind::Convert(a) => own(1, brackets(a)),
        // Operators bind to the left; those of signed integers are computed in another type.
        ValueKind::Binary(op, a, b) if is_chained(*op, a) => brackets(a).max(own(2, brackets(b))),
        ValueKind::Binary(_, a, b) => own(2, all(&[a, b])),
        ValueKind::Compare(_, a, b) => own(1, all(&[a, b])),
        ValueKind::Select(condition, a, b) => own(1, all(&[condition, a, b])),
        ValueKind::Call(_, args) => own(1, all(&args.iter().collect::<Vec<_>>())),
    }
}

/// Whether a left operand needs no brackets beside this operator: `a + b` in `a + b - c`.
fn is_chained(op: Arithmetic, left: &Value) -> bool {
    let is_sum = |op| matches!(op, Arithmetic::Add | Arithmetic::Subtract);
    match left.kind {
        ValueKind::Binary(own, ..) => {
            is_sum(op) && (is_sum(own) || own == Arithmetic::Multiply)
                || op == Arithmetic::Multiply && own == Arithmetic::Multiply
        }
        _ => false,
    }
}
