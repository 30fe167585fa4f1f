//! Partial sums (rfactor) of one element, used if no loop of the written tensor can be vectorized: the reduction is
//! split over L accumulators, value k goes to accumulator k mod L, and a tree combines the accumulators at the end.

use layoutc_algebra::expr::{ExprComparison, ExprError};

use super::super::loops::domain::IterationDomain;
use super::super::lower::{PlanError, add, literal};
use super::bounds::full_tile_condition;
use super::nest::{LoopState, Nest};
use super::reduction;
use super::register_tile::{AccessSummary, Reads, row_tile};
use super::value::scalar;
use crate::ir::{Expr, LoopKind, Stmt, Value};
use crate::machine::{CPU, Registers};
use crate::model::compute::{MathFunction, Reduction, Statement, TypedExprKind};

/// Loops of the partial sums of one element.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartialSums {
    /// Number of the loop over the accumulators.
    pub(super) number: usize,
    /// Number of the reduced loop around the loop over the accumulators.
    pub(super) around: usize,
}

/// True if a statement may use partial sums: a reduction without divisions and without calls of functions other than
/// `abs` and `sqrt`. After slower operations, the latency of the accumulation does not matter.
pub(super) fn may_have_partial_sums(statement: &Statement) -> bool {
    let mut is_quick = statement.op != Reduction::Assign && !statement.value.divides();
    statement.value.walk(&mut |value| {
        if let TypedExprKind::Call(function, _) = &value.kind {
            is_quick &= matches!(function, MathFunction::Abs | MathFunction::Sqrt);
        }
    });
    is_quick
}

/// Splits the loop over accumulators off the first reduced loop along which no read is guarded, and all reads have
/// stride 0 or 1, at least one of them 1; may split rows off `outer`. Returns the new loops, and those inside `around`,
/// outermost first. `None` if there is no such loop, or the first one has fewer than two vectors of iterations.
pub(super) fn lanes(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    reduced: &[usize],
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Option<(PartialSums, Vec<usize>)>, ExprError> {
    let AccessSummary { steps, guarded } = reads(domain)?;
    let follows = |number: &usize| {
        let strides = steps.iter().map(|one| one.stride(*number, domain)?.as_const());
        let strides: Option<Vec<i128>> = strides.collect();
        !guarded.contains(number)
            && strides.is_some_and(|all| {
                all.contains(&1) && all.iter().all(|stride| [0, 1].contains(stride))
            })
    };
    let Some(along) = reduced.iter().copied().find(follows) else { return Ok(None) };
    let most = domain.trip_count(along).map_or(i128::MAX, |rounds| rounds.div_euclid(2));
    if most < lanes {
        return Ok(None);
    }
    let as_it_was = (domain.clone(), outer.clone());
    let mut inner = Vec::new();
    let with_rows =
        registers.tile_vectors.div_euclid(CPU.partial_sum_vectors_of_rows).min(registers.tile_rows);
    let row = row_tile(domain, outer, (None, with_rows, CPU.partial_sum_vectors_of_rows), reads)?;
    let mut vectors =
        if row.is_some() { CPU.partial_sum_vectors_of_rows } else { CPU.partial_sum_vectors };
    inner.extend(row);
    while vectors > 1 && vectors.saturating_mul(lanes) > most {
        vectors = vectors.div_euclid(2);
    }
    let by = i64::try_from(vectors.saturating_mul(lanes)).unwrap_or(1);
    let [around, lanes] = domain.split(along, by)?;
    if !domain.active.contains(&around) || !domain.active.contains(&lanes) {
        (*domain, *outer) = as_it_was;
        return Ok(None);
    }
    domain.privatize(lanes);
    inner.push(lanes);
    Ok(Some((PartialSums { number: lanes, around }, inner)))
}

impl Nest<'_> {
    /// Conditions that mention the loop over accumulators, and the conditions under which these hold in all iterations
    /// of the loops `inside` the loop `number`. `None` if `number` is not the loop around the accumulators, or if the
    /// latter conditions are unknown.
    pub(super) fn partial_sum_guards(
        &self,
        (number, inside): (usize, &[usize]),
        conditions: &[ExprComparison],
    ) -> Result<Option<[Vec<ExprComparison>; 2]>, PlanError> {
        let Some(lanes) = self.order.partial_sums.filter(|lanes| lanes.around == number) else {
            return Ok(None);
        };
        let is_own =
            |condition: &&ExprComparison| self.mentioned(condition).contains(&lanes.number);
        let own: Vec<ExprComparison> = conditions.iter().filter(is_own).cloned().collect();
        Ok(full_tile_condition(&own, inside, &self.domain)?.map(|worst| [own, worst]))
    }

    /// Emits the tree that combines the accumulators of an element, the upper half with the lower half until one value
    /// is left, and the store of that value.
    pub(super) fn combine_partial_sums(
        &self,
        lanes: usize,
        at: &LoopState,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (op, ty) = (self.statement.op, scalar(self.statement.accumulator));
        let mut all = Vec::new();
        let mut half = self.domain.trip_count(lanes).unwrap_or(1).div_euclid(2);
        while half > 1 {
            let (near, far) = (self.named(lanes), add(self.named(lanes), literal(half)?)?);
            let value = self.item_at(Some((lanes, &far)))?;
            let into = self.item_at(Some((lanes, &near)))?;
            let body = vec![self.gather(into, reduction::how(op), value)];
            let name = self.names.get(lanes).cloned().unwrap_or_default();
            let (from, to) = (Expr::int(0), literal(half)?);
            let kind = LoopKind::Unrolled(1);
            all.push(Stmt::For { name, from, to, step: 1, kind, body });
            half = half.div_euclid(2);
        }
        let [first, second] = [0, 1].map(|lane| self.item_at(Some((lanes, &Expr::int(lane)))));
        let mut value = first?;
        if let Some(op) = reduction::operator(op) {
            value = Value::binary(op, ty, value, second?);
            if self.accumulates_into_output {
                value = Value::binary(op, ty, self.held(at)?, value);
            }
        }
        all.extend(self.store(at, value)?);
        Ok(all)
    }
}
