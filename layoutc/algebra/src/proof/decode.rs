//! From weighted sums of digits back to the axes: which digits the targets tell, and how to read them.

use alloc::vec;
use alloc::vec::Vec;

use crate::digits::{Chain, Digits, Form};
use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::simplify::Facts;

/// How the axes of a reading are told by its targets.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    /// `(axis, index)`: the index over `Var::Storage(k)`, k the position of a target in the reading.
    pub(crate) axes: Vec<(usize, Expr)>,
}

/// A digit that no target tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
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

/// The axes in terms of the targets; otherwise the digits that are lost (none when the sums overlap and no rule
/// separates them).
pub(crate) fn decode(
    digits: &Digits,
    extents: &[Expr],
    facts: &Facts,
) -> Result<Result<Decoded, Vec<Lost>>, ExprError> {
    let known = known_digits(digits, facts)?;
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
    Ok(if failed { Err(lost) } else { Ok(Decoded { axes }) })
}

fn greatest(digits: &Digits, digit: usize, facts: &Facts) -> Result<i128, ExprError> {
    let extent = digits.digits.get(digit).map(|d| &d.extent).ok_or(ExprError::Unbound)?;
    Ok(facts.bounds(extent)?.1.max(1) - 1)
}

/// For each digit, its value over `Var::Storage`, as far as the targets tell it.
fn known_digits(digits: &Digits, facts: &Facts) -> Result<Vec<Option<Expr>>, ExprError> {
    let mut known: Vec<Option<Expr>> = vec![None; digits.digits.len()];
    let mut done = vec![false; digits.targets.len()];
    loop {
        let mut progress = false;
        for (k, target) in (0_u32..).zip(&digits.targets) {
            let position = usize::try_from(k).map_err(|_| ExprError::Overflow)?;
            if done.get(position) != Some(&false) {
                continue;
            }
            if let Some(read) = separate(digits, target, k, &known, facts)? {
                for (digit, value) in read {
                    if let Some(slot @ None) = known.get_mut(digit) {
                        *slot = Some(value);
                    }
                }
                if let Some(flag) = done.get_mut(position) {
                    *flag = true;
                }
                progress = true;
            }
        }
        if !progress {
            assemble_parts(digits, &mut known)?;
            return Ok(known);
        }
    }
}

/// A digit that is cut up is known when its parts are.
fn assemble_parts(digits: &Digits, known: &mut [Option<Expr>]) -> Result<(), ExprError> {
    for chain in digits.chains.iter().rev() {
        let Some(whole) = chain.of_digit else { continue };
        let mut sum = Expr::constant(0);
        let mut complete = true;
        for digit in &chain.digits {
            match (known.get(*digit), digits.digits.get(*digit)) {
                (Some(Some(told)), Some(part)) => {
                    let term = Expr::binary(BinOp::Mul, told, &Expr::constant(part.weight))?;
                    sum = Expr::binary(BinOp::Add, &sum, &term)?;
                }
                _ => complete = false,
            }
        }
        if let (true, Some(slot @ None)) = (complete, known.get_mut(whole)) {
            *slot = Some(sum);
        }
    }
    Ok(())
}

/// The digits of one target, once those already known are taken off, when the rest of the weights keep them apart:
/// each weight exceeds everything that the smaller ones can add up to.
fn separate(
    digits: &Digits,
    target: &Form,
    k: u32,
    known: &[Option<Expr>],
    facts: &Facts,
) -> Result<Option<Vec<(usize, Expr)>>, ExprError> {
    let mut value = Expr::var(Var::Storage(k));
    let mut terms: Vec<(usize, i128)> = Vec::new();
    let mut constant = target.constant;
    for (digit, weight) in &target.terms {
        if let Some(Some(told)) = known.get(*digit) {
            let part = Expr::binary(BinOp::Mul, told, &Expr::constant(*weight))?;
            value = Expr::binary(BinOp::Sub, &value, &part)?;
            continue;
        }
        // A falling digit is counted from its end: w*d = w*(b-1) + |w|*(b-1-d).
        if *weight < 0 {
            let reach = greatest(digits, *digit, facts)?;
            let extent = digits.digits.get(*digit).and_then(|d| d.extent.as_const());
            if extent != Some(reach + 1) {
                return Ok(None);
            }
            let end = reach.checked_mul(*weight).ok_or(ExprError::Overflow)?;
            constant = constant.checked_add(end).ok_or(ExprError::Overflow)?;
        }
        terms.push((*digit, *weight));
    }
    value = Expr::binary(BinOp::Sub, &value, &Expr::constant(constant))?;
    terms.sort_by_key(|(_, weight)| weight.unsigned_abs());
    let mut reach = 0_i128;
    for (digit, weight) in &terms {
        let step = weight.checked_abs().ok_or(ExprError::Overflow)?;
        if step <= reach {
            return Ok(None);
        }
        let own = greatest(digits, *digit, facts)?.checked_mul(step).ok_or(ExprError::Overflow)?;
        reach = reach.checked_add(own).ok_or(ExprError::Overflow)?;
    }
    let mut read = Vec::new();
    for (digit, weight) in terms.iter().rev() {
        let step = Expr::constant(weight.abs());
        let mut told = Expr::binary(BinOp::FloorDiv, &value, &step)?;
        value = Expr::binary(BinOp::Mod, &value, &step)?;
        if *weight < 0 {
            told =
                Expr::binary(BinOp::Sub, &Expr::constant(greatest(digits, *digit, facts)?), &told)?;
        }
        read.push((*digit, told));
    }
    Ok(Some(read))
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
) -> Result<Vec<Lost>, ExprError> {
    let mut lost = Vec::new();
    let [axis] = chain.axes.as_slice() else { return Ok(lost) };
    for digit in &chain.digits {
        let used = digits.targets.iter().any(|form| form.terms.iter().any(|(d, _)| d == digit));
        if used
            || known.get(*digit).is_some_and(Option::is_some)
            || greatest(digits, *digit, facts)? == 0
        {
            continue;
        }
        if let Some(found) = digits.digits.get(*digit) {
            lost.push(Lost {
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
