//! Index expressions in a form for fast evaluation: operations on the values of many consecutive indices at a time.
//!
//! Symbols are constants here. Arithmetic wraps: a layout is proven to stay within 64 bits, and every access is
//! bounds-checked.

use layoutc_algebra::expr::curve::CurveGrid;
use layoutc_algebra::expr::{BinOp, Expr, ExprNode, Var};

/// Number of consecutive indices that [`Program::lanes`] evaluates per call.
pub(super) const LANES: usize = 64;

/// Operation on two integers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binary {
    Add,
    Sub,
    Mul,
    FloorDiv,
    FloorMod,
    ShiftRight,
    And,
    Xor,
    Min,
    Max,
    /// Position of cell `(a, b)`, row and column, along the Hilbert curve of a grid.
    Distance(CurveGrid),
}

impl Binary {
    /// Operation of an operator; `None` if no map of a layout contains it.
    fn of(op: BinOp) -> Option<Self> {
        Some(match op {
            BinOp::Add => Self::Add,
            BinOp::Sub => Self::Sub,
            BinOp::Mul => Self::Mul,
            BinOp::FloorDiv => Self::FloorDiv,
            BinOp::Mod => Self::FloorMod,
            BinOp::And => Self::And,
            BinOp::Xor => Self::Xor,
            BinOp::Min => Self::Min,
            BinOp::Max => Self::Max,
            BinOp::Hilbert(grid) => Self::Distance(grid),
            BinOp::HilbertCell(_) => return None,
        })
    }

    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Add => a.wrapping_add(b),
            Self::Sub => a.wrapping_sub(b),
            Self::Mul => a.wrapping_mul(b),
            Self::FloorDiv => floor_div(a, b),
            Self::FloorMod => a.wrapping_sub(floor_div(a, b).wrapping_mul(b)),
            Self::ShiftRight => a >> (b & 63),
            Self::And => a & b,
            Self::Xor => a ^ b,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
            Self::Distance(grid) => {
                let distance = grid.distance(i128::from(a), i128::from(b));
                i64::try_from(distance).unwrap_or(i64::MAX)
            }
        }
    }

    /// Applies the operation in every lane. The operation is matched once, outside the loop over the lanes.
    fn lanes(self, a: &[i64; LANES], b: &[i64; LANES], out: &mut [i64; LANES]) {
        let mut each = |apply: fn(i64, i64) -> i64| {
            for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                *out = apply(*a, *b);
            }
        };
        match self {
            Self::Add => each(i64::wrapping_add),
            Self::Sub => each(i64::wrapping_sub),
            Self::Mul => each(i64::wrapping_mul),
            Self::ShiftRight => each(|a, b| a >> (b & 63)),
            Self::And => each(|a, b| a & b),
            Self::Xor => each(|a, b| a ^ b),
            _ => {
                for (out, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                    *out = self.apply(*a, *b);
                }
            }
        }
    }
}

/// Floor division for positive divisors; 0 for divisor 0.
fn floor_div(a: i64, b: i64) -> i64 {
    // Most operands are small, and a 32-bit division takes a third of the time of a 64-bit one.
    if let (Ok(a), Ok(b)) = (u32::try_from(a), u32::try_from(b)) {
        return i64::from(a.checked_div(b).unwrap_or(0));
    }
    // For positive divisors, Euclidean division rounds toward minus infinity.
    a.checked_div_euclid(b).unwrap_or(0)
}

/// Operation of a [`Program`]. Operands are positions of earlier operations.
#[derive(Debug, Clone, Copy)]
enum Op {
    Constant(i64),
    /// Index along an axis.
    Axis(usize),
    Binary(Binary, usize, usize),
}

/// Expression as a sequence of operations. The result of the last one is the value.
#[derive(Debug, Clone)]
pub(super) struct Program {
    ops: Vec<Op>,
}

/// Scratch buffer for the results of the operations of a program, one list of lanes for each.
pub(super) type Scratch = Vec<[i64; LANES]>;

impl Program {
    /// Program of `expr` over the indices along the axes, whose symbols have the values `symbol(k)`. `None` if a symbol
    /// has no value, if a constant exceeds 64 bits, or for an operation that no map of a layout contains.
    pub(super) fn of(expr: &Expr, symbol: &dyn Fn(u32) -> Option<i64>) -> Option<Self> {
        let mut program = Self { ops: Vec::new() };
        program.push(expr, symbol)?;
        Some(program)
    }

    /// Appends the operations of `expr`; returns the position of the last one, which has the value.
    fn push(&mut self, expr: &Expr, symbol: &dyn Fn(u32) -> Option<i64>) -> Option<usize> {
        let op = match expr.node() {
            ExprNode::Const(value) => Op::Constant(i64::try_from(*value).ok()?),
            ExprNode::Var(Var::Symbol(k)) => Op::Constant(symbol(*k)?),
            ExprNode::Var(Var::Axis(k)) => Op::Axis(usize::try_from(*k).ok()?),
            ExprNode::Var(_) => return None,
            ExprNode::Neg(a) => {
                let a = self.push(a, symbol)?;
                self.ops.push(Op::Constant(-1));
                self.binary(Binary::Mul, a, self.ops.len() - 1)
            }
            ExprNode::Bin(op, a, b) => {
                let (a, b) = (self.push(a, symbol)?, self.push(b, symbol)?);
                self.binary(Binary::of(*op)?, a, b)
            }
        };
        self.ops.push(op);
        Some(self.ops.len() - 1)
    }

    /// Operation on the values of two operations: a constant if both are, a shift or a mask for a division or remainder
    /// by a power of two.
    fn binary(&mut self, op: Binary, a: usize, b: usize) -> Op {
        let constant = |k: usize| match self.ops.get(k) {
            Some(Op::Constant(value)) => Some(*value),
            _ => None,
        };
        let power = constant(b).filter(|b| *b > 0 && b.count_ones() == 1);
        let (op, operand) = match (op, constant(a), constant(b), power) {
            (op, Some(a), Some(b), _) => return Op::Constant(op.apply(a, b)),
            (Binary::FloorDiv, .., Some(power)) => {
                (Binary::ShiftRight, i64::from(power.trailing_zeros()))
            }
            (Binary::FloorMod, .., Some(power)) => (Binary::And, power - 1),
            _ => return Op::Binary(op, a, b),
        };
        self.ops.push(Op::Constant(operand));
        Op::Binary(op, a, self.ops.len() - 1)
    }

    /// Values for [`LANES`] consecutive indices along `axis`: lane `k` has the index `indices[axis] + k`.
    pub(super) fn lanes(&self, indices: &[i64], axis: usize, room: &mut Scratch) -> [i64; LANES] {
        room.resize(self.ops.len().max(room.len()), [0; LANES]);
        for (k, op) in self.ops.iter().enumerate() {
            let (done, rest) = room.split_at_mut(k);
            let Some(out) = rest.first_mut() else { continue };
            let of = |k: usize| done.get(k).unwrap_or(&[0; LANES]);
            match *op {
                Op::Constant(value) => out.fill(value),
                Op::Axis(own) => {
                    let first = indices.get(own).copied().unwrap_or(0);
                    out.fill(first);
                    if own == axis {
                        (0..).zip(out).for_each(|(lane, out)| *out += lane);
                    }
                }
                Op::Binary(op, a, b) => op.lanes(of(a), of(b), out),
            }
        }
        let last = self.ops.len().checked_sub(1).and_then(|last| room.get(last));
        last.copied().unwrap_or([0; LANES])
    }
}
