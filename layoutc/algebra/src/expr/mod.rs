//! Integer expressions: their nodes, constructors, evaluation and substitution.
//!
//! An [`Expr`] is an immutable tree of 128-bit integers and variables under Python's `+ - * // % & ^`. Every node
//! stores its depth and size, and no constructor builds a tree beyond [`MAX_DEPTH`] or [`MAX_SIZE`], so that
//! traversing, dropping and printing an expression cannot exhaust the stack or memory. Text is handled by
//! [`crate::expr::parse`] and [`crate::expr::print`], rewriting by [`crate::normal_form::simplify`].

pub mod curve;
pub mod functions;
pub mod parse;
pub mod print;
mod token;

use alloc::collections::BTreeSet;
use alloc::sync::Arc;

use thiserror::Error;

use crate::expr::curve::CurveGrid;

/// Maximum depth of an expression, in nodes from the root to a leaf. A constructor returns [`ExprError::TooLarge`] for
/// a deeper expression.
pub const MAX_DEPTH: u32 = 1024;
/// Maximum size of an expression, in nodes. A shared subtree counts once per occurrence. A constructor returns
/// [`ExprError::TooLarge`] for a larger expression.
pub const MAX_SIZE: u32 = 1 << 16;

/// Reason why an expression cannot be built or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ExprError {
    /// The expression would exceed [`MAX_DEPTH`] or [`MAX_SIZE`].
    #[error("the expression exceeds {MAX_SIZE} terms or {MAX_DEPTH} levels")]
    TooLarge,
    /// A value does not fit its integer type, or exceeds another limit of a function: 64 bits for values in manifests,
    /// 128 bits within computations, 62 bits in total for [`functions::morton`].
    #[error("a value in the expression does not fit 64 bits")]
    Overflow,
    /// The divisor of `//` or `%` is zero or negative.
    #[error("a divisor is not positive")]
    Divisor,
    /// A variable has no value in the given assignment, or no known range. Also stands for an argument that does not
    /// fit a layout, such as an order of axes that is no permutation.
    #[error("a variable has no value")]
    Unbound,
}

/// Variable of an expression. Axes are counted from 0, outermost first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Var {
    /// Index along a logical axis of the tensor.
    Axis(u32),
    /// Index along a storage axis, one of the axes that the layout steps produce.
    Storage(u32),
    /// Index along a physical axis, one per group of storage axes: `p0`, `p1`, ….
    Physical(u32),
    /// Digit of the mixed-radix form of axis indices, such as `c // 4` of `c`. In proofs, `Var::Digit(k)` is digit `k`
    /// of [`Digits`](crate::Digits); in a loop nest, it is the index of loop `k`.
    Digit(u32),
    /// Symbol, an integer that is known only at run time.
    Symbol(u32),
}

/// Binary operator. `FloorDiv` and `Mod` round toward minus infinity, as in Python.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinOp {
    /// Sum, `a + b`.
    Add,
    /// Difference, `a - b`.
    Sub,
    /// Product, `a * b`.
    Mul,
    /// Floor quotient `a // b`, for a positive `b`.
    FloorDiv,
    /// Remainder `a % b` for a positive `b`, never negative.
    Mod,
    /// Bitwise and, `a & b`, in two's complement.
    And,
    /// Bitwise exclusive or, `a ^ b`, in two's complement.
    Xor,
    /// Minimum `min(a, b)`. Occurs only in derived expressions such as loop bounds, and is never parsed.
    Min,
    /// Maximum `max(a, b)`. Occurs only in derived expressions, and is never parsed.
    Max,
    /// Position `hilbert(a, b)` of the cell in row `a` and column `b` along the Hilbert curve of a grid, from 0.
    /// Arguments are clamped to the grid, so that evaluation never fails.
    Hilbert(CurveGrid),
    /// Cell at position `a` along the Hilbert curve of a grid, as `row * columns + column`; `b` is always 0 and
    /// ignored. Occurs only in derived expressions. `a` is clamped to the curve, because padding slots evaluate
    /// it, too.
    HilbertCell(CurveGrid),
}

impl BinOp {
    /// Text of the operator in printed expressions: a sign such as `//`, or the name of a function such as `hilbert`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::FloorDiv => "//",
            Self::Mod => "%",
            Self::And => "&",
            Self::Xor => "^",
            Self::Min => "min",
            Self::Max => "max",
            Self::Hilbert(_) => "hilbert",
            Self::HilbertCell(_) => "hilbert_cell",
        }
    }
}

/// Root node of an expression, whose operands are expressions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExprNode {
    /// Integer constant.
    Const(i128),
    /// Variable: an index along an axis, a digit or a symbol.
    Var(Var),
    /// Negation, `-a`.
    Neg(Expr),
    /// Binary operation `a op b`, as the operator, `a` and `b`.
    Bin(BinOp, Expr, Expr),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct ExprData {
    node: ExprNode,
    depth: u32,
    size: u32,
}

/// Integer expression, reference-counted. It is ordered and hashed by structure.
///
/// ```
/// use layoutc_algebra::{BinOp, Error, Expr, Var};
///
/// // Block of 4 that holds the index along axis 0.
/// let block = Expr::binary(BinOp::FloorDiv, &Expr::var(Var::Axis(0)), &Expr::constant(4))?;
/// assert_eq!(block.evaluate(&|_| Some(77))?, 19);
/// // Division rounds toward minus infinity.
/// assert_eq!(block.evaluate(&|_| Some(-1))?, -1);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Expr(Arc<ExprData>);

impl Expr {
    /// Expression of one node, the constant `value`.
    pub fn constant(value: i128) -> Self {
        Self::leaf(ExprNode::Const(value))
    }

    /// Expression of one node, the variable `var`.
    pub fn var(var: Var) -> Self {
        Self::leaf(ExprNode::Var(var))
    }

    /// Expression `a op b`, without folding of constants.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`] beyond [`MAX_DEPTH`] or [`MAX_SIZE`].
    pub fn binary(op: BinOp, a: &Expr, b: &Expr) -> Result<Self, ExprError> {
        let depth = a.0.depth.max(b.0.depth).saturating_add(1);
        let size = a.0.size.saturating_add(b.0.size).saturating_add(1);
        Self::bounded(ExprNode::Bin(op, a.clone(), b.clone()), depth, size)
    }

    /// Expression `-a`, without folding of constants.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`] beyond [`MAX_DEPTH`] or [`MAX_SIZE`].
    pub fn negate(a: &Expr) -> Result<Self, ExprError> {
        Self::bounded(
            ExprNode::Neg(a.clone()),
            a.0.depth.saturating_add(1),
            a.0.size.saturating_add(1),
        )
    }

    fn leaf(node: ExprNode) -> Self {
        Self(Arc::new(ExprData { node, depth: 1, size: 1 }))
    }

    fn bounded(node: ExprNode, depth: u32, size: u32) -> Result<Self, ExprError> {
        if depth > MAX_DEPTH || size > MAX_SIZE {
            return Err(ExprError::TooLarge);
        }
        Ok(Self(Arc::new(ExprData { node, depth, size })))
    }

    /// Root node of the expression.
    pub fn node(&self) -> &ExprNode {
        &self.0.node
    }

    /// Address of the allocation, by which caches identify the expression: equal for clones, and unique among live
    /// expressions.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Number of nodes of the expression. A shared subtree counts once per occurrence.
    pub fn size(&self) -> u32 {
        self.0.size
    }

    /// Value of an expression whose only node is a constant: `Some(3)` for `3`, `None` for `1 + 2`.
    pub fn as_const(&self) -> Option<i128> {
        match self.node() {
            ExprNode::Const(value) => Some(*value),
            ExprNode::Var(_) | ExprNode::Neg(_) | ExprNode::Bin(..) => None,
        }
    }

    /// Variable of an expression whose only node is a variable; `None` for any other expression.
    pub fn as_var(&self) -> Option<Var> {
        match self.node() {
            ExprNode::Var(var) => Some(*var),
            ExprNode::Const(_) | ExprNode::Neg(_) | ExprNode::Bin(..) => None,
        }
    }

    /// Set of the variables that occur in the expression.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut vars = BTreeSet::new();
        self.collect_vars(&mut vars);
        vars
    }

    fn collect_vars(&self, vars: &mut BTreeSet<Var>) {
        match self.node() {
            ExprNode::Const(_) => {}
            ExprNode::Var(var) => {
                vars.insert(*var);
            }
            ExprNode::Neg(a) => a.collect_vars(vars),
            ExprNode::Bin(_, a, b) => {
                a.collect_vars(vars);
                b.collect_vars(vars);
            }
        }
    }

    /// True if a variable that satisfies `test` occurs in the expression.
    pub fn mentions(&self, test: &dyn Fn(Var) -> bool) -> bool {
        match self.node() {
            ExprNode::Const(_) => false,
            ExprNode::Var(var) => test(*var),
            ExprNode::Neg(a) => a.mentions(test),
            ExprNode::Bin(_, a, b) => a.mentions(test) || b.mentions(test),
        }
    }

    /// Expression with every variable replaced by `value(var)`; a variable is kept where `value(var)` is `None`.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub fn substitute(&self, value: &dyn Fn(Var) -> Option<Expr>) -> Result<Self, ExprError> {
        match self.node() {
            ExprNode::Const(_) => Ok(self.clone()),
            ExprNode::Var(var) => Ok(value(*var).unwrap_or_else(|| self.clone())),
            ExprNode::Neg(a) => Self::negate(&a.substitute(value)?),
            ExprNode::Bin(op, a, b) => {
                Self::binary(*op, &a.substitute(value)?, &b.substitute(value)?)
            }
        }
    }

    /// Value of the expression under an assignment of values to the variables, in checked 128-bit arithmetic with
    /// floor division. `7 // 2` is 3, `-7 // 2` is -4, and `-7 % 2` is 1.
    ///
    /// # Errors
    /// [`ExprError::Unbound`], [`ExprError::Overflow`], [`ExprError::Divisor`].
    pub fn evaluate(&self, value: &dyn Fn(Var) -> Option<i128>) -> Result<i128, ExprError> {
        match self.node() {
            ExprNode::Const(c) => Ok(*c),
            ExprNode::Var(var) => value(*var).ok_or(ExprError::Unbound),
            ExprNode::Neg(a) => a.evaluate(value)?.checked_neg().ok_or(ExprError::Overflow),
            ExprNode::Bin(op, a, b) => apply(*op, a.evaluate(value)?, b.evaluate(value)?),
        }
    }
}

/// Greatest common divisor, which is never negative; `gcd(0, n) = |n|`. The result is `i128::MAX` where it would be
/// 2^127, which does not fit.
pub fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(i128::MAX)
}

/// Value of `a op b` for integers, in 128-bit checked arithmetic with floor division.
///
/// # Errors
/// [`ExprError::Overflow`]; [`ExprError::Divisor`] for a divisor below 1.
pub fn apply(op: BinOp, a: i128, b: i128) -> Result<i128, ExprError> {
    let value = match op {
        BinOp::Add => a.checked_add(b),
        BinOp::Sub => a.checked_sub(b),
        BinOp::Mul => a.checked_mul(b),
        BinOp::FloorDiv | BinOp::Mod if b <= 0 => return Err(ExprError::Divisor),
        // For a positive divisor, Euclidean division is floor division.
        BinOp::FloorDiv => a.checked_div_euclid(b),
        BinOp::Mod => a.checked_rem_euclid(b),
        BinOp::And => Some(a & b),
        BinOp::Xor => Some(a ^ b),
        BinOp::Min => Some(a.min(b)),
        BinOp::Max => Some(a.max(b)),
        BinOp::Hilbert(grid) => Some(grid.distance(a, b)),
        BinOp::HilbertCell(grid) => Some(grid.cell(a)),
    };
    value.ok_or(ExprError::Overflow)
}

/// Operator of a comparison `left op right` ([`ExprComparison`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CompareOp {
    /// Equality, `==`.
    Eq,
    /// Less than, `<`.
    Lt,
    /// Greater than or equal, `>=`.
    Ge,
}

/// Comparison `left op right` of two expressions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprComparison {
    /// Left operand of the comparison.
    pub left: Expr,
    /// Operator of the comparison.
    pub op: CompareOp,
    /// Right operand of the comparison.
    pub right: Expr,
}

impl ExprComparison {
    /// Truth value of the comparison under an assignment of values to the variables.
    ///
    /// # Errors
    /// Errors of [`Expr::evaluate`].
    pub fn evaluate(&self, value: &dyn Fn(Var) -> Option<i128>) -> Result<bool, ExprError> {
        let (left, right) = (self.left.evaluate(value)?, self.right.evaluate(value)?);
        Ok(match self.op {
            CompareOp::Eq => left == right,
            CompareOp::Lt => left < right,
            CompareOp::Ge => left >= right,
        })
    }

    /// Expressions that are all non-negative exactly where the comparison holds: `b - a - 1` for `a < b`, `a - b`
    /// for `a >= b`, and both `a - b` and `b - a` for `a == b`.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub fn margins(&self) -> Result<alloc::vec::Vec<Expr>, ExprError> {
        let less = |a: &Expr, b: &Expr| Expr::binary(BinOp::Sub, a, b);
        Ok(match self.op {
            CompareOp::Ge => alloc::vec![less(&self.left, &self.right)?],
            CompareOp::Lt => {
                alloc::vec![less(&less(&self.right, &self.left)?, &Expr::constant(1))?]
            }
            CompareOp::Eq => {
                alloc::vec![less(&self.left, &self.right)?, less(&self.right, &self.left)?]
            }
        })
    }
}

/// Conjunction of comparisons, which is true if there are none.
///
/// ```
/// use layoutc_algebra::{CompareOp, Error, Expr, ExprComparison, Predicate, Var};
///
/// // `i < 10`
/// let (left, right) = (Expr::var(Var::Axis(0)), Expr::constant(10));
/// let below = Predicate { all: vec![ExprComparison { left, op: CompareOp::Lt, right }] };
/// assert!(below.evaluate(&|_| Some(9))?);
/// assert!(!below.evaluate(&|_| Some(10))?);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Predicate {
    /// Comparisons that must all hold.
    pub all: alloc::vec::Vec<ExprComparison>,
}

impl Predicate {
    /// Truth value of the predicate under an assignment of values to the variables.
    ///
    /// # Errors
    /// Errors of [`Expr::evaluate`].
    pub fn evaluate(&self, value: &dyn Fn(Var) -> Option<i128>) -> Result<bool, ExprError> {
        for comparison in &self.all {
            if !comparison.evaluate(value)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Predicate with every variable replaced by `value(var)`; a variable is kept where `value(var)` is `None`.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub fn substitute(&self, value: &dyn Fn(Var) -> Option<Expr>) -> Result<Self, ExprError> {
        let replaced = |comparison: &ExprComparison| {
            Ok(ExprComparison {
                left: comparison.left.substitute(value)?,
                op: comparison.op,
                right: comparison.right.substitute(value)?,
            })
        };
        Ok(Self { all: self.all.iter().map(replaced).collect::<Result<_, ExprError>>()? })
    }

    /// Expressions that are all non-negative exactly where the predicate holds: the margins of all comparisons, in
    /// order.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub fn margins(&self) -> Result<alloc::vec::Vec<Expr>, ExprError> {
        let mut margins = alloc::vec::Vec::new();
        for comparison in &self.all {
            margins.extend(comparison.margins()?);
        }
        Ok(margins)
    }
}
