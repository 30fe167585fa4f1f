//! Index expressions: integers and conditions over parameters, loop variables and constants.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ir::Compare;
use crate::machine::CPU;

/// Index expression: an integer or a truth value. The dividend of `div` and `mod` is proven nonnegative, except in the
/// value of a macro, where both truncate as in C. `floor_div` and `floor_mod` round towards minus infinity: for -1 and
/// 4 they are -1 and 3. Divisors are positive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
    /// Value of a parameter, a loop variable, a `let` or a constant, given by its name.
    Name {
        /// Identifier.
        name: String,
    },
    /// Value of an output parameter, read back after a `set`: `*out`.
    Output {
        /// Identifier of the output parameter.
        name: String,
    },
    /// Address of an index variable, passed to a call that sets the variable: `&out`.
    Address {
        /// Identifier of the variable.
        name: String,
    },
    /// Negation `-a`.
    Neg {
        /// Negated operand.
        a: Box<Expr>,
    },
    /// Sum of two or more terms; `a - b` is the sum of `a` and `neg b`.
    Add {
        /// Terms, in order.
        args: Vec<Expr>,
    },
    /// Product of two or more factors.
    Mul {
        /// Factors, in order.
        args: Vec<Expr>,
    },
    /// Quotient of a dividend that is nonnegative except in macros, rounded towards 0.
    Div {
        /// Dividend, proven nonnegative except in macros.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Remainder of `div`, nonnegative except in macros.
    Mod {
        /// Dividend, proven nonnegative except in macros.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Quotient, rounded towards minus infinity.
    FloorDiv {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Remainder of `floor_div`, from 0 to `b - 1`.
    FloorMod {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Bitwise AND of integers in two's complement.
    BitAnd {
        /// Operands, two or more.
        args: Vec<Expr>,
    },
    /// Bitwise XOR of integers in two's complement.
    BitXor {
        /// Operands, two or more.
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
    /// Position of a cell along the Hilbert curve of a grid, from 0. A row or column outside the grid is clamped to the
    /// grid.
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
    /// Cell at a position along the Hilbert curve of a grid, as `row * columns + column`. A position beyond the ends of
    /// the curve is clamped to the first or last cell.
    HilbertCell {
        /// Position along the curve, from 0.
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
        /// Arguments, in order.
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
    /// Conjunction of conditions; true if there are none.
    All {
        /// Conditions.
        args: Vec<Expr>,
    },
    /// Negation of a condition.
    Not {
        /// Negated condition.
        a: Box<Expr>,
    },
}

impl Expr {
    /// True if the expression is a constant number of bytes, at least 0, that fits the L2 cache of the machine model.
    pub fn is_near(&self) -> bool {
        matches!(self, Self::Int { value } if (0..=CPU.l2_bytes).contains(value))
    }

    /// Integer constant `value`.
    pub fn int(value: i64) -> Self {
        Self::Int { value }
    }

    /// Value of the parameter, variable or constant called `name`.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// Truth value of the comparison `a op b`.
    pub fn compare(op: Compare, a: Expr, b: Expr) -> Self {
        Self::Compare { op, a: Box::new(a), b: Box::new(b) }
    }

    /// Calls `visit` on this expression and on every subexpression.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Calls `visit` on each operand.
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

    /// Copy of the expression in which `change` has replaced every subexpression and at last the expression itself.
    /// `change` gets each one with its operands already replaced.
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
