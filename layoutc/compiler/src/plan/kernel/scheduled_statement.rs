//! Loops of a statement in their order, and its staged blocks.

use super::super::loops::digit_order::follow_digits;
use super::super::loops::domain::IterationDomain;
use super::complete;
use super::nest::{at_once_in_a_byte, no_image};
use super::operand_packing;
use super::order::{Order, RegisterTiling};
use super::partial_sums::may_have_partial_sums;
use super::statement_reads::StatementReads;
use super::value::scalar;
use super::{ExecutionModel, KernelBuffer, bound};
use crate::model::Spanned;
use crate::model::compute::{KernelInstance, LoopStep, SharedLoop, Statement, TileCache};
use crate::plan::lower::PlanError;

/// Schedule of one statement.
#[derive(Debug, Clone)]
pub(super) struct ScheduledStatement {
    pub(super) domain: IterationDomain,
    pub(super) order: Order,
    /// Staged blocks: those of the manifest, or of the planner (operand packing).
    pub(super) caches: Vec<TileCache>,
    /// Names of the loops to unroll.
    pub(super) unroll: Vec<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub(super) parallel: Vec<Spanned<String>>,
}

impl ScheduledStatement {
    /// Complete schedule of the manifest for this processor; without one, the planner chooses what the manifest leaves
    /// open.
    ///
    /// # Errors
    /// [`PlanError`] if an expression grows too large, or the schedule cannot be followed.
    pub(super) fn new(
        compute: &KernelInstance,
        statement: &Statement,
        buffers: &[KernelBuffer],
        runs: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        let complete = match runs {
            ExecutionModel::Cpu(registers) => statement.complete_schedule(registers.isa),
            ExecutionModel::Gpu => None,
        };
        let parallel = complete.map_or(&compute.schedule.parallel, |own| &own.parallel);
        if let Some(error) = at_once_in_a_byte(compute, target, (parallel, runs)) {
            return Err(error);
        }
        if let Some(schedule) = complete {
            let (tensor, symbols) = (&target.tensor, &compute.symbols);
            let mut planned = complete::planned(tensor, symbols, statement, schedule)?;
            target.locate(&mut planned.domain)?;
            return Ok(planned);
        }
        let is_image = target.image.is_some();
        if let Some(cache) = statement.caches.first().filter(|_| is_image) {
            return Err(no_image(target, &cache.at.place));
        }
        let at_once = if is_image {
            RegisterTiling::Texel
        } else if statement.caches.is_empty() && !statement.is_indexed() {
            let bits = scalar(statement.accumulator).element_bits();
            RegisterTiling::of(runs, bits, may_have_partial_sums(statement))
        } else {
            RegisterTiling::One
        };
        let reduced = statement.axes.get(statement.written_axes..).unwrap_or_default();
        let mut kept: Vec<String> =
            statement.caches.iter().map(|cache| cache.at.value.clone()).collect();
        kept.extend(fused(&compute.schedule.steps));
        let axis = match compute.shared_loop(statement) {
            Some(SharedLoop::Axis(axis)) if runs != ExecutionModel::Gpu => {
                target.tensor.layout.logical().get(axis)
            }
            _ => None,
        };
        kept.extend(axis.map(|axis| axis.name.clone()));
        let mut domain = IterationDomain::new(&target.tensor, &compute.symbols, reduced, &kept)?;
        if compute.schedule.has_default_loops() && statement.caches.is_empty() {
            follow_digits(&mut domain, &target.tensor)?;
        }
        domain.apply(&compute.schedule.steps)?;
        target.locate(&mut domain)?;
        domain.outermost = axis.and_then(|axis| domain.find(&axis.name));
        let whole = |buffer| bound(buffers, compute, buffer);
        let sight = StatementReads::of(statement, &whole);
        let planned = |mut domain: IterationDomain| {
            // The loops on which a packed block depends would be outermost.
            if domain.outermost.is_none()
                && let Some(near) = operand_packing::planned(
                    &domain,
                    compute,
                    statement,
                    (&sight, &whole),
                    at_once,
                )?
            {
                return Ok(near);
            }
            let (reads, schedule) =
                (|domain: &IterationDomain| sight.seen(domain), &compute.schedule);
            let order = Order::new(&mut domain, schedule, &reads, at_once, &statement.place)?;
            Ok::<_, PlanError>(Self {
                domain,
                order,
                caches: statement.caches.clone(),
                unroll: schedule.unroll.clone(),
                parallel: schedule.parallel.clone(),
            })
        };
        domain.lead = lead(&domain, compute, at_once);
        if domain.lead.is_some() {
            // If the operands do not allow vectors along the manifest's loop, the whole loop becomes the register tile.
            let led = planned(domain.clone())?;
            if led.order.register_tile(&led.domain).next().is_some() {
                return Ok(led);
            }
            domain.lead = None;
        }
        planned(domain)
    }
}

/// Names of the loops that steps fuse, which exist also with one iteration.
pub(super) fn fused(steps: &[LoopStep]) -> impl Iterator<Item = String> {
    let fused = steps.iter().filter(|step| matches!(step, LoopStep::Fuse(_)));
    fused.flat_map(LoopStep::loops).map(|name| name.value.clone())
}

/// Loop that the manifest vectorizes, if the statement reduces and leaves the register tile to the planner; else
/// `None`.
fn lead(
    domain: &IterationDomain,
    compute: &KernelInstance,
    at_once: RegisterTiling,
) -> Option<usize> {
    let RegisterTiling::Vectors { .. } = at_once else { return None };
    let chosen = compute.schedule.vectorize.as_ref()?;
    if !domain.tiles.is_empty() || Order::interleaves(domain, &compute.schedule) {
        return None;
    }
    let is_reduced = domain.active.iter().any(|number| domain.is_reduced(*number));
    domain.find(&chosen.value).filter(|_| is_reduced)
}
