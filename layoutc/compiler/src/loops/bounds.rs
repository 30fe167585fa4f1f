//! Bounds of a loop after its guards are solved: the range of iterations in which the guards hold.

use std::collections::BTreeSet;

use layoutc_algebra::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError};

use crate::loops::access::AffineAccess;
use crate::loops::arith::{ceil_div, fold, product, sum};
use crate::loops::domain::{IterationDomain, loop_index, var};

/// Maximum number of combined iterations of the outer loops over which [`LoopBounds::feasible_bounds`] enumerates the
/// bounds of a loop.
const LOOKED_AT: i128 = 1 << 10;

/// Range of a loop's iterations, from the maximum of `lower` to the minimum of `upper`, and the guards that remain. The
/// bounds are expressions over outer loops and symbols.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoopBounds {
    /// Inclusive lower bounds of the range, besides 0.
    pub(crate) lower: Vec<Expr>,
    /// Exclusive upper bounds of the range, besides the trip count.
    pub(crate) upper: Vec<Expr>,
    /// Conditions that are not bounds of this loop, such as equalities; each remains a guard in the body.
    pub(crate) residual_guards: Vec<ExprComparison>,
}

impl LoopBounds {
    /// Solves `conditions` for the loop `number`, the innermost loop that each of the conditions mentions.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn of(
        number: usize,
        conditions: &[ExprComparison],
        domain: &IterationDomain,
    ) -> Result<Self, ExprError> {
        let mut bounds = Self::default();
        for condition in conditions {
            let difference = Expr::binary(BinOp::Sub, &condition.left, &condition.right)?;
            let steps = AffineAccess::of(&domain.facts.simplify(&difference)?, domain)?;
            let stride = steps.stride(number, domain).and_then(|stride| stride.as_const());
            let Some(stride) =
                stride.filter(|stride| *stride != 0 && condition.op != CompareOp::Eq)
            else {
                bounds.residual_guards.push(condition.clone());
                continue;
            };
            // The condition is stride * iteration + others < 0, or >= 0.
            let mut others = steps.rest.clone();
            for (other, by) in steps.strides.iter().filter(|(other, _)| *other != number) {
                others = sum(&others, &fold(BinOp::Mul, by, &loop_index(*other)?)?)?;
            }
            let others = domain.facts.simplify(&others)?;
            let minus = domain.facts.simplify(&Expr::negate(&others)?)?;
            let magnitude = stride.saturating_abs();
            let is_upper = (condition.op == CompareOp::Lt) == (stride > 0);
            let bound = if stride > 0 {
                ceil_div(&minus, magnitude)?
            } else {
                // others - magnitude * iteration: the last iteration with a value of at least 0, plus one.
                let last = fold(BinOp::FloorDiv, &others, &Expr::constant(magnitude))?;
                sum(&last, &Expr::constant(1))?
            };
            let bound = domain.facts.simplify(&bound)?;
            let list = if is_upper { &mut bounds.upper } else { &mut bounds.lower };
            if !list.contains(&bound) {
                list.push(bound);
            }
        }
        Ok(bounds)
    }

    /// Distinct ranges `[first, end]`, with an exclusive end, of the loop `number` with `rounds` iterations, for all
    /// iterations of the outer loops on which the bounds depend. An iteration of the outer loops is skipped if a
    /// condition of `sure` is false in the first or in the last iteration of the loop. `None` if guards remain or the
    /// ranges are not known, for example because a bound depends on a symbol or the outer loops have more than
    /// `LOOKED_AT` iterations in total.
    pub(crate) fn feasible_bounds(
        &self,
        (number, rounds): (usize, i128),
        sure: &[ExprComparison],
        domain: &IterationDomain,
    ) -> Option<BTreeSet<[i128; 2]>> {
        if !self.residual_guards.is_empty() {
            return None;
        }
        let all = || self.lower.iter().chain(&self.upper);
        let around: BTreeSet<_> = all().flat_map(|bound| domain.mentioned(bound)).collect();
        let known = |number| Some((var(number).ok()?, domain.trip_count(number)?));
        let around: Vec<_> = around.into_iter().map(known).collect::<Option<_>>()?;
        let together = |count: i128, (_, rounds): &(_, i128)| count.checked_mul(*rounds);
        let count = around.iter().try_fold(1, together).filter(|count| *count <= LOOKED_AT)?;
        let own = var(number).ok()?;
        let mut found = BTreeSet::new();
        for at in 0..count {
            let mut left = at;
            let mut values = Vec::new();
            for (var, rounds) in &around {
                values.push((*var, left.checked_rem(*rounds)?));
                left = left.checked_div(*rounds)?;
            }
            let value =
                |var| values.iter().find(|(other, _)| *other == var).map(|(_, value)| *value);
            // A condition that depends on further loops does not evaluate, and counts as one that may hold.
            let fails = |round: i128| {
                let value = |var| if var == own { Some(round) } else { value(var) };
                sure.iter().any(|condition| condition.evaluate(&value) == Ok(false))
            };
            if fails(0) || fails(rounds.saturating_sub(1)) {
                continue;
            }
            let of = |bounds: &[Expr]| {
                bounds.iter().map(|bound| bound.evaluate(&value).ok()).collect::<Option<Vec<_>>>()
            };
            let low = of(&self.lower)?.into_iter().fold(0, i128::max);
            let high = of(&self.upper)?.into_iter().fold(rounds, i128::min);
            found.insert([low, high]);
        }
        Some(found)
    }

    /// Trip count of the loop in the last iteration of one outer loop, if it is less than `rounds`, the full trip
    /// count, only there: 2 for an extent of 56 that is split by 6. `None` if that is not known.
    pub(crate) fn remainder_trip_count(
        &self,
        rounds: i128,
        domain: &IterationDomain,
    ) -> Option<i128> {
        let ([], [high], []) =
            (self.lower.as_slice(), self.upper.as_slice(), self.residual_guards.as_slice())
        else {
            return None;
        };
        let steps = AffineAccess::of(high, domain).ok()?;
        let [(outer, stride)] = steps.strides.as_slice() else { return None };
        let (first, stride) = steps.rest.as_const().zip(stride.as_const())?;
        let last = domain.trip_count(*outer)?.checked_sub(1)?;
        let at = |round: i128| stride.checked_mul(round)?.checked_add(first);
        let (before, left) = (at(last.checked_sub(1)?)?, at(last)?);
        (stride < 0 && before >= rounds && (1..rounds).contains(&left)).then_some(left)
    }
}

/// Conditions under which `conditions` hold in all iterations of the loops `inside`: each condition, evaluated in the
/// iteration where its margin is smallest. `None` if one of `conditions` is an equality, is not affine with constant
/// strides and trip counts in these loops, or depends on a reduced loop of `inside`, whose bounds then enforce it.
///
/// # Errors
/// [`ExprError`] if a value overflows or an expression becomes too large.
pub(crate) fn full_tile_condition(
    conditions: &[ExprComparison],
    inside: &[usize],
    domain: &IterationDomain,
) -> Result<Option<Vec<ExprComparison>>, ExprError> {
    let mut all = Vec::new();
    for ExprComparison { left, op, right } in conditions {
        let difference = Expr::binary(BinOp::Sub, left, right)?;
        let steps = AffineAccess::of(&domain.facts.simplify(&difference)?, domain)?;
        let is_inside = |number: &usize| inside.contains(number);
        if *op == CompareOp::Eq || domain.mentioned(&steps.rest).iter().any(is_inside) {
            return Ok(None);
        }
        let mut worst = steps.rest.clone();
        for (number, stride) in &steps.strides {
            let round = if is_inside(number) {
                if domain.is_reduced(*number) {
                    return Ok(None);
                }
                let known = stride.as_const().zip(domain.trip_count(*number));
                let Some((by, rounds)) = known else { return Ok(None) };
                let is_last = (*op == CompareOp::Lt) == (by > 0);
                Expr::constant(if is_last { rounds.saturating_sub(1).max(0) } else { 0 })
            } else {
                loop_index(*number)?
            };
            worst = sum(&worst, &product(stride, &round)?)?;
        }
        let left = domain.facts.simplify(&worst)?;
        all.push(ExprComparison { left, op: *op, right: Expr::constant(0) });
    }
    Ok(Some(all))
}
