//! The normal form: every axis a mixed-radix sum of digits, every storage axis a weighted sum of them.

use alloc::vec::Vec;

use crate::expr::Expr;

/// One digit: `Var::Digit(k)` counts `0..extent` and stands for `digit * weight` of its chain's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digit {
    /// What one step of the digit adds to the chain's value.
    pub weight: i128,
    /// How many values it takes; symbolic only for the most significant digit of a chain.
    pub extent: Expr,
}

/// A run of digits whose weighted sum `m` is a mixed-radix number without gaps, from 0 upwards. It carries one
/// logical axis as `index = sign * m + constant`, or several fused ones (then sign 1, constant 0, and `m` is the
/// row-major index of the axes). Digits may reach beyond the axis: `m` covers at least the axis' whole range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The logical axes carried, outermost first; one unless fused.
    pub axes: Vec<usize>,
    /// `1`, or `-1` for an axis that the layout stores reversed.
    pub sign: i128,
    /// Added to `sign * m`.
    pub constant: i128,
    /// Positions in [`Digits::digits`], most significant first.
    pub digits: Vec<usize>,
}

/// A weighted sum of digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Form {
    /// What is added to the sum.
    pub constant: i128,
    /// `(position in Digits::digits, weight)`, by position, weights not 0.
    pub terms: Vec<(usize, i128)>,
}

/// Targets (index expressions over `Var::Axis`) as weighted sums of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digits {
    /// All digits.
    pub digits: Vec<Digit>,
    /// All chains; every logical axis is carried by exactly one.
    pub chains: Vec<Chain>,
    /// One sum per target, in the targets' order (for a layout: its storage axes).
    pub targets: Vec<Form>,
}
