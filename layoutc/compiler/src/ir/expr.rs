//! Index expressions: integers and conditions over names.

/// Integer or truth value. The dividend of `Div` and `Mod` is proven nonnegative; `FloorDiv` and `FloorMod` round
/// towards minus infinity (`-1 // 4` is -1, `-1 % 4` is 3). Divisors are positive.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expr {
    /// Integer.
    Int {
        /// Value.
        value: i64,
    },
    /// Truth value.
    Bool {
        /// Value.
        value: bool,
    },
    /// Parameter, loop variable or index constant.
    Name {
        /// Identifier.
        name: String,
    },
    /// Value that an output parameter was set to.
    Output {
        /// Parameter.
        name: String,
    },
    /// Address of an index variable, for a call that sets it.
    Address {
        /// Identifier.
        name: String,
    },
    /// `-a`
    Neg {
        /// Operand.
        a: Box<Expr>,
    },
    /// Sum of two or more terms; `a - b` is the sum of `a` and `Neg(b)`.
    Add {
        /// Terms, in order.
        args: Vec<Expr>,
    },
    /// Product of two or more factors.
    Mul {
        /// Factors, in order.
        args: Vec<Expr>,
    },
    /// Quotient.
    Div {
        /// Dividend, nonnegative.
        a: Box<Expr>,
        /// Divisor.
        b: Box<Expr>,
    },
    /// Remainder.
    Mod {
        /// Dividend, nonnegative.
        a: Box<Expr>,
        /// Divisor.
        b: Box<Expr>,
    },
    /// Quotient rounded towards minus infinity.
    FloorDiv {
        /// Dividend.
        a: Box<Expr>,
        /// Divisor.
        b: Box<Expr>,
    },
    /// Nonnegative remainder.
    FloorMod {
        /// Dividend.
        a: Box<Expr>,
        /// Divisor.
        b: Box<Expr>,
    },
    /// Bitwise AND of two's complement.
    BitAnd {
        /// Operands.
        args: Vec<Expr>,
    },
    /// Bitwise XOR of two's complement.
    BitXor {
        /// Operands.
        args: Vec<Expr>,
    },
    /// Lesser operand.
    Min {
        /// One operand.
        a: Box<Expr>,
        /// The other operand.
        b: Box<Expr>,
    },
    /// Greater operand.
    Max {
        /// One operand.
        a: Box<Expr>,
        /// The other operand.
        b: Box<Expr>,
    },
    /// Distance along the Hilbert curve of a box to a cell; to the nearest cell if the index lies outside.
    Hilbert {
        /// Row.
        a: Box<Expr>,
        /// Column.
        b: Box<Expr>,
        /// Rows of the box.
        rows: i64,
        /// Columns of the box.
        columns: i64,
    },
    /// Cell at a distance along the Hilbert curve of a box, as `row * columns + column`; the first or last cell beyond
    /// the ends.
    HilbertCell {
        /// Distance.
        a: Box<Expr>,
        /// Rows of the box.
        rows: i64,
        /// Columns of the box.
        columns: i64,
    },
    /// `then` if the condition holds, otherwise `otherwise`.
    Select {
        /// Condition.
        condition: Box<Expr>,
        /// Value if it holds.
        then: Box<Expr>,
        /// Value if it does not.
        otherwise: Box<Expr>,
    },
    /// Call of a generated function.
    Call {
        /// Function.
        name: String,
        /// Arguments.
        args: Vec<Expr>,
    },
    /// Comparison.
    Compare {
        /// Operator.
        op: Compare,
        /// Left side.
        a: Box<Expr>,
        /// Right side.
        b: Box<Expr>,
    },
    /// Conjunction; true if empty.
    All {
        /// Conditions.
        args: Vec<Expr>,
    },
    /// Negation of a condition.
    Not {
        /// Condition.
        a: Box<Expr>,
    },
}

/// Comparison operator.
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
    /// Integer.
    pub fn int(value: i64) -> Self {
        Self::Int { value }
    }

    /// Name.
    pub fn name(name: &str) -> Self {
        Self::Name { name: name.to_owned() }
    }

    /// `a op b`.
    pub fn compare(op: Compare, a: Expr, b: Expr) -> Self {
        Self::Compare { op, a: Box::new(a), b: Box::new(b) }
    }

    /// Call of a generated function.
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

    /// Visits this expression, then those inside it.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        self.children(&mut |child| child.visit(visit));
    }

    /// Visits the operands.
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
