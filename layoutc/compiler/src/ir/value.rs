//! Element values: the arithmetic of kernels and the elements that relayouts move.

use super::Expr;
use crate::base::cast::Cast;
use crate::base::dtype::Dtype;
use crate::model::compute::MathFunction;

/// Value of an element type. Arithmetic is done in `f64`, `f32`, `i64`, `i32`, `u64`, `u32` and `bool`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// Constant.
    Constant {
        /// Type, a scalar.
        dtype: Dtype,
        /// Bit pattern.
        bits: u64,
    },
    /// Named value.
    Name {
        /// Identifier.
        name: String,
    },
    /// Element of an array of the function.
    Item {
        /// Array.
        array: String,
        /// Index.
        index: Expr,
    },
    /// Index as a value.
    Index {
        /// Type of the value.
        dtype: Dtype,
        /// Index.
        value: Expr,
    },
    /// Truth of a condition on indices.
    Holds {
        /// Condition.
        condition: Expr,
    },
    /// Element of a buffer.
    Load {
        /// Buffer.
        buffer: String,
        /// Index in elements.
        index: Expr,
        /// Function that reads an element which shares its byte with others.
        through: Option<String>,
    },
    /// Element that a generated function reads: a texel.
    Fetch {
        /// Function.
        function: String,
        /// Image, then the physical index.
        args: Vec<Expr>,
    },
    /// `-a`
    Negate {
        /// Type of the operand.
        dtype: Dtype,
        /// Operand.
        a: Box<Value>,
    },
    /// Negation of a truth value.
    Not {
        /// Operand.
        a: Box<Value>,
    },
    /// `a op b`, both operands of one type.
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
    /// `then` if the condition holds, otherwise `otherwise`; only one of the two is evaluated.
    Select {
        /// Condition.
        condition: Box<Value>,
        /// Value if it holds.
        then: Box<Value>,
        /// Value if it does not.
        otherwise: Box<Value>,
    },
    /// Mathematical function.
    Call {
        /// Function.
        function: MathFunction,
        /// Type of the operands and of the result.
        dtype: Dtype,
        /// Operands.
        args: Vec<Value>,
    },
    /// Conversion by the target language's own rules.
    Convert {
        /// Type of the operand.
        from: Dtype,
        /// Type of the result.
        to: Dtype,
        /// Operand.
        value: Box<Value>,
    },
    /// Conversion by a generated function.
    Cast {
        /// Conversion.
        cast: Cast,
        /// Operand.
        value: Box<Value>,
    },
}

/// Operator of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueOp {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// Quotient of integers, rounded towards minus infinity.
    FloorDivide,
    /// Remainder of [`FloorDivide`](Self::FloorDivide).
    Modulo,
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
    /// Lesser operand, `b` if they are equal; of floats the number if one of them is a NaN.
    Min,
    /// Greater operand, `b` if they are equal; of floats the number if one of them is a NaN.
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
    /// True if the result is a truth value of operands of another type.
    pub fn is_comparison(self) -> bool {
        matches!(self, Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual)
    }
}

/// Combination of a stored value with a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// The new value.
    Set,
    /// Their sum.
    Sum,
    /// Their product.
    Product,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

impl Value {
    /// Named value.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// `a op b`.
    pub fn binary(op: ValueOp, dtype: Dtype, a: Value, b: Value) -> Self {
        Self::Binary { op, dtype, a: Box::new(a), b: Box::new(b) }
    }

    /// True for an element that is moved or converted, and false for one that is computed.
    pub fn is_moved(&self) -> bool {
        match self {
            Self::Load { .. } | Self::Name { .. } | Self::Fetch { .. } => true,
            Self::Cast { value, .. } => value.is_moved(),
            _ => false,
        }
    }

    /// This value after a conversion, if there is one.
    #[must_use]
    pub fn cast(self, cast: Option<Cast>) -> Self {
        match cast {
            Some(cast) => Self::Cast { cast, value: Box::new(self) },
            None => self,
        }
    }

    /// Visits every index expression inside, and by `name` every buffer.
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

    /// Visits this value, then its operands.
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

    /// Rewrites the values inside by `change`, operands first and this value last, and index expressions by `index`.
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
