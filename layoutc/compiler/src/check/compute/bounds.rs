//! Proofs that an expression over the axes of a statement is at least 0 in every iteration. The result is one of three:
//! proven, refuted by a witness, or unknown.

use std::cell::Cell;

use layoutc_algebra::expr::{BinOp, Expr, Var};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::check::index_point::{ClaimResult, IndexPoint};

/// Maximum number of iterations at which an expression is evaluated for one assignment of values to the symbols. If
/// there are more, it is evaluated at the corners of the iteration domain only.
const VISITED: i128 = 1 << 18;

/// Maximum number of iterations at which all expressions of one statement together are evaluated. Beyond it, only the
/// facts prove claims.
pub(super) const VISITED_IN_ALL: i128 = 1 << 22;

/// Maximum number of symbols that are tried at their least and at their greatest value. Further symbols are tried at
/// their least value.
const TRIED_SYMBOLS: usize = 4;

/// Iteration domain of a statement: its axes, the symbols of the kernel, and facts on both.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementDomain<'a> {
    pub(super) axes: &'a [Axis],
    pub(super) symbols: &'a [Symbol],
    pub(super) facts: &'a Facts,
    /// Number of iterations at which expressions of the statement may still be evaluated.
    pub(super) left: &'a Cell<i128>,
}

impl StatementDomain<'_> {
    /// Decides if `a >= b` in every iteration.
    pub(super) fn is_at_least(&self, a: &Expr, b: &Expr) -> ClaimResult {
        if self.facts.proves_ge(a, b) == Ok(true) {
            return ClaimResult::Holds;
        }
        match Expr::binary(BinOp::Sub, a, b) {
            Ok(difference) => self.visited(&difference),
            Err(_) => ClaimResult::Unknown,
        }
    }

    /// Decides the two claims `index >= 0` and `index < extent` for every iteration, in this order.
    pub(super) fn index_bounds(&self, index: &Expr, extent: &Expr) -> [ClaimResult; 2] {
        let below = self.is_at_least(index, &Expr::constant(0));
        let last = Expr::binary(BinOp::Sub, extent, &Expr::constant(1));
        let beyond = last.map_or(ClaimResult::Unknown, |last| self.is_at_least(&last, index));
        [below, beyond]
    }

    fn visited(&self, difference: &Expr) -> ClaimResult {
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
            let at = IndexPoint { axes: vec![0; self.axes.len()], symbols };
            let extent = |axis: &Axis| axis.extent.evaluate(&|var| at.value(var)).unwrap_or(0);
            let extents: Vec<i128> = self.axes.iter().map(extent).collect();
            if extents.iter().any(|extent| *extent < 1) {
                continue;
            }
            match walk(difference, &mentioned, &extents, (at, self.left)) {
                (Some(at), _) => return ClaimResult::Fails(at),
                (None, complete) => all &= complete,
            }
        }
        if all && !depends { ClaimResult::Holds } else { ClaimResult::Unknown }
    }

    /// Assignments of values to all symbols, by position, at which an expression is evaluated. If `depends` is true
    /// (the expression or the domain depends on symbols), the first [`TRIED_SYMBOLS`] symbols take their least and
    /// their greatest value in all combinations, and the others their least value. Otherwise there is one assignment,
    /// of the least values.
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

/// Pair `(witness, complete)`: `witness` is the first iteration at which `expr` is negative, `None` if none was found.
/// `complete` is true if `expr` was evaluated without an error at every iteration, unless a witness ended the search
/// earlier. `extents` has the extent of each axis. Only the axes `mentioned` vary; the others keep their index in `at`.
/// If there are too many iterations, `expr` is evaluated at the corners of the domain only. `in_all` counts down the
/// evaluations that the statement has left.
fn walk(
    expr: &Expr,
    mentioned: &[usize],
    extents: &[i128],
    (at, in_all): (IndexPoint, &Cell<i128>),
) -> (Option<IndexPoint>, bool) {
    let extent = |k: &usize| extents.get(*k).copied().unwrap_or(1);
    let count = mentioned.iter().try_fold(1_i128, |count, k| count.checked_mul(extent(k)));
    let mut complete = count.is_some_and(|count| count <= VISITED.min(in_all.get()));
    let visited = |k: &usize| match extent(k) {
        extent if complete => (*k, (0..extent).collect()),
        extent if extent > 1 => (*k, vec![0, extent - 1]),
        _ => (*k, vec![0]),
    };
    let visited: Vec<(usize, Vec<i128>)> = mentioned.iter().map(visited).collect();
    let (mut failed, mut left) = (None, VISITED);
    at.visit(&visited, &mut |at| {
        match expr.evaluate(&|var| at.value(var)) {
            Ok(value) if value < 0 => {
                failed = Some(at.clone());
                return false;
            }
            Ok(_) => {}
            Err(_) => complete = false,
        }
        left -= 1;
        in_all.set(in_all.get() - 1);
        left > 0 && in_all.get() > 0
    });
    (failed, complete)
}
