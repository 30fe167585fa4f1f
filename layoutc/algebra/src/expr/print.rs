//! Printing of expressions in the syntax of manifests. Operations that manifests lack (`min`, `max`, `hilbert_cell`)
//! are printed as function calls, which are errors in a map.

use alloc::format;
use alloc::string::{String, ToString};

use crate::expr::{BinOp, CompareOp, Expr, ExprNode, Predicate, Var};

/// Function that returns the name of a variable in the printed text, such as `c` for `Var::Axis(1)`.
pub type VarNames<'a> = &'a dyn Fn(Var) -> String;

/// Precedence of an operator, as in Python: 1 for `^`, 2 for `&`, 3 for `+ -`, 4 for `* // %`, and 6 for function
/// calls. An operator of higher precedence binds tighter.
fn level(op: BinOp) -> u8 {
    match op {
        BinOp::Xor => 1,
        BinOp::And => 2,
        BinOp::Add | BinOp::Sub => 3,
        BinOp::Mul | BinOp::FloorDiv | BinOp::Mod => 4,
        BinOp::Min | BinOp::Max | BinOp::Hilbert(_) | BinOp::HilbertCell(_) => 6,
    }
}

/// Text of an expression, with the parentheses that precedence requires: `(n * 32 + c // 4) * 64 + h`.
pub fn expr(expr: &Expr, names: VarNames<'_>) -> String {
    let mut text = String::new();
    write_expr(&mut text, expr, names, 0);
    text
}

fn write_expr(text: &mut String, expr: &Expr, names: VarNames<'_>, context: u8) {
    match expr.node() {
        ExprNode::Const(value) if *value < 0 && context > 3 => text.push_str(&format!("({value})")),
        ExprNode::Const(value) => text.push_str(&value.to_string()),
        ExprNode::Var(var) => text.push_str(&names(*var)),
        ExprNode::Neg(a) => {
            let wrap = context > 3;
            text.push_str(if wrap { "(-" } else { "-" });
            write_expr(text, a, names, 5);
            text.push_str(if wrap { ")" } else { "" });
        }
        ExprNode::Bin(op @ (BinOp::Hilbert(grid) | BinOp::HilbertCell(grid)), a, b) => {
            text.push_str(op.sign());
            text.push('(');
            write_expr(text, a, names, 0);
            if let BinOp::Hilbert(_) = op {
                text.push_str(", ");
                write_expr(text, b, names, 0);
            }
            text.push_str(&format!(", {}, {})", grid.rows(), grid.columns()));
        }
        ExprNode::Bin(op @ (BinOp::Min | BinOp::Max), a, b) => {
            text.push_str(op.sign());
            text.push('(');
            write_expr(text, a, names, 0);
            text.push_str(", ");
            write_expr(text, b, names, 0);
            text.push(')');
        }
        ExprNode::Bin(op, a, b) => {
            let own = level(*op);
            let wrap = own < context;
            text.push_str(if wrap { "(" } else { "" });
            write_expr(text, a, names, own);
            text.push_str(&format!(" {} ", op.sign()));
            write_expr(text, b, names, own + 1);
            text.push_str(if wrap { ")" } else { "" });
        }
    }
}

/// Text of a predicate, such as `p0 < 14 and p1 % 4 == 0`; `true` if it has no comparisons.
pub fn predicate(predicate: &Predicate, names: VarNames<'_>) -> String {
    let mut text = String::new();
    for comparison in &predicate.all {
        if !text.is_empty() {
            text.push_str(" and ");
        }
        let op = match comparison.op {
            CompareOp::Eq => "==",
            CompareOp::Lt => "<",
            CompareOp::Ge => ">=",
        };
        text.push_str(&format!(
            "{} {op} {}",
            expr(&comparison.left, names),
            expr(&comparison.right, names)
        ));
    }
    if text.is_empty() {
        text.push_str("true");
    }
    text
}
