//! `layoutc inspect`: prints shapes, maps, proofs and sizes of tensors and views, and the definitions of kernels.

use std::path::PathBuf;

use layoutc_compiler::base::nearest::unknown_tensor;
use layoutc_compiler::model::compute::KernelInstance;
use layoutc_compiler::model::{Manifest, Tensor, View};
use layoutc_compiler::plan::Cores;
use layoutc_compiler::query::access::AccessReport;
use layoutc_compiler::query::inspect::{
    KernelReport, PlanTargets, RelayoutReport, ReshardReport, exchanges, kernel_json, kernel_plan,
    kernel_text, plans, tensor_json, tensor_text, view_json, view_plans, view_text,
};
use serde_json::{Value, json};

use crate::check_session::CheckSession;
use crate::command_error::CommandError;
use crate::console::{Console, ReportFormat};

use super::CommandOutcome;

/// Item to print with its access report; the report is `None` without `--access`, or if planning fails.
struct InspectItem<'a> {
    subject: Subject<'a>,
    accesses: Option<AccessReport>,
}

/// Subject of a report: a tensor, a view, or a kernel with the manifest of its instance. The fields of type `Option` are
/// plans: of pack, unpack, conversions and resharding for a tensor, of pack, unpack and conversions for a view, of the
/// loops for a kernel. They are `None` without `--plan`, or if planning fails.
enum Subject<'a> {
    Tensor(&'a Tensor, Option<(Vec<RelayoutReport>, Vec<ReshardReport>)>),
    View(&'a View, Option<Vec<RelayoutReport>>),
    Kernel(&'a Manifest, &'a KernelInstance, Option<KernelReport>),
}

impl Subject<'_> {
    fn name(&self) -> &str {
        match self {
            Subject::Tensor(tensor, _) => &tensor.name,
            Subject::View(view, _) => &view.tensor.name,
            Subject::Kernel(_, compute, _) => &compute.name,
        }
    }

    fn json(&self, file: &str) -> Value {
        match self {
            Subject::Tensor(tensor, plans) => {
                let mut object = tensor_json(tensor, file);
                if let Some((plans, exchanges)) = plans {
                    object["plans"] = plans.iter().map(RelayoutReport::json).collect();
                    if !exchanges.is_empty() {
                        object["exchanges"] = exchanges.iter().map(ReshardReport::json).collect();
                    }
                }
                object
            }
            Subject::View(view, plans) => {
                let mut object = view_json(view, file);
                if let Some(plans) = plans {
                    object["plans"] = plans.iter().map(RelayoutReport::json).collect();
                }
                object
            }
            Subject::Kernel(manifest, compute, plan) => {
                kernel_json(manifest, compute, plan.as_ref(), file)
            }
        }
    }

    fn text(&self, file: &str) -> String {
        match self {
            Subject::Tensor(tensor, plans) => {
                let mut text = tensor_text(tensor, file);
                let Some((plans, exchanges)) = plans else { return text };
                let reports = plans
                    .iter()
                    .map(RelayoutReport::text)
                    .chain(exchanges.iter().map(ReshardReport::text));
                for plan in reports {
                    text.push('\n');
                    text.push_str(&plan);
                }
                text
            }
            Subject::View(view, plans) => {
                let mut text = view_text(view, file);
                for plan in plans.iter().flatten() {
                    text.push('\n');
                    text.push_str(&plan.text());
                }
                text
            }
            Subject::Kernel(manifest, compute, plan) => {
                kernel_text(manifest, compute, plan.as_ref(), file)
            }
        }
    }
}

impl InspectItem<'_> {
    fn json(&self, file: &str) -> Value {
        let mut object = self.subject.json(file);
        if let Some(accesses) = &self.accesses {
            object["accesses"] = accesses.json();
        }
        object
    }

    fn text(&self, file: &str) -> String {
        let accesses = self.accesses.as_ref().map(AccessReport::text).unwrap_or_default();
        self.subject.text(file) + &accesses
    }
}

/// Parts of a report that are printed on request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InspectParts {
    /// Plans of pack, unpack, conversions and resharding, and the loops of kernels.
    pub(crate) plan: bool,
    /// Declared accesses of warps, and the accesses of GPU kernels.
    pub(crate) access: bool,
}

/// Prints the tensors, views and kernels in the manifests of `paths`; if `names` is not empty, only those with one of
/// these names, with the requested `parts`.
///
/// # Errors
/// [`CommandError::Usage`] if a name is unknown and there are no other errors. Any error of [`CheckSession::open`].
pub(crate) fn run(
    paths: &[PathBuf],
    names: &[String],
    parts: InspectParts,
    console: &mut Console,
) -> Result<CommandOutcome, CommandError> {
    let mut session = CheckSession::open(paths, console)?;
    let InspectParts { plan, access } = parts;
    let mut all: Vec<(String, InspectItem<'_>)> = Vec::new();
    let mut faults = Vec::new();
    for (project, checked) in &session.projects {
        let openmp = project.config.target.c.as_ref().is_some_and(|c| c.openmp);
        let cores = if openmp { Cores::All } else { Cores::One };
        let gpus = project.config.target.gpus();
        let targets = PlanTargets { cores, gpus: &gpus };
        for manifest in checked.manifests.iter().filter(|m| project.manifests.contains_key(&m.path))
        {
            let mut items: Vec<Subject<'_>> = Vec::new();
            for tensor in &manifest.tensors {
                let plans = plan.then(|| plans(manifest, tensor, targets)).transpose();
                let plans = plans.unwrap_or_else(|fault| {
                    faults.push(project.with_shown_paths(&fault));
                    None
                });
                let plans = plans.map(|plans| (plans, exchanges(manifest, tensor)));
                items.push(Subject::Tensor(tensor, plans));
            }
            for view in &manifest.views {
                let plans = plan.then(|| view_plans(manifest, view, targets)).transpose();
                let plans = plans.unwrap_or_else(|fault| {
                    faults.push(project.with_shown_paths(&fault));
                    None
                });
                items.push(Subject::View(view, plans));
            }
            for compute in &manifest.computes {
                let plan = plan.then(|| kernel_plan(manifest, compute, targets)).transpose();
                let plan = plan.unwrap_or_else(|fault| {
                    faults.push(project.with_shown_paths(&fault));
                    None
                });
                items.push(Subject::Kernel(manifest, compute, plan));
            }
            let file = project.shown(&manifest.path);
            for subject in items {
                let report = match &subject {
                    Subject::Tensor(tensor, _) if access => {
                        Some(AccessReport::of_tensor(manifest, tensor))
                    }
                    Subject::Kernel(_, compute, _) if access => {
                        Some(AccessReport::of_kernel(manifest, compute))
                    }
                    _ => None,
                };
                let accesses = report.transpose().unwrap_or_else(|fault| {
                    faults.push(project.with_shown_paths(&fault));
                    None
                });
                all.push((file.clone(), InspectItem { subject, accesses }));
            }
        }
    }
    session.report.add_new(faults);
    let ending = CommandOutcome::of(&session.report);
    // An unknown name may be that of a rejected tensor; then the diagnostics report it.
    if ending == CommandOutcome::Success {
        names.iter().try_for_each(|name| known(name, &all))?;
    }
    let is_requested = |item: &InspectItem<'_>| {
        names.is_empty() || names.iter().any(|name| name == item.subject.name())
    };
    let items = all.iter().filter(|(_, item)| is_requested(item));
    match console.format {
        ReportFormat::Json => {
            let (kernels, tensors): (Vec<_>, Vec<_>) =
                items.partition(|(_, item)| matches!(item.subject, Subject::Kernel(..)));
            let json = |items: Vec<&(String, InspectItem<'_>)>| -> Vec<Value> {
                items.into_iter().map(|(file, item)| item.json(file)).collect()
            };
            let mut object = json!({ "version": 1, "tensors": json(tensors) });
            if !kernels.is_empty() {
                object["kernels"] = json(kernels).into();
            }
            console.result(&format!("{object}\n"));
        }
        ReportFormat::Text => {
            for (k, (file, item)) in items.enumerate() {
                let gap = if k > 0 { "\n" } else { "" };
                console.result(&format!("{gap}{}\n", item.text(file).trim_end()));
            }
        }
    }
    session.report.print(console);
    Ok(ending)
}

fn known(name: &str, all: &[(String, InspectItem<'_>)]) -> Result<(), CommandError> {
    if all.iter().any(|(_, item)| item.subject.name() == name) {
        return Ok(());
    }
    let names: Vec<&str> = all.iter().map(|(_, item)| item.subject.name()).collect();
    Err(CommandError::Usage(unknown_tensor(name, &names)))
}
