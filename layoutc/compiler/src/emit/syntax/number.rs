//! Arithmetic on elements: the values that kernels compute.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Expr;

/// A value that is computed, of an element type that arithmetic is done in: `f64`, `f32`, `i64`, `i32`, `u64`, `u32` or
/// `bool`. Where a type is named it is as manifests call it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Number {
    /// A constant.
    Constant {
        /// Its type.
        element: String,
        /// The bit pattern, in hexadecimal.
        bits: String,
    },
    /// A named value.
    Name {
        /// Its identifier.
        name: String,
    },
    /// An element of an array of the function's own.
    Item {
        /// The array.
        array: String,
        /// The element, from 0.
        index: Expr,
    },
    /// An index as a value.
    Index {
        /// The type of the value.
        element: String,
        /// The index.
        value: Expr,
    },
    /// Whether indices fulfil a condition.
    Holds {
        /// The condition.
        condition: Expr,
    },
    /// The element at `index` of a buffer.
    Load {
        /// The buffer.
        buffer: String,
        /// The element, from 0.
        index: Expr,
        /// The function that reads it, where elements share bytes.
        through: Option<String>,
    },
    /// What a generated function reads: an element of an image.
    Fetch {
        /// The function.
        function: String,
        /// Its arguments: the image, then the physical index.
        args: Vec<Expr>,
    },
    /// `-a`
    Negate {
        /// The type of the operand.
        element: String,
        /// The operand.
        a: Box<Number>,
    },
    /// The negation of a truth value.
    Not {
        /// The operand.
        a: Box<Number>,
    },
    /// `a op b`, both of one type.
    Binary {
        /// The operator.
        op: NumberOp,
        /// The type of the operands.
        element: String,
        /// The left operand.
        a: Box<Number>,
        /// The right operand.
        b: Box<Number>,
    },
    /// `then` where the condition holds, else `otherwise`; only one of them is computed.
    Select {
        /// The condition.
        condition: Box<Number>,
        /// The value where it holds.
        then: Box<Number>,
        /// The value where it does not.
        otherwise: Box<Number>,
    },
    /// A mathematical function: `abs exp log sqrt rsqrt tanh erf floor pow`.
    Call {
        /// The function.
        function: String,
        /// The type of its operands and of what it gives.
        element: String,
        /// The operands.
        args: Vec<Number>,
    },
    /// A value in another type, by the language's own conversion.
    Convert {
        /// The type of the value.
        from: String,
        /// The type that it gets.
        to: String,
        /// The value.
        value: Box<Number>,
    },
    /// A value in another type, by a function.
    Cast {
        /// The conversion: `f16_to_f32`.
        cast: String,
        /// The value.
        value: Box<Number>,
    },
}

/// An operator of two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NumberOp {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// A quotient of integers, towards minus infinity.
    FloorDivide,
    /// The remainder of that.
    Modulo,
    /// Both hold.
    And,
    /// One holds, or both.
    Or,
    /// The smaller, the second of equal ones; of floats a number where one of the two is none.
    Min,
    /// The larger, the second of equal ones; of floats a number where one of the two is none.
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

/// How a value is put together with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Gathering {
    /// It takes the place of what there was.
    Set,
    /// It is added.
    Sum,
    /// It is multiplied with.
    Product,
    /// It takes the place of a larger one.
    Min,
    /// It takes the place of a smaller one.
    Max,
}

impl Number {
    /// A named value.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// `a op b`.
    pub fn binary(op: NumberOp, element: &str, a: Number, b: Number) -> Self {
        Self::Binary { op, element: element.to_owned(), a: Box::new(a), b: Box::new(b) }
    }

    /// Calls `visit` on every index expression inside, and `name` on every buffer.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        self.walk(&mut |number| match number {
            Self::Item { index: value, .. }
            | Self::Index { value, .. }
            | Self::Holds { condition: value } => value.visit(visit),
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

    /// Calls `visit` on this value and every one inside it.
    pub fn walk(&self, visit: &mut dyn FnMut(&Number)) {
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

    /// Gives every value inside to `change`, the operands before what they are part of, and this one last; index expressions
    /// to `index`.
    pub fn rewrite(&mut self, change: &dyn Fn(&mut Number), index: &dyn Fn(&mut Expr)) {
        let part = |number: &mut Number| number.rewrite(change, index);
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
