//! Element values of the loop IR: the arithmetic of kernels, and the elements that relayouts copy.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Expr;
use crate::base::cast::Cast;
use crate::base::dtype::Dtype;
use crate::model::compute::MathFunction;

/// Value of an element type. Arithmetic is done in `f64`, `f32`, `i64`, `i32`, `u64`, `u32` and `bool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Constant of an element type.
    Constant {
        /// Scalar type of the constant.
        dtype: Dtype,
        /// Bit pattern of the constant, in the low bits.
        bits: u64,
    },
    /// Value of a declared element variable or constant. As the value of a texel store, also the array that holds the
    /// four elements of the texel.
    Name {
        /// Identifier of the variable, constant or array.
        name: String,
    },
    /// Element of an array that the function declares.
    Item {
        /// Identifier of the array.
        array: String,
        /// Index of the element in the array.
        index: Expr,
    },
    /// Index expression as a value of an arithmetic type.
    Index {
        /// Type of the value.
        dtype: Dtype,
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
        /// Identifier of the buffer or array.
        buffer: String,
        /// Index of the element in the buffer or array, in elements.
        index: Expr,
        /// Identifier of the generated function that loads the element, for an element that shares its byte with
        /// others, such as `i4`. `None`: an ordinary load.
        through: Option<String>,
    },
    /// Element of an image, read by a call of a generated function.
    Fetch {
        /// Identifier of the function.
        function: String,
        /// Arguments of the call: the image, then the index of the element along each physical axis, outermost first.
        /// The last index counts elements, even if a texel has four of them.
        args: Vec<Expr>,
    },
    /// Negation `-a`.
    Negate {
        /// Type of the operand and of the result.
        dtype: Dtype,
        /// Negated operand.
        a: Box<Value>,
    },
    /// Negation of a truth value.
    Not {
        /// Negated truth value.
        a: Box<Value>,
    },
    /// Result of an operator on two operands of one type.
    Binary {
        /// Operator.
        op: ValueOp,
        /// Type of the operands.
        dtype: Dtype,
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
    /// Result of a mathematical function.
    Call {
        /// Mathematical function that is called.
        function: MathFunction,
        /// Type of the operands and of the result.
        dtype: Dtype,
        /// Operands of the function, in order.
        args: Vec<Value>,
    },
    /// Conversion of a value to another type by a cast of the target language.
    Convert {
        /// Type of the operand.
        from: Dtype,
        /// Type of the result.
        to: Dtype,
        /// Value that is converted.
        value: Box<Value>,
    },
    /// Conversion of a value to another type by a generated function, with a defined rounding mode.
    Cast {
        /// Conversion with its types and rounding mode.
        cast: Cast,
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
    /// Remainder of the floor division, which has the sign of the divisor `b`: `-1 % 4` is 3. If `b` is 0, the result
    /// is `a`.
    Modulo,
    /// Conjunction of truth values. The right operand is evaluated only if the left one is true.
    And,
    /// Disjunction of truth values. The right operand is evaluated only if the left one is false.
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

impl ValueOp {
    /// True if the operator compares its operands: the result is a truth value, whatever the type of the operands.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual)
    }
}

/// Operator of an update: it combines the stored value with a new value, and the result is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceOp {
    /// Replacement: the new value is stored.
    Set,
    /// Sum of the stored and the new value.
    Sum,
    /// Product of the stored and the new value.
    Product,
    /// Lesser of the stored and the new value: the new value if it is less, otherwise the stored value, also if one of
    /// them is a NaN.
    Min,
    /// Greater of the stored and the new value: the new value if it is greater, otherwise the stored value, also if one
    /// of them is a NaN.
    Max,
}

impl Value {
    /// Value of the variable or constant called `name`.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// Result of `a op b`, with both operands of type `dtype`.
    pub fn binary(op: ValueOp, dtype: Dtype, a: Value, b: Value) -> Self {
        Self::Binary { op, dtype, a: Box::new(a), b: Box::new(b) }
    }

    /// True if the value is an element that is copied: a `Load`, `Fetch` or `Name`, or the conversion of such an
    /// element by one or several `Cast`s. False for all other values, including `Item` and `Convert`.
    pub fn is_copied(&self) -> bool {
        match self {
            Self::Load { .. } | Self::Name { .. } | Self::Fetch { .. } => true,
            Self::Cast { value, .. } => value.is_copied(),
            _ => false,
        }
    }

    /// Value after the conversion `cast`; the unchanged value if `cast` is `None`.
    #[must_use]
    pub fn cast(self, cast: Option<Cast>) -> Self {
        match cast {
            Some(cast) => Self::Cast { cast, value: Box::new(self) },
            None => self,
        }
    }

    /// Calls `visit` on every index expression in the value, including operands of expressions. Calls `name` on the
    /// identifier of every buffer of a `Load`, and on every argument of a `Fetch` that is a name: the image, and
    /// indices that are single names. Arrays of an `Item` are not passed to `name`.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        self.walk(&mut |value| match value {
            Self::Item { index: expr, .. }
            | Self::Index { value: expr, .. }
            | Self::Holds { condition: expr } => expr.visit(visit),
            Self::Load { buffer, index, .. } => {
                name(buffer);
                index.visit(visit);
            }
            Self::Fetch { args, .. } => args.iter().for_each(|arg| {
                if let Expr::Name { name: image } = arg {
                    name(image);
                }
                arg.visit(visit);
            }),
            Self::Constant { .. }
            | Self::Name { .. }
            | Self::Negate { .. }
            | Self::Not { .. }
            | Self::Binary { .. }
            | Self::Select { .. }
            | Self::Call { .. }
            | Self::Convert { .. }
            | Self::Cast { .. } => {}
        });
    }

    /// Calls `visit` on this value, then on its operands, recursively (pre-order).
    pub fn walk(&self, visit: &mut dyn FnMut(&Value)) {
        visit(self);
        match self {
            Self::Constant { .. }
            | Self::Name { .. }
            | Self::Item { .. }
            | Self::Index { .. }
            | Self::Holds { .. }
            | Self::Fetch { .. }
            | Self::Load { .. } => {}
            Self::Negate { a, .. } | Self::Not { a } => a.walk(visit),
            Self::Binary { a, b, .. } => {
                a.walk(visit);
                b.walk(visit);
            }
            Self::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|part| part.walk(visit));
            }
            Self::Call { args, .. } => args.iter().for_each(|arg| arg.walk(visit)),
            Self::Convert { value, .. } | Self::Cast { value, .. } => value.walk(visit),
        }
    }

    /// Rewrites the value in place. Applies `change` to every value in it, operands before the values that contain them
    /// (post-order), and `index` once to each index expression that is an operand of a value, not to the operands of
    /// that expression.
    pub fn rewrite(&mut self, change: &dyn Fn(&mut Value), index: &dyn Fn(&mut Expr)) {
        let part = |value: &mut Value| value.rewrite(change, index);
        match self {
            Self::Constant { .. } | Self::Name { .. } => {}
            Self::Item { index: expr, .. }
            | Self::Index { value: expr, .. }
            | Self::Holds { condition: expr }
            | Self::Load { index: expr, .. } => index(expr),
            Self::Fetch { args, .. } => args.iter_mut().for_each(index),
            Self::Negate { a, .. } | Self::Not { a } => part(a),
            Self::Binary { a, b, .. } => [a, b].into_iter().for_each(|side| part(side)),
            Self::Select { condition, then, otherwise } => {
                [condition, then, otherwise].into_iter().for_each(|side| part(side));
            }
            Self::Call { args, .. } => args.iter_mut().for_each(part),
            Self::Convert { value, .. } | Self::Cast { value, .. } => part(value),
        }
        change(self);
    }
}
