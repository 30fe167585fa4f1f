//! Plans of kernel instances: the functions that are generated for their statements.

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Symbol;

use crate::ir::{Expr, Function, Returns};
use crate::loops::ExecutionModel;
use crate::loops::buffers::{KernelBuffer, bound};
use crate::loops::error::PlanError;
use crate::loops::relayout::plan::Primitives;
use crate::loops::scheduled_kernel::StatementPlan;
use crate::lower::context::Naming;
use crate::lower::expr::Binding;
use crate::lower::kernel;
use crate::lower::kernel::buffers::on_the_stack;
use crate::lower::kernel::prologue::{
    KernelPrologue, avoiding, documented, symbol, with_no_overlap,
};
use crate::lower::launch::Kernel;
use crate::machine::Registers;
use crate::model::Manifest;
use crate::model::compute::{BufferRef, KernelInstance};
use crate::passes::{self, Ranges};

/// Function of one kernel instance for CPUs with the vector registers `registers`.
///
/// # Errors
/// [`PlanError::Choice`] if a schedule cannot be followed, a statement cannot be compiled for CPUs, or an intermediate
/// has elements of less than a byte. Any other [`PlanError`], for example if an integer does not fit 64 bits or an
/// expression nests too deep.
pub fn cpu_kernel(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Function, PlanError> {
    let processor = ExecutionModel::Cpu(registers);
    let buffers = KernelBuffer::all(manifest, compute, processor)?;
    let plans = StatementPlan::all(compute, &buffers, processor)?;
    let avoid = avoiding(naming);
    let KernelPrologue { symbols, buffers, params, mut namer, mut body } =
        KernelPrologue::new(manifest, compute, buffers, naming, &avoid, processor)?;
    let scope = |var: Var| symbol(&symbols, var);
    let intermediates =
        buffers.iter().filter(|own| own.buffer.is_local && own.buffer.iteration.is_none());
    body.extend(intermediates.filter_map(on_the_stack));
    let kernel = (compute, plans);
    body.extend(kernel::statements(kernel, &buffers, naming, (&scope, &mut namer), processor)?);
    let doc = with_no_overlap(documented(compute));
    let name = naming.tensor(&compute.name);
    let mut function = Function { name, doc, returns: Returns::Nothing, params, body };
    let ranges = ranges(compute, &symbols);
    match naming.options.primitives {
        Primitives::Runtime => {
            passes::cpu_kernel(&mut function, &ranges, &mut |name| namer.name(name));
        }
        Primitives::None => passes::gpu_kernel(&mut function, &ranges),
    }
    Ok(function)
}

/// GPU kernels of one instance in launch order: one for each statement, some of them preceded by a kernel that writes
/// the fill value to the whole buffer of the statement, so that its padding is filled. All kernels take the same
/// parameters, which include the intermediate tensors.
///
/// # Errors
/// [`PlanError::Choice`] if a statement cannot be compiled for GPUs, as one with caches that exceed shared memory. Any
/// other [`PlanError`], for example if an integer does not fit 64 bits or an expression nests too deep.
pub fn gpu_kernels(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
) -> Result<Vec<Kernel>, PlanError> {
    let avoid = avoiding(naming);
    let mut kernels = Vec::new();
    let mut filled: Vec<BufferRef> = Vec::new();
    let last = compute.statements.len();
    for (number, statement) in (1_usize..).zip(&compute.statements) {
        let name = naming.tensor(&compute.name);
        let name = if number == last { name } else { format!("{name}_{number}") };
        let buffers = KernelBuffer::all(manifest, compute, ExecutionModel::Gpu)?;
        let plan = StatementPlan::new(compute, statement, &buffers, ExecutionModel::Gpu)?;
        let prologue =
            KernelPrologue::new(manifest, compute, buffers, naming, &avoid, ExecutionModel::Gpu)?;
        let scope = |var: Var| symbol(&prologue.symbols, var);
        let target = bound(&prologue.buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        if !filled.contains(&statement.target) && !statement.keeps() {
            let fill = kernel::item::padding(&prologue, target, naming, &format!("{name}_fill"))?;
            kernels.extend(fill);
        }
        filled.push(statement.target);
        let (body, items, group) = kernel::by_items(compute, (statement, plan), &prologue, &scope)?;
        let body = prologue.body.iter().cloned().chain(body).collect();
        let mut doc = vec![statement.text.clone()];
        if number == last {
            doc = with_no_overlap(documented(compute));
        }
        let (returns, params) = (Returns::Nothing, prologue.params.clone());
        let mut function = Function { name, doc, returns, params, body };
        passes::gpu_kernel(&mut function, &ranges(compute, &prologue.symbols));
        kernels.push(Kernel { function, range: vec![items], group, unaligned: None });
    }
    Ok(kernels)
}

/// Inclusive ranges of the kernel's symbols, by the identifiers of their parameters.
fn ranges(compute: &KernelInstance, symbols: &[Binding]) -> Ranges {
    let range = |(symbol, binding): (&Symbol, &Binding)| match &binding.tree {
        Expr::Name { name } => Some((name.clone(), [symbol.min, symbol.max])),
        _ => None,
    };
    Ranges::new(compute.symbols.iter().zip(symbols).filter_map(range))
}
