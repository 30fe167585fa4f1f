//! From weighted sums of digits back to the axes: which digits the targets tell, and how to read them.

mod collision_steps;
mod mixed_radix;
mod parity;
mod solver;
mod sums;

use alloc::vec::Vec;

use crate::digits::{Chain, DerivedDigit, Digits};
use crate::expr::{BinOp, Expr, ExprError};
use crate::simplify::Facts;

/// How the axes of a reading are told by its targets.
#[derive(Debug, Clone)]
pub(crate) struct AxisSolution {
    /// `(axis, index)`: the index over `Var::Storage(k)`, k the position of a target in the reading.
    pub(crate) axes: Vec<(usize, Expr)>,
}

/// A digit that no target tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndeterminedDigit {
    /// The axis whose index it is part of.
    pub axis: usize,
    /// The digit counts steps of so many indices.
    pub weight: i128,
    /// How many values it takes; `None` when that depends on a symbol.
    pub count: Option<i128>,
    /// Whether it is the most significant digit of the index.
    pub top: bool,
    /// Whether the index is counted as it is, neither shifted nor reversed.
    pub plain: bool,
}

/// What keeps the targets from telling the axes.
#[derive(Debug, Clone, Default)]
pub(crate) struct DecodeFailure {
    /// The digits that no target tells; none when the sums overlap and no rule separates them.
    pub(crate) lost: Vec<UndeterminedDigit>,
    /// Bits that the XORs cannot tell from none: for each axis that they turn over, which.
    pub(crate) kernel: Vec<Vec<(usize, i128)>>,
    /// For some axes, steps along them that the targets may not tell.
    pub(crate) steps: Vec<(usize, i128)>,
}

/// The axes in terms of the targets, or what is missing.
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

/// `sign * m + constant` (or `m` of a fused chain) from the known digits.
fn chain_value(
    digits: &Digits,
    chain: &Chain,
    known: &[Option<Expr>],
    extents: &[Expr],
    facts: &Facts,
) -> Result<Option<Expr>, ExprError> {
    let mut sum = Expr::constant(0);
    // From the minor end: the digits below `covered` are known.
    let mut covered = Some(1_i128);
    let mut complete = true;
    for digit in chain.digits.iter().rev() {
        let found = digits.digits.get(*digit).ok_or(ExprError::Unbound)?;
        if found.is_single() {
            continue;
        }
        let Some(Some(told)) = known.get(*digit) else {
            complete = false;
            break;
        };
        let part = Expr::binary(BinOp::Mul, told, &Expr::constant(found.weight * chain.sign))?;
        sum = Expr::binary(BinOp::Add, &sum, &part)?;
        covered = found.extent.as_const().and_then(|count| found.weight.checked_mul(count));
    }
    let value = Expr::binary(BinOp::Add, &sum, &Expr::constant(chain.constant))?;
    if complete {
        return Ok(Some(value));
    }
    // Known modulo `covered`: enough for an axis that has no more indices than that.
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

/// Whether a digit takes part in a target, by itself or in what is made of it.
fn is_used(digits: &Digits, digit: usize) -> bool {
    let holds = |form: &crate::digits::LinearForm| form.terms.iter().any(|(d, _)| *d == digit);
    let made = |(_, made): &(usize, DerivedDigit)| match made {
        DerivedDigit::Parity(of) => of.contains(&digit),
        DerivedDigit::Sum(form)
        | DerivedDigit::Residue(form, _)
        | DerivedDigit::Quotient(form, _) => holds(form),
        DerivedDigit::Hilbert(_, row, column) => holds(row) || holds(column),
    };
    digits.targets.iter().any(holds) || digits.derived.iter().any(made)
}
