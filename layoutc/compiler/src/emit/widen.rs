//! Indices that are values, where indices have 32 bits: intermediate results may exceed them, so that what needs a function for them is
//! computed on numbers of 64 bits.

use super::dialect::Dialect;
use crate::plan::tree::{Expr, Function, Number, NumberOp, Operand, Stmt};

/// The type that they are computed in.
const WIDE: &str = "i64";

/// The function with such indices as numbers; as it is where indices have 64 bits.
pub(super) fn widened(mut function: Function, dialect: &Dialect) -> Function {
    if dialect.index_max <= i64::from(i32::MAX) {
        function.body.iter_mut().for_each(stmt);
    }
    function
}

fn stmt(one: &mut Stmt) {
    match one {
        Stmt::For { body, .. } | Stmt::Share { body, .. } | Stmt::Single { body } => {
            body.iter_mut().for_each(stmt);
        }
        Stmt::If { body, otherwise, .. } => body.iter_mut().chain(otherwise).for_each(stmt),
        Stmt::Accumulator { value, .. } | Stmt::LetIndex { value, .. } => number(value),
        Stmt::Gather { into, value, .. } => {
            number(into);
            number(value);
        }
        Stmt::Store { value: Operand::Number { value }, .. } => number(value),
        _ => {}
    }
}

fn number(value: &mut Number) {
    value.rewrite(
        &|part| {
            let Number::Index { element, value } = &*part else { return };
            if matches!(value, Expr::Name { .. } | Expr::Int { .. }) {
                return;
            }
            let Some(wide) = wide(value) else { return };
            let (from, to) = (WIDE.to_owned(), element.clone());
            *part = if *element == WIDE {
                wide
            } else {
                Number::Convert { from, to, value: Box::new(wide) }
            };
        },
        &|_| {},
    );
}

/// An index as a number of 64 bits; `None` where it is more than arithmetic, or has nothing that is a function.
fn wide(index: &Expr) -> Option<Number> {
    let is_function = |part: &Expr| {
        matches!(
            part,
            Expr::FloorDiv { .. } | Expr::FloorMod { .. } | Expr::Min { .. } | Expr::Max { .. }
        )
    };
    let mut any = false;
    index.visit(&mut |part| any |= is_function(part));
    if any { tree(index) } else { None }
}

fn tree(index: &Expr) -> Option<Number> {
    let binary = |op, a: &Expr, b: &Expr| Some(Number::binary(op, WIDE, tree(a)?, tree(b)?));
    let folded = |op, args: &[Expr]| {
        let (first, rest) = args.split_first()?;
        rest.iter().try_fold(tree(first)?, |before, arg| {
            Some(Number::binary(op, WIDE, before, tree(arg)?))
        })
    };
    match index {
        Expr::Int { value } => {
            let element = WIDE.to_owned();
            Some(Number::Constant { element, bits: format!("{:x}", value.cast_unsigned()) })
        }
        Expr::Name { .. } => Some(Number::Index { element: WIDE.to_owned(), value: index.clone() }),
        Expr::Neg { a } => Some(Number::Negate { element: WIDE.to_owned(), a: Box::new(tree(a)?) }),
        Expr::Add { args } => folded(NumberOp::Add, args),
        Expr::Mul { args } => folded(NumberOp::Multiply, args),
        Expr::Div { a, b } | Expr::FloorDiv { a, b } => binary(NumberOp::FloorDivide, a, b),
        Expr::Mod { a, b } | Expr::FloorMod { a, b } => binary(NumberOp::Modulo, a, b),
        Expr::Min { a, b } => binary(NumberOp::Min, a, b),
        Expr::Max { a, b } => binary(NumberOp::Max, a, b),
        _ => None,
    }
}
