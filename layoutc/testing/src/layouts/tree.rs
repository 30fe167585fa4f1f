//! Index expressions of random layouts, with their values and intervals.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::hilbert::place;

/// Names of the symbols of a layout: symbol `k` is `NAMES[k]`.
pub const NAMES: [&str; 3] = ["n", "m", "q"];

/// Binary operator of index expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Xor,
    /// Position of a cell on the Hilbert curve through a box of `rows` by `columns` cells. The operands are the row and
    /// the column of the cell.
    Hilbert {
        rows: i64,
        columns: i64,
    },
}

impl Op {
    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "//",
            Self::Mod => "%",
            Self::And => "&",
            Self::Xor => "^",
            Self::Hilbert { .. } => ",",
        }
    }

    /// Precedence of the operator, as in Python: a larger number binds tighter.
    fn level(self) -> u8 {
        match self {
            Self::Xor => 1,
            Self::And => 2,
            Self::Add | Self::Sub => 3,
            Self::Mul | Self::Div | Self::Mod => 4,
            Self::Hilbert { .. } => 7,
        }
    }
}

/// Index expression over the axes before a step. An axis is identified by its position, 0 for the outermost one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tree {
    Int(i64),
    Axis(usize),
    /// Symbol, identified by its position in [`NAMES`]; only in [`symbolic`](super::symbolic) layouts.
    Symbol(usize),
    Neg(Box<Tree>),
    Bin(Op, Box<Tree>, Box<Tree>),
}

pub fn bin(op: Op, a: Tree, b: Tree) -> Tree {
    Tree::Bin(op, Box::new(a), Box::new(b))
}

impl Tree {
    pub fn has_axes(&self) -> bool {
        match self {
            Self::Int(_) | Self::Symbol(_) => false,
            Self::Axis(_) => true,
            Self::Neg(a) => a.has_axes(),
            Self::Bin(_, a, b) => a.has_axes() || b.has_axes(),
        }
    }

    pub fn has_bits(&self) -> bool {
        match self {
            Self::Int(_) | Self::Axis(_) | Self::Symbol(_) => false,
            Self::Neg(a) => a.has_bits(),
            Self::Bin(op, a, b) => matches!(op, Op::And | Op::Xor) || a.has_bits() || b.has_bits(),
        }
    }

    /// Value of the expression for `axes`, an index with one number per axis. Quotients round down, as in Python.
    /// Panics if the expression contains a symbol.
    pub fn value(&self, axes: &[i64]) -> i64 {
        match self {
            Self::Int(n) => *n,
            Self::Axis(k) => axes[*k],
            Self::Symbol(_) => panic!("a symbol has a value first"),
            Self::Neg(a) => -a.value(axes),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.value(axes), b.value(axes));
                match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a * b,
                    Op::Div => floor_div(a, b),
                    Op::Mod => a - floor_div(a, b) * b,
                    Op::And => a & b,
                    Op::Xor => a ^ b,
                    Op::Hilbert { rows, columns } => place(*rows, *columns, (a, b)),
                }
            }
        }
    }

    /// Interval (least, greatest value) of the expression as written, for axes with the extents `extents`. Each operand
    /// is bounded separately, and `e % k` spans `0..k`. `None` if the language defines no interval: for symbols, and
    /// for bit operations on values that may be negative.
    pub fn interval(&self, extents: &[i64]) -> Option<(i64, i64)> {
        match self {
            Self::Int(n) => Some((*n, *n)),
            Self::Axis(k) => Some((0, extents[*k] - 1)),
            Self::Symbol(_) => None,
            Self::Neg(a) => a.interval(extents).map(|(low, high)| (-high, -low)),
            Self::Bin(op, a, b) => {
                let (a, b) = (a.interval(extents)?, b.interval(extents)?);
                Some(match op {
                    Op::Add => (a.0 + b.0, a.1 + b.1),
                    Op::Sub => (a.0 - b.1, a.1 - b.0),
                    Op::Mul => {
                        let (factor, range) = if a.0 == a.1 { (a.0, b) } else { (b.0, a) };
                        let ends = (range.0 * factor, range.1 * factor);
                        if factor < 0 { (ends.1, ends.0) } else { ends }
                    }
                    Op::Div => (floor_div(a.0, b.0), floor_div(a.1, b.0)),
                    Op::Mod => (0, b.0 - 1),
                    Op::And if a.0 >= 0 && b.0 >= 0 && a.1 >= 0 && b.1 >= 0 => (0, a.1.min(b.1)),
                    Op::Xor if a.0 >= 0 && b.0 >= 0 && a.1 >= 0 && b.1 >= 0 => {
                        let bits = 64 - a.1.max(b.1).leading_zeros();
                        (0, (1_i64 << bits) - 1)
                    }
                    Op::And | Op::Xor => return None,
                    Op::Hilbert { rows, columns } => (0, rows * columns - 1),
                })
            }
        }
    }

    fn subtracts(&self) -> bool {
        match self {
            Self::Int(n) => *n < 0,
            // A remainder spans its block, regardless of its operand.
            Self::Axis(_) | Self::Symbol(_) | Self::Bin(Op::Mod, ..) => false,
            Self::Neg(_) | Self::Bin(Op::Sub, ..) => true,
            Self::Bin(_, a, b) => a.subtracts() || b.subtracts(),
        }
    }

    fn axes(&self) -> BTreeSet<usize> {
        match self {
            Self::Int(_) | Self::Symbol(_) => BTreeSet::new(),
            Self::Axis(k) => BTreeSet::from([*k]),
            Self::Neg(a) => a.axes(),
            Self::Bin(_, a, b) => &a.axes() | &b.axes(),
        }
    }

    /// Interval (least, greatest value) of the expression as an index, for axes with the extents `extents`: that of
    /// [`Tree::interval`], except that terms of a sum which share axes with a subtracted term are bounded jointly.
    /// `open` is `Open::Some` if the first extent is symbolic. `None` if the language defines no interval, or if the
    /// interval depends on the range of the symbolic extent.
    pub fn index_interval(&self, extents: &[i64], open: Open) -> Option<(i64, i64)> {
        let written = self.interval(extents)?;
        if !self.subtracts() {
            return Some(written);
        }
        let of = |tree: &Self| tree.index_interval(extents, open);
        match self {
            Self::Int(_)
            | Self::Axis(_)
            | Self::Symbol(_)
            | Self::Bin(Op::Mod | Op::Hilbert { .. }, ..) => Some(written),
            Self::Neg(a) => of(a).map(|(low, high)| (-high, -low)),
            Self::Bin(Op::Add | Op::Sub, ..) => {
                let mut terms = Vec::new();
                self.put_terms(1, &mut terms);
                let (mut sum, mut left) = ((0, 0), terms);
                while let Some(first) = left.pop() {
                    let (mut group, mut axes) = (vec![first.clone()], first.1.axes());
                    while let Some(at) = left.iter().position(|t| !t.1.axes().is_disjoint(&axes)) {
                        let term = left.remove(at);
                        axes.extend(term.1.axes());
                        group.push(term);
                    }
                    let own = together(&group, &axes, extents, open)?;
                    sum = (sum.0 + own.0, sum.1 + own.1);
                }
                Some(sum)
            }
            Self::Bin(op, a, b) => {
                let (a, b) = (of(a)?, of(b)?);
                let sides = |low: i64, high: i64| {
                    let side = |n| Box::new(Self::Int(n));
                    Self::Bin(*op, side(low), side(high)).interval(&[])
                };
                match op {
                    Op::And => Some((0, a.1.min(b.1))),
                    Op::Xor => Some((0, sides(a.1, b.1)?.1)),
                    // A product or quotient with a constant operand is monotonic: its ends follow from the ends of the
                    // operands.
                    _ => {
                        let ends = [sides(a.0, b.0)?, sides(a.1, b.1)?].map(|(value, _)| value);
                        Some((ends[0].min(ends[1]), ends[0].max(ends[1])))
                    }
                }
            }
        }
    }

    fn put_terms(&self, sign: i64, terms: &mut Vec<(i64, Tree)>) {
        match self {
            Self::Neg(a) => a.put_terms(-sign, terms),
            Self::Bin(Op::Add, a, b) => {
                a.put_terms(sign, terms);
                b.put_terms(sign, terms);
            }
            Self::Bin(Op::Sub, a, b) => {
                a.put_terms(sign, terms);
                b.put_terms(-sign, terms);
            }
            _ => terms.push((sign, self.clone())),
        }
    }

    /// Text of the expression, where `names` are the names of the axes. It has all parentheses, or only the necessary
    /// ones.
    pub fn text(&self, names: &[String], all_parentheses: bool) -> String {
        let mut text = String::new();
        self.write(&mut text, names, all_parentheses, 0);
        text
    }

    fn write(&self, text: &mut String, names: &[String], all: bool, context: u8) {
        match self {
            Self::Int(n) if *n < 0 && context > 0 => write!(text, "({n})").unwrap(),
            Self::Int(n) => write!(text, "{n}").unwrap(),
            Self::Axis(k) => text.push_str(&names[*k]),
            Self::Symbol(k) => text.push_str(NAMES[*k]),
            Self::Neg(a) => {
                let wrap = all || context > 4;
                text.push_str(if wrap { "(-" } else { "-" });
                a.write(text, names, all, 6);
                text.push_str(if wrap { ")" } else { "" });
            }
            Self::Bin(Op::Hilbert { rows, columns }, a, b) => {
                text.push_str("hilbert(");
                a.write(text, names, all, 0);
                text.push_str(", ");
                b.write(text, names, all, 0);
                write!(text, ", {rows}, {columns})").unwrap();
            }
            Self::Bin(op, a, b) => {
                let wrap = all || op.level() < context;
                text.push_str(if wrap { "(" } else { "" });
                a.write(text, names, all, op.level());
                write!(text, " {} ", op.sign()).unwrap();
                b.write(text, names, all, op.level() + 1);
                text.push_str(if wrap { ")" } else { "" });
            }
        }
    }
}

/// Presence of a symbolic extent in a layout: `Some` if the extent of the first axis is the symbol `batch`. A
/// [`super::Case`] contains one value of that symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    None,
    Some,
}

/// Joint interval (least, greatest value) of `group`, terms of a sum as pairs of sign (1 or -1) and expression, over
/// the axes at the positions `axes`. It is the sum of the intervals of the terms if no term is subtracted, if an axis
/// is empty, or for a single term if the first extent is symbolic (`open`); else it is found by enumeration of the
/// axes. `None` if several terms need enumeration and the first extent is symbolic, or if a term has no interval.
fn together(
    group: &[(i64, Tree)],
    axes: &BTreeSet<usize>,
    extents: &[i64],
    open: Open,
) -> Option<(i64, i64)> {
    let subtracts = group.iter().any(|(sign, term)| *sign < 0 || term.subtracts());
    let is_empty = axes.iter().any(|axis| extents[*axis] == 0);
    if !subtracts || is_empty || (open == Open::Some && group.len() == 1) {
        return group.iter().try_fold((0, 0), |sum: (i64, i64), (sign, term)| {
            let own = term.index_interval(extents, open)?;
            let own = if *sign < 0 { (-own.1, -own.0) } else { own };
            Some((sum.0 + own.0, sum.1 + own.1))
        });
    }
    if open == Open::Some {
        return None;
    }
    let mut points = vec![vec![0; extents.len()]];
    for axis in axes {
        points = points
            .into_iter()
            .flat_map(|point| {
                (0..extents[*axis]).map(move |i| {
                    let mut point = point.clone();
                    point[*axis] = i;
                    point
                })
            })
            .collect();
    }
    let sum = |point: &Vec<i64>| group.iter().map(|(sign, term)| sign * term.value(point)).sum();
    let values: Vec<i64> = points.iter().map(sum).collect();
    Some((*values.iter().min()?, *values.iter().max()?))
}

pub fn floor_div(a: i64, b: i64) -> i64 {
    let q = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { q - 1 } else { q }
}

pub(super) fn ceil_div(a: i64, b: i64) -> i64 {
    -floor_div(-a, b)
}
