//! Estimated cost of the loops of a statement on one core, and the warning about a schedule that costs more than the
//! planner's own.
//!
//! One iteration of a reduction takes one multiply-add, the loads of its operands that the register tile does not
//! share, and a load and a store of the accumulator if the accumulators exceed the registers. A vector instruction
//! executes these for one vector of elements, and waits for the previous update of the same accumulator unless other
//! accumulators are in flight. Cache and TLB misses are not counted.

use layoutc_algebra::expr::ExprError;

use super::super::Naming;
use super::super::loops::access::AffineAccess;
use super::super::lower::PlanError;
use super::scheduled_statement::ScheduledStatement;
use super::statement_reads::StatementReads;
use super::value::scalar;
use super::{ExecutionModel, KernelPrologue, avoiding, bound};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::machine::{AVX2, AVX512, CPU, Registers};
use crate::model::Manifest;
use crate::model::compute::{KernelInstance, LoopSchedule, Statement};

/// Warnings about schedules that cost more than one and a half times the planner's own.
pub(crate) fn slow_schedules(manifest: &Manifest, naming: &Naming<'_>) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for compute in &manifest.computes {
        let Some(auto) = compute.unscheduled().filter(|_| is_for_cores(manifest, compute)) else {
            continue;
        };
        for (k, statement) in
            compute.statements.iter().enumerate().filter(|(_, own)| is_long(manifest, compute, own))
        {
            let cost = |compute: &KernelInstance| match compute.statements.get(k) {
                Some(statement) => cost(manifest, compute, statement, naming).ok().flatten(),
                None => None,
            };
            let Some((own, best)) = cost(compute).zip(cost(&auto)) else { continue };
            let is_scheduled = scheduled(compute, statement);
            if is_slow(own, best, is_scheduled) {
                let all = directives(&compute.schedule);
                let cause = all.iter().find(|directive| {
                    let without = compute.with_schedule(directive.without.clone());
                    cost(&without).is_some_and(|cost| !is_slow(cost, best, is_scheduled))
                });
                warnings.push(warning(compute, statement, [own, best], cause));
                break;
            }
        }
    }
    warnings
}

/// True if C is emitted for an instance, and its schedule has no tile caches, which thread blocks share.
pub(crate) fn is_for_cores(manifest: &Manifest, compute: &KernelInstance) -> bool {
    let mut tensors = compute.operands.iter().filter_map(|one| manifest.tensor(one.tensor));
    compute.statements.iter().all(|statement| statement.caches.is_empty())
        && tensors.all(|tensor| {
            tensor.targets.as_ref().is_none_or(|targets| targets.iter().any(|one| one == "c"))
        })
}

/// True for a reduction of at least `costed_values` iterations, and of `costed_reuse` for each element of the operands.
fn is_long(manifest: &Manifest, compute: &KernelInstance, statement: &Statement) -> bool {
    let elements = compute
        .operands
        .iter()
        .map(|operand| manifest.tensor(operand.tensor)?.layout.logical_elements().as_const());
    let elements: Option<i128> = elements.sum();
    let Some(elements) = elements else { return false };
    let mut values = statement.axes.iter().map(|axis| axis.extent.as_const());
    let values = values.try_fold(1_i128, |all, extent| Some(all.saturating_mul(extent?)));
    let is_reduced = statement.axes.len() > statement.written_axes;
    is_reduced
        && statement.scatter.is_none()
        && values.is_some_and(|values| {
            let least = elements.saturating_mul(CPU.costed_reuse).max(CPU.costed_values);
            values >= least
        })
}

/// Estimated time per iteration of a reduction, in thousandths of a cycle, with AVX-512 and with AVX2.
type Cost = [i128; 2];

/// True if a cost exceeds one and a half times the best, with each of AVX-512 and AVX2 that `is_scheduled` selects. False
/// if it selects neither.
fn is_slow(cost: Cost, best: Cost, is_scheduled: [bool; 2]) -> bool {
    let is_slow = |cost: i128, best: i128| cost.saturating_mul(2) > best.saturating_mul(3);
    let mut costs = cost.into_iter().zip(best).zip(is_scheduled);
    is_scheduled.contains(&true)
        && costs.all(|((cost, best), is_scheduled)| !is_scheduled || is_slow(cost, best))
}

/// True, for each of AVX-512 and AVX2, if the manifest schedules the statement.
fn scheduled(compute: &KernelInstance, statement: &Statement) -> [bool; 2] {
    let has_directives = compute.schedule != LoopSchedule::default();
    [AVX512, AVX2]
        .map(|machine| has_directives || statement.complete_schedule(machine.isa).is_some())
}

/// Kind of directive in a schedule.
struct Directive<'s> {
    /// Keyword in the manifest, as `tile`.
    name: &'static str,
    /// Location of the first loop that it names.
    place: &'s FileSpan,
    /// Schedule without the directives of this kind.
    without: LoopSchedule,
}

/// Directives in a schedule, one entry per kind.
fn directives(schedule: &LoopSchedule) -> Vec<Directive<'_>> {
    let LoopSchedule { loops, steps, unroll, vectorize, parallel, compute_at } = schedule;
    let own = || schedule.clone();
    let directive = |name, place, without| Directive { name, place, without };
    let step = |keyword: &'static str| {
        let first = steps.iter().find(|step| step.keyword() == keyword)?;
        let steps = steps.iter().filter(|step| step.keyword() != keyword).cloned().collect();
        Some(directive(keyword, &first.first_loop().place, LoopSchedule { steps, ..own() }))
    };
    let all = [
        loops.first().map(|first| {
            directive("loops", &first.place, LoopSchedule { loops: Vec::new(), ..own() })
        }),
        step("tile"),
        step("split"),
        step("fuse"),
        unroll.first().map(|first| {
            directive("unroll", &first.place, LoopSchedule { unroll: Vec::new(), ..own() })
        }),
        vectorize.as_ref().map(|name| {
            directive("vectorize", &name.place, LoopSchedule { vectorize: None, ..own() })
        }),
        parallel.first().map(|first| {
            directive("parallel", &first.place, LoopSchedule { parallel: Vec::new(), ..own() })
        }),
        compute_at.first().map(|first| {
            directive("at", &first.at.place, LoopSchedule { compute_at: Vec::new(), ..own() })
        }),
    ];
    all.into_iter().flatten().collect()
}

/// Warning about the schedule of an instance. `cause` is the directive whose removal alone would avoid the warning.
fn warning(
    compute: &KernelInstance,
    statement: &Statement,
    [[own, own_avx2], [best, best_avx2]]: [Cost; 2],
    cause: Option<&Directive<'_>>,
) -> Diagnostic {
    let (machine, own, best) =
        if own == best { ("AVX2", own_avx2, best_avx2) } else { ("AVX-512", own, best) };
    let times = own.saturating_add(best.div_euclid(2)).div_euclid(best);
    let cycles = |cost: i128| format!("{}.{:03}", cost.div_euclid(1000), cost.rem_euclid(1000));
    let name = &compute.name;
    let message = format!("the schedule of `{name}` costs about {times} times the planner's own");
    let note = format!(
        "a value of `{}` takes an estimated {} cycles of a core with {machine}; with the planner's schedule {}",
        statement.text,
        cycles(own),
        cycles(best)
    );
    let (place, help) = match cause {
        Some(Directive { name, place, .. }) => (*place, format!("remove `{name}`")),
        None => (&compute.place, "remove the schedule".to_owned()),
    };
    Diagnostic::warning(Code::KernelSlowSchedule, message, place.clone(), "").note(note).help(help)
}

/// Cost of a statement; `None` if its register tile has no constant size.
fn cost(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
    naming: &Naming<'_>,
) -> Result<Option<Cost>, PlanError> {
    let with = |registers| cost_with(manifest, compute, statement, naming, registers);
    Ok(with(AVX512)?.zip(with(AVX2)?).map(<[i128; 2]>::from))
}

/// Time per iteration of a statement on a core with `registers`, in thousandths of a cycle; `None` if the register tile
/// has no constant size.
fn cost_with(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Option<i128>, PlanError> {
    let (avoid, runs) = (avoiding(naming), ExecutionModel::Cpu(registers));
    let frame = KernelPrologue::new(manifest, compute, naming, &avoid, runs)?;
    let whole = |buffer| bound(&frame.buffers, compute, buffer);
    let sight = StatementReads::of(statement, &whole);
    let planned = ScheduledStatement::new(compute, statement, &frame.buffers, runs)?;
    let bits = scalar(statement.accumulator).element_bits();
    Ok(cycles(&planned, &sight, bits, registers)?)
}

/// Time per iteration of planned loops, in thousandths of a cycle, with accumulators of `bits` bits; `None` if the
/// register tile has no constant size.
fn cycles(
    planned: &ScheduledStatement,
    sight: &StatementReads<'_>,
    bits: u32,
    registers: Registers,
) -> Result<Option<i128>, ExprError> {
    let domain = &planned.domain;
    let tile: Vec<usize> = planned.order.register_tile(domain).collect();
    let trips: Option<Vec<i128>> = tile.iter().map(|number| domain.trip_count(*number)).collect();
    let Some(mut trips) = trips else { return Ok(None) };
    let seen = sight.seen(domain)?;
    let is_packed = |k: usize| {
        let read = sight.reads.get(k).map(|(read, _)| read.buffer);
        planned.caches.iter().any(|cache| Some(cache.buffer) == read)
    };
    let mut width = 1;
    if let (Some(last), Some(trip)) = (tile.last(), trips.last_mut()) {
        let is_unit = |(k, steps): (usize, &AffineAccess)| {
            let stride = steps.stride(*last, domain).and_then(|stride| stride.as_const());
            is_packed(k) || matches!(stride, Some(0 | 1))
        };
        if seen.steps.iter().enumerate().all(is_unit) {
            width = registers.lanes(bits).min(*trip).max(1);
            *trip = trip.saturating_add(width - 1).div_euclid(width);
        }
    }
    let sums = trips.iter().copied().fold(1, i128::saturating_mul).max(1);
    let mut loads = 0_i128;
    for steps in &seen.steps {
        let is_shared = |number: &usize| {
            steps.stride(*number, domain).is_some_and(|stride| stride.as_const() == Some(0))
        };
        let shared = tile.iter().zip(&trips).filter(|(number, _)| is_shared(number));
        let uses = shared.map(|(_, trip)| *trip).fold(1, i128::saturating_mul).max(1);
        loads = loads.saturating_add(1000_i128.div_euclid(uses));
    }
    let mut stores = 0;
    if sums > registers.sums() {
        (loads, stores) = (loads.saturating_add(1000), 1000);
    }
    let waits = CPU.sum_latency.saturating_mul(1000).div_euclid(sums);
    let step = 1000_i128
        .div_euclid(CPU.sums_per_cycle)
        .max(loads.div_euclid(CPU.loads_per_cycle))
        .max(stores)
        .max(waits);
    Ok(Some(step.div_euclid(width).max(1)))
}
