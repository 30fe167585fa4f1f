//! The types that values have: what an element is computed in, what a literal becomes beside it, what a cast gives.

use crate::dtype::{Dtype, Scalar};
use crate::model::compute::{TypedExpr, TypedExprKind};

/// The type that elements of this type are computed in; `None` where there is no arithmetic.
pub(super) fn arithmetic_scalar(scalar: Scalar) -> Option<Scalar> {
    let has_none =
        matches!(scalar, Scalar::F8e8m0fnu | Scalar::C64 | Scalar::C128 | Scalar::Record(_));
    (!has_none).then(|| scalar.compute_type())
}

/// The types that a value can be cast into.
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

/// The type that a cast of this name gives.
pub(super) fn cast_named(name: &str) -> Option<Scalar> {
    CASTS.iter().copied().find(|scalar| word(*scalar) == name)
}

/// Its name in manifests.
pub(super) fn word(scalar: Scalar) -> String {
    Dtype { scalar, lanes: 1 }.to_string()
}

/// Whether it is one of the two float types that are computed in.
pub(super) fn is_float(ty: Scalar) -> bool {
    matches!(ty, Scalar::F64 | Scalar::F32)
}

/// Whether it is one of the four integer types that are computed in.
pub(super) fn is_integer(ty: Scalar) -> bool {
    matches!(ty, Scalar::I64 | Scalar::I32 | Scalar::U64 | Scalar::U32)
}

/// The least and the greatest integer of a type that is computed in; `None` for floats and truth values.
pub(super) fn limits(ty: Scalar) -> Option<(i128, i128)> {
    Some(match ty {
        Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
        Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::U64 => (0, u64::MAX.into()),
        Scalar::U32 => (0, u32::MAX.into()),
        _ => return None,
    })
}

/// An integer literal as a value of this type; `None` where the type does not hold it.
pub(super) fn literal(number: i128, ty: Scalar) -> Option<TypedExpr> {
    if is_float(ty) {
        let value = number.to_string().parse().ok()?;
        return Some(TypedExpr { ty, kind: TypedExprKind::Float(value) });
    }
    let (low, high) = limits(ty)?;
    (low..=high).contains(&number).then_some(TypedExpr { ty, kind: TypedExprKind::Integer(number) })
}

/// The value in another type; itself where it has that type.
pub(super) fn converted(value: TypedExpr, ty: Scalar) -> TypedExpr {
    if value.ty == ty {
        value
    } else {
        TypedExpr { ty, kind: TypedExprKind::Convert(Box::new(value)) }
    }
}

/// A value made of float literals, in another float type.
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
