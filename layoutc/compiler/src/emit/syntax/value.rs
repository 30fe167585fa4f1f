//! Element values: the arithmetic of kernels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Expr, ValueOp};

/// Value of an element type. Arithmetic is done in `f64`, `f32`, `i64`, `i32`, `u64`, `u32` and `bool`. Types are named
/// in manifest notation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Value {
    /// Constant of an element type.
    Constant {
        /// Scalar type of the constant.
        element: String,
        /// Bit pattern in hexadecimal, without `0x`.
        bits: String,
    },
    /// Value of a declared variable or constant.
    Name {
        /// Identifier of the variable or constant.
        name: String,
    },
    /// Element of an array that the function declares.
    Item {
        /// Identifier of the array.
        array: String,
        /// Index of the element in the array.
        index: Expr,
    },
    /// Index expression as a value.
    Index {
        /// Type of the value.
        element: String,
        /// Index expression that is converted to the type.
        value: Expr,
    },
    /// Truth value of a condition on indices.
    Holds {
        /// Condition on indices.
        condition: Expr,
    },
    /// Element read from a buffer, or from an array that the function declares.
    Load {
        /// Identifier of the buffer.
        buffer: String,
        /// Index of the element, in elements.
        index: Expr,
        /// Function that reads an element which shares bytes with others; `null` for a plain read.
        through: Option<String>,
    },
    /// Element of an image, read by a generated function.
    Fetch {
        /// Identifier of the function.
        function: String,
        /// Arguments: the image, then the index of the element along each physical axis, outermost first.
        args: Vec<Expr>,
    },
    /// Negation `-a`.
    Negate {
        /// Type of the operand and of the result.
        element: String,
        /// Negated operand.
        a: Box<Value>,
    },
    /// Negation of a truth value.
    Not {
        /// Negated truth value.
        a: Box<Value>,
    },
    /// Result of `a op b`, with both operands of one type.
    Binary {
        /// Operator.
        op: ValueOp,
        /// Type of the operands.
        element: String,
        /// Left operand.
        a: Box<Value>,
        /// Right operand.
        b: Box<Value>,
    },
    /// Value of `then` if the condition holds, otherwise of `otherwise`. Only the selected one is evaluated.
    Select {
        /// Condition that selects the value.
        condition: Box<Value>,
        /// Value if the condition holds.
        then: Box<Value>,
        /// Value if the condition does not hold.
        otherwise: Box<Value>,
    },
    /// Result of a mathematical function: `abs exp log sqrt rsqrt tanh erf floor pow`.
    Call {
        /// Name of the function.
        function: String,
        /// Type of the operands and of the result.
        element: String,
        /// Operands, in order.
        args: Vec<Value>,
    },
    /// Conversion to another type by a cast of the language.
    Convert {
        /// Type of the operand.
        from: String,
        /// Type of the result.
        to: String,
        /// Value that is converted.
        value: Box<Value>,
    },
    /// Conversion to another type by a generated function, with a defined rounding mode.
    Cast {
        /// Conversion name: `f16_to_f32`.
        cast: String,
        /// Value that is converted.
        value: Box<Value>,
    },
}
