//! Construction of the template model of kernels and relayouts for CPUs, with the passes that depend on the target.

use super::model::ComputeUnit;
use super::shared::Shared;
use super::{Settings, compute_bench, compute_test, kernels, lengths};
use crate::emit::syntax::Function;
use crate::loops::error::PlanError;
use crate::lower::context::Naming;
use crate::machine::{AVX2, AVX512};
use crate::model::Manifest;
use crate::model::compute::KernelInstance;
use crate::passes::{has_vector_versions, index_width, openmp, vector_stores};
use crate::{ir, plan};

/// Template model of a kernel instance. On a target with GPU kernels it has the GPU kernels alone. On any other target
/// it has the CPU function, with test data and a benchmark. The function is a relayout if [`plan::copy_kernel`]
/// recognizes the kernel as a copy of one tensor to another.
pub(super) fn build(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<ComputeUnit, PlanError> {
    let (name, kernel) = (compute.name.clone(), compute.kernel.clone());
    if settings.language.kernels {
        let moves = kernels::compute(manifest, compute, naming, settings)?;
        let (function, short, is_relayout, test, bench) = (None, None, false, None, None);
        return Ok(ComputeUnit { name, kernel, function, short, is_relayout, test, bench, moves });
    }
    let copy = plan::copy_kernel(manifest, compute, naming)?;
    let is_relayout = copy.is_some();
    let by = |registers| {
        let mut function = plan::cpu_kernel(manifest, compute, naming, registers)?;
        index_width(&mut function, settings.dialect.index_max);
        Ok::<_, PlanError>(function)
    };
    let (function, short) = match copy {
        Some(copy) => (relayout(copy.function, naming, settings), None),
        None => {
            let mut function = by(AVX512)?;
            let mut short = Some(by(AVX2)?).filter(|short| *short != function);
            refuse_lacking(&function, compute, settings)?;
            // Both versions are called from the same parallel region.
            let mut versions: Vec<_> = std::iter::once(&mut function).chain(&mut short).collect();
            if !settings.dialect.openmp.is_empty() {
                openmp(&mut versions, naming.avoid);
            }
            if !settings.dialect.store_vector.is_empty() {
                versions.into_iter().for_each(vector_stores);
            }
            (function.into(), short)
        }
    };
    let test = compute_test::compute(manifest, compute, naming, settings.dialect)?;
    let bench = compute_bench::compute(manifest, compute, naming, settings.dialect)?;
    let (test, bench) = (Some(test.into()), Some(bench.into()));
    let (mut function, mut short) = (Some(function), short.map(Shared::<Function>::from));
    let versions = function.iter_mut().chain(&mut short);
    lengths::of_operands(versions, (manifest, compute), settings);
    Ok(ComputeUnit { name, kernel, function, short, is_relayout, test, bench, moves: None })
}

/// Template model of a relayout function. In a language with OpenMP, a function that is compiled once per vector length
/// and has parallel loops becomes the body of an OpenMP parallel region if the pass [`openmp`] can convert it.
pub(super) fn relayout(
    mut function: ir::Function,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Shared<Function> {
    if !settings.dialect.openmp.is_empty() && has_vector_versions(&function) {
        openmp(&mut [&mut function], naming.avoid);
    }
    function.into()
}

/// Refuses a kernel that calls a mathematical function which the library of the language does not have.
///
/// # Errors
/// [`PlanError::Choice`] at the kernel, with the name of the function.
fn refuse_lacking(
    function: &ir::Function,
    compute: &KernelInstance,
    settings: &Settings,
) -> Result<(), PlanError> {
    let mut lacking = None;
    for stmt in &function.body {
        stmt.walk(&mut |stmt| {
            stmt.parts(&mut |part| {
                let ir::Part::Value(value) = part else { return };
                value.walk(&mut |value| {
                    if let ir::Value::Call { function, .. } = value
                        && settings.dialect.lacks.functions.contains(&function.name())
                    {
                        lacking = Some(function.name());
                    }
                });
            });
        });
    }
    let Some(name) = lacking else { return Ok(()) };
    let (target, language) = (&settings.target, settings.language.title);
    Err(PlanError::Choice {
        message: format!("`{name}` is not a function of {language}'s library"),
        help: format!(
            "remove the table `[target.{target}]`, or compute `{name}` by other functions"
        ),
        place: compute.place.clone(),
    })
}
