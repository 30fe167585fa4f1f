//! Schedule of a statement: its loops in their order, and its cached tiles.

use layoutc_algebra::symbol::Symbol;

use crate::base::diagnostic::FileSpan;
use crate::loops::buffers::{KernelBuffer, bound, shares_bytes};
use crate::loops::digit_order::follow_digits;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::footprint::Block;
use crate::loops::heuristics::operand_packing;
use crate::loops::heuristics::partial_sums::may_have_partial_sums;
use crate::loops::order::{Order, RegisterTiling};
use crate::loops::reads::StatementReads;
use crate::loops::{ExecutionModel, schedule_node};
use crate::model::compute::{
    KernelInstance, LoopSchedule, LoopStep, SharedLoop, Statement, TileCache,
};
use crate::model::{Spanned, Tensor};

/// Schedule of one statement, with all its loops decided.
#[derive(Debug, Clone)]
pub(crate) struct ScheduledStatement {
    pub(crate) domain: IterationDomain,
    pub(crate) order: Order,
    /// Cached tiles: those of the manifest, or the packed operand that the planner chooses.
    pub(crate) caches: Vec<TileCache>,
    /// Names of the loops to unroll.
    pub(crate) unroll: Vec<Spanned<String>>,
    /// Names of the loops to run in parallel on CPU threads.
    pub(crate) parallel: Vec<Spanned<String>>,
}

impl ScheduledStatement {
    /// Schedule of `statement` on `processor`: the complete schedule of the manifest if there is one for the
    /// instruction set of the CPU, otherwise loops in which the planner chooses what the manifest leaves open.
    /// `buffers` has the operands and intermediates of `compute`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if the schedule cannot be followed, parallel iterations would write elements that share a
    /// byte, or a statement that writes an image has a cache. [`PlanError::Scope`] if the target has no buffer.
    /// [`PlanError::Expr`] if a value overflows or an expression becomes too large.
    pub(crate) fn new(
        compute: &KernelInstance,
        statement: &Statement,
        buffers: &[KernelBuffer],
        processor: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        let complete = match processor {
            ExecutionModel::Cpu(registers) => statement.complete_schedule(registers.isa),
            ExecutionModel::Gpu => None,
        };
        let parallel = complete.map_or(&compute.schedule.parallel, |own| &own.parallel);
        if let Some(error) = at_once_in_a_byte(compute, target, (parallel, processor)) {
            return Err(error);
        }
        if let Some(schedule) = complete {
            let (tensor, symbols) = (&target.tensor, &compute.symbols);
            let mut planned = schedule_node::planned(tensor, symbols, statement, schedule)?;
            target.locate(&mut planned.domain)?;
            return Ok(planned);
        }
        let is_image = target.image.is_some();
        if let Some(cache) = statement.caches.first().filter(|_| is_image) {
            return Err(no_image(target, &cache.at.place));
        }
        let tiling = if is_image {
            RegisterTiling::Texel
        } else if statement.caches.is_empty() && !statement.is_indexed() {
            let bits = statement.accumulator.element().element_bits();
            RegisterTiling::of(processor, bits, may_have_partial_sums(statement))
        } else {
            RegisterTiling::One
        };
        let caches: Vec<String> =
            statement.caches.iter().map(|cache| cache.at.value.clone()).collect();
        let shared = compute.shared_loop(statement).filter(|_| processor != ExecutionModel::Gpu);
        let own = (compute.symbols.as_slice(), &compute.schedule);
        let mut domain = domain_of(&target.tensor, statement, own, (&caches, shared))?;
        target.locate(&mut domain)?;
        let whole = |buffer| bound(buffers, compute, buffer);
        let sight = StatementReads::of(statement, &whole);
        let planned = |mut domain: IterationDomain| {
            // The loops on which a packed block depends would be outermost.
            if domain.outermost.is_none()
                && let Some(near) =
                    operand_packing::planned(&domain, compute, statement, (&sight, &whole), tiling)?
            {
                return Ok(near);
            }
            let (reads, schedule) =
                (|domain: &IterationDomain| sight.seen(domain), &compute.schedule);
            let order = Order::new(&mut domain, schedule, &reads, tiling, &statement.place)?;
            for cache in &statement.caches {
                same_tile(
                    cache,
                    Block::new(&domain, &order, statement, (cache.buffer, &cache.at))?,
                )?;
            }
            Ok::<_, PlanError>(Self {
                domain,
                order,
                caches: statement.caches.clone(),
                unroll: schedule.unroll.clone(),
                parallel: schedule.parallel.clone(),
            })
        };
        domain.lead = lead(&domain, compute, tiling);
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

/// Loops of a statement that writes `target`, with the splits and fusions of the kernel's schedule, before they are
/// ordered. The layout of `target` is over `symbols`. `caches` names the loops that have caches; `shared` is the loop in
/// which intermediates of the statement are computed, which becomes the outermost one.
///
/// # Errors
/// [`PlanError`] if an expression grows too large, or the schedule cannot be followed.
pub(crate) fn domain_of(
    target: &Tensor,
    statement: &Statement,
    (symbols, schedule): (&[Symbol], &LoopSchedule),
    (caches, shared): (&[String], Option<SharedLoop>),
) -> Result<IterationDomain, PlanError> {
    let reduced = statement.axes.get(statement.written_axes..).unwrap_or_default();
    let shared = match shared {
        Some(SharedLoop::Axis(axis)) => target.layout.logical().get(axis).map(|axis| &axis.name),
        Some(SharedLoop::NoAxis) | None => None,
    };
    let kept: Vec<String> =
        caches.iter().chain(shared).cloned().chain(fused(&schedule.steps)).collect();
    let mut domain = IterationDomain::new(target, symbols, reduced, &kept)?;
    if schedule.has_default_loops() && caches.is_empty() {
        follow_digits(&mut domain, target)?;
    }
    domain.apply(&schedule.steps)?;
    domain.outermost = shared.and_then(|name| domain.find(name));
    Ok(domain)
}

/// Names of the loops that fusions in `steps` replace, two for each fusion. Domains keep these loops even if the trip
/// count is 1.
pub(crate) fn fused(steps: &[LoopStep]) -> impl Iterator<Item = String> {
    let fused = steps.iter().filter(|step| matches!(step, LoopStep::Fuse(_)));
    fused.flat_map(LoopStep::loops).map(|name| name.value.clone())
}

/// Number of the loop that the manifest vectorizes, if `tiling` is vectors, the statement reduces, and the manifest
/// leaves the register tile to the planner; `None` otherwise.
fn lead(
    domain: &IterationDomain,
    compute: &KernelInstance,
    tiling: RegisterTiling,
) -> Option<usize> {
    let RegisterTiling::Vectors { .. } = tiling else { return None };
    let chosen = compute.schedule.vectorize.as_ref()?;
    if !domain.tiles.is_empty() || Order::interleaves(domain, &compute.schedule) {
        return None;
    }
    let is_reduced = domain.active.iter().any(|number| domain.is_reduced(*number));
    domain.find(&chosen.value).filter(|_| is_reduced)
}

/// Checks that the tile of a cache has the extents of `block`, the box that an iteration uses; a [`PlanError::Choice`]
/// if not. They differ, for example, on GPUs if the loop of an intermediate (`at`) is outermost only on CPUs.
fn same_tile(cache: &TileCache, block: Option<Block>) -> Result<(), PlanError> {
    let Some(block) = block else { return Ok(()) };
    let axes = cache.block.layout.logical();
    let extents: Option<Vec<i128>> = axes.iter().map(|axis| axis.extent.as_const()).collect();
    if extents.as_ref() == Some(&block.extents) {
        return Ok(());
    }
    let list =
        |extents: &[i128]| extents.iter().map(ToString::to_string).collect::<Vec<_>>().join(" by ");
    Err(PlanError::Choice {
        message: format!(
            "the tile of an iteration of `{}` is {} in this order of the loops, not {}",
            cache.at.value,
            list(&block.extents),
            extents.as_deref().map_or_else(String::new, list)
        ),
        help: format!("order the loops by `loops`, with `{}` first", cache.at.value),
        place: cache.at.place.clone(),
    })
}

pub(crate) fn no_image(target: &KernelBuffer, place: &FileSpan) -> PlanError {
    PlanError::Choice {
        message: format!(
            "`{}` is an image, which is written by texels: no tile of it is cached",
            target.tensor.name
        ),
        help: "leave the cache out, or write a tensor in global memory".to_owned(),
        place: place.clone(),
    }
}

/// Error if concurrent iterations would write elements of `target` that share a byte. `parallel` are the loops that the
/// manifest runs in parallel. `None` if elements are whole bytes, or no loop is parallel on a CPU; GPU threads always
/// run concurrently.
pub(crate) fn at_once_in_a_byte(
    compute: &KernelInstance,
    target: &KernelBuffer,
    (parallel, processor): (&[Spanned<String>], ExecutionModel),
) -> Option<PlanError> {
    if !shares_bytes(&target.tensor) {
        return None;
    }
    let place = match (parallel.first(), processor) {
        (Some(chosen), _) => &chosen.place,
        (None, ExecutionModel::Gpu) => &compute.place,
        (None, ExecutionModel::Cpu(_)) => return None,
    };
    let name = &target.tensor.name;
    Some(PlanError::Choice {
        message: format!(
            "elements of `{name}` share bytes, and parallel iterations would write the same byte"
        ),
        help: "write a tensor with elements of a byte or more, and convert it".into(),
        place: place.clone(),
    })
}
