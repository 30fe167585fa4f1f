//! Estimated cost of the loops of a statement on one core, and the warning about a schedule that costs more than the
//! planner's own.
//!
//! A value of a reduction takes one multiplication and addition, the loads of its operands that the register tile does
//! not share, and a load and a store of its sum where the sums exceed the registers. A step does so for a vector of
//! values, and waits for the sum of the step before unless other sums are in flight. Caches and translations of
//! addresses are not counted.

use layoutc_algebra::expr::ExprError;

use super::super::Naming;
use super::super::lower::PlanError;
use super::planned::Planned;
use super::sight::Sight;
use super::value::scalar;
use super::{Frame, Runs, avoiding, bound};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::machine::{AVX2, AVX512, CPU, Registers};
use crate::model::Manifest;
use crate::model::compute::{KernelInstance, LoopSchedule, Statement};

/// Warnings about the schedules that cost more than one and a half times the planner's own.
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
            if is_slow(own, best) {
                let cause = causes(compute)
                    .into_iter()
                    .find(|(_, without)| cost(without).is_some_and(|cost| !is_slow(cost, best)));
                let cause = cause.map(|(name, _)| name);
                warnings.push(warning(compute, statement, [own, best], cause));
                break;
            }
        }
    }
    warnings
}

/// True if C is emitted for an instance, and its schedule has no tile caches, which thread blocks share.
fn is_for_cores(manifest: &Manifest, compute: &KernelInstance) -> bool {
    let mut tensors = compute.operands.iter().filter_map(|one| manifest.tensors.get(one.tensor));
    compute.statements.iter().all(|statement| statement.caches.is_empty())
        && tensors.all(|tensor| {
            tensor.targets.as_ref().is_none_or(|targets| targets.iter().any(|one| one == "c"))
        })
}

/// True for a reduction of so many values, and so many for each element in memory, that its schedule matters.
fn is_long(manifest: &Manifest, compute: &KernelInstance, statement: &Statement) -> bool {
    let elements = compute
        .operands
        .iter()
        .map(|operand| manifest.tensors.get(operand.tensor)?.layout.logical_elements().as_const());
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

/// Thousandths of a cycle that a value takes, with AVX-512 and with AVX2.
type Cost = [i128; 2];

/// True if a cost exceeds one and a half times the best, whatever the vectors.
fn is_slow(cost: Cost, best: Cost) -> bool {
    cost.iter().zip(best).all(|(cost, best)| cost.saturating_mul(2) > best.saturating_mul(3))
}

/// The instance without one kind of directive, for each kind that it has.
fn causes(compute: &KernelInstance) -> Vec<(&'static str, KernelInstance)> {
    let own = &compute.schedule;
    let without = |schedule| compute.with_schedule(schedule);
    let mut all = Vec::new();
    if !own.loops.is_empty() {
        all.push(("loops", without(LoopSchedule { loops: Vec::new(), ..own.clone() })));
    }
    for (name, is_tile) in [("tile", true), ("split", false)] {
        let (removed, splits): (Vec<_>, Vec<_>) =
            own.splits.iter().cloned().partition(|split| split.is_tile == is_tile);
        if !removed.is_empty() {
            all.push((name, without(LoopSchedule { splits, ..own.clone() })));
        }
    }
    if !own.unroll.is_empty() {
        all.push(("unroll", without(LoopSchedule { unroll: Vec::new(), ..own.clone() })));
    }
    if own.vectorize.is_some() {
        all.push(("vectorize", without(LoopSchedule { vectorize: None, ..own.clone() })));
    }
    all
}

fn warning(
    compute: &KernelInstance,
    statement: &Statement,
    [[own, _], [best, _]]: [Cost; 2],
    cause: Option<&str>,
) -> Diagnostic {
    let times = own.saturating_add(best.div_euclid(2)).div_euclid(best.max(1));
    let cycles = |cost: i128| format!("{}.{:03}", cost.div_euclid(1000), cost.rem_euclid(1000));
    let message = format!(
        "the schedule of `{}` costs about {} times the planner's own",
        compute.name,
        times.max(2)
    );
    let place = place(compute, cause);
    let note = format!(
        "a value of `{}` takes an estimated {} cycles of a core with AVX-512; with the planner's schedule {}",
        statement.text,
        cycles(own),
        cycles(best)
    );
    let help = match cause {
        Some(name) => format!("remove `{name}`"),
        None => "remove the schedule".to_owned(),
    };
    Diagnostic::warning(Code::KernelSlowSchedule, message, place, "").note(note).help(help)
}

/// Place of the first name in the directives of a kind, or in all of them.
fn place(compute: &KernelInstance, cause: Option<&str>) -> FileSpan {
    let LoopSchedule { loops, splits, unroll, vectorize, parallel } = &compute.schedule;
    let loops = loops.iter().map(|name| ("loops", &name.place));
    let splits = splits
        .iter()
        .map(|split| (if split.is_tile { "tile" } else { "split" }, &split.axis.place));
    let unroll = unroll.iter().map(|name| ("unroll", &name.place));
    let vectorize = vectorize.iter().map(|name| ("vectorize", &name.place));
    let parallel = parallel.iter().map(|name| ("parallel", &name.place));
    let mut all = loops.chain(splits).chain(unroll).chain(vectorize).chain(parallel);
    let found = all.find(|(name, _)| cause.is_none_or(|cause| cause == *name));
    found.map_or(&compute.place, |(_, place)| place).clone()
}

/// Cost of a statement; `None` if its register tile has no known size.
fn cost(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
    naming: &Naming<'_>,
) -> Result<Option<Cost>, PlanError> {
    let with = |registers| cost_with(manifest, compute, statement, naming, registers);
    Ok(with(AVX512)?.zip(with(AVX2)?).map(<[i128; 2]>::from))
}

/// As [`cost`], with these registers.
fn cost_with(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Option<i128>, PlanError> {
    let (avoid, runs) = (avoiding(naming), Runs::OnCores(registers));
    let frame = Frame::new(manifest, compute, naming, &avoid, runs)?;
    let whole = |buffer| bound(&frame.buffers, compute, buffer);
    let sight = Sight::of(statement, &whole);
    let planned = Planned::new(compute, statement, &frame.buffers, runs)?;
    let bits = scalar(statement.accumulator).element_bits();
    Ok(cycles(&planned, &sight, (registers.lanes(bits), registers))?)
}

/// Thousandths of a cycle for a value, with vectors of this many lanes.
fn cycles(
    planned: &Planned,
    sight: &Sight<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Option<i128>, ExprError> {
    let domain = &planned.domain;
    let tile: Vec<usize> = planned.order.at_once(domain).collect();
    let trips: Option<Vec<i128>> = tile.iter().map(|number| domain.rounds(*number)).collect();
    let Some(mut trips) = trips else { return Ok(None) };
    let seen = sight.seen(domain)?;
    let is_packed = |k: usize| {
        let read = sight.reads.get(k).map(|(read, _)| read.buffer);
        planned.caches.iter().any(|cache| Some(cache.buffer) == read)
    };
    let mut width = 1;
    if let (Some(last), Some(trip)) = (tile.last(), trips.last_mut()) {
        let is_unit = |(k, steps): (usize, &super::access::Steps)| {
            let stride = steps.stride(*last, domain).and_then(|stride| stride.as_const());
            is_packed(k) || matches!(stride, Some(0 | 1))
        };
        if seen.steps.iter().enumerate().all(is_unit) {
            width = lanes.min(*trip).max(1);
            *trip = trip.saturating_add(width - 1).div_euclid(width);
        }
    }
    let product =
        |trips: &mut dyn Iterator<Item = i128>| trips.fold(1, i128::saturating_mul).max(1);
    let sums = product(&mut trips.iter().copied());
    let mut loads = 0_i128;
    for steps in &seen.steps {
        let is_shared = |number: &usize| {
            steps.stride(*number, domain).is_some_and(|stride| stride.as_const() == Some(0))
        };
        let shared = tile.iter().zip(&trips).filter(|(number, _)| is_shared(number));
        let uses = product(&mut shared.map(|(_, trip)| *trip));
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
