//! Operators that see elements alone, by what they make of element types.

use super::quantized;
use crate::dtype::Scalar;
use crate::import::call::OnnxCall;
use crate::import::error::{ShapeResult, mismatch};

/// One operand with data: the result has its shape. What stands besides are scalars, or one number for each channel.
const UNARY: &[&str] = &[
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitCast",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "DequantizeLinear",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Log",
    "Mish",
    "Neg",
    "Not",
    "PRelu",
    "QuantizeLinear",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
];

/// Several operands that are broadcast.
const BROADCAST: &[&str] = &[
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "Sub",
    "Sum",
    "SwiGLU",
    "Where",
    "Xor",
];

/// Whether an operator gives one operand's shape.
pub(super) fn is_unary(op: &str) -> bool {
    UNARY.contains(&op)
}

/// Whether an operator broadcasts its operands.
pub(in crate::import) fn is_broadcast(op: &str) -> bool {
    BROADCAST.contains(&op)
}

/// Whether all that an operator reads and writes has one layout, whichever: `elementwise` in the profile.
pub(in crate::import) fn is_elementwise(op: &str) -> bool {
    elementwise().any(|own| own == op)
}

/// The names of those operators.
pub(in crate::import) fn elementwise() -> impl Iterator<Item = &'static str> {
    [UNARY, BROADCAST].into_iter().flatten().copied()
}

/// The element type of the first result of an element-wise operator.
pub(super) fn result(call: &OnnxCall<'_>, op: &str) -> ShapeResult<Scalar> {
    let own = call.input(0)?.dtype;
    Ok(match op {
        "And" | "Or" | "Xor" | "Not" | "Equal" | "Greater" | "GreaterOrEqual" | "Less"
        | "LessOrEqual" | "IsInf" | "IsNaN" => Scalar::Bool,
        "Where" => call.input(1)?.dtype,
        "Cast" | "BitCast" => match call.dtype("to")? {
            Some(to) => to,
            None => return mismatch("`to` is missing"),
        },
        "CastLike" => call.input(1)?.dtype,
        "QuantizeLinear" => quantized::quantized(call)?,
        "DequantizeLinear" => quantized::dequantized(call)?,
        _ => own,
    })
}
