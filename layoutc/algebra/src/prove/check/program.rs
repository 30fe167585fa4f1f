//! Stack machine for the evaluation of expressions and predicates at many points, and an iterator over the points of a
//! box.

use alloc::vec::Vec;

use crate::expr::{BinOp, CompareOp, Expr, ExprError, ExprNode, Predicate, Var, apply};

/// Instruction of the stack machine. Values are 64-bit integers, and an overflow fails the check.
#[derive(Debug, Clone, Copy)]
enum StackOp {
    Push(i64),
    Load(usize),
    /// Replaces the top `a` of the stack by `a op b`, where `op` and the constant `b` are the fields.
    ApplyConstant(BinOp, i64),
    Apply(BinOp),
}

/// Values of one variable or expression, one per point of a batch, in the order of the points.
pub(super) type Column = Vec<i64>;

/// Instructions that evaluate one expression at a point. The point is a list of values of the variables, in the order
/// given at compilation.
#[derive(Debug)]
pub(super) struct StackProgram(Vec<StackOp>);

impl StackProgram {
    pub(super) fn new(expr: &Expr, vars: &[Var]) -> Result<Self, ExprError> {
        let mut code = Vec::new();
        emit(expr, vars, &mut code)?;
        Ok(Self(code))
    }

    pub(super) fn all(exprs: &[Expr], vars: &[Var]) -> Result<Vec<Self>, ExprError> {
        exprs.iter().map(|expr| Self::new(expr, vars)).collect()
    }

    pub(super) fn run(&self, point: &[i64], stack: &mut Vec<i64>) -> Result<i64, ExprError> {
        stack.clear();
        for code in &self.0 {
            match code {
                StackOp::Push(value) => stack.push(*value),
                StackOp::Load(axis) => {
                    stack.push(point.get(*axis).copied().ok_or(ExprError::Unbound)?);
                }
                StackOp::ApplyConstant(op, b) => {
                    let a = stack.pop().ok_or(ExprError::Unbound)?;
                    stack.push(operate(*op, a, *b).ok_or(ExprError::Overflow)?);
                }
                StackOp::Apply(op) => {
                    let (Some(b), Some(a)) = (stack.pop(), stack.pop()) else {
                        return Err(ExprError::Unbound);
                    };
                    stack.push(operate(*op, a, b).ok_or(ExprError::Overflow)?);
                }
            }
        }
        stack.pop().ok_or(ExprError::Unbound)
    }

    /// Values of the expression at `count` points. `vars[k]` is the column of values of the `k`-th variable in the list
    /// given at compilation, one value per point. Buffers are taken from `spare` while it has any, and returned to it,
    /// except for that of the result.
    pub(super) fn column(
        &self,
        vars: &[Column],
        count: usize,
        spare: &mut Vec<Column>,
    ) -> Result<Column, ExprError> {
        let mut stack: Vec<Column> = Vec::new();
        for code in &self.0 {
            match code {
                StackOp::Push(value) => {
                    let mut column = fresh(spare);
                    column.resize(count, *value);
                    stack.push(column);
                }
                StackOp::Load(at) => {
                    let mut column = fresh(spare);
                    let values = vars.get(*at).and_then(|values| values.get(..count));
                    column.extend_from_slice(values.ok_or(ExprError::Unbound)?);
                    stack.push(column);
                }
                StackOp::ApplyConstant(op, b) => {
                    let column = stack.last_mut().ok_or(ExprError::Unbound)?;
                    operate_all(*op, column, core::iter::repeat(*b))?;
                }
                StackOp::Apply(op) => {
                    let (Some(right), Some(left)) = (stack.pop(), stack.last_mut()) else {
                        return Err(ExprError::Unbound);
                    };
                    operate_all(*op, left, right.iter().copied())?;
                    spare.push(right);
                }
            }
        }
        stack.pop().ok_or(ExprError::Unbound)
    }
}

fn fresh(spare: &mut Vec<Column>) -> Column {
    let mut column = spare.pop().unwrap_or_default();
    column.clear();
    column
}

/// Replaces each value `left[n]` by `left[n] op r`, where `r` is the `n`-th item of `right`.
fn operate_all(
    op: BinOp,
    left: &mut [i64],
    right: impl Iterator<Item = i64>,
) -> Result<(), ExprError> {
    match op {
        BinOp::Add => each(left, right, i64::checked_add),
        BinOp::Sub => each(left, right, i64::checked_sub),
        BinOp::Mul => each(left, right, i64::checked_mul),
        BinOp::FloorDiv => each(left, right, |a, b| operate(BinOp::FloorDiv, a, b)),
        BinOp::Mod => each(left, right, |a, b| operate(BinOp::Mod, a, b)),
        _ => each(left, right, |a, b| operate(op, a, b)),
    }
}

fn each(
    left: &mut [i64],
    right: impl Iterator<Item = i64>,
    f: impl Fn(i64, i64) -> Option<i64>,
) -> Result<(), ExprError> {
    for (a, b) in left.iter_mut().zip(right) {
        *a = f(*a, b).ok_or(ExprError::Overflow)?;
    }
    Ok(())
}

fn operate(op: BinOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::FloorDiv if b > 0 => Some(a.div_euclid(b)),
        BinOp::Mod if b > 0 => Some(a.rem_euclid(b)),
        BinOp::FloorDiv | BinOp::Mod => None,
        BinOp::And => Some(a & b),
        BinOp::Xor => Some(a ^ b),
        BinOp::Min => Some(a.min(b)),
        BinOp::Max => Some(a.max(b)),
        BinOp::Hilbert(_) | BinOp::HilbertCell(_) => {
            apply(op, a.into(), b.into()).ok()?.try_into().ok()
        }
    }
}

fn emit(expr: &Expr, vars: &[Var], code: &mut Vec<StackOp>) -> Result<(), ExprError> {
    match expr.node() {
        ExprNode::Const(value) => {
            code.push(StackOp::Push(i64::try_from(*value).map_err(|_| ExprError::Overflow)?));
        }
        ExprNode::Var(var) => {
            let at = vars.iter().position(|own| own == var).ok_or(ExprError::Unbound)?;
            code.push(StackOp::Load(at));
        }
        ExprNode::Neg(a) => {
            code.push(StackOp::Push(0));
            emit(a, vars, code)?;
            code.push(StackOp::Apply(BinOp::Sub));
        }
        ExprNode::Bin(op, a, b) => {
            emit(a, vars, code)?;
            if let Some(value) = b.as_const() {
                let value = i64::try_from(value).map_err(|_| ExprError::Overflow)?;
                code.push(StackOp::ApplyConstant(*op, value));
                return Ok(());
            }
            emit(b, vars, code)?;
            code.push(StackOp::Apply(*op));
        }
    }
    Ok(())
}

/// Comparisons of a predicate, each as the program of its left operand, its operator, and the program of its right
/// operand.
#[derive(Debug)]
pub(super) struct PredicateProgram(Vec<(StackProgram, CompareOp, StackProgram)>);

impl PredicateProgram {
    pub(super) fn new(predicate: &Predicate, vars: &[Var]) -> Result<Self, ExprError> {
        let test = |comparison: &crate::expr::ExprComparison| {
            let (left, right) = (&comparison.left, &comparison.right);
            Ok((StackProgram::new(left, vars)?, comparison.op, StackProgram::new(right, vars)?))
        };
        Ok(Self(predicate.all.iter().map(test).collect::<Result<_, ExprError>>()?))
    }

    /// Value of the predicate at each of `count` points, in the order of the points: true if all comparisons hold.
    /// `vars[k]` is the column of values of the `k`-th variable in the list given at compilation. Buffers are taken
    /// from `spare`, and returned to it.
    pub(super) fn test(
        &self,
        vars: &[Column],
        count: usize,
        spare: &mut Vec<Column>,
    ) -> Result<Vec<bool>, ExprError> {
        let mut results = alloc::vec![true; count];
        for (left, op, right) in &self.0 {
            let left = left.column(vars, count, spare)?;
            let right = right.column(vars, count, spare)?;
            for (result, (left, right)) in results.iter_mut().zip(left.iter().zip(&right)) {
                *result &= match op {
                    CompareOp::Eq => left == right,
                    CompareOp::Lt => left < right,
                    CompareOp::Ge => left >= right,
                };
            }
            spare.extend([left, right]);
        }
        Ok(results)
    }
}

/// Iterator over the points of a box in batches of at most [`TOGETHER`] points, with the first axis fastest. A batch
/// has one column of indices per axis.
pub(super) struct PointBatches<'a> {
    extents: &'a [i64],
    next: Vec<i64>,
    left: i128,
    /// Indices of the current batch, one column per axis.
    pub(super) columns: Vec<Column>,
}

/// Maximum number of points per batch.
const TOGETHER: usize = 256;

impl<'a> PointBatches<'a> {
    pub(super) fn new(extents: &'a [i64]) -> Self {
        let left = extents.iter().fold(1_i128, |n, e| n.saturating_mul(i128::from((*e).max(0))));
        let (next, columns) =
            (alloc::vec![0; extents.len()], alloc::vec![Vec::new(); extents.len()]);
        Self { extents, next, left, columns }
    }

    /// Fills `columns` with the next batch of points, and returns its number of points; 0 at the end.
    pub(super) fn advance(&mut self) -> usize {
        let count = usize::try_from(self.left).unwrap_or(TOGETHER).min(TOGETHER);
        self.columns.iter_mut().for_each(Vec::clear);
        for _ in 0..count {
            for (column, index) in self.columns.iter_mut().zip(&self.next) {
                column.push(*index);
            }
            for (index, extent) in self.next.iter_mut().zip(self.extents) {
                *index += 1;
                if *index < *extent {
                    break;
                }
                *index = 0;
            }
        }
        self.left -= i128::try_from(count).unwrap_or(0);
        count
    }
}
