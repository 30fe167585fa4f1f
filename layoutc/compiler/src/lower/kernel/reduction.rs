//! Reduction operators: identities, initial values, and reads for which out-of-bounds iterations are skipped.

use crate::base::dtype::Scalar;
use crate::ir::{ReduceOp, Value, ValueOp};
use crate::lower::kernel::value::{float_constant, integer_constant};
use crate::model::compute::{Arithmetic, Reduction, Statement, TypedExpr, TypedExprKind};

/// IR operator that combines the accumulator with a new value in place.
pub(crate) fn how(op: Reduction) -> ReduceOp {
    match op {
        Reduction::Assign => ReduceOp::Set,
        Reduction::Sum => ReduceOp::Sum,
        Reduction::Product => ReduceOp::Product,
        Reduction::Min => ReduceOp::Min,
        Reduction::Max => ReduceOp::Max,
    }
}

/// Name of the accumulator variable in generated code.
pub(crate) fn accumulator_name(op: Reduction) -> &'static str {
    match op {
        Reduction::Assign => "value",
        Reduction::Sum => "sum",
        Reduction::Product => "product",
        Reduction::Min => "least",
        Reduction::Max => "most",
    }
}

/// IR operator that combines two values of a reduction; `None` for an assignment.
pub(crate) fn operator(op: Reduction) -> Option<ValueOp> {
    match op {
        Reduction::Assign => None,
        Reduction::Sum => Some(ValueOp::Add),
        Reduction::Product => Some(ValueOp::Multiply),
        Reduction::Min => Some(ValueOp::Min),
        Reduction::Max => Some(ValueOp::Max),
    }
}

/// Identity of a reduction operator in the type `ty`; 0 for an assignment.
pub(crate) fn identity(op: Reduction, ty: Scalar) -> Value {
    let (integer, float) = op.identity(ty);
    if is_float(ty) { float_constant(ty, float) } else { integer_constant(ty, integer) }
}

/// Initial accumulator value from `held`, the previous value of an element, in the accumulator's type. In a minimum or
/// maximum of floats that accumulates, a NaN is replaced by the identity.
pub(crate) fn as_first(statement: &Statement, held: Value) -> Value {
    let ty = statement.accumulator;
    match operator(statement.op).filter(|_| statement.accumulate && is_float(ty)) {
        Some(op @ (ValueOp::Min | ValueOp::Max)) => {
            Value::binary(op, ty.element(), held, identity(statement.op, ty))
        }
        _ => held,
    }
}

fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F32 | Scalar::F64)
}

/// Read of `value` whose boundary value makes an iteration contribute nothing, so that the loops skip iterations in
/// which the read is out of bounds: a factor with boundary value 0 in a sum, or the whole value if the boundary value
/// is the identity of a minimum or maximum of floats. `None` if there is no such read.
pub(crate) fn zero_padded_read(op: Reduction, value: &TypedExpr) -> Option<&TypedExpr> {
    let outside = |value: &TypedExpr| match &value.kind {
        TypedExprKind::Read(read) => read.outside.as_ref().map(|outside| outside.value.clone()),
        _ => None,
    };
    let is = |value: &TypedExpr, wanted: f64| match value.kind {
        TypedExprKind::Float(float) => float.total_cmp(&wanted).is_eq(),
        TypedExprKind::Integer(integer) => wanted == 0.0 && integer == 0,
        _ => false,
    };
    match op {
        Reduction::Sum => {
            factors(value).into_iter().find(|factor| outside(factor).is_some_and(|v| is(&v, 0.0)))
        }
        Reduction::Min => outside(value).filter(|v| is(v, f64::INFINITY)).map(|_| value),
        Reduction::Max => outside(value).filter(|v| is(v, f64::NEG_INFINITY)).map(|_| value),
        Reduction::Assign | Reduction::Product => None,
    }
}

/// Factors of a product, from left to right. Negations and conversions are looked through.
fn factors(value: &TypedExpr) -> Vec<&TypedExpr> {
    let (mut open, mut found) = (vec![value], Vec::new());
    while let Some(value) = open.pop() {
        match &value.kind {
            TypedExprKind::Binary(Arithmetic::Multiply, a, b) => open.extend([&**b, &**a]),
            TypedExprKind::Negate(a) | TypedExprKind::Convert(a) => open.push(a),
            _ => found.push(value),
        }
    }
    found
}
