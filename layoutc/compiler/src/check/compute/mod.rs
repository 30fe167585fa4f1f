//! Checks of kernels: for each instance of a kernel, binds operands to tensors, infers axes and types, and checks that
//! reads are in bounds. Manifest items → [`KernelInstance`].
//!
//! The text of a kernel is parsed once, in the manifest that declares it ([`KernelDef`]). Its meaning depends on the
//! tensors, and is checked for each instance.

mod arithmetic;
mod axes;
mod bounds;
mod bracket_depth;
mod cache;
mod call;
mod complete;
mod epilogue;
mod extent_readers;
mod indexed;
mod inline;
mod interval;
mod local;
mod loop_stride;
mod operand;
mod program;
mod read;
mod scatter;
mod schedule;
mod statement_syntax;
mod store;
mod syntax_faults;
mod tensor_table;
mod type_unification;
mod types;
mod unused;
mod value;

use std::sync::Arc;

use super::declarations::Declarations;
use super::scope::ManifestScope;
use super::tensor::ManifestContext;
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan, collect_all};
use crate::manifest::syntax::{Identifier, InstanceItem, ItemKind, KernelItem, ManifestSyntax};
use crate::model::TensorRef;
use crate::model::compute::{BufferRef, KernelInstance, KernelOperand, LoopSchedule};
use program::KernelLowering;
use statement_syntax::StatementAst;

use operand::arithmetic_type;

/// Kernel that a manifest declares, with its parsed statements.
#[derive(Debug)]
pub(super) struct KernelDef {
    pub(super) item: KernelItem,
    pub(super) file: Arc<str>,
    /// Position, among the loaded manifests, of the manifest that declares the kernel. Consts and symbols in the
    /// kernel's text are resolved in the scope of that manifest.
    pub(super) home: usize,
    /// Parsed statements of the kernel, in order.
    lines: Vec<StatementAst>,
}

impl KernelDef {
    /// Parses the statements of a kernel. `file` is the path of the manifest that declares the kernel, `home` the
    /// position of that manifest among the loaded ones.
    ///
    /// # Errors
    /// One syntax error for each malformed statement.
    pub(super) fn new(item: &KernelItem, file: &Arc<str>, home: usize) -> CheckResult<Self> {
        let lines = collect_all(item.computes.iter().map(|text| {
            let line = statement_syntax::statement(&text.value);
            line.map_err(|error| syntax_faults::text_fault(&error, text, file).into())
        }))?;
        Ok(Self { item: item.clone(), file: Arc::clone(file), home, lines })
    }
}

/// Name of an operand in a kernel, with the tensor that it is bound to.
#[derive(Debug, Clone)]
struct OperandBinding {
    name: Identifier,
    /// Tensor or view that the name is bound to.
    tensor: TensorRef,
}

/// Request to check the kernel `def` on the tensors of one instance. `name` is the name of the generated function, and
/// `span` the span of the item that requests it.
struct InstanceRequest<'a> {
    name: &'a Identifier,
    def: &'a KernelDef,
    /// Instance that binds the kernel; `None` for a kernel that names tensors itself.
    instance: Option<&'a InstanceItem>,
    span: &'a std::ops::Range<usize>,
}

/// Checks the kernels of a manifest on its tensors and views that have no errors. Returns the instances without errors
/// in textual order, and adds errors and warnings to `diagnostics`.
pub(super) fn check(
    place: ManifestContext<'_>,
    declared: Declarations<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<KernelInstance> {
    let Some((syntax, scope)) = place.files.syntax(place.file).zip(place.scopes.get(place.file))
    else {
        return Vec::new();
    };
    let mut jobs: Vec<InstanceRequest<'_>> = Vec::new();
    for item in syntax.kernels.iter().filter(|item| item.operands.is_none()) {
        // Only the first kernel of a name is in the scope.
        let def = scope.kernels.get(&item.name.value).filter(|def| def.item == *item);
        let (name, span) = (&item.name, &item.span);
        jobs.extend(def.map(|def| InstanceRequest { name, def, instance: None, span }));
    }
    for item in &syntax.instances {
        let (name, span) = (&item.name, &item.span);
        match kernel_of(item, syntax, scope) {
            Ok(Some(def)) => {
                jobs.push(InstanceRequest { name, def, instance: Some(item), span });
            }
            Ok(None) => {}
            Err(error) => diagnostics.push(error),
        }
    }
    jobs.sort_by_key(|job| job.span.start);
    let mut computes: Vec<KernelInstance> = Vec::new();
    for job in jobs {
        match check_instance(&job, place, scope, declared) {
            Ok((compute, warnings)) => {
                diagnostics.extend(warnings);
                // Duplicate names are reported by the scope.
                if computes.iter().all(|other| other.name != compute.name) {
                    computes.push(compute);
                }
            }
            Err(found) => diagnostics.extend(found),
        }
    }
    computes
}

/// Kernel that an instance names; `None` if the kernel is invalid and has been reported. `Err` for an unknown name.
fn kernel_of<'a>(
    item: &InstanceItem,
    syntax: &ManifestSyntax,
    scope: &'a ManifestScope,
) -> Result<Option<&'a KernelDef>, Diagnostic> {
    let name = &item.of.value;
    if let Some(def) = scope.kernels.get(name) {
        return Ok(Some(def));
    }
    if scope.is_broken(ItemKind::Kernel, name) {
        return Ok(None);
    }
    let place = item.of.at(&syntax.file);
    let message = format!("there is no kernel `{name}`");
    let error = Diagnostic::error(Code::NameUnknown, message, place, "");
    Err(error.nearest_or_all(name, "kernels", scope.kernels.keys().map(String::as_str)))
}

/// Checks one kernel on the tensors of one instance. Returns the checked instance and warnings.
fn check_instance(
    job: &InstanceRequest<'_>,
    place: ManifestContext<'_>,
    scope: &ManifestScope,
    declared: Declarations<'_>,
) -> CheckResult<(KernelInstance, Vec<Diagnostic>)> {
    let (def, syntax) = (job.def, declared.syntax);
    let home = place.scopes.get(def.home).ok_or_else(Vec::new)?;
    let binder = operand::OperandBinder { declared, def };
    let operands = binder.bound(job.instance)?;
    let mut program = KernelLowering::new(def, home, place, declared, operands);
    let errors = program.run();
    if !errors.is_empty() || program.is_incomplete() {
        return Err(errors);
    }
    let unfused = epilogue::fuse(&mut program, &epilogue::Directives::new(&def.item, job.instance));
    let instance = job.instance.map(|item| (item, &syntax.file, scope));
    let of_instance = |errors| with_instance(job, syntax, errors);
    let (schedule, loops) = schedule::checked(&program, instance).map_err(of_instance)?;
    let caches = cache::CacheDirectives::of(&program, job.instance, (place.file, &syntax.file));
    let (caches, more) = caches.checked(&program, &schedule, &loops).map_err(of_instance)?;
    let instance = job.instance.map(|item| (item, &syntax.file, place.file, scope));
    let of_complete = complete::check(&mut program, instance).map_err(of_instance)?;
    let stated: Vec<_> = program.operands.iter().map(|o| program.stated(&o.name.value)).collect();
    let KernelLowering {
        operands, symbols, locals, compute_at, mut statements, mut warnings, ..
    } = program;
    let schedule = LoopSchedule { compute_at, ..schedule };
    warnings.extend(more.into_iter().chain(of_complete));
    for (statement, caches) in statements.iter_mut().zip(caches) {
        statement.caches = caches;
    }
    let is_written = |k: usize| statements.iter().any(|line| line.target == BufferRef::Operand(k));
    let operands =
        operands.into_iter().zip(stated).enumerate().map(|(k, (operand, range))| KernelOperand {
            name: operand.name.value,
            tensor: operand.tensor,
            is_written: is_written(k),
            range,
        });
    let compute = KernelInstance {
        name: job.name.value.clone(),
        kernel: def.item.name.value.clone(),
        operands: operands.collect(),
        locals,
        symbols,
        statements,
        unfused: unfused.map(Box::new),
        schedule,
        place: FileSpan::new(&syntax.file, job.span.clone()),
    };
    Ok((compute, warnings))
}

/// Errors `errors` of the schedule of a kernel, where each error without a label inside the item of `job` gets a label
/// at the name of the instance. Unchanged for a kernel that names tensors itself. `syntax` is the manifest of the
/// instance.
fn with_instance(
    job: &InstanceRequest<'_>,
    syntax: &ManifestSyntax,
    mut errors: Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    if let Some(instance) = job.instance {
        let place = FileSpan::new(&syntax.file, instance.name.span.clone());
        let is_outside = |error: &&mut Diagnostic| {
            error.labels.iter().all(|label| {
                label.place.file != place.file || !job.span.contains(&label.place.start)
            })
        };
        for error in errors.iter_mut().filter(is_outside) {
            error.add_label(place.clone(), "for this instance");
        }
    }
    errors
}
