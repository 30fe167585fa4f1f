//! Decides whether an expression over the axes of a statement is at least 0 everywhere: proven, refuted by a witness,
//! or unknown.

use std::cell::Cell;

use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

/// Limit on the iterations visited for one expression.
const VISITED: i128 = 1 << 18;

/// Limit on the iterations visited for one statement.
pub(super) const VISITED_IN_ALL: i128 = 1 << 22;

/// Number of symbols that are tried at both ends of their range.
const TRIED_SYMBOLS: usize = 4;

/// Result of a check that an expression is at least 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BoundsResult {
    /// At least 0 for all iterations and all values of the symbols.
    Holds,
    /// Negative at this iteration.
    Fails(IterationPoint),
    /// Neither proven nor refuted.
    Unknown,
}

/// One iteration: a value for each axis and each symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IterationPoint {
    pub(super) axes: Vec<i128>,
    pub(super) symbols: Vec<i128>,
}

impl IterationPoint {
    /// Value of a variable at this iteration.
    pub(super) fn value(&self, var: Var) -> Option<i128> {
        let (list, k) = match var {
            Var::Axis(k) => (&self.axes, k),
            Var::Symbol(k) => (&self.symbols, k),
            Var::Storage(_) | Var::Physical(_) | Var::Digit(_) => return None,
        };
        list.get(usize::try_from(k).ok()?).copied()
    }
}

/// Iteration domain of a statement: axes, symbols and facts.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementDomain<'a> {
    pub(super) axes: &'a [Axis],
    pub(super) symbols: &'a [Symbol],
    pub(super) facts: &'a Facts,
    /// Number of iterations that may still be visited.
    pub(super) left: &'a Cell<i128>,
}

impl StatementDomain<'_> {
    /// Decides whether `a - b` is at least 0.
    pub(super) fn is_at_least(&self, a: &Expr, b: &Expr) -> BoundsResult {
        if self.facts.proves_ge(a, b) == Ok(true) {
            return BoundsResult::Holds;
        }
        match Expr::binary(BinOp::Sub, a, b) {
            Ok(difference) => self.visited(&difference),
            Err(_) => BoundsResult::Unknown,
        }
    }

    /// Decides whether an index is at least 0, and whether it is below an extent.
    pub(super) fn index_bounds(&self, index: &Expr, extent: &Expr) -> [BoundsResult; 2] {
        let below = self.is_at_least(index, &Expr::constant(0));
        let last = Expr::binary(BinOp::Sub, extent, &Expr::constant(1));
        let beyond = last.map_or(BoundsResult::Unknown, |last| self.is_at_least(&last, index));
        [below, beyond]
    }

    fn visited(&self, difference: &Expr) -> BoundsResult {
        let is_mentioned = |k: usize| {
            let var = u32::try_from(k).ok().map(Var::Axis);
            difference.mentions(&|found| Some(found) == var)
        };
        let mentioned: Vec<usize> = (0..self.axes.len()).filter(|k| is_mentioned(*k)).collect();
        let is_symbol = |var: Var| matches!(var, Var::Symbol(_));
        let depends = difference.mentions(&is_symbol)
            || self.axes.iter().any(|axis| axis.extent.mentions(&is_symbol));
        let mut all = true;
        for symbols in self.assignments(depends) {
            let at = IterationPoint { axes: vec![0; self.axes.len()], symbols };
            let extent = |axis: &Axis| axis.extent.evaluate(&|var| at.value(var)).unwrap_or(0);
            let extents: Vec<i128> = self.axes.iter().map(extent).collect();
            if extents.iter().any(|extent| *extent < 1) {
                continue;
            }
            match walk(difference, &mentioned, &extents, (at, self.left)) {
                (Some(at), _) => return BoundsResult::Fails(at),
                (None, complete) => all &= complete,
            }
        }
        if all && !depends { BoundsResult::Holds } else { BoundsResult::Unknown }
    }

    /// Assignments of the symbols: the first [`TRIED_SYMBOLS`] at their least and greatest value, the others at their
    /// least.
    fn assignments(&self, depends: bool) -> Vec<Vec<i128>> {
        let ends = |symbol: &Symbol| {
            let multiple = symbol.multiple.max(1);
            let least = symbol.min + (multiple - symbol.min.rem_euclid(multiple)) % multiple;
            [least, symbol.max - symbol.max.rem_euclid(multiple)]
        };
        let ends: Vec<[i128; 2]> = self.symbols.iter().map(ends).collect();
        let tried = if depends { ends.len().min(TRIED_SYMBOLS) } else { 0 };
        let choices = 0..1_usize << tried;
        let pick = |choice: usize| {
            let end = |(k, ends): (usize, &[i128; 2])| {
                if k < tried && choice >> k & 1 == 1 { ends[1] } else { ends[0] }
            };
            ends.iter().enumerate().map(end).collect()
        };
        choices.map(pick).collect()
    }
}

/// The first iteration at which the expression is negative, and whether the search was exhaustive. Visits only the
/// corners of the domain where it has too many iterations.
fn walk(
    expr: &Expr,
    mentioned: &[usize],
    extents: &[i128],
    (mut at, in_all): (IterationPoint, &Cell<i128>),
) -> (Option<IterationPoint>, bool) {
    let extent = |k: &usize| extents.get(*k).copied().unwrap_or(1);
    let count = mentioned.iter().try_fold(1_i128, |count, k| count.checked_mul(extent(k)));
    let mut complete = count.is_some_and(|count| count <= VISITED.min(in_all.get()));
    let step_by_one = complete;
    let mut left = VISITED;
    loop {
        match expr.evaluate(&|var| at.value(var)) {
            Ok(value) if value < 0 => return (Some(at), complete),
            Ok(_) => {}
            Err(_) => complete = false,
        }
        left -= 1;
        in_all.set(in_all.get() - 1);
        // Advance to the next iteration, the last axis fastest.
        let mut next = None;
        for k in mentioned.iter().rev() {
            let Some(place) = at.axes.get_mut(*k) else { continue };
            let last = extent(k) - 1;
            if *place < last {
                *place = if step_by_one { *place + 1 } else { last };
                next = Some(());
                break;
            }
            *place = 0;
        }
        if next.is_none() || left == 0 || in_all.get() <= 0 {
            return (None, complete);
        }
    }
}
