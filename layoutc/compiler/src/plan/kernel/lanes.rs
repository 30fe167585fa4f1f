//! Sums of one element put together in several lanes, where no loop of what is written has vectors: every so manyth value goes into
//! the same lane, and the lanes are put together in the end.

use layoutc_algebra::expr::{ExprComparison, ExprError};

use super::super::lower::{PlanError, add, literal};
use super::bounds::at_worst;
use super::domain::Domain;
use super::gather;
use super::nest::{At, Nest};
use super::value::scalar;
use super::vectors::{Reads, Seen, row};
use crate::ir::{Expr, LoopKind, Stmt, Value};
use crate::machine::{CPU, Registers};
use crate::model::compute::{MathFunction, Reduction, Statement, TypedExprKind};

/// The loops of the lanes of one element.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnLanes {
    /// The loop over them.
    pub(super) number: usize,
    /// The reduced loop that is left around them.
    pub(super) around: usize,
}

/// Whether the values of a statement may go into lanes: not where computing one takes so long that the order does not matter.
pub(super) fn may_have_lanes(statement: &Statement) -> bool {
    let mut is_quick = statement.op != Reduction::Assign && !statement.value.divides();
    statement.value.walk(&mut |value| {
        if let TypedExprKind::Call(function, _) = &value.kind {
            is_quick &= matches!(function, MathFunction::Abs | MathFunction::Sqrt);
        }
    });
    is_quick
}

/// Cuts lanes off the reduced loop along which all that is read stays or goes on by one, and rows off the `outer` loops: the
/// lanes, and the loops inside the reduction but for that around the lanes. `None` where there is no such loop, it is short, or borders cut it.
pub(super) fn lanes(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    reduced: &[usize],
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Option<(OwnLanes, Vec<usize>)>, ExprError> {
    let Seen { steps, guarded } = reads(domain)?;
    let follows = |number: &usize| {
        let strides = steps.iter().map(|one| one.stride(*number, domain)?.as_const());
        let strides: Option<Vec<i128>> = strides.collect();
        !guarded.contains(number)
            && strides.is_some_and(|all| {
                all.contains(&1) && all.iter().all(|stride| [0, 1].contains(stride))
            })
    };
    let Some(along) = reduced.iter().copied().find(follows) else { return Ok(None) };
    let most = domain.rounds(along).map_or(i128::MAX, |rounds| rounds.div_euclid(2));
    if most < lanes {
        return Ok(None);
    }
    let as_it_was = (domain.clone(), outer.clone());
    let mut inner = Vec::new();
    let with_rows =
        registers.tile_vectors.div_euclid(CPU.partial_sum_vectors_of_rows).min(registers.tile_rows);
    let row = row(domain, outer, (None, with_rows, CPU.partial_sum_vectors_of_rows), reads)?;
    let mut vectors =
        if row.is_some() { CPU.partial_sum_vectors_of_rows } else { CPU.partial_sum_vectors };
    inner.extend(row);
    while vectors > 1 && vectors.saturating_mul(lanes) > most {
        vectors = vectors.div_euclid(2);
    }
    let by = i64::try_from(vectors.saturating_mul(lanes)).unwrap_or(1);
    let [around, lanes] = domain.split(along, by)?;
    if !domain.live.contains(&around) || !domain.live.contains(&lanes) {
        (*domain, *outer) = as_it_was;
        return Ok(None);
    }
    domain.put_together_later(lanes);
    inner.push(lanes);
    Ok(Some((OwnLanes { number: lanes, around }, inner)))
}

impl Nest<'_> {
    /// Around the lanes of one element: the conditions under which there is a value for each, and the same of the last lane.
    pub(super) fn lanes_cut_off(
        &self,
        number: usize,
        conditions: &[ExprComparison],
    ) -> Result<Option<[Vec<ExprComparison>; 2]>, PlanError> {
        let Some(lanes) = self.order.lanes.filter(|lanes| lanes.around == number) else {
            return Ok(None);
        };
        let is_own =
            |condition: &&ExprComparison| self.mentioned(condition).contains(&lanes.number);
        let own: Vec<ExprComparison> = conditions.iter().filter(is_own).cloned().collect();
        Ok(at_worst(&own, &[lanes.number], &self.domain)?.map(|worst| [own, worst]))
    }

    /// Puts the lanes of an element together, half of them with the other half until one is left, and stores it.
    pub(super) fn lanes_together(&self, lanes: usize, at: &At) -> Result<Vec<Stmt>, PlanError> {
        let (op, ty) = (self.statement.op, scalar(self.statement.accumulator));
        let mut all = Vec::new();
        let mut half = self.domain.rounds(lanes).unwrap_or(1).div_euclid(2);
        while half > 1 {
            let (near, far) = (self.named(lanes), add(self.named(lanes), literal(half)?)?);
            let value = self.item_at(Some((lanes, &far)))?;
            let into = self.item_at(Some((lanes, &near)))?;
            let body = vec![self.gather(into, gather::how(op), value)];
            let name = self.names.get(lanes).cloned().unwrap_or_default();
            let (from, to) = (Expr::int(0), literal(half)?);
            let kind = LoopKind::Unrolled(1);
            all.push(Stmt::For { name, from, to, step: 1, kind, body });
            half = half.div_euclid(2);
        }
        let [first, second] = [0, 1].map(|lane| self.item_at(Some((lanes, &Expr::int(lane)))));
        let mut value = first?;
        if let Some(op) = gather::operator(op) {
            value = Value::binary(op, ty, value, second?);
            if self.statement.accumulate {
                value = Value::binary(op, ty, self.held(at)?, value);
            }
        }
        all.push(self.store(at, value));
        Ok(all)
    }
}
