//! Mixed-radix normal form: every axis index is a weighted sum of digits, and every target is a weighted sum
//! of the same digits.
//!
//! The digits are computed by refinement. Every axis starts as one digit. A quotient or remainder that crosses a
//! digit requests a split of the digit. A division of `x + 5` requests that `x` be counted from an offset, a
//! negative weight of `x` requests that `x` be counted backwards, and a division of a sum over two axes requests the
//! fusion of the axes. The targets are then read again, until every target is a weighted sum or no request makes
//! progress. Values that no split linearizes become derived digits: the XOR of bit fields, and the quotient and
//! remainder of a sum (see [`DerivedDigit`]). An intermediate value that is divided in several ways, such as
//! `(i + j) % 7`, becomes a digit with a chain of its own.

mod bounds;
mod derive;
mod divide;
mod read;
mod refine;
mod shared_dividends;

use alloc::vec::Vec;

use crate::expr::curve::CurveGrid;
use crate::expr::{Expr, ExprError};
use crate::normal_form::simplify::Facts;

pub(crate) use derive::modulo;
use read::DigitReader;
pub(crate) use read::sum;
use refine::{ChainPlan, refine};
use shared_dividends::SharedDividends;

/// Digit of a mixed-radix number: `Var::Digit(k)` takes the values `0..extent` and contributes
/// `digit * weight` to the number that its chain encodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digit {
    /// Factor of the digit in the number that its chain encodes; 1 for a derived digit.
    pub weight: i128,
    /// Number of values of the digit; symbolic only for the most significant digit of a chain.
    pub extent: Expr,
}

impl Digit {
    /// True if the digit is always 0 because its extent is at most 1.
    pub(crate) fn is_single(&self) -> bool {
        self.extent.as_const().is_some_and(|extent| extent <= 1)
    }
}

/// Chain of digits whose weighted sum `m` is a gapless mixed-radix number from 0 up. The chain encodes one of three
/// values: the index of one logical axis as `sign * m + constant`, the row-major index of several fused axes as `m`, or
/// the value of one digit, which the chain subdivides, as `m`. The number `m` covers at least the range of the encoded
/// value, and may exceed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// Positions of the logical axes that this chain encodes, outermost first. There are several if the axes are
    /// fused, and none if the chain subdivides a digit.
    pub axes: Vec<usize>,
    /// Position in [`Digits::digits`] of the digit that this chain subdivides; `None` if the chain encodes axes. The
    /// digit is derived, or is split at a weight that does not nest in the weights of its own chain, as in
    /// `x % 3 // 2`. It stays below its extent, even if the sum of this chain could exceed it.
    pub of_digit: Option<usize>,
    /// Factor of `m` in the encoded value: `1`, or `-1` for an axis whose index is counted backwards.
    pub sign: i128,
    /// Constant added to `sign * m` to obtain the encoded value.
    pub constant: i128,
    /// Positions in [`Digits::digits`] of the digits of the chain, most significant first.
    pub digits: Vec<usize>,
}

/// Weighted sum of digits plus a constant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinearForm {
    /// Constant term of the sum.
    pub constant: i128,
    /// Pairs of a position in [`Digits::digits`] and the weight of that digit, sorted by position, with nonzero
    /// weights.
    pub terms: Vec<(usize, i128)>,
}

impl LinearForm {
    /// Pair `(quotient, rest)` with `self = k * quotient + rest`, for `k >= 1`. The quotient receives the terms whose
    /// weights `k` divides, and `constant // k` rounded down. The rest receives the other terms, and a constant in
    /// `0..k`. `8*d0 + 3*d1 - 1` by 4 gives `(2*d0 - 1, 3*d1 + 3)`.
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

/// Definition of a derived digit in terms of other digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DerivedDigit {
    /// Value of this non-negative sum, which a chain of its own subdivides: `i + j` where the targets contain
    /// `(i + j) // 6` and `(i + j) % 6`.
    Sum(LinearForm),
    /// XOR of the two or more digits at these positions in [`Digits::digits`], ascending. Each of these digits has as
    /// many bits as the derived digit.
    Parity(Vec<usize>),
    /// Remainder `form % modulus`. The constant and the weights of the form are in `0..modulus`.
    Residue(LinearForm, i128),
    /// Quotient `form // divisor` of a form that is never negative.
    Quotient(LinearForm, i128),
    /// Position along the Hilbert curve of a grid of the cell in this row and column, both inside the grid.
    Hilbert(CurveGrid, LinearForm, LinearForm),
}

/// Targets of a proof, index expressions over `Var::Axis`, as weighted sums of digits.
///
/// ```
/// use layoutc_algebra::{Error, Layout};
///
/// let layout = Layout::builder([("n", 16), ("c", 128)]).map("(n, c) -> (c // 4, n, c % 4)")?.prove()?;
/// let digits = layout.digits().unwrap();
/// // `c` is 4 times a digit below 32, plus a digit below 4.
/// let of_c: Vec<_> = digits.chains[1].digits.iter().map(|k| &digits.digits[*k]).collect();
/// assert_eq!(of_c.iter().map(|digit| digit.weight).collect::<Vec<_>>(), [4, 1]);
/// assert_eq!(of_c.iter().map(|digit| digit.extent.as_const()).collect::<Vec<_>>(), [Some(32), Some(4)]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::struct_field_names, reason = "it is what the field holds")]
pub struct Digits {
    /// All digits, of axes and derived ones: `Var::Digit(k)` is `digits[k]`.
    pub digits: Vec<Digit>,
    /// All chains: those that encode logical axes, and those that subdivide a digit. Each logical axis is encoded by
    /// exactly one chain.
    pub chains: Vec<Chain>,
    /// Pairs of a position in `digits` and the definition of the derived digit there. A definition uses no derived
    /// digit that comes later.
    pub derived: Vec<(usize, DerivedDigit)>,
    /// Weighted sum of digits that equals each target, in the order of the targets (for a layout, see
    /// `Layout::digit_targets`). For targets of a component of axes that is proven by elimination, the sums are empty
    /// and without meaning; a layout never has such digits, but a certificate may.
    pub targets: Vec<LinearForm>,
}

/// Maximum number of attempts to read the targets, each failed one followed by a refinement of the chains: a split, a
/// shift, a reflection, a fusion or a new chain for a dividend. [`read`](fn@read) returns `None` if the last attempt
/// fails.
const MAX_ROUNDS: usize = 256;

/// Treatment of an axis whose bits are operands of an XOR or a mask, and which is also divided by a number that is not
/// a power of two, as `i` in `i ^ j` and `i // 3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitSplit {
    /// Splits the axis at the numbers by which it is divided.
    AtDivisors,
    /// Splits the axis at powers of two only. A value that contains the axis and is divided by another number
    /// becomes a derived digit.
    AtBits,
}

/// Computes the normal form of `targets`, index expressions over the axes at the positions `axes` in `extents`. `facts`
/// are the ranges of these axes and of the symbols. `None` if no normal form is found. Also `None` if `bits` is
/// [`BitSplit::AtBits`] and no axis or symbol occurs in an operand of an XOR or a mask, because
/// [`BitSplit::AtDivisors`] then gives the same result.
///
/// # Errors
/// [`ExprError::Overflow`] if a value leaves 128 bits, [`ExprError::TooLarge`] if an expression becomes too large,
/// [`ExprError::Divisor`] if a constant divisor is below 1, [`ExprError::Unbound`] if an axis or a symbol has no range
/// in `facts`, or an axis has no extent.
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
