//! Parts of arithmetic as text, each with how tightly it binds: the one place that sets parentheses. A part gets into
//! another by the functions here alone, so that no composition loses any.

/// How tightly the text of a value binds; larger is tighter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tight {
    Select,
    Or,
    And,
    Equality,
    Relation,
    Sum,
    Product,
    Unary,
    Primary,
}

/// An operator between two operands: how tightly it binds, and what its operands must bind like at least.
#[derive(Debug, Clone, Copy)]
pub(super) struct Infix {
    sign: &'static str,
    tight: Tight,
    left: Tight,
    right: Tight,
}

impl Infix {
    /// `||`, in parentheses where `&&` is an operand: compilers warn else.
    pub(super) const fn or(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Or, left: Tight::Equality, right: Tight::Equality }
    }

    /// `&&`
    pub(super) const fn and(sign: &'static str) -> Self {
        Self { sign, tight: Tight::And, left: Tight::Equality, right: Tight::Equality }
    }

    /// `==`, `!=`
    pub(super) const fn equality(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Equality, left: Tight::Sum, right: Tight::Sum }
    }

    /// `<`, `<=`
    pub(super) const fn relation(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Relation, left: Tight::Sum, right: Tight::Sum }
    }

    /// `+`, `-`
    pub(super) const fn sum(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Sum, left: Tight::Sum, right: Tight::Product }
    }

    /// `*`, `/`, `%`
    pub(super) const fn product(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Product, left: Tight::Product, right: Tight::Unary }
    }
}

/// A text and how tightly it binds.
#[derive(Debug)]
pub(super) struct Piece {
    text: String,
    tight: Tight,
}

impl Piece {
    /// A name, a number, something in brackets.
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Self { text: text.into(), tight: Tight::Primary }
    }

    /// A literal: one with a sign or a cast binds like those.
    pub(super) fn literal(text: String) -> Self {
        let tight = if text.starts_with(['-', '(']) { Tight::Unary } else { Tight::Primary };
        Self { text, tight }
    }

    /// `function(a, b)`
    pub(super) fn call(function: &str, args: impl IntoIterator<Item = Piece>) -> Self {
        let args: Vec<String> = args.into_iter().map(|arg| arg.text).collect();
        Self::primary([function, "(", &args.join(", "), ")"].concat())
    }

    /// `-a`, `!a`
    pub(super) fn prefix(sign: &str, a: Piece) -> Self {
        Self { text: [sign, &a.held(Tight::Primary)].concat(), tight: Tight::Unary }
    }

    /// `not a`, which binds like `and`.
    pub(super) fn not(a: Piece) -> Self {
        Self { text: ["not ", &a.held(Tight::Primary)].concat(), tight: Tight::And }
    }

    /// `(float)a`
    pub(super) fn cast(ty: &str, a: Piece) -> Self {
        Self { text: ["(", ty, ")", &a.held(Tight::Unary)].concat(), tight: Tight::Unary }
    }

    /// `a + b`
    pub(super) fn infix(a: Piece, operator: Infix, b: Piece) -> Self {
        let (a, b) = (a.held(operator.left), b.held(operator.right));
        Self { text: [&a, " ", operator.sign, " ", &b].concat(), tight: operator.tight }
    }

    /// `condition ? then : otherwise`
    pub(super) fn choice(condition: Piece, then: Piece, otherwise: Piece) -> Self {
        let [condition, then, otherwise] =
            [condition, then, otherwise].map(|part| part.held(Tight::Or));
        Self { text: [&condition, " ? ", &then, " : ", &otherwise].concat(), tight: Tight::Select }
    }

    /// The text where nothing stands beside it.
    pub(super) fn alone(self) -> String {
        self.text
    }

    /// The text as an operand of something that binds like `least`.
    fn held(self, least: Tight) -> String {
        if self.tight < least { ["(", &self.text, ")"].concat() } else { self.text }
    }
}
