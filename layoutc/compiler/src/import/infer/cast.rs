//! Element types of elementwise operators.

use super::quantized;
use crate::base::dtype::Scalar;
use crate::import::call::OnnxCall;
use crate::import::error::{ShapeResult, mismatch};

/// Operators with one data operand, whose shape the result has. Other operands are scalars or have one value per
/// channel.
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

/// Operators that broadcast several operands.
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

/// True if the result has the shape of the single data operand.
pub(super) fn is_unary(op: &str) -> bool {
    UNARY.contains(&op)
}

/// True if the operator broadcasts its operands.
pub(in crate::import) fn is_broadcast(op: &str) -> bool {
    BROADCAST.contains(&op)
}

/// True if all operands and results have the same layout, whichever: `elementwise` in the profile.
pub(in crate::import) fn is_elementwise(op: &str) -> bool {
    elementwise().any(|own| own == op)
}

/// Names of the elementwise operators.
pub(in crate::import) fn elementwise() -> impl Iterator<Item = &'static str> {
    [UNARY, BROADCAST].into_iter().flatten().copied()
}

/// Element type of the first result of an elementwise operator.
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
