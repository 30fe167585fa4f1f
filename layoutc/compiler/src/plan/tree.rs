//! The trees that a plan is made of: expressions, statements and functions with names in place of variables.
//!
//! They know no target: a printer turns them into C, a user's template may turn them into anything else. The types
//! are part of the template model (`schemas/template-model.json`), so a change here is a change of its version.

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

/// What a store writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Operand {
    /// The element at `index` of a buffer.
    Load {
        /// The buffer.
        buffer: String,
        /// The element, from 0.
        index: Expr,
        /// The function that reads it, where elements share bytes.
        through: Option<String>,
    },
    /// A named element.
    Element {
        /// Its name.
        name: String,
    },
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Stmt {
    /// A name for a value that does not change.
    Let {
        /// The name.
        name: String,
        /// The value.
        value: Expr,
    },
    /// A named element constant.
    LetElement {
        /// The name.
        name: String,
        /// Its type, as the manifest calls it.
        element: String,
        /// The bit pattern of one scalar, in hexadecimal; every lane holds it.
        bits: String,
    },
    /// A counting loop: `name` takes `from`, `from + step`, … below `to`.
    For {
        /// The loop variable.
        name: String,
        /// The first value.
        from: Expr,
        /// One past the last value.
        to: Expr,
        /// What each round adds.
        step: i64,
        /// What is done.
        body: Vec<Stmt>,
    },
    /// A condition.
    If {
        /// When.
        condition: Expr,
        /// What is done then.
        body: Vec<Stmt>,
    },
    /// One element is written.
    Store {
        /// The buffer.
        buffer: String,
        /// The element, from 0.
        index: Expr,
        /// What is written.
        value: Operand,
        /// The function that writes it, where elements share bytes.
        through: Option<String>,
    },
    /// One byte of a buffer of packed elements is written.
    StoreByte {
        /// The buffer.
        buffer: String,
        /// The byte, from 0.
        index: Expr,
        /// The byte's value.
        value: u8,
    },
    /// The first `bytes` bytes of a buffer become 0.
    Zero {
        /// The buffer.
        buffer: String,
        /// How many.
        bytes: Expr,
    },
    /// An output parameter is set.
    Set {
        /// The parameter.
        name: String,
        /// Its value.
        value: Expr,
    },
    /// The function's value.
    Return {
        /// The value.
        value: Expr,
    },
    /// The caller has promised this.
    Assert {
        /// The condition.
        condition: Expr,
    },
    /// A parameter that the function does not need.
    Unused {
        /// The parameter.
        name: String,
    },
    /// A remark.
    Comment {
        /// One line.
        text: String,
    },
}

/// What a parameter is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ParamType {
    /// An index, an extent or a symbol.
    Index,
    /// Where an index is written to.
    OutIndex,
    /// Elements that are read.
    Input {
        /// Their type, as the manifest calls it.
        element: String,
    },
    /// Elements that are written.
    Output {
        /// Their type, as the manifest calls it.
        element: String,
    },
}

/// A parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Param {
    /// Its identifier.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub ty: ParamType,
}

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// An index or a count.
    Index,
    /// A truth value.
    Bool,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Function {
    /// Its identifier.
    pub name: String,
    /// What it does, one line each, for a comment.
    pub doc: Vec<String>,
    /// What it gives.
    pub returns: Returns,
    /// Its parameters: symbols first.
    pub params: Vec<Param>,
    /// What it does.
    pub body: Vec<Stmt>,
}

impl Expr {
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
        match self {
            Self::Int { .. } | Self::Bool { .. } | Self::Name { .. } | Self::Output { .. } => {}
            Self::Neg { a } | Self::Not { a } => a.visit(visit),
            Self::Add { args }
            | Self::Mul { args }
            | Self::BitAnd { args }
            | Self::BitXor { args }
            | Self::Call { args, .. }
            | Self::All { args } => args.iter().for_each(|arg| arg.visit(visit)),
            Self::Div { a, b }
            | Self::Mod { a, b }
            | Self::FloorDiv { a, b }
            | Self::FloorMod { a, b }
            | Self::Min { a, b }
            | Self::Max { a, b }
            | Self::Compare { a, b, .. } => {
                a.visit(visit);
                b.visit(visit);
            }
            Self::Select { condition, then, otherwise } => {
                condition.visit(visit);
                then.visit(visit);
                otherwise.visit(visit);
            }
        }
    }
}

impl Stmt {
    /// Calls `visit` on every expression of the statement, those inside others included, and `name` on every
    /// buffer or output that it mentions.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr), name: &mut dyn FnMut(&str)) {
        match self {
            Self::Let { value, .. } | Self::Return { value } => value.visit(visit),
            Self::Assert { condition } => condition.visit(visit),
            Self::For { from, to, body, .. } => {
                from.visit(visit);
                to.visit(visit);
                for stmt in body {
                    stmt.visit(visit, name);
                }
            }
            Self::If { condition, body } => {
                condition.visit(visit);
                for stmt in body {
                    stmt.visit(visit, name);
                }
            }
            Self::Store { buffer, index, value, .. } => {
                name(buffer);
                index.visit(visit);
                if let Operand::Load { buffer, index, .. } = value {
                    name(buffer);
                    index.visit(visit);
                }
            }
            Self::StoreByte { buffer, index, .. } => {
                name(buffer);
                index.visit(visit);
            }
            Self::Zero { buffer, bytes } => {
                name(buffer);
                bytes.visit(visit);
            }
            Self::Set { name: target, value } => {
                name(target);
                value.visit(visit);
            }
            Self::LetElement { .. } | Self::Unused { .. } | Self::Comment { .. } => {}
        }
    }
}

impl Function {
    /// The same with a remark for every parameter that the body does not use.
    #[must_use]
    pub fn with_unused(mut self) -> Self {
        let mut used = std::collections::BTreeSet::new();
        let mut buffers = std::collections::BTreeSet::new();
        for stmt in &self.body {
            stmt.visit(
                &mut |expr| {
                    if let Expr::Name { name } = expr {
                        used.insert(name.clone());
                    }
                },
                &mut |name| {
                    buffers.insert(name.to_owned());
                },
            );
        }
        let unused = self
            .params
            .iter()
            .filter(|param| !used.contains(&param.name) && !buffers.contains(&param.name))
            .map(|param| Stmt::Unused { name: param.name.clone() });
        self.body = unused.chain(std::mem::take(&mut self.body)).collect();
        self
    }

    /// The functions that the body calls, and the arithmetic that targets may need a helper for.
    pub fn visit(&self, visit: &mut dyn FnMut(&Expr)) {
        for stmt in &self.body {
            stmt.visit(visit, &mut |_| {});
        }
    }
}
