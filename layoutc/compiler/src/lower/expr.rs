//! Lowering of algebra expressions to IR expressions with names: folds constants, flattens sums, and uses truncating
//! instead of floor division if the dividend is never negative. The value does not change.
#![expect(clippy::wildcard_enum_match_arm, reason = "trees that do not fold stay as they are")]

use layoutc_algebra::expr::{
    BinOp, CompareOp, Expr as Algebra, ExprComparison, ExprNode, Predicate, Var, apply,
};

use crate::ir::{Compare, Expr};
use crate::loops::error::{MAX_DEPTH, PlanError};
use crate::loops::range::Range;

/// Expression that replaces a variable of the algebra, and range of its values.
#[derive(Debug, Clone)]
pub(crate) struct Binding {
    /// Expression that replaces the variable, usually an identifier.
    pub tree: Expr,
    /// Range of the values of the variable.
    pub range: Range,
}

/// Function that returns the binding of a variable; `None` if it is not in scope.
pub(crate) type Scope<'a> = dyn Fn(Var) -> Option<Binding> + 'a;

/// Lowers `expr` to an IR expression: each variable is replaced by its binding in `scope`.
///
/// # Errors
/// [`PlanError::Literal`] if an integer does not fit 64 bits, [`PlanError::Scope`] if a variable has no binding,
/// [`PlanError::Depth`] if the expression is deeper than [`MAX_DEPTH`] levels, [`PlanError::Expr`] if a folded constant
/// overflows or has a divisor that is not positive.
pub(crate) fn lower(expr: &Algebra, scope: &Scope<'_>) -> Result<Expr, PlanError> {
    Ok(walk(expr, scope, MAX_DEPTH)?.0)
}

/// Range of the values of `expr`. A variable that is not in scope counts as [`Range::ANY`].
pub(crate) fn range(expr: &Algebra, scope: &Scope<'_>) -> Range {
    Range::of(expr, &|var| scope(var).map(|binding| binding.range))
}

/// Lowers `predicate` to the conjunction of its comparisons; `true` if it has none.
///
/// # Errors
/// Same as [`lower`].
pub(crate) fn lower_predicate(predicate: &Predicate, scope: &Scope<'_>) -> Result<Expr, PlanError> {
    let one = |comparison: &ExprComparison| {
        let op = match comparison.op {
            CompareOp::Eq => Compare::Eq,
            CompareOp::Lt => Compare::Lt,
            CompareOp::Ge => Compare::Ge,
        };
        let a = lower(&comparison.left, scope)?;
        Ok(Expr::compare(op, a, lower(&comparison.right, scope)?))
    };
    let mut all = predicate.all.iter().map(one).collect::<Result<Vec<_>, PlanError>>()?;
    Ok(match all.len() {
        0 => Expr::Bool { value: true },
        1 => all.swap_remove(0),
        _ => Expr::All { args: all },
    })
}

/// Literal of the integer `value`.
///
/// # Errors
/// [`PlanError::Literal`] if the value does not fit 64 bits.
pub(crate) fn literal(value: i128) -> Result<Expr, PlanError> {
    i64::try_from(value).map(Expr::int).map_err(|_| PlanError::Literal { value })
}

fn walk(expr: &Algebra, scope: &Scope<'_>, depth: u32) -> Result<(Expr, Range), PlanError> {
    let below = depth.checked_sub(1).ok_or(PlanError::Depth)?;
    match expr.node() {
        ExprNode::Const(value) => Ok((literal(*value)?, Range::new(*value, *value))),
        ExprNode::Var(var) => {
            let binding = scope(*var).ok_or(PlanError::Scope)?;
            Ok((binding.tree, binding.range))
        }
        ExprNode::Neg(a) => {
            let (tree, range) = walk(a, scope, below)?;
            Ok((negate(tree)?, range.negated()))
        }
        // Sums are left-deep and are flattened: their depth does not add up.
        ExprNode::Bin(op @ (BinOp::Add | BinOp::Sub), a, b) => {
            let (left, left_range) = walk(a, scope, if is_sum(a) { depth } else { below })?;
            let (right, right_range) = walk(b, scope, below)?;
            let range = Range::of_operation(*op, left_range, right_range);
            let right = if *op == BinOp::Sub { negate(right)? } else { right };
            Ok((add(left, right)?, range))
        }
        ExprNode::Bin(op, a, b) => {
            let (left, left_range) = walk(a, scope, below)?;
            let (right, right_range) = walk(b, scope, below)?;
            let range = Range::of_operation(*op, left_range, right_range);
            Ok((operate(*op, left, left_range, right)?, range))
        }
    }
}

fn is_sum(expr: &Algebra) -> bool {
    matches!(expr.node(), ExprNode::Bin(BinOp::Add | BinOp::Sub, ..))
}

/// `-a`; a literal if `a` is one.
fn negate(tree: Expr) -> Result<Expr, PlanError> {
    Ok(match tree {
        Expr::Int { value } => literal(-i128::from(value))?,
        Expr::Neg { a } => *a,
        other => Expr::Neg { a: Box::new(other) },
    })
}

/// Sum `a + b`: sums are flattened, integers are folded into the last term.
pub(crate) fn add(a: Expr, b: Expr) -> Result<Expr, PlanError> {
    let mut terms = both(a, b, |side| match side {
        Expr::Add { args } => Ok(args),
        other => Err(other),
    });
    let constant = integers(&terms).sum();
    terms.retain(|term| !matches!(term, Expr::Int { .. }));
    if constant != 0 || terms.is_empty() {
        terms.push(literal(constant)?);
    }
    Ok(if terms.len() == 1 { terms.swap_remove(0) } else { Expr::Add { args: terms } })
}

/// Product `a * b`: products are flattened, integers are folded into the last factor.
pub(crate) fn multiply(a: Expr, b: Expr) -> Result<Expr, PlanError> {
    let mut factors = both(a, b, |side| match side {
        Expr::Mul { args } => Ok(args),
        other => Err(other),
    });
    let constant = integers(&factors).try_fold(1, |held, value| apply(BinOp::Mul, held, value))?;
    if constant == 0 {
        return Ok(Expr::int(0));
    }
    factors.retain(|factor| !matches!(factor, Expr::Int { .. }));
    if constant != 1 || factors.is_empty() {
        factors.push(literal(constant)?);
    }
    Ok(if factors.len() == 1 { factors.swap_remove(0) } else { Expr::Mul { args: factors } })
}

/// Operands of `a`, then of `b`, for a flattened operation. `operands` returns the operands of a nested operation of
/// the same kind, or the expression itself as `Err` if it is no such operation.
fn both(a: Expr, b: Expr, operands: fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut all = Vec::with_capacity(2);
    match operands(a) {
        Ok(own) => all = own,
        Err(a) => all.push(a),
    }
    match operands(b) {
        Ok(own) => all.extend(own),
        Err(b) => all.push(b),
    }
    all
}

fn integers(operands: &[Expr]) -> impl Iterator<Item = i128> {
    operands.iter().filter_map(|operand| match operand {
        Expr::Int { value } => Some(i128::from(*value)),
        _ => None,
    })
}

fn operate(op: BinOp, a: Expr, a_range: Range, b: Expr) -> Result<Expr, PlanError> {
    if let (Expr::Int { value: left }, Expr::Int { value: right }) = (&a, &b) {
        return literal(apply(op, i128::from(*left), i128::from(*right))?);
    }
    let natural = a_range.is_natural();
    let by_one = matches!(b, Expr::Int { value: 1 });
    Ok(match op {
        BinOp::Add => add(a, b)?,
        BinOp::Sub => add(a, negate(b)?)?,
        BinOp::Mul => multiply(a, b)?,
        BinOp::FloorDiv if by_one => a,
        BinOp::Mod if by_one => Expr::int(0),
        BinOp::FloorDiv if natural => Expr::Div { a: Box::new(a), b: Box::new(b) },
        BinOp::FloorDiv => Expr::FloorDiv { a: Box::new(a), b: Box::new(b) },
        BinOp::Mod if natural => Expr::Mod { a: Box::new(a), b: Box::new(b) },
        BinOp::Mod => Expr::FloorMod { a: Box::new(a), b: Box::new(b) },
        BinOp::And => match a {
            Expr::BitAnd { mut args } => {
                args.push(b);
                Expr::BitAnd { args }
            }
            other => Expr::BitAnd { args: vec![other, b] },
        },
        BinOp::Xor => match a {
            Expr::BitXor { mut args } => {
                args.push(b);
                Expr::BitXor { args }
            }
            other => Expr::BitXor { args: vec![other, b] },
        },
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Hilbert(grid) => {
            let (rows, columns) = (i64::from(grid.rows()), i64::from(grid.columns()));
            Expr::Hilbert { a: Box::new(a), b: Box::new(b), rows, columns }
        }
        BinOp::HilbertCell(grid) => {
            let (rows, columns) = (i64::from(grid.rows()), i64::from(grid.columns()));
            Expr::HilbertCell { a: Box::new(a), rows, columns }
        }
    })
}
