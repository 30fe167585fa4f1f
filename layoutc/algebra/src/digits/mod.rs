//! The normal form: every axis a mixed-radix sum of digits, every storage axis a weighted sum of them.
//!
//! It is found by refinement. Every axis starts as one digit; a quotient or remainder that would cut through a digit
//! asks for a cut there, one that is taken of `x + 5` asks for `x` to be counted from 5, a falling index for `x` to be
//! counted backwards, and one taken across two axes for those to be fused. With that the reading starts again, until
//! every target is a plain weighted sum or nothing new can be asked for. What no cut makes plain becomes a digit of
//! its own: the XOR of fields of bits, and the quotient and the remainder of a sum (see [`DerivedDigit`]). A number on the way
//! that is divided in several ways, as `(i + j) % 7`, is a digit that is cut up in its turn.

mod bounds;
mod derive;
mod divide;
mod read;
mod refine;
mod shared_dividends;

use alloc::vec::Vec;

use crate::curve::CurveGrid;
use crate::expr::{Expr, ExprError};
use crate::simplify::Facts;

pub(crate) use derive::modulo;
use read::DigitReader;
pub(crate) use read::sum;
use refine::{ChainPlan, refine};
use shared_dividends::SharedDividends;

/// One digit: `Var::Digit(k)` counts `0..extent` and stands for `digit * weight` of its chain's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digit {
    /// What one step of the digit adds to the chain's value.
    pub weight: i128,
    /// How many values it takes; symbolic only for the most significant digit of a chain.
    pub extent: Expr,
}

impl Digit {
    /// Whether the digit is always 0: one value at most, whatever the symbols are.
    pub(crate) fn is_single(&self) -> bool {
        self.extent.as_const().is_some_and(|extent| extent <= 1)
    }
}

/// A run of digits whose weighted sum `m` is a mixed-radix number without gaps, from 0 upwards. It carries one
/// logical axis as `index = sign * m + constant`, or several fused ones (then sign 1, constant 0, and `m` is the
/// row-major index of the axes). Digits may reach beyond the axis: `m` covers at least the axis' whole range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The logical axes carried, outermost first; one unless fused; none for a digit cut up.
    pub axes: Vec<usize>,
    /// The digit that this chain cuts up: one that is no multiple of the cut, `x % 3 // 2`, or a number made of others.
    /// A digit that is cut up never exceeds its own extent, whatever the sum of its parts could reach.
    pub of_digit: Option<usize>,
    /// `1`, or `-1` for an axis that the layout stores reversed.
    pub sign: i128,
    /// Added to `sign * m`.
    pub constant: i128,
    /// Positions in [`Digits::digits`], most significant first.
    pub digits: Vec<usize>,
}

/// A weighted sum of digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinearForm {
    /// What is added to the sum.
    pub constant: i128,
    /// `(position in Digits::digits, weight)`, by position, weights not 0.
    pub terms: Vec<(usize, i128)>,
}

impl LinearForm {
    /// `(form // k, rest)`: what `k` divides of the sum, in blocks of `k`, and the terms that it does not.
    pub(crate) fn split(&self, k: i128) -> (Self, Self) {
        let mut whole = Self { constant: self.constant.div_euclid(k), terms: Vec::new() };
        let mut rest = Self { constant: self.constant.rem_euclid(k), terms: Vec::new() };
        for (digit, weight) in &self.terms {
            match weight % k {
                0 => whole.terms.push((*digit, weight / k)),
                _ => rest.terms.push((*digit, *weight)),
            }
        }
        (whole, rest)
    }
}

/// How a digit that no chain counts is made of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DerivedDigit {
    /// The sum itself, never negative: a number on the way that is cut up like an axis.
    Sum(LinearForm),
    /// The XOR of two digits or more, positions ascending, each a field of as many bits as this one.
    Parity(Vec<usize>),
    /// `form % modulus`; the constant and the weights lie in `0..modulus`.
    Residue(LinearForm, i128),
    /// `form // divisor`, where the form is never negative.
    Quotient(LinearForm, i128),
    /// How far along the Hilbert curve of a box the cell of this row and this column is; both lie in the box.
    Hilbert(CurveGrid, LinearForm, LinearForm),
}

/// Targets (index expressions over `Var::Axis`) as weighted sums of digits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_field_names, reason = "it is what the field holds")]
pub struct Digits {
    /// All digits.
    pub digits: Vec<Digit>,
    /// All chains; every logical axis is carried by exactly one.
    pub chains: Vec<Chain>,
    /// The digits that no chain counts, with what they are made of; a digit before what is made of it.
    pub derived: Vec<(usize, DerivedDigit)>,
    /// One sum per target, in the targets' order (for a layout: see `Layout::digit_targets`).
    pub targets: Vec<LinearForm>,
}

/// How often a reading may start again: every round adds a cut, a shift, a reflection or a fusion.
const MAX_ROUNDS: usize = 256;

/// What is done where an XOR takes bits of an axis, and the axis is divided by what is no power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitSplit {
    /// The axis is cut where it is divided.
    AtDivisors,
    /// The axis is cut into bits; what is divided is a number of its own.
    AtBits,
}

/// Reads `targets`, index expressions over the axes `axes` (positions in `extents`), as weighted sums of digits.
/// `None` when they are none.
///
/// # Errors
/// [`ExprError`] when a constant leaves the integer range.
pub fn read(
    axes: &[usize],
    extents: &[Expr],
    targets: &[Expr],
    facts: &Facts,
    bits: BitSplit,
) -> Result<Option<Digits>, ExprError> {
    let mut polys = Vec::new();
    for target in targets {
        polys.push(facts.normalize(target)?);
    }
    let uses = SharedDividends::of(&polys, bits, facts)?;
    if bits == BitSplit::AtBits && !uses.takes_bits() {
        return Ok(None);
    }
    let mut plans: Vec<ChainPlan> = axes.iter().map(|axis| ChainPlan::whole(*axis)).collect();
    for _ in 0..MAX_ROUNDS {
        let mut reader = DigitReader::new(&plans, extents, facts, &uses)?;
        let mut forms = Vec::new();
        let mut request = None;
        for poly in &polys {
            match reader.form(poly)? {
                Ok(form) => forms.push(form),
                Err(wanted) => {
                    request = Some(wanted);
                    break;
                }
            }
        }
        let Some(request) = request else {
            return Ok(Some(reader.finish(forms)));
        };
        if !refine(&mut plans, &request, extents) {
            return Ok(None);
        }
    }
    Ok(None)
}
