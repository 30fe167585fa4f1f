//! Index expressions: integers and conditions over names.

/// Index expression: an integer or a truth value. The dividend of `Div` and `Mod` is proven nonnegative,
/// `FloorDiv` and `FloorMod` round towards minus infinity (`-1 // 4` is -1, `-1 % 4` is 3), and all divisors are
/// positive.
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
    /// Name of a parameter, a loop variable or an index constant, which stands for its value.
    Name {
        /// Identifier of the parameter, variable or constant.
        name: String,
    },
    /// Value that was stored through an output parameter.
    Output {
        /// Identifier of the output parameter.
        name: String,
    },
    /// Address of an index variable, passed to a call that sets the variable.
    Address {
        /// Identifier of the index variable.
        name: String,
    },
    /// `-a`
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
    /// Quotient of a nonnegative dividend.
    Div {
        /// Dividend, proven nonnegative.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Remainder of a nonnegative dividend.
    Mod {
        /// Dividend, proven nonnegative.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Quotient rounded towards minus infinity.
    FloorDiv {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Nonnegative remainder of `FloorDiv`.
    FloorMod {
        /// Dividend, of any sign.
        a: Box<Expr>,
        /// Divisor, positive.
        b: Box<Expr>,
    },
    /// Bitwise AND of two's complement.
    BitAnd {
        /// Operands of the conjunction, two or more.
        args: Vec<Expr>,
    },
    /// Bitwise XOR of two's complement.
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
    /// Distance along the Hilbert curve of a box to the cell at a row and column; to the nearest cell of the box if
    /// that cell lies outside.
    Hilbert {
        /// Row of the cell.
        a: Box<Expr>,
        /// Column of the cell.
        b: Box<Expr>,
        /// Number of rows of the box.
        rows: i64,
        /// Number of columns of the box.
        columns: i64,
    },
    /// Cell at a distance along the Hilbert curve of a box, as `row * columns + column`. A distance beyond the ends
    /// of the curve gives the first or last cell.
    HilbertCell {
        /// Distance of the cell along the curve, in cells.
        a: Box<Expr>,
        /// Number of rows of the box.
        rows: i64,
        /// Number of columns of the box.
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
    /// Call of a generated function, and its result.
    Call {
        /// Identifier of the function.
        name: String,
        /// Arguments of the call, in order.
        args: Vec<Expr>,
    },
    /// Truth of a comparison of two integers.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

    /// Expression for the value of a name.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// Comparison `a op b`.
    pub fn compare(op: Compare, a: Expr, b: Expr) -> Self {
        Self::Compare { op, a: Box::new(a), b: Box::new(b) }
    }

    /// Call of a generated function with these arguments.
    pub fn call(name: &str, args: Vec<Expr>) -> Self {
        Self::Call { name: name.to_owned(), args }
    }

    /// Lesser of two expressions, folded if both are integers.
    #[must_use]
    pub fn min(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.min(b)),
            _ if self == other => self,
            _ => Self::Min { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// Greater of two expressions, folded if both are integers.
    #[must_use]
    pub fn max(self, other: Expr) -> Self {
        match (&self, &other) {
            (Self::Int { value: a }, Self::Int { value: b }) => Self::int(*a.max(b)),
            _ if self == other => self,
            _ => Self::Max { a: Box::new(self), b: Box::new(other) },
        }
    }

    /// Calls `visit` on this expression, then on all expressions inside it.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Calls `visit` on each operand of this expression, without the operands' own operands.
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

    /// Expression with every part rewritten by `change`, operands before the expression that they are operands of.
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
