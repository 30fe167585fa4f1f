//! Mixed-radix normal form: every axis is a sum of digits, every target a weighted sum of the same digits.
//!
//! Computed by refinement. Every axis starts as one digit. A quotient or remainder that crosses a digit requests a
//! split of it; one of `x + 5` requests that `x` be counted from an offset; a negative weight requests that `x` be
//! counted backwards; one across two axes requests their fusion. The targets are then read again, until every one is a
//! weighted sum or no request makes progress. Values that no split linearizes become derived digits: the XOR of bit
//! fields, and the quotient and remainder of a sum (see [`DerivedDigit`]). An intermediate value that is divided in
//! several ways, such as `(i + j) % 7`, becomes a digit with a chain of its own.

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

/// A digit: `Var::Digit(k)` counts `0..extent` and contributes `digit * weight` to the value of its chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digit {
    /// Weight in the value of the chain.
    pub weight: i128,
    /// Number of values; symbolic only for the most significant digit of a chain.
    pub extent: Expr,
}

impl Digit {
    /// True if the digit is always 0: its extent is at most 1.
    pub(crate) fn is_single(&self) -> bool {
        self.extent.as_const().is_some_and(|extent| extent <= 1)
    }
}

/// Digits whose weighted sum `m` is a gapless mixed-radix number from 0 up. A chain encodes one logical axis as `index
/// = sign * m + constant`, or several fused ones as their row-major index (`sign` 1, `constant` 0). `m` covers at least
/// the range of the axis and may exceed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// The logical axes, outermost first; one unless fused, none if a digit is subdivided.
    pub axes: Vec<usize>,
    /// The digit that this chain subdivides: one split at a weight that does not nest, `x % 3 // 2`, or a derived one.
    /// The digit never exceeds its own extent, even if the sum of its parts could.
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
    /// The constant term.
    pub constant: i128,
    /// `(position in Digits::digits, weight)`, sorted by position, weights nonzero.
    pub terms: Vec<(usize, i128)>,
}

impl LinearForm {
    /// `(quotient, rest)` with `self = k * quotient + rest`: the quotient receives the terms that `k` divides.
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

/// Definition of a digit that is not part of an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DerivedDigit {
    /// The sum itself, non-negative: an intermediate value with a chain of its own.
    Sum(LinearForm),
    /// The XOR of two or more digits, positions ascending, each a field of as many bits as this one.
    Parity(Vec<usize>),
    /// `form % modulus`; the constant and the weights are in `0..modulus`.
    Residue(LinearForm, i128),
    /// `form // divisor`, for a non-negative form.
    Quotient(LinearForm, i128),
    /// Position on the Hilbert curve of a box of the cell in this row and column, both inside the box.
    Hilbert(CurveGrid, LinearForm, LinearForm),
}

/// Targets (index expressions over `Var::Axis`) as weighted sums of digits.
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
    /// All digits.
    pub digits: Vec<Digit>,
    /// All chains; exactly one encodes each logical axis.
    pub chains: Vec<Chain>,
    /// Derived digits and their definitions, in dependency order.
    pub derived: Vec<(usize, DerivedDigit)>,
    /// One sum per target, in the order of the targets (for a layout, see `Layout::digit_targets`).
    pub targets: Vec<LinearForm>,
}

/// Maximum number of refinements: each adds a split, shift, reflection, fusion or dividend.
const MAX_ROUNDS: usize = 256;

/// Treatment of an axis whose bits feed an XOR and that is also divided by a number that is not a power of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BitSplit {
    /// Split the axis at its divisors.
    AtDivisors,
    /// Split the axis into bits, and derive the dividend as a value of its own.
    AtBits,
}

/// Computes the normal form of `targets`, index expressions over `axes` (positions in `extents`); `None` if they have
/// none.
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
