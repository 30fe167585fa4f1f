//! Rules for the types of values: the type in which kernels compute on elements, the type of a literal, the result of a
//! cast.

use layoutc_algebra::expr::BinOp;

use crate::base::dtype::{Dtype, Scalar};
use crate::model::compute::{Arithmetic, TypedExpr, TypedExprKind};

/// Type in which kernels compute on elements of type `scalar`, such as `f32` for `f16`; `None` for a type without
/// arithmetic, such as complex numbers and records.
pub(super) fn arithmetic_scalar(scalar: Scalar) -> Option<Scalar> {
    let has_none =
        matches!(scalar, Scalar::F8e8m0fnu | Scalar::C64 | Scalar::C128 | Scalar::Record(_));
    (!has_none).then(|| scalar.compute_type())
}

/// Types that a cast in a statement may have as its target, `f16(x)`.
pub(super) const CASTS: &[Scalar] = &[
    Scalar::F64,
    Scalar::F32,
    Scalar::F16,
    Scalar::Bf16,
    Scalar::I64,
    Scalar::I32,
    Scalar::I16,
    Scalar::I8,
    Scalar::U64,
    Scalar::U32,
    Scalar::U16,
    Scalar::U8,
];

/// Target type of the cast `name`, such as `f16` for "f16"; `None` for any other name.
pub(super) fn cast_named(name: &str) -> Option<Scalar> {
    CASTS.iter().copied().find(|scalar| word(*scalar) == name)
}

/// Name of the type in manifests: `bf16`.
pub(super) fn word(scalar: Scalar) -> String {
    Dtype { scalar, lanes: 1 }.to_string()
}

/// Operator of index expressions with the same meaning as `op`, such as `BinOp::FloorDiv` for `//`; `None` if there is
/// none, as for `/` and `min`.
pub(super) fn index_operator(op: Arithmetic) -> Option<BinOp> {
    Some(match op {
        Arithmetic::Add => BinOp::Add,
        Arithmetic::Subtract => BinOp::Sub,
        Arithmetic::Multiply => BinOp::Mul,
        Arithmetic::FloorDivide => BinOp::FloorDiv,
        Arithmetic::Modulo => BinOp::Mod,
        _ => return None,
    })
}

/// True for `f64` and `f32`, the float types of arithmetic.
pub(super) fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F64 | Scalar::F32)
}

/// True for `i64`, `i32`, `u64` and `u32`, the integer types of arithmetic.
pub(super) fn is_integer(ty: Scalar) -> bool {
    matches!(ty, Scalar::I64 | Scalar::I32 | Scalar::U64 | Scalar::U32)
}

/// Least and greatest value, both inclusive, of an integer type of arithmetic; `None` for all other types.
pub(super) fn limits(ty: Scalar) -> Option<(i128, i128)> {
    Some(match ty {
        Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
        Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::U64 => (0, u64::MAX.into()),
        Scalar::U32 => (0, u32::MAX.into()),
        _ => return None,
    })
}

/// Literal of type `ty`, a type of arithmetic, for the integer `number`. For a float type the number is rounded to the
/// nearest `f64`. `None` if an integer type cannot represent the number, and for any other type, such as `bool`.
pub(super) fn literal(number: i128, ty: Scalar) -> Option<TypedExpr> {
    if is_float(ty) {
        let value = number.to_string().parse().ok()?;
        return Some(TypedExpr { ty, kind: TypedExprKind::Float(value) });
    }
    let (low, high) = limits(ty)?;
    (low..=high).contains(&number).then_some(TypedExpr { ty, kind: TypedExprKind::Integer(number) })
}

/// Conversion of `value` to `ty`; `value` itself if it has that type.
pub(super) fn converted(value: TypedExpr, ty: Scalar) -> TypedExpr {
    if value.ty == ty {
        value
    } else {
        TypedExpr { ty, kind: TypedExprKind::Convert(Box::new(value)) }
    }
}

/// Copy of `value`, which consists of float literals, with the type `ty` in every node except the conditions of
/// `select`.
pub(super) fn retyped(value: TypedExpr, ty: Scalar) -> TypedExpr {
    let boxed = |value: Box<TypedExpr>| Box::new(retyped(*value, ty));
    let kind = match value.kind {
        TypedExprKind::Negate(a) => TypedExprKind::Negate(boxed(a)),
        TypedExprKind::Binary(op, a, b) => TypedExprKind::Binary(op, boxed(a), boxed(b)),
        TypedExprKind::Select(c, a, b) => TypedExprKind::Select(c, boxed(a), boxed(b)),
        TypedExprKind::Call(function, arguments) => {
            let arguments = arguments.into_iter().map(|value| retyped(value, ty)).collect();
            TypedExprKind::Call(function, arguments)
        }
        other => other,
    };
    TypedExpr { ty, kind }
}
