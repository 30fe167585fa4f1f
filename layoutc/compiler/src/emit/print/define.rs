//! Printer of macros.

use super::{Style, expr};
use crate::emit::dialect::Dialect;
use crate::emit::model::MacroUnit;
use crate::emit::syntax::Expr;

/// Macro definition `#define NAME(n, h) ((int64_t)(…))`. Each parameter is parenthesized and cast to the index type, so
/// that the arithmetic is in that type.
pub fn define(dialect: &'static Dialect, unit: &MacroUnit) -> String {
    let index = dialect.index;
    let typed = |expr: Expr| match expr {
        Expr::Name { name } if unit.params.contains(&name) => {
            Expr::Name { name: format!("(({index})({name}))") }
        }
        other => other,
    };
    let value = expr(Style::C(dialect), &unit.value.map(&typed));
    format!("#define {}({}) (({index})({value}))", unit.name, unit.params.join(", "))
}
