//! Fragments of arithmetic as text with their precedence. Fragments are combined only by the functions of this module,
//! which add all parentheses.

/// Precedence of a fragment, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tight {
    Select,
    Or,
    And,
    Equality,
    Relation,
    Sum,
    Product,
    As,
    Unary,
    Primary,
}

/// Infix operator: its text, its precedence, and the least precedence that its left and its right operand have without
/// parentheses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Infix {
    sign: &'static str,
    tight: Tight,
    left: Tight,
    right: Tight,
}

impl Infix {
    /// Operator `||` (in Python `or`). Operands with `||` or `&&` are in parentheses, because compilers warn otherwise.
    pub(super) const fn or(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Or, left: Tight::Equality, right: Tight::Equality }
    }

    /// Operator `&&` (in Python `and`). Operands with `||` or `&&` are in parentheses.
    pub(super) const fn and(sign: &'static str) -> Self {
        Self { sign, tight: Tight::And, left: Tight::Equality, right: Tight::Equality }
    }

    /// Operator `==` or `!=`, in Python any comparison. Operands with comparisons are in parentheses.
    pub(super) const fn equality(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Equality, left: Tight::Sum, right: Tight::Sum }
    }

    /// Operator `<`, `<=` or `>`. Operands with comparisons are in parentheses.
    pub(super) const fn relation(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Relation, left: Tight::Sum, right: Tight::Sum }
    }

    /// Rust's operators `<` and `<=`: a cast before them is in parentheses.
    pub(super) const fn rust_relation(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Relation, left: Tight::Unary, right: Tight::Sum }
    }

    /// Operator `+` or `-`, which associates to the left.
    pub(super) const fn sum(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Sum, left: Tight::Sum, right: Tight::Product }
    }

    /// Operator `*`, `/` or `%`, which associates to the left.
    pub(super) const fn product(sign: &'static str) -> Self {
        Self { sign, tight: Tight::Product, left: Tight::Product, right: Tight::Unary }
    }
}

/// Fragment of text with the precedence of its outermost operator.
#[derive(Debug)]
pub(super) struct Piece {
    text: String,
    tight: Tight,
}

impl Piece {
    /// Fragment that needs no parentheses as an operand: a name, a number without a sign, a subscript `a[i]`, a call
    /// `f(a)`, or text in parentheses.
    pub(super) fn primary(text: impl Into<String>) -> Self {
        Self { text: text.into(), tight: Tight::Primary }
    }

    /// Fragment of a literal; a literal with a sign or a cast has the precedence of unary operators.
    pub(super) fn literal(text: String) -> Self {
        let tight = if text.starts_with(['-', '(']) { Tight::Unary } else { Tight::Primary };
        Self { text, tight }
    }

    /// Call `function(a, b)`.
    pub(super) fn call(function: &str, args: impl IntoIterator<Item = Piece>) -> Self {
        let args: Vec<String> = args.into_iter().map(|arg| arg.text).collect();
        Self::primary([function, "(", &args.join(", "), ")"].concat())
    }

    /// Prefix operator: `-a`, `!a`.
    pub(super) fn prefix(sign: &str, a: Piece) -> Self {
        Self { text: [sign, &a.held(Tight::Primary)].concat(), tight: Tight::Unary }
    }

    /// Negation `not a`, with the precedence of `and`.
    pub(super) fn not(a: Piece) -> Self {
        Self { text: ["not ", &a.held(Tight::Primary)].concat(), tight: Tight::And }
    }

    /// Cast `(float)a`.
    pub(super) fn cast(ty: &str, a: Piece) -> Self {
        Self { text: ["(", ty, ")", &a.held(Tight::Unary)].concat(), tight: Tight::Unary }
    }

    /// Fragment that needs parentheses as an operand of any operator.
    pub(super) fn lowest(text: String) -> Self {
        Self { text, tight: Tight::Select }
    }

    /// Rust's cast `a as f32`.
    pub(super) fn cast_as(a: Piece, ty: &str) -> Self {
        Self { text: [&a.held(Tight::As), " as ", ty].concat(), tight: Tight::As }
    }

    /// Infix operator: `a + b`.
    pub(super) fn infix(a: Piece, operator: Infix, b: Piece) -> Self {
        let (a, b) = (a.held(operator.left), b.held(operator.right));
        Self { text: [&a, " ", operator.sign, " ", &b].concat(), tight: operator.tight }
    }

    /// Selection `condition ? then : otherwise`.
    pub(super) fn choice(condition: Piece, then: Piece, otherwise: Piece) -> Self {
        let [condition, then, otherwise] =
            [condition, then, otherwise].map(|part| part.held(Tight::Or));
        Self { text: [&condition, " ? ", &then, " : ", &otherwise].concat(), tight: Tight::Select }
    }

    /// Text without surrounding parentheses.
    pub(super) fn alone(self) -> String {
        self.text
    }

    /// Text as an operand, in parentheses if its precedence is lower than `least`.
    fn held(self, least: Tight) -> String {
        if self.tight < least { ["(", &self.text, ")"].concat() } else { self.text }
    }
}
