//! Operators and mathematical functions of scalar expressions.

/// Binary operator of a scalar expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `a + b` of integers or floats.
    Add,
    /// `a - b` of integers or floats.
    Subtract,
    /// `a * b` of integers or floats.
    Multiply,
    /// `a / b` of floats.
    Divide,
    /// `a // b` of integers, rounded towards minus infinity.
    FloorDivide,
    /// `a % b` of integers, with the sign of the divisor.
    Modulo,
    /// `a and b` of booleans.
    And,
    /// `a or b` of booleans.
    Or,
    /// `min(a, b)`; of floats, NaN only if both are NaN.
    Min,
    /// `max(a, b)`; of floats, NaN only if both are NaN.
    Max,
}

/// Predicate of a comparison of two scalar values: `==`, `!=`, `<`, `<=`, `>` or `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum ComparePredicate {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Mathematical function of one number, or of two (`pow`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the variants are their own names")]
pub enum MathFunction {
    Abs,
    Exp,
    Log,
    Sqrt,
    /// Reciprocal square root, `1 / sqrt(x)`.
    Rsqrt,
    Tanh,
    Erf,
    Floor,
    Pow,
}

impl MathFunction {
    /// Name of the function in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abs => "abs",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
            Self::Tanh => "tanh",
            Self::Erf => "erf",
            Self::Floor => "floor",
            Self::Pow => "pow",
        }
    }
}
