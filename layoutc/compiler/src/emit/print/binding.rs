//! How tightly the text of an expression binds: where it needs parentheses.

use super::Style;
use crate::emit::syntax::{Compare, Expr};

/// How tightly an operator binds; larger is tighter. The order is C's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Binding {
    Select,
    All,
    Xor,
    And,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Unary,
    Primary,
}

/// How tightly the text of an expression binds.
pub(super) fn binding(style: Style, tree: &Expr) -> Binding {
    match (tree, style) {
        // It has no literal of its own.
        (Expr::Int { value: i64::MIN }, Style::C(_)) => Binding::Sum,
        (Expr::Int { value }, _) if *value < 0 => Binding::Unary,
        (Expr::Int { .. } | Expr::Bool { .. } | Expr::Name { .. }, _)
        | (Expr::Output { .. } | Expr::Address { .. }, Style::Python) => Binding::Primary,
        (
            Expr::Min { .. }
            | Expr::Max { .. }
            | Expr::Call { .. }
            | Expr::Hilbert { .. }
            | Expr::HilbertCell { .. },
            _,
        ) => Binding::Primary,
        (Expr::Output { .. } | Expr::Address { .. } | Expr::Not { .. }, Style::C(_))
        | (Expr::Neg { .. }, _) => Binding::Unary,
        (Expr::Add { .. }, _) => Binding::Sum,
        (Expr::Mul { .. }, _) => Binding::Product,
        (Expr::Div { b, .. } | Expr::FloorDiv { b, .. }, Style::C(dialect))
            if dialect.shifts && power_of_two(b).is_some() =>
        {
            Binding::Shift
        }
        (Expr::Mod { b, .. } | Expr::FloorMod { b, .. }, Style::C(dialect))
            if dialect.shifts && power_of_two(b).is_some() =>
        {
            Binding::And
        }
        (Expr::FloorDiv { .. } | Expr::FloorMod { .. }, Style::C(_)) => Binding::Primary,
        (
            Expr::Div { .. } | Expr::FloorDiv { .. } | Expr::Mod { .. } | Expr::FloorMod { .. },
            _,
        ) => Binding::Product,
        (Expr::BitAnd { .. }, _) => Binding::And,
        (Expr::BitXor { .. }, _) => Binding::Xor,
        (Expr::Select { then, otherwise, .. }, Style::C(_)) if one_or_zero(then, otherwise) => {
            Binding::Primary
        }
        (Expr::Select { .. }, _) => Binding::Select,
        (Expr::Compare { op: Compare::Eq, .. }, _) => Binding::Equality,
        (Expr::Compare { .. }, _) => Binding::Relation,
        (Expr::All { args }, _) if args.is_empty() => Binding::Primary,
        (Expr::All { .. }, _) | (Expr::Not { .. }, Style::Python) => Binding::All,
    }
}

/// Whether a choice is a truth value as a number.
pub(super) fn one_or_zero(then: &Expr, otherwise: &Expr) -> bool {
    matches!((then, otherwise), (Expr::Int { value: 1 }, Expr::Int { value: 0 }))
}

/// `k` where `tree` is the integer `2^k`, k > 0.
pub(in crate::emit) fn power_of_two(tree: &Expr) -> Option<u32> {
    let Expr::Int { value } = tree else { return None };
    (*value > 1 && value.count_ones() == 1).then(|| value.trailing_zeros())
}
