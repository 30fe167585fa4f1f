//! Element values: the arithmetic of kernels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Expr;

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

/// Binary operator on element values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueOp {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// Quotient of integers, rounded towards minus infinity; 0 if `b` is 0.
    FloorDivide,
    /// Remainder of `floor_divide`, which has the sign of the divisor: 3 for -1 and 4. It is `a` if `b` is 0.
    Modulo,
    /// Conjunction of truth values.
    And,
    /// Disjunction of truth values.
    Or,
    /// Lesser operand, `b` if they are equal. If one of two floats is a NaN, the result is the other one.
    Min,
    /// Greater operand, `b` if they are equal. If one of two floats is a NaN, the result is the other one.
    Max,
    /// `a == b`
    Equal,
    /// `a != b`
    NotEqual,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
}

/// Reduce op: combines the stored value with a new value to the value that is stored next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceOp {
    /// Replacement: the new value is stored.
    Set,
    /// Sum of the stored and the new value.
    Sum,
    /// Product of the stored and the new value.
    Product,
    /// Lesser of the stored and the new value; the stored value if one of them is a NaN.
    Min,
    /// Greater of the stored and the new value; the stored value if one of them is a NaN.
    Max,
}
