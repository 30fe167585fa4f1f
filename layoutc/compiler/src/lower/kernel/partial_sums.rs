//! Partial sums (rfactor) of one element: the guards of their loop, and the tree that combines the accumulators.

use layoutc_algebra::expr::ExprComparison;

use crate::ir::{Expr, LoopKind, Stmt, Value};
use crate::loops::bounds::full_tile_condition;
use crate::loops::error::PlanError;
use crate::lower::expr::{add, literal};
use crate::lower::kernel::nest::{LoopState, Nest};
use crate::lower::kernel::reduction;

impl Nest<'_> {
    /// Pair of those of `conditions` that mention the loop over accumulators, and of the conditions under which these
    /// hold in all iterations of the loops `inside` the loop `number`. `None` if `number` is not the loop around the
    /// accumulators, or if the latter conditions are unknown.
    pub(crate) fn partial_sum_guards(
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

    /// Emits the tree that combines the accumulators of an element along the loop `lanes`, the upper half with the
    /// lower half until one value is left, and the store of that value.
    pub(crate) fn combine_partial_sums(
        &self,
        lanes: usize,
        at: &LoopState,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (op, ty) = (self.statement.op, self.statement.accumulator.element());
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
