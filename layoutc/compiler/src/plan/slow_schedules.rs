//! Warnings about schedules that cost more than the ones that the planner chooses.

use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::loops::ExecutionModel;
use crate::loops::buffers::{KernelBuffer, bound};
use crate::loops::cost::cycles;
use crate::loops::error::PlanError;
use crate::loops::reads::StatementReads;
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::machine::{AVX2, AVX512, CPU, Registers};
use crate::model::Manifest;
use crate::model::compute::{KernelInstance, LoopSchedule, Statement};

/// Estimated time per iteration of a reduction, in thousandths of a cycle, with AVX-512 and with AVX2.
type Cost = [i128; 2];

/// Warnings about instances with a schedule for a long reduction that costs more than one and a half times the
/// planner's own; at most one for each instance.
pub(crate) fn slow_schedules(manifest: &Manifest) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for compute in &manifest.computes {
        let Some(auto) = compute.unscheduled().filter(|_| is_for_cores(manifest, compute)) else {
            continue;
        };
        for (k, statement) in
            compute.statements.iter().enumerate().filter(|(_, own)| is_long(manifest, compute, own))
        {
            let cost = |compute: &KernelInstance| match compute.statements.get(k) {
                Some(statement) => cost(manifest, compute, statement).ok().flatten(),
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

/// True if C is emitted for the tensors of all operands, and no statement has a cache outside of its complete
/// schedules.
pub(crate) fn is_for_cores(manifest: &Manifest, compute: &KernelInstance) -> bool {
    let mut tensors = compute.operands.iter().filter_map(|one| manifest.tensor(one.tensor));
    compute.statements.iter().all(|statement| statement.caches.is_empty())
        && tensors.all(|tensor| {
            tensor.targets.as_ref().is_none_or(|targets| targets.iter().any(|one| one == "c"))
        })
}

/// True for a reduction whose cost is estimated: its iteration domain has at least `costed_values` points, and at least
/// `costed_reuse` for each element of all operands. False for a scatter, and if an extent is not constant.
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

/// True if `cost` exceeds one and a half times `best` with each of AVX-512 and AVX2 that `is_scheduled` selects. False
/// if it selects neither.
fn is_slow(cost: Cost, best: Cost, is_scheduled: [bool; 2]) -> bool {
    let is_slow = |cost: i128, best: i128| cost.saturating_mul(2) > best.saturating_mul(3);
    let mut costs = cost.into_iter().zip(best).zip(is_scheduled);
    is_scheduled.contains(&true)
        && costs.all(|((cost, best), is_scheduled)| !is_scheduled || is_slow(cost, best))
}

/// For AVX-512 and AVX2, in this order: true if the manifest schedules the statement, for the whole kernel or by a
/// complete schedule for the instruction set.
fn scheduled(compute: &KernelInstance, statement: &Statement) -> [bool; 2] {
    let has_directives = compute.schedule != LoopSchedule::default();
    [AVX512, AVX2]
        .map(|machine| has_directives || statement.complete_schedule(machine.isa).is_some())
}

/// Kind of directive that occurs in a loop schedule, such as all `tile` directives.
struct Directive<'s> {
    /// Keyword in the manifest, as `tile`.
    name: &'static str,
    /// Location of the first loop that a directive of this kind names.
    place: &'s FileSpan,
    /// Loop schedule without the directives of this kind.
    without: LoopSchedule,
}

/// Kinds of directives in a loop schedule, one entry for each kind that occurs.
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

/// Warning that the schedule of an instance is slow, because its cost for `statement` (`own`) exceeds that of the
/// planner's schedule (`best`). `cause` is a kind of directive whose removal alone would avoid the warning; `None` if
/// there is none.
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

/// Estimated cost of a statement of `compute` with AVX-512 and with AVX2; `None` if its register tile has no constant
/// size.
fn cost(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
) -> Result<Option<Cost>, PlanError> {
    let with = |registers| cost_with(manifest, compute, statement, registers);
    Ok(with(AVX512)?.zip(with(AVX2)?).map(<[i128; 2]>::from))
}

/// Estimated time per iteration of a statement on a core with `registers`, in thousandths of a cycle; `None` if the
/// register tile has no constant size.
fn cost_with(
    manifest: &Manifest,
    compute: &KernelInstance,
    statement: &Statement,
    registers: Registers,
) -> Result<Option<i128>, PlanError> {
    let processor = ExecutionModel::Cpu(registers);
    let buffers = KernelBuffer::all(manifest, compute, processor)?;
    let whole = |buffer| bound(&buffers, compute, buffer);
    let sight = StatementReads::of(statement, &whole);
    let planned = ScheduledStatement::new(compute, statement, &buffers, processor)?;
    let bits = statement.accumulator.element().element_bits();
    Ok(cycles(&planned, &sight, bits, registers)?)
}
