//! Schedules of the statements of an instance, and diagnostics about them.

use crate::base::codes::Code;
use crate::base::diagnostic::Diagnostic;
use crate::loops::ExecutionModel;
use crate::loops::buffers::KernelBuffer;
use crate::loops::error::PlanError;
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::loops::scheduled_kernel::StatementPlan;
use crate::lower::context::Naming;
use crate::machine::{AVX512, Registers};
use crate::model::Manifest;
use crate::model::compute::{KernelInstance, Statement, StatementSchedule};
use crate::plan::slow_schedules::{is_for_cores, slow_schedules};
use crate::plan::{convert, cpu_kernel};

/// Complete schedule of each statement of an instance on a CPU with the vector registers `registers`. `None` for a
/// scatter, and for a statement that has no loops or writes no elements.
///
/// # Errors
/// As [`crate::plan::cpu_kernel`].
pub fn statement_schedules(
    manifest: &Manifest,
    compute: &KernelInstance,
    registers: Registers,
) -> Result<Vec<Option<StatementSchedule>>, PlanError> {
    let processor = ExecutionModel::Cpu(registers);
    let buffers = KernelBuffer::all(manifest, compute, processor)?;
    let plans = StatementPlan::all(compute, &buffers, processor)?;
    let schedule = |(statement, plan): (&Statement, &StatementPlan)| {
        Some(plan.schedule()?.schedule(&statement.place)).filter(|own| !own.loops.is_empty())
    };
    Ok(compute.statements.iter().zip(&plans).map(schedule).collect())
}

/// Plans of the statements of an instance for GPUs, in order.
///
/// # Errors
/// As [`crate::plan::gpu_kernels`].
pub(crate) fn gpu_statements(
    manifest: &Manifest,
    compute: &KernelInstance,
) -> Result<Vec<StatementPlan>, PlanError> {
    let buffers = KernelBuffer::all(manifest, compute, ExecutionModel::Gpu)?;
    StatementPlan::all(compute, &buffers, ExecutionModel::Gpu)
}

/// Diagnostics about the schedules of a manifest for the C target: errors for impossible directives of a `convert` and
/// impossible loops of intermediates (compute-at), and warnings for slow schedules of kernels.
pub(crate) fn schedule_diagnostics(manifest: &Manifest) -> Vec<Diagnostic> {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: Cores::One, primitives: Primitives::Runtime };
    let naming = Naming { prefix: "", avoid: &avoid, options };
    let scheduled = manifest.converts.iter().filter(|convert| !convert.choices.is_empty());
    let convert_errors =
        scheduled.filter_map(|own| convert(manifest, own, &naming).err()?.refusal());
    let kernels = manifest.computes.iter().filter(|compute| {
        !compute.schedule.compute_at.is_empty() && is_for_cores(manifest, compute)
    });
    let compute_at_errors = kernels.filter_map(|compute| {
        let error = cpu_kernel(manifest, compute, &naming, AVX512).err()?;
        let mut error = Diagnostic { code: Code::KernelSchedule, ..error.refusal()? };
        if compute.kernel != compute.name {
            error.add_label(compute.place.clone(), "for this instance");
        }
        Some(error)
    });
    convert_errors.chain(compute_at_errors).chain(slow_schedules(manifest)).collect()
}
