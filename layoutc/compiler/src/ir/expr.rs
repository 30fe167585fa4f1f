//! Index expressions of the loop IR: integers and conditions over parameters, loop variables and index constants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Expression over indices: an integer or a truth value. All divisors are positive. `Div` and `Mod` are used only for a
/// dividend that is proven nonnegative; `FloorDiv` and `FloorMod` allow any dividend, and round the quotient towards
/// minus infinity (`-1 // 4` is -1, `-1 % 4` is 3).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expr {
    /// Integer constant.
    Int {
        /// Value of the constant.
        value: i64,
    },
    /// Truth constant.
    Bool {
        /// Value of the constant.
        value: bool,
    },
    /// Value of a parameter, a loop variable, an index constant or an index variable, given by its name. As a
    /// condition, the value of a variable of type `bool`; as an argument of a call, also an image.
    Name {
        /// Identifier of the parameter, variable or constant, or of the image.
        name: String,
    },
    /// Value that a previous `Stmt::Set` stored through an output parameter: `*out`.
    Output {
        /// Identifier of the output parameter.
        name: String,
    },
    /// Address of an index variable, passed to a call that sets the variable: `&out`.
    Address {
        /// Identifier of the index variable.
        name: String,
    },
    /// Negation `-a`.
    Neg {
        /// Negated operand.
        a: Box<Expr>,
    },
    /// Sum of two or more terms; `a - b` is the sum of `a` and `Neg(b)`.
    Add {
        /// Terms of the sum, in order.
        args: Vec<Expr>,
    },
    /// Product of two or more factors.
    Mul {
        /// Factors of the product, in order.
        args: Vec<Expr>,
    },
    /// Quotient `a / b` of a nonnegative dividend, rounded down.
    Div {
        /// Dividend, proven nonnegative.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Remainder `a % b` of a nonnegative dividend.
    Mod {
        /// Dividend, proven nonnegative.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Quotient `a // b`, rounded towards minus infinity: `-1 // 4` is -1.
    FloorDiv {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Remainder of `FloorDiv`, from 0 to `b - 1`: `-1 % 4` is 3.
    FloorMod {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Bitwise AND of integers in two's complement: `6 & 3` is 2.
    BitAnd {
        /// Operands of the conjunction, two or more.
        args: Vec<Expr>,
    },
    /// Bitwise XOR of integers in two's complement: `6 ^ 3` is 5.
    BitXor {
        /// Operands of the exclusive disjunction, two or more.
        args: Vec<Expr>,
    },
    /// Lesser of two operands.
    Min {
        /// First operand.
        a: Box<Expr>,
        /// Second operand.
        b: Box<Expr>,
    },
    /// Greater of two operands.
    Max {
        /// First operand.
        a: Box<Expr>,
        /// Second operand.
        b: Box<Expr>,
    },
    /// Position of the cell in row `a` and column `b` along the Hilbert curve of a grid, from 0. A row or column
    /// outside the grid is clamped to the grid.
    Hilbert {
        /// Row of the cell.
        a: Box<Expr>,
        /// Column of the cell.
        b: Box<Expr>,
        /// Number of rows of the grid.
        rows: i64,
        /// Number of columns of the grid.
        columns: i64,
    },
    /// Cell at position `a` along the Hilbert curve of a grid, as `row * columns + column`. A position beyond the ends
    /// of the curve is clamped to the first or last cell.
    HilbertCell {
        /// Position of the cell along the curve, from 0.
        a: Box<Expr>,
        /// Number of rows of the grid.
        rows: i64,
        /// Number of columns of the grid.
        columns: i64,
    },
    /// Value of `then` if the condition holds, otherwise of `otherwise`.
    Select {
        /// Condition that selects the value.
        condition: Box<Expr>,
        /// Value if the condition holds.
        then: Box<Expr>,
        /// Value if the condition does not hold.
        otherwise: Box<Expr>,
    },
    /// Result of a call of a generated function.
    Call {
        /// Identifier of the function.
        name: String,
        /// Arguments of the call, in order.
        args: Vec<Expr>,
    },
    /// Truth value of the comparison `a op b` of two integers.
    Compare {
        /// Comparison operator.
        op: Compare,
        /// Left operand.
        a: Box<Expr>,
        /// Right operand.
        b: Box<Expr>,
    },
    /// Conjunction of any number of conditions; true if there are none.
    All {
        /// Conditions of the conjunction.
        args: Vec<Expr>,
    },
    /// Negation of a condition.
    Not {
        /// Negated condition.
        a: Box<Expr>,
    },
}

/// Operator that compares two integers.
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
    /// Integer constant `value`.
    pub fn int(value: i64) -> Self {
        Self::Int { value }
    }

    /// Exponent `k` if the expression is the constant `2^k` with k > 0; `None` for any other expression.
    pub fn power_of_two(&self) -> Option<u32> {
        let Self::Int { value } = self else { return None };
        (*value > 1 && value.count_ones() == 1).then(|| value.trailing_zeros())
    }

    /// Value of the parameter, loop variable, index constant or index variable called `name`.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// Truth value of the comparison `a op b`.
    pub fn compare(op: Compare, a: Expr, b: Expr) -> Self {
        Self::Compare { op, a: Box::new(a), b: Box::new(b) }
    }

    /// Result of a call of the generated function `name` with the arguments `args`.
    pub fn call(name: &str, args: Vec<Expr>) -> Self {
        Self::Call { name: name.to_owned(), args }
    }

    /// Lesser of two expressions. Two integer constants are folded to the lesser one, two equal expressions to one of
    /// them.
    #[must_use]
    pub fn min(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.min(b)),
            _ if self == other => self,
            _ => Self::Min { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// Greater of two expressions. Two integer constants are folded to the greater one, two equal expressions to one of
    /// them.
    #[must_use]
    pub fn max(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.max(b)),
            _ if self == other => self,
            _ => Self::Max { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// Calls `visit` on this expression, then on its operands, recursively (pre-order).
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Calls `visit` on each direct operand of this expression, in order.
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

    /// Copy of the expression with `change` applied to every subexpression, operands before the expressions that
    /// contain them (post-order).
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
