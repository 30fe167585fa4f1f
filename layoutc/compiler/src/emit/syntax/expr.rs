//! Expressions: integers and conditions over names.

use crate::machine::CPU;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An integer or boolean expression. `div` and `mod` have an operand that is proven not negative; `floor_div` and
/// `floor_mod` round towards minus infinity (`-1 floor_div 4` is -1, `-1 floor_mod 4` is 3). Divisors are positive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Expr {
    /// An integer.
    Int {
        /// Its value.
        value: i64,
    },
    /// A truth value.
    Bool {
        /// Its value.
        value: bool,
    },
    /// A parameter, a loop variable, a `let` or a constant.
    Name {
        /// Its identifier.
        name: String,
    },
    /// The value that an output parameter was set to.
    Output {
        /// The parameter.
        name: String,
    },
    /// Where a call is to put an index: a name that was declared.
    Address {
        /// Its identifier.
        name: String,
    },
    /// `-a`
    Neg {
        /// The operand.
        a: Box<Expr>,
    },
    /// The sum of two or more; `a - b` is the sum of `a` and `neg b`.
    Add {
        /// The terms, in order.
        args: Vec<Expr>,
    },
    /// The product of two or more.
    Mul {
        /// The factors, in order.
        args: Vec<Expr>,
    },
    /// A quotient.
    Div {
        /// The dividend, not negative.
        a: Box<Expr>,
        /// The divisor.
        b: Box<Expr>,
    },
    /// A remainder.
    Mod {
        /// The dividend, not negative.
        a: Box<Expr>,
        /// The divisor.
        b: Box<Expr>,
    },
    /// A quotient rounded towards minus infinity.
    FloorDiv {
        /// The dividend.
        a: Box<Expr>,
        /// The divisor.
        b: Box<Expr>,
    },
    /// A remainder that is never negative.
    FloorMod {
        /// The dividend.
        a: Box<Expr>,
        /// The divisor.
        b: Box<Expr>,
    },
    /// Bitwise and, on two's complement.
    BitAnd {
        /// The operands.
        args: Vec<Expr>,
    },
    /// Bitwise exclusive or, on two's complement.
    BitXor {
        /// The operands.
        args: Vec<Expr>,
    },
    /// The smaller of two.
    Min {
        /// One.
        a: Box<Expr>,
        /// The other.
        b: Box<Expr>,
    },
    /// The larger of two.
    Max {
        /// One.
        a: Box<Expr>,
        /// The other.
        b: Box<Expr>,
    },
    /// How far along the Hilbert curve of a box a cell is; the nearest cell where the index lies outside.
    Hilbert {
        /// The row.
        a: Box<Expr>,
        /// The column.
        b: Box<Expr>,
        /// How many rows the box has.
        rows: i64,
        /// How many columns.
        columns: i64,
    },
    /// The cell so far along the Hilbert curve of a box, as `row * columns + column`; the first or the last one beyond.
    HilbertCell {
        /// How far.
        a: Box<Expr>,
        /// How many rows the box has.
        rows: i64,
        /// How many columns.
        columns: i64,
    },
    /// `then` where the condition holds, else `otherwise`.
    Select {
        /// The condition.
        condition: Box<Expr>,
        /// The value where it holds.
        then: Box<Expr>,
        /// The value where it does not.
        otherwise: Box<Expr>,
    },
    /// A call of a generated function.
    Call {
        /// The function.
        name: String,
        /// Its arguments.
        args: Vec<Expr>,
    },
    /// A comparison.
    Compare {
        /// The operator.
        op: Compare,
        /// The left side.
        a: Box<Expr>,
        /// The right side.
        b: Box<Expr>,
    },
    /// All hold; empty is true.
    All {
        /// The conditions.
        args: Vec<Expr>,
    },
    /// The negation of a condition.
    Not {
        /// The condition.
        a: Box<Expr>,
    },
}

/// A comparison operator.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// `==`
    Eq,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>=`
    Ge,
}

impl Expr {
    /// True for a constant number of bytes within the second-level cache.
    pub fn is_near(&self) -> bool {
        matches!(self, Self::Int { value } if (0..=CPU.l2_bytes).contains(value))
    }

    /// An integer.
    pub fn int(value: i64) -> Self {
        Self::Int { value }
    }

    /// A name.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// `a op b`.
    pub fn compare(op: Compare, a: Expr, b: Expr) -> Self {
        Self::Compare { op, a: Box::new(a), b: Box::new(b) }
    }

    /// A call.
    pub fn call(name: &str, args: Vec<Expr>) -> Self {
        Self::Call { name: name.to_owned(), args }
    }

    /// The smaller of two; of two integers the integer.
    #[must_use]
    pub fn min(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.min(b)),
            _ if self == other => self,
            _ => Self::Min { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// The larger of two; of two integers the integer.
    #[must_use]
    pub fn max(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.max(b)),
            _ if self == other => self,
            _ => Self::Max { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// Calls `visit` on this expression and every one inside it.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Calls `visit` on the operands.
    pub fn children(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Self::Int { .. }
            | Self::Bool { .. }
            | Self::Name { .. }
            | Self::Output { .. }
            | Self::Address { .. } => {}
            Self::Neg { a } | Self::Not { a } | Self::HilbertCell { a, .. } => visit(a),
            Self::Add { args }
            | Self::Mul { args }
            | Self::BitAnd { args }
            | Self::BitXor { args }
            | Self::Call { args, .. }
            | Self::All { args } => args.iter().for_each(visit),
            Self::Div { a, b }
            | Self::Mod { a, b }
            | Self::FloorDiv { a, b }
            | Self::FloorMod { a, b }
            | Self::Min { a, b }
            | Self::Max { a, b }
            | Self::Hilbert { a, b, .. }
            | Self::Compare { a, b, .. } => {
                visit(a);
                visit(b);
            }
            Self::Select { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }

    /// The same expression with every part given to `change`, the operands before what they are part of.
    #[must_use]
    pub fn map(&self, change: &dyn Fn(Expr) -> Expr) -> Self {
        let mut copy = self.clone();
        copy.children_mut(&mut |child| *child = child.map(change));
        change(copy)
    }

    fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Self::Int { .. }
            | Self::Bool { .. }
            | Self::Name { .. }
            | Self::Output { .. }
            | Self::Address { .. } => {}
            Self::Neg { a } | Self::Not { a } | Self::HilbertCell { a, .. } => visit(a),
            Self::Add { args }
            | Self::Mul { args }
            | Self::BitAnd { args }
            | Self::BitXor { args }
            | Self::Call { args, .. }
            | Self::All { args } => args.iter_mut().for_each(visit),
            Self::Div { a, b }
            | Self::Mod { a, b }
            | Self::FloorDiv { a, b }
            | Self::FloorMod { a, b }
            | Self::Min { a, b }
            | Self::Max { a, b }
            | Self::Hilbert { a, b, .. }
            | Self::Compare { a, b, .. } => {
                visit(a);
                visit(b);
            }
            Self::Select { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                visit(otherwise);
            }
        }
    }
}
