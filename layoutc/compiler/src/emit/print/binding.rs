//! Operator precedence of printed expressions, which decides on parentheses.

use super::Style;
use crate::emit::syntax::{Compare, Expr};

/// Precedence of an operator, in the order of C, lowest first.
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

/// Precedence of the outermost operator of an expression as it is printed in `style`.
pub(super) fn binding(style: Style, tree: &Expr) -> Binding {
    match (tree, style) {
        // Printed as a difference, because C has no literal for this value.
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
        (
            Expr::Output { .. } | Expr::Address { .. } | Expr::Not { .. },
            Style::C(_) | Style::Rust(_),
        )
        | (Expr::Neg { .. }, _) => Binding::Unary,
        (Expr::Add { .. }, _) => Binding::Sum,
        (Expr::Mul { .. }, _) => Binding::Product,
        (
            Expr::Div { b, .. } | Expr::FloorDiv { b, .. },
            Style::C(dialect) | Style::Rust(dialect),
        ) if dialect.shifts && power_of_two(b).is_some() => Binding::Shift,
        (
            Expr::Mod { b, .. } | Expr::FloorMod { b, .. },
            Style::C(dialect) | Style::Rust(dialect),
        ) if dialect.shifts && power_of_two(b).is_some() => Binding::And,
        (Expr::FloorDiv { .. } | Expr::FloorMod { .. }, Style::C(_) | Style::Rust(_)) => {
            Binding::Primary
        }
        (
            Expr::Div { .. } | Expr::FloorDiv { .. } | Expr::Mod { .. } | Expr::FloorMod { .. },
            _,
        ) => Binding::Product,
        (Expr::BitAnd { .. }, _) => Binding::And,
        (Expr::BitXor { .. }, _) => Binding::Xor,
        (Expr::Select { then, otherwise, .. }, Style::C(_) | Style::Rust(_))
            if one_or_zero(then, otherwise) =>
        {
            Binding::Primary
        }
        (Expr::Select { .. }, _) => Binding::Select,
        (Expr::Compare { op: Compare::Eq, .. }, _) => Binding::Equality,
        (Expr::Compare { .. }, _) => Binding::Relation,
        (Expr::All { args }, _) if args.is_empty() => Binding::Primary,
        (Expr::All { .. }, _) | (Expr::Not { .. }, Style::Python) => Binding::All,
    }
}

/// True if a selection is a condition converted to an integer: `then` is 1 and `otherwise` is 0.
pub(super) fn one_or_zero(then: &Expr, otherwise: &Expr) -> bool {
    matches!((then, otherwise), (Expr::Int { value: 1 }, Expr::Int { value: 0 }))
}

/// Exponent `k` if `tree` is the constant `2^k` with k > 0; `None` for any other expression.
pub(super) fn power_of_two(tree: &Expr) -> Option<u32> {
    let Expr::Int { value } = tree else { return None };
    (*value > 1 && value.count_ones() == 1).then(|| value.trailing_zeros())
}
