//! Digits recovered from XORs, by Gaussian elimination over GF(2) with digits as the unknowns.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::digits::{DerivedDigit, Digits};
use crate::expr::{BinOp, Expr, ExprError};

/// Equation over GF(2): the XOR of the unknown digits equals the XOR of the known digits in `values`.
#[derive(Debug, Clone)]
struct ParityEquation {
    unknown: BTreeSet<usize>,
    /// Known digits of the equation: known operands, and the digit that represents the XOR.
    values: BTreeSet<usize>,
}

impl ParityEquation {
    /// Equation that results from the XOR of both sides of two equations.
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

/// Equations in the unknown digits from the derived XOR digits with known value, those with the fewest
/// unknowns first.
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

/// Gauss-Jordan elimination: pairs of pivot and equation, where the pivot digit occurs in no other equation.
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

/// Unknown digits that the known XORs determine, with their values.
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

/// Null space of the known XORs: for each free digit, the bits that flip together with it, as pairs of axis
/// and bit weight. Only axes whose index is neither shifted nor reversed take part.
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

/// Axis of a digit, and the weight of the digit in the index of the axis; `None` if the axis is fused,
/// shifted or reversed.
fn bit_of_axis(digits: &Digits, digit: usize) -> Option<(usize, i128)> {
    let chain = digits.chains.iter().find(|chain| chain.digits.contains(&digit))?;
    let weight = digits.digits.get(digit)?.weight;
    match chain.axes.as_slice() {
        [axis] if chain.sign == 1 && chain.constant == 0 => Some((*axis, weight)),
        _ => None,
    }
}

/// XOR of the values, as an expression; `None` if there are no values.
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
