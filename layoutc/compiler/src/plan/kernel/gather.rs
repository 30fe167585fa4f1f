//! How the values of one element are put together: what they begin with, and which reads may be left out.

use super::value::{float_constant, integer_constant, scalar};
use crate::base::cast::range;
use crate::base::dtype::Scalar;
use crate::ir::{Update, Value, ValueOp};
use crate::model::compute::{Arithmetic, Reduction, Statement, TypedExpr, TypedExprKind};

/// How a statement's values are put together.
pub(super) fn how(op: Reduction) -> Update {
    match op {
        Reduction::Assign => Update::Set,
        Reduction::Sum => Update::Sum,
        Reduction::Product => Update::Product,
        Reduction::Min => Update::Min,
        Reduction::Max => Update::Max,
    }
}

/// What the result is called on the way.
pub(super) fn word(op: Reduction) -> &'static str {
    match op {
        Reduction::Assign => "value",
        Reduction::Sum => "sum",
        Reduction::Product => "product",
        Reduction::Min => "least",
        Reduction::Max => "most",
    }
}

/// The operator that puts two values together; `None` where the second takes the place of the first.
pub(super) fn operator(op: Reduction) -> Option<ValueOp> {
    match op {
        Reduction::Assign => None,
        Reduction::Sum => Some(ValueOp::Add),
        Reduction::Product => Some(ValueOp::Multiply),
        Reduction::Min => Some(ValueOp::Min),
        Reduction::Max => Some(ValueOp::Max),
    }
}

/// What leaves every value as it is.
pub(super) fn identity(op: Reduction, ty: Scalar) -> Value {
    let (integer, float) = identities(op, ty);
    if is_float(ty) { float_constant(ty, float) } else { integer_constant(ty, integer) }
}

/// The same for integers of this type, and for floats.
fn identities(op: Reduction, ty: Scalar) -> (i128, f64) {
    match op {
        Reduction::Assign | Reduction::Sum => (0, 0.0),
        Reduction::Product => (1, 1.0),
        Reduction::Min => (range(ty).1, f64::INFINITY),
        Reduction::Max => (range(ty).0, f64::NEG_INFINITY),
    }
}

/// What an element held, as the first of the values: a NaN is no least or greatest one.
pub(super) fn as_first(statement: &Statement, held: Value) -> Value {
    let ty = statement.accumulator;
    match operator(statement.op).filter(|_| statement.accumulate && is_float(ty)) {
        Some(op @ (ValueOp::Min | ValueOp::Max)) => {
            Value::binary(op, scalar(ty), held, identity(statement.op, ty))
        }
        _ => held,
    }
}

fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F32 | Scalar::F64)
}

/// The statement that gives the elements of another one what leaves every value as it is.
pub(super) fn before_any(statement: &Statement) -> Statement {
    let ty = statement.accumulator;
    let (integer, float) = identities(statement.op, ty);
    let kind =
        if is_float(ty) { TypedExprKind::Float(float) } else { TypedExprKind::Integer(integer) };
    Statement {
        axes: statement.axes.iter().take(statement.written_axes).cloned().collect(),
        op: Reduction::Assign,
        value: TypedExpr { ty, kind },
        caches: Vec::new(),
        ..statement.clone()
    }
}

/// Whether a value that lies outside its tensor leaves the whole as it is: the rounds in which it does are left out then. In
/// a sum that is a factor that stands for 0, in a minimum or maximum the identity.
pub(super) fn may_leave_out(op: Reduction, value: &TypedExpr) -> Option<&TypedExpr> {
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

/// What a product is of.
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
