//! Recovery of digits from known XORs, by Gaussian elimination over GF(2) with digits as the unknowns.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::digits::{DerivedDigit, Digits};
use crate::expr::{BinOp, Expr, ExprError};

/// Equation over GF(2): the XOR of the digits at the positions `unknown` equals the XOR of the known digits at the
/// positions `values`.
#[derive(Debug, Clone)]
struct ParityEquation {
    unknown: BTreeSet<usize>,
    /// Known digits of the equation: the known operands, and the derived digit that is the XOR of all operands.
    values: BTreeSet<usize>,
}

impl ParityEquation {
    /// XOR of two equations: `unknown` and `values` of the result each contain the digits that occur in exactly one of
    /// the two equations.
    fn xor(&self, other: &ParityEquation) -> ParityEquation {
        let either = |a: &BTreeSet<usize>, b: &BTreeSet<usize>| {
            a.symmetric_difference(b).copied().collect::<BTreeSet<usize>>()
        };
        ParityEquation {
            unknown: either(&self.unknown, &other.unknown),
            values: either(&self.values, &other.values),
        }
    }
}

/// Equations in the unknown digits, one for each derived XOR digit whose value is known, sorted by their number of
/// unknowns, ascending.
fn rows(digits: &Digits, is_known: &dyn Fn(usize) -> bool) -> Vec<ParityEquation> {
    let mut rows = Vec::new();
    for (digit, made) in &digits.derived {
        let DerivedDigit::Parity(of) = made else { continue };
        if !is_known(*digit) {
            continue;
        }
        let (values, unknown): (BTreeSet<usize>, BTreeSet<usize>) =
            of.iter().partition(|digit| is_known(**digit));
        let values = values.into_iter().chain([*digit]).collect();
        if !unknown.is_empty() {
            rows.push(ParityEquation { unknown, values });
        }
    }
    // Short equations first, to keep the values short.
    rows.sort_by_key(|row| row.unknown.len());
    rows
}

/// Pairs `(pivot, equation)` after Gauss-Jordan elimination. The pivot is the position of an unknown digit that occurs
/// in no other equation. Redundant equations are dropped.
fn reduced(rows: Vec<ParityEquation>) -> Vec<(usize, ParityEquation)> {
    let mut done: Vec<(usize, ParityEquation)> = Vec::new();
    for mut row in rows {
        for (pivot, held) in &done {
            if row.unknown.contains(pivot) {
                row = row.xor(held);
            }
        }
        let Some(pivot) = row.unknown.first().copied() else { continue };
        for (_, held) in &mut done {
            if held.unknown.contains(&pivot) {
                *held = held.xor(&row);
            }
        }
        done.push((pivot, row));
    }
    done
}

/// Pairs `(digit, value)` for the unknown digits that the known XORs determine. A digit is unknown if `known[digit]` is
/// `None`.
pub(super) fn solve(
    digits: &Digits,
    known: &[Option<Expr>],
) -> Result<Vec<(usize, Expr)>, ExprError> {
    let is_known = |digit: usize| known.get(digit).is_some_and(Option::is_some);
    let mut solved = Vec::new();
    for (pivot, row) in reduced(rows(digits, &is_known)) {
        if row.unknown.len() > 1 {
            continue;
        }
        let values: Option<Vec<Expr>> =
            row.values.iter().map(|digit| known.get(*digit).cloned().flatten()).collect();
        if let Some(value) = values.map(|values| folded(&values)).transpose()?.flatten() {
            solved.push((pivot, value));
        }
    }
    Ok(solved)
}

/// Null space of the known XORs, one set of bits for each free unknown digit. Flipping all bits of a set leaves all
/// known XORs unchanged. A bit is a pair `(axis, weight)`. If only `i % 2 ^ j % 2` is known, the set has the bits of
/// weight 1 of `i` and of `j`. A set is omitted if it has a digit for which [`bit_of_axis`] returns `None`.
pub(super) fn kernel(digits: &Digits, known: &[Option<Expr>]) -> Vec<Vec<(usize, i128)>> {
    let is_known = |digit: usize| known.get(digit).is_some_and(Option::is_some);
    let rows = reduced(rows(digits, &is_known));
    let mut free: BTreeSet<usize> =
        rows.iter().flat_map(|(_, row)| row.unknown.iter().copied()).collect();
    free.retain(|digit| rows.iter().all(|(pivot, _)| pivot != digit));
    let mut kernel = Vec::new();
    for digit in free {
        let turned = rows.iter().filter(|(_, row)| row.unknown.contains(&digit));
        let turned = turned.map(|(pivot, _)| *pivot).chain([digit]);
        let bits: Option<Vec<_>> = turned.map(|digit| bit_of_axis(digits, digit)).collect();
        kernel.extend(bits);
    }
    kernel
}

/// Pair `(axis, weight)`: the position of the logical axis that contains the digit at position `digit`, and the weight
/// of the digit in the index of that axis. `None` if the axis is fused, offset or reversed, or the digit is derived or
/// a part of another digit.
fn bit_of_axis(digits: &Digits, digit: usize) -> Option<(usize, i128)> {
    let chain = digits.chains.iter().find(|chain| chain.digits.contains(&digit))?;
    let weight = digits.digits.get(digit)?.weight;
    match chain.axes.as_slice() {
        [axis] if chain.sign == 1 && chain.constant == 0 => Some((*axis, weight)),
        _ => None,
    }
}

/// XOR of all values, as one expression; `None` if there are no values.
pub(super) fn folded(values: &[Expr]) -> Result<Option<Expr>, ExprError> {
    let mut folded: Option<Expr> = None;
    for value in values {
        folded = Some(match folded {
            None => value.clone(),
            Some(sum) => Expr::binary(BinOp::Xor, &sum, value)?,
        });
    }
    Ok(folded)
}
