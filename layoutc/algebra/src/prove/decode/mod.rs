//! Decoding of targets that are weighted sums of digits: `decode` computes which digits the values of the targets
//! determine, and from them the logical indices as expressions over the targets.

mod collision_steps;
mod mixed_radix;
mod parity;
mod solver;
mod sums;

use alloc::vec::Vec;

use crate::digits::{Chain, DerivedDigit, Digits};
use crate::expr::{BinOp, Expr, ExprError};
use crate::normal_form::simplify::Facts;

/// Solution for the logical indices of a component, as expressions over the values of its targets.
#[derive(Debug, Clone)]
pub(crate) struct AxisSolution {
    /// Pairs of the position of a logical axis and its index, one for each axis of the component. The index is an
    /// expression over `Var::Storage(k)`, where `k` is the position of a target in the component.
    pub(crate) axes: Vec<(usize, Expr)>,
}

/// Digit of a logical index that no target contains as a whole, so that elements which differ only in this digit may
/// have equal targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndeterminedDigit {
    /// Position of the logical axis whose index contains the digit.
    pub axis: usize,
    /// Weight of the digit in the index of the axis: 4 for `c // 4`.
    pub weight: i128,
    /// Number of values of the digit; `None` if it depends on a symbol.
    pub count: Option<i128>,
    /// True if the digit is the most significant digit of the index of the axis.
    pub top: bool,
    /// True if the digits of the axis encode its index itself; false if they encode the index plus a constant, or the
    /// reversed index.
    pub plain: bool,
}

/// Reasons why the targets do not determine the logical indices, and candidates for a collision of two elements.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecodeFailure {
    /// Undetermined digits that occur, as a whole, neither in a target nor in the definition of a derived digit, except
    /// digits of fused axes. May be empty, for example if the digits overlap in the targets in a way that no rule
    /// separates.
    pub(crate) lost: Vec<UndeterminedDigit>,
    /// Sets of bits of logical indices that no XOR determines: flipping all bits of one set leaves the values of all
    /// XORs unchanged. A bit is a pair `(axis, weight)`: the position of the logical axis, and the weight of the bit in
    /// its index.
    pub(crate) kernel: Vec<Vec<(usize, i128)>>,
    /// Pairs of the position of a logical axis and a step: adding the step to the index along the axis may leave all
    /// targets unchanged.
    pub(crate) steps: Vec<(usize, i128)>,
}

/// Logical indices as expressions over the targets. `digits` are the digits of one component, `extents` the extents of
/// all logical axes, and `facts` the ranges of the symbols. The inner `Err` has the reasons why the targets do not
/// determine the indices.
pub(crate) fn decode(
    digits: &Digits,
    extents: &[Expr],
    facts: &Facts,
) -> Result<Result<AxisSolution, DecodeFailure>, ExprError> {
    let known = solver::known_digits(digits, extents, facts)?;
    let mut axes = Vec::new();
    let mut lost = Vec::new();
    let mut failed = false;
    for chain in digits.chains.iter().filter(|chain| chain.of_digit.is_none()) {
        match chain_value(digits, chain, &known, extents, facts)? {
            Some(value) => read_axes(chain, &value, extents, &mut axes)?,
            None => {
                failed = true;
                lost.extend(lost_digits(digits, chain, &known, facts)?);
            }
        }
    }
    Ok(if failed {
        let kernel = parity::kernel(digits, &known);
        Err(DecodeFailure { lost, kernel, steps: collision_steps::steps(digits, extents, &known) })
    } else {
        Ok(AxisSolution { axes })
    })
}

fn greatest(digits: &Digits, digit: usize, facts: &Facts) -> Result<i128, ExprError> {
    let extent = digits.digits.get(digit).map(|d| &d.extent).ok_or(ExprError::Unbound)?;
    Ok(facts.bounds(extent)?.1.max(1) - 1)
}

/// Index `sign * m + constant` that a chain encodes, where `m` is the weighted sum of its digits with the values
/// `known[digit]`. For fused axes, it is their row-major index. If only low digits are known, they suffice for a single
/// axis whose index they determine within its extent; otherwise `None`. `extents[k]` is the extent of logical axis `k`.
fn chain_value(
    digits: &Digits,
    chain: &Chain,
    known: &[Option<Expr>],
    extents: &[Expr],
    facts: &Facts,
) -> Result<Option<Expr>, ExprError> {
    let mut sum = Expr::constant(0);
    // From the least significant digit: the value is known modulo `covered`.
    let mut covered = Some(1_i128);
    let mut complete = true;
    for digit in chain.digits.iter().rev() {
        let found = digits.digits.get(*digit).ok_or(ExprError::Unbound)?;
        if found.is_single() {
            continue;
        }
        let Some(Some(digit_value)) = known.get(*digit) else {
            complete = false;
            break;
        };
        let part =
            Expr::binary(BinOp::Mul, digit_value, &Expr::constant(found.weight * chain.sign))?;
        sum = Expr::binary(BinOp::Add, &sum, &part)?;
        covered = found.extent.as_const().and_then(|count| found.weight.checked_mul(count));
    }
    let value = Expr::binary(BinOp::Add, &sum, &Expr::constant(chain.constant))?;
    if complete {
        return Ok(Some(value));
    }
    // Knowing the index modulo `covered` suffices if the extent is at most that.
    let single = match chain.axes.as_slice() {
        [axis] => extents.get(*axis),
        _ => None,
    };
    match (single, covered) {
        (Some(extent), Some(covered)) if covered > 1 && facts.bounds(extent)?.1 <= covered => {
            Ok(Some(Expr::binary(BinOp::Mod, &value, &Expr::constant(covered))?))
        }
        _ => Ok(None),
    }
}

fn read_axes(
    chain: &Chain,
    value: &Expr,
    extents: &[Expr],
    axes: &mut Vec<(usize, Expr)>,
) -> Result<(), ExprError> {
    let mut rest = value.clone();
    for (k, axis) in chain.axes.iter().enumerate().rev() {
        if k == 0 {
            axes.push((*axis, rest.clone()));
            continue;
        }
        let extent = extents.get(*axis).ok_or(ExprError::Unbound)?;
        axes.push((*axis, Expr::binary(BinOp::Mod, &rest, extent)?));
        rest = Expr::binary(BinOp::FloorDiv, &rest, extent)?;
    }
    Ok(())
}

fn lost_digits(
    digits: &Digits,
    chain: &Chain,
    known: &[Option<Expr>],
    facts: &Facts,
) -> Result<Vec<UndeterminedDigit>, ExprError> {
    let mut lost = Vec::new();
    let [axis] = chain.axes.as_slice() else { return Ok(lost) };
    for digit in &chain.digits {
        if is_used(digits, *digit)
            || known.get(*digit).is_some_and(Option::is_some)
            || greatest(digits, *digit, facts)? == 0
        {
            continue;
        }
        if let Some(found) = digits.digits.get(*digit) {
            lost.push(UndeterminedDigit {
                axis: *axis,
                weight: found.weight,
                count: found.extent.as_const(),
                top: chain.digits.first() == Some(digit),
                plain: chain.sign == 1 && chain.constant == 0,
            });
        }
    }
    Ok(lost)
}

/// True if the digit at position `digit` of `digits.digits` occurs in a target, or in the definition of a derived
/// digit.
fn is_used(digits: &Digits, digit: usize) -> bool {
    let mentions = |form: &crate::digits::LinearForm| form.terms.iter().any(|(d, _)| *d == digit);
    let made = |(_, made): &(usize, DerivedDigit)| match made {
        DerivedDigit::Parity(of) => of.contains(&digit),
        DerivedDigit::Sum(form)
        | DerivedDigit::Residue(form, _)
        | DerivedDigit::Quotient(form, _) => mentions(form),
        DerivedDigit::Hilbert(_, row, column) => mentions(row) || mentions(column),
    };
    digits.targets.iter().any(mentions) || digits.derived.iter().any(made)
}
