//! Reports on kernel instances: statements, planned loops and pseudo-code.

use layoutc_algebra::expr::Expr;
use serde_json::{Value, json};

use super::{
    PlanTargets, RelayoutReport, gpu_schedule, labelled, lines_text, number, pseudo_code,
    schedule_text,
};
use crate::base::diagnostic::Diagnostic;
use crate::emit::plan_fault;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::lower::context::Naming;
use crate::machine::{AVX2, AVX512};
use crate::model::compute::KernelInstance;
use crate::model::layout_names;
use crate::model::{Manifest, Tensor};
use crate::plan;
use crate::plan::LoopFacts;

/// Report on the plan of a kernel: its loops, or a relayout if it is planned as a copy of one operand to another.
#[derive(Debug)]
pub enum KernelReport {
    /// Planned loops of the kernel's statements.
    Loops(LoopsReport),
    /// Relayout that copies one operand to the other.
    Relayout(Box<RelayoutReport>),
}

/// Loops of a kernel for C with AVX-512.
#[derive(Debug)]
pub struct LoopsReport {
    /// Planned loops of each statement, outermost first.
    loops: Vec<Vec<LoopFacts>>,
    /// Lines of the `schedule` nodes that state the plan in a manifest: the plan for AVX-512, and the one for AVX2.
    schedule: Vec<String>,
    /// Lines on the schedules of the kernel's statements on GPUs; empty without a target that has GPU kernels.
    gpu: Vec<String>,
    /// Lines of the function's pseudo-code.
    code: Vec<String>,
}

impl KernelReport {
    /// Loops of the statement at the position `statement`, from 0, outermost first; `None` for a relayout.
    fn loops(&self, statement: usize) -> Option<&Vec<LoopFacts>> {
        match self {
            Self::Loops(plan) => plan.loops.get(statement),
            Self::Relayout(_) => None,
        }
    }
}

/// Plans a kernel instance for the target C with AVX-512: as a relayout if `plan::copy_kernel` recognizes it as a copy
/// of one operand to another, else as loops for each statement, with the `schedule` lines that state the plans for
/// AVX-512 and AVX2; and for the GPUs of `targets`.
///
/// # Errors
/// The diagnostic that a build reports if planning fails.
#[expect(clippy::result_large_err, reason = "one diagnostic, on the error path")]
pub fn kernel_plan(
    manifest: &Manifest,
    compute: &KernelInstance,
    targets: PlanTargets<'_>,
) -> Result<KernelReport, Diagnostic> {
    let avoid = |_: &str| false;
    let options = RelayoutOptions { cores: targets.cores, primitives: Primitives::Runtime };
    let naming = Naming { prefix: "", avoid: &avoid, options };
    let fault = |error| plan_fault(compute.place.clone(), &compute.name, &error);
    let relayout = plan::copy_kernel(manifest, compute, &naming).map_err(fault)?;
    let gpu = gpu_schedule::kernel_lines(manifest, compute, &naming, targets).map_err(fault)?;
    if let Some(relayout) = relayout {
        return Ok(KernelReport::Relayout(Box::new(RelayoutReport::new(relayout, gpu))));
    }
    let loops = plan::kernel_loops(manifest, compute, &naming, AVX512).map_err(fault)?;
    let function = plan::cpu_kernel(manifest, compute, &naming, AVX512).map_err(fault)?;
    let schedules = |registers| plan::statement_schedules(manifest, compute, registers);
    let [long, short] = [schedules(AVX512).map_err(fault)?, schedules(AVX2).map_err(fault)?];
    let schedule = schedule_text::lines(compute, [&long, &short]);
    let code = pseudo_code::lines(function.body);
    Ok(KernelReport::Loops(LoopsReport { loops, schedule, gpu, code }))
}

/// Object of `inspect --format json` for a kernel instance in the manifest `file`. Loops, `schedule` lines and code are
/// present only with a `plan` of loops; with a `plan` that is a relayout, its report is present.
pub fn kernel_json(
    manifest: &Manifest,
    compute: &KernelInstance,
    plan: Option<&KernelReport>,
    file: &str,
) -> Value {
    let operand = |operand: &crate::model::compute::KernelOperand| {
        let tensor = manifest.tensor(operand.tensor).map(|tensor| &tensor.name);
        json!({ "name": operand.name, "tensor": tensor, "written": operand.is_written })
    };
    let statements = compute.statements.iter().enumerate();
    let statements: Vec<Value> = statements
        .map(|(k, statement)| {
            let mut object = json!({ "compute": statement.text });
            if let Some(loops) = plan.and_then(|plan| plan.loops(k)) {
                object["loops"] = loops.iter().map(|found| loop_json(found, compute)).collect();
            }
            object
        })
        .collect();
    let mut object = json!({
        "kind": "kernel",
        "name": compute.name,
        "of": compute.kernel,
        "file": file,
        "operands": compute.operands.iter().map(operand).collect::<Vec<_>>(),
        "locals": compute.locals.iter().map(|local| &local.name).collect::<Vec<_>>(),
        "statements": statements,
    });
    match plan {
        Some(KernelReport::Loops(plan)) => {
            object["schedule"] = plan.schedule.clone().into();
            object["code"] = plan.code.clone().into();
            if !plan.gpu.is_empty() {
                object["gpu"] = plan.gpu.clone().into();
            }
        }
        Some(KernelReport::Relayout(relayout)) => object["relayout"] = relayout.json(),
        None => {}
    }
    object
}

fn loop_json(found: &LoopFacts, compute: &KernelInstance) -> Value {
    let text = |expr: &Expr| layout_names::symbol_expr(expr, &compute.symbols);
    let block = |(name, extents): &(String, Vec<i128>)| {
        let extents: Vec<Value> =
            extents.iter().map(|n| i64::try_from(*n).map_or(Value::Null, Value::from)).collect();
        json!({ "name": name, "extents": extents })
    };
    json!({
        "name": found.name,
        "extent": number(&found.extent, &text),
        "reduced": found.is_reduced,
        "at_once": found.is_at_once,
        "parallel": found.is_parallel,
        "blocks": found.blocks.iter().map(block).collect::<Vec<_>>(),
    })
}

/// Text report on a kernel instance in the manifest `file`, one property per line. Loops, `schedule` lines and code are
/// present only with a `plan` of loops; with a `plan` that is a relayout, its report is present.
pub fn kernel_text(
    manifest: &Manifest,
    compute: &KernelInstance,
    plan: Option<&KernelReport>,
    file: &str,
) -> String {
    let operands = compute.operands.iter().filter_map(|operand| {
        let tensor = manifest.tensor(operand.tensor)?;
        let how = if operand.is_written { "written" } else { "read" };
        Some(format!("{} = {} ({}), {how}", operand.name, tensor.name, tensor.dtype))
    });
    let mut lines: Vec<(&str, String)> = labelled("operands", operands).collect();
    let local = |local: &Tensor| match compute.compute_at(&local.name) {
        Some(own) => format!("{} at {}", local.name, own.at.value),
        None => local.name.clone(),
    };
    let locals: Vec<String> = compute.locals.iter().map(local).collect();
    if !locals.is_empty() {
        lines.push(("intermediates", locals.join(", ")));
    }
    for (k, statement) in compute.statements.iter().enumerate() {
        lines.push(("compute", statement.text.clone()));
        let Some(loops) = plan.and_then(|plan| plan.loops(k)) else { continue };
        let all: Vec<String> = loops.iter().map(|found| loop_text(found, compute)).collect();
        lines.push(("loops", if all.is_empty() { "none".into() } else { all.join(", ") }));
        for (found, (name, extents)) in
            loops.iter().flat_map(|found| found.blocks.iter().map(move |block| (found, block)))
        {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            lines.push(("block", format!("{name} {} in {}", extents.join(" by "), found.name)));
        }
    }
    match plan {
        Some(KernelReport::Loops(plan)) => {
            lines.extend(labelled("schedule", plan.schedule.iter().cloned()));
            lines.extend(labelled("gpu", plan.gpu.iter().cloned()));
            lines.extend(labelled("code", plan.code.iter().cloned()));
        }
        Some(KernelReport::Relayout(relayout)) => lines.extend(relayout.lines()),
        None => {}
    }
    let of = if compute.kernel == compute.name {
        "kernel".to_owned()
    } else {
        format!("instance of {}", compute.kernel)
    };
    format!("{} ({of}, {file})\n{}", compute.name, lines_text(&lines))
}

/// Text of a loop with its extent and its properties, which are `reduced`, `register tile` and `parallel`:
/// `k 64 (reduced)`, `i 32 (register tile, parallel)`.
fn loop_text(found: &LoopFacts, compute: &KernelInstance) -> String {
    let mut facts = Vec::new();
    if found.is_reduced {
        facts.push("reduced");
    }
    if found.is_at_once {
        facts.push("register tile");
    }
    if found.is_parallel {
        facts.push("parallel");
    }
    let extent = layout_names::symbol_expr(&found.extent, &compute.symbols);
    let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
    format!("{} {extent}{facts}", found.name)
}
