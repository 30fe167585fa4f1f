//! Widening of index arithmetic: an index of 32 bits that is used as an element value is computed in 64 bits.
//!
//! Intermediate results may exceed 32 bits. Plain sums and products are widened by their operands; floor division,
//! minimum and maximum are functions of the index type, so an index that needs one is computed as an `i64` value.

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Expr, Function, PartMut, Stmt, Value, ValueOp};

/// Type in which widened indices are computed.
const WIDE: Dtype = Dtype { scalar: Scalar::I64, lanes: 1 };

/// Replaces, in the element values of a function, each index by a value that is computed in `i64`, and then converted
/// to the type of the index, if it contains floor division, its remainder, a minimum or a maximum. Indices with bitwise
/// operations, conditions, selections, calls or Hilbert curves stay. No effect if `index_max`, the greatest value of
/// the function's index type, is above 2^31 - 1.
pub fn index_width(function: &mut Function, index_max: i64) {
    if index_max <= i64::from(i32::MAX) {
        function.body.iter_mut().for_each(widen);
    }
}

fn widen(stmt: &mut Stmt) {
    stmt.parts_mut(&mut |part| {
        if let PartMut::Value(value) = part {
            value.rewrite(&widen_value, &|_| {});
        }
    });
    stmt.nested_mut().flatten().for_each(widen);
}

fn widen_value(part: &mut Value) {
    let Value::Index { dtype, value } = &*part else { return };
    if matches!(value, Expr::Name { .. } | Expr::Int { .. }) {
        return;
    }
    let Some(wide) = needs_function(value).then(|| as_value(value)).flatten() else { return };
    let to = *dtype;
    *part =
        if to == WIDE { wide } else { Value::Convert { from: WIDE, to, value: Box::new(wide) } };
}

/// True if the index contains an operation that generated code performs by a function of the index type: floor
/// division, its remainder, minimum or maximum.
fn needs_function(index: &Expr) -> bool {
    let mut any = false;
    index.visit(&mut |part| {
        any |= matches!(
            part,
            Expr::FloorDiv { .. } | Expr::FloorMod { .. } | Expr::Min { .. } | Expr::Max { .. }
        );
    });
    any
}

/// Index expression as an element value of type `i64`. `None` if it contains an operation other than negations, sums,
/// products, quotients, remainders, minima and maxima of names and constants.
fn as_value(index: &Expr) -> Option<Value> {
    let binary = |op, a: &Expr, b: &Expr| Some(Value::binary(op, WIDE, as_value(a)?, as_value(b)?));
    let folded = |op, args: &[Expr]| {
        let (first, rest) = args.split_first()?;
        rest.iter().try_fold(as_value(first)?, |before, arg| {
            Some(Value::binary(op, WIDE, before, as_value(arg)?))
        })
    };
    match index {
        Expr::Int { value } => Some(Value::Constant { dtype: WIDE, bits: value.cast_unsigned() }),
        Expr::Name { .. } => Some(Value::Index { dtype: WIDE, value: index.clone() }),
        Expr::Neg { a } => Some(Value::Negate { dtype: WIDE, a: Box::new(as_value(a)?) }),
        Expr::Add { args } => folded(ValueOp::Add, args),
        Expr::Mul { args } => folded(ValueOp::Multiply, args),
        Expr::Div { a, b } | Expr::FloorDiv { a, b } => binary(ValueOp::FloorDivide, a, b),
        Expr::Mod { a, b } | Expr::FloorMod { a, b } => binary(ValueOp::Modulo, a, b),
        Expr::Min { a, b } => binary(ValueOp::Min, a, b),
        Expr::Max { a, b } => binary(ValueOp::Max, a, b),
        Expr::Bool { .. }
        | Expr::Output { .. }
        | Expr::Address { .. }
        | Expr::BitAnd { .. }
        | Expr::BitXor { .. }
        | Expr::Hilbert { .. }
        | Expr::HilbertCell { .. }
        | Expr::Select { .. }
        | Expr::Call { .. }
        | Expr::Compare { .. }
        | Expr::All { .. }
        | Expr::Not { .. } => None,
    }
}
