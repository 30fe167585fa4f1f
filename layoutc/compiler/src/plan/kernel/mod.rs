//! Kernels: loop nests over a kernel instance's tensors, in the physical order of the written tensor.
//!
//! Source: RFC 0039, "the loop order is rewritten along the new layout". A statement becomes one nest: loops over the
//! storage axes of its target, then the reduced ones. The accumulators of a register tile are a local array.

mod block;
mod bounds;
mod buffers;
mod complete;
mod copy;
mod cost;
mod emit_loops;
mod facts;
mod grid;
mod group;
mod indexed;
mod item;
mod nest;
mod operand_packing;
pub(super) mod order;
mod outer_fusion;
mod partial_sums;
mod reduction;
mod reference;
mod register_tile;
mod scatter;
mod scheduled_statement;
mod shared_loops;
mod staging;
mod statement_reads;
mod value;

use layoutc_algebra::expr::Var;
use layoutc_algebra::symbol::Symbol;

pub(crate) use self::block::tile_extents;
pub use self::buffers::is_given;
use self::buffers::{KernelBuffer, bind, bound, on_the_stack, parts};
pub(crate) use self::complete::complete_schedule;
pub use self::complete::statement_schedules;
pub(crate) use self::cost::{is_for_cores, slow_schedules};
pub use self::facts::{LoopFacts, kernel_loops};
use self::nest::Nest;
use self::outer_fusion::{Group, Member, Obstacle};
pub use self::reference::{ReferenceKernel, plain};
use self::scheduled_statement::ScheduledStatement;
use self::shared_loops::SharedLoops;
use super::Context;
use super::Naming;
use super::gpu_relayout::{Items, Kernel};
use super::lower::{Binding, PlanError, Range, Scope, lower};
use super::moves::NO_OVERLAP;
use super::names::Namer;
use super::nest::Moves;
use super::prepare::{fill_bits, fill_constant};
use crate::ir::{
    Expr, Function, LoopKind, Param, ParamType, Primitive, Returns, Stmt, Storage, Value,
};
use crate::machine::{GPU, Registers};
use crate::model::compute::{BufferRef, KernelInstance, LoopSchedule, Statement};
use crate::model::layout_names;
use crate::model::{Manifest, Spanned, TensorRef};
use crate::passes::{self, Ranges};

/// Functions of the C math library; the names of a kernel's variables avoid them.
const MATH: [&str; 10] =
    ["exp", "log", "sqrt", "tanh", "erf", "floor", "pow", "fabs", "fmin", "fmax"];

/// Function of one kernel instance for CPUs with these vector registers.
///
/// # Errors
/// [`PlanError`] if an integer does not fit 64 bits, an expression nests too deep, or the schedule cannot be followed.
pub fn cpu_kernel(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    registers: Registers,
) -> Result<Function, PlanError> {
    let runs = ExecutionModel::Cpu(registers);
    let avoid = avoiding(naming);
    let KernelPrologue { symbols, buffers, params, mut namer, mut body } =
        KernelPrologue::new(manifest, compute, naming, &avoid, runs)?;
    let scope = |var: Var| symbol(&symbols, var);
    for bound in buffers.iter().filter(|bound| bound.is_local && bound.iteration.is_none()) {
        body.extend(on_the_stack(bound));
    }
    body.extend(statements(compute, &buffers, naming, (&scope, &mut namer), runs)?);
    let doc = with_no_overlap(documented(compute));
    let name = naming.tensor(&compute.name);
    let mut function = Function { name, doc, returns: Returns::Nothing, params, body };
    let ranges = ranges(compute, &symbols);
    match naming.ways.moves {
        Moves::Blocks => passes::cpu_kernel(&mut function, &ranges, &mut |name| namer.name(name)),
        Moves::Elements => passes::gpu_kernel(&mut function, &ranges),
    }
    Ok(function)
}

/// Loop nests of all statements of an instance on a CPU, in order. Outermost loops of consecutive statements are fused
/// where that is legal.
fn statements(
    compute: &KernelInstance,
    buffers: &[KernelBuffer],
    naming: &Naming<'_>,
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    runs: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let mut body = Vec::new();
    let mut filled: Vec<BufferRef> = Vec::new();
    let mut group: Option<Group<'_>> = None;
    let mut shared = SharedLoops::new(compute, buffers);
    for statement in &compute.statements {
        let Some(target) = bound(buffers, compute, statement.target) else { continue };
        let mut before = Vec::new();
        if !filled.contains(&statement.target) && !statement.keeps() {
            before = padding(target, naming, namer, scope)?;
        }
        filled.push(statement.target);
        let is_scheduled = !writes_nothing(statement) && statement.scatter.is_none();
        let planned = if is_scheduled {
            Some(ScheduledStatement::new(compute, statement, buffers, runs)?)
        } else {
            None
        };
        let member =
            || planned.as_ref().and_then(|planned| Member::new(statement, planned, &target.tensor));
        let mut obstacle = None;
        if let (Some(group), Some(planned), Some(member)) = (&mut group, &planned, member()) {
            let is_asked = compute.shared_loop(statement).is_some();
            obstacle = group.obstacle(&member, &before, is_asked)?;
            if obstacle.is_none() {
                let mut namer = namer.clone();
                group.bodies().for_each(|body| reserve(body, &mut namer));
                let names = (scope, &mut namer);
                let loops = loops(compute, statement, planned.clone(), buffers, names, runs)?;
                if group.add(member, before.clone(), &loops) {
                    continue;
                }
                obstacle = Some(Obstacle::Loops);
            }
        }
        shared.note(statement, member().as_ref(), obstacle);
        body.extend(group.take().into_iter().flat_map(|group| shared.close(group)));
        let nest = match &planned {
            Some(planned) => nest(compute, statement, planned, buffers, (scope, namer), runs)?,
            None if statement.scatter.is_some() && !writes_nothing(statement) => {
                scatter::on_cores(compute, statement, buffers, (scope, namer), runs)?
            }
            None => Vec::new(),
        };
        group = member().and_then(|member| Group::new(member, before.clone(), &nest));
        if group.is_none() {
            body.push(Stmt::Comment { text: statement.text.clone() });
            body.extend(before.into_iter().chain(nest));
        }
    }
    body.extend(group.into_iter().flat_map(|group| shared.close(group)));
    shared.finish()?;
    Ok(body)
}

/// Loop nest of a statement; for split-K preceded by that of the initial values.
fn nest(
    compute: &KernelInstance,
    statement: &Statement,
    planned: &ScheduledStatement,
    buffers: &[KernelBuffer],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    runs: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let mut body = Vec::new();
    if planned.order.split_k.is_some() && !statement.accumulate {
        let first = reduction::init_statement(statement);
        let parallel = planned.parallel.iter().flat_map(with_wholes).collect();
        let compute = compute.with_schedule(LoopSchedule { parallel, ..Default::default() });
        let planned = ScheduledStatement::new(&compute, &first, buffers, runs)?;
        body.extend(loops(&compute, &first, planned, buffers, (scope, namer), runs)?);
    }
    body.extend(loops(compute, statement, planned.clone(), buffers, (scope, namer), runs)?);
    Ok(body)
}

/// Name of a loop, and the names of the loops of which it may be the outer part: `i_outer_outer`, `i_outer`, `i`.
fn with_wholes(name: &Spanned<String>) -> Vec<Spanned<String>> {
    let names =
        std::iter::successors(Some(name.value.as_str()), |value| value.strip_suffix("_outer"));
    names.map(|value| Spanned { value: value.to_owned(), place: name.place.clone() }).collect()
}

/// Loop nest of one statement on a CPU.
fn loops(
    compute: &KernelInstance,
    statement: &Statement,
    planned: ScheduledStatement,
    buffers: &[KernelBuffer],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    runs: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let parts = parts(compute, &planned.caches, namer);
    let nest =
        Nest::new(compute, statement, (buffers, &parts), planned, scope, namer.clone(), runs)?;
    let written = nest.write()?;
    reserve(&written, namer);
    Ok(written)
}

/// Reserves the names declared outside all loops of `body`. Branches of conditions count, because a branch whose
/// condition is constant is merged into the enclosing statements.
fn reserve(body: &[Stmt], namer: &mut Namer<'_>) {
    for stmt in body {
        match stmt {
            Stmt::Allocate { name, storage: Storage::Restrict { memory }, .. } => {
                namer.name(name);
                namer.name(memory);
            }
            Stmt::Let { name, .. }
            | Stmt::Variable { name, .. }
            | Stmt::LetIndex { name, .. }
            | Stmt::Allocate { name, .. } => {
                namer.name(name);
            }
            Stmt::If { body, otherwise, .. } => {
                reserve(body, namer);
                reserve(otherwise, namer);
            }
            _ => {}
        }
    }
}

/// Kernels of one instance in launch order: one per statement, preceded by a fill kernel if the statement is the first
/// to write a target with padding to fill, and does not accumulate. All kernels take the same parameters, which include
/// the intermediate tensors.
///
/// # Errors
/// As [`cpu_kernel`].
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
        let frame = KernelPrologue::new(manifest, compute, naming, &avoid, ExecutionModel::Gpu)?;
        let scope = |var: Var| symbol(&frame.symbols, var);
        let Some(target) = bound(&frame.buffers, compute, statement.target) else { continue };
        if !filled.contains(&statement.target) && !statement.keeps() {
            let fill = item::padding(&frame, target, naming, &format!("{name}_fill"))?;
            kernels.extend(fill);
        }
        filled.push(statement.target);
        let (body, items, group) = by_items(compute, statement, &frame, &scope)?;
        let body = frame.body.iter().cloned().chain(body).collect();
        let mut doc = vec![statement.text.clone()];
        if number == last {
            doc = with_no_overlap(documented(compute));
        }
        let (returns, params) = (Returns::Nothing, frame.params.clone());
        let mut function = Function { name, doc, returns, params, body };
        passes::gpu_kernel(&mut function, &ranges(compute, &frame.symbols));
        kernels.push(Kernel { function, range: vec![items], group, unaligned: None });
    }
    Ok(kernels)
}

/// True if an axis of the elements that a statement writes has the constant extent 0. On GPUs the statement keeps its
/// kernel, with an empty launch, for its name and parameters.
fn writes_nothing(statement: &Statement) -> bool {
    let written = statement.axes.iter().take(statement.written_axes);
    written.filter_map(|axis| axis.extent.as_const()).any(|extent| extent <= 0)
}

/// Body of a statement's kernel, the number of work items, and the number of threads of a thread block; `None` if
/// threads do not cooperate.
fn by_items(
    compute: &KernelInstance,
    statement: &Statement,
    frame: &KernelPrologue<'_>,
    scope: &Scope<'_>,
) -> Result<(Vec<Stmt>, Items, Option<i64>), PlanError> {
    let mut namer = frame.namer.clone();
    if writes_nothing(statement) {
        return Ok((Vec::new(), Items { count: Expr::int(0), may_be_none: true }, None));
    }
    if statement.scatter.is_some() {
        let names = (scope, &mut namer);
        let (body, items) = scatter::on_items(compute, statement, &frame.buffers, names)?;
        return Ok((body, items, None));
    }
    let planned = ScheduledStatement::new(compute, statement, &frame.buffers, ExecutionModel::Gpu)?;
    let parts = parts(compute, &planned.caches, &mut namer);
    let bounds = (frame.buffers.as_slice(), parts.as_slice());
    let nest = Nest::new(compute, statement, bounds, planned, scope, namer, ExecutionModel::Gpu)?;
    let group = nest.is_grouped.then_some(GPU.threads);
    let (body, items) = if nest.is_grouped { nest.write_group()? } else { nest.write_item()? };
    Ok((body, items, group))
}

/// Inclusive ranges of the kernel's symbols, by variable name.
fn ranges(compute: &KernelInstance, symbols: &[Binding]) -> Ranges {
    let range = |(symbol, binding): (&Symbol, &Binding)| match &binding.tree {
        Expr::Name { name } => Some((name.clone(), [symbol.min, symbol.max])),
        _ => None,
    };
    Ranges::new(compute.symbols.iter().zip(symbols).filter_map(range))
}

/// Processor that executes the iterations of the outer loops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExecutionModel {
    /// CPU threads; the inner loops are vectorized with these registers.
    Cpu(Registers),
    /// GPU threads: one per iteration of all outer loops, or a thread block per iteration.
    Gpu,
}

/// Predicate that is true for identifiers that a kernel must not declare.
fn avoiding<'a>(naming: &'a Naming<'_>) -> impl Fn(&str) -> bool + 'a {
    |name: &str| {
        let is_math = |name: &str| MATH.contains(&name);
        (naming.avoid)(name) || is_math(name) || name.strip_suffix('f').is_some_and(is_math)
    }
}

/// Binding of a symbol of a kernel; `None` for other variables.
fn symbol(symbols: &[Binding], var: Var) -> Option<Binding> {
    match var {
        Var::Symbol(k) => symbols.get(usize::try_from(k).ok()?).cloned(),
        _ => None,
    }
}

/// Symbols, buffers, parameters and names shared by all functions of a kernel instance.
struct KernelPrologue<'a> {
    symbols: Vec<Binding>,
    buffers: Vec<KernelBuffer>,
    params: Vec<Param>,
    namer: Namer<'a>,
    /// Assertions of preconditions on the symbols.
    body: Vec<Stmt>,
}

impl<'a> KernelPrologue<'a> {
    fn new(
        manifest: &Manifest,
        compute: &KernelInstance,
        naming: &Naming<'_>,
        avoid: &'a dyn Fn(&str) -> bool,
        runs: ExecutionModel,
    ) -> Result<Self, PlanError> {
        let mut namer = Namer::new(avoid);
        let (mut symbols, mut params) = (Vec::new(), Vec::new());
        for symbol in &compute.symbols {
            let name = namer.name(&symbol.name);
            let range = Range::new(symbol.min, symbol.max);
            symbols.push(Binding { tree: Expr::name(&name), range });
            params.push(Param { name, ty: ParamType::Index });
        }
        let (buffers, bound) = bind(manifest, compute, naming, &mut namer, runs)?;
        params.extend(bound);
        let body = asserted(manifest, compute, naming, &symbols);
        Ok(Self { symbols, buffers, params, namer, body })
    }
}

fn with_no_overlap(mut doc: Vec<String>) -> Vec<String> {
    doc.push(NO_OVERLAP.to_owned());
    doc
}

/// Doc comment of an instance's function: its statements, the intermediates that the caller allocates, and the required
/// ranges of operand elements.
pub(super) fn documented(compute: &KernelInstance) -> Vec<String> {
    let mut doc: Vec<String> =
        compute.statements.iter().map(|statement| statement.text.clone()).collect();
    for tensor in compute.locals.iter().filter(|tensor| is_given(compute, tensor)) {
        doc.push(format!("`{}` is memory of the caller's for an intermediate.", tensor.name));
    }
    for operand in &compute.operands {
        if let Some(below) = &operand.range {
            let below = layout_names::symbol_expr(below, &compute.symbols);
            doc.push(format!(
                "Every element of `{}` is at least 0 and below {below}.",
                operand.name
            ));
        }
    }
    doc
}

/// Assertions that the symbols satisfy the preconditions of the operands' tensors, `T_symbols_ok(n, m)`.
fn asserted(
    manifest: &Manifest,
    compute: &KernelInstance,
    naming: &Naming<'_>,
    symbols: &[Binding],
) -> Vec<Stmt> {
    let named = |symbol: &Symbol| {
        let number = compute.symbols.iter().position(|other| other.name == symbol.name);
        number.and_then(|number| symbols.get(number)).map(|binding| binding.tree.clone())
    };
    let mut seen: Vec<TensorRef> = Vec::new();
    let mut all = Vec::new();
    for operand in &compute.operands {
        let Some(tensor) = manifest.tensor(operand.tensor) else { continue };
        let context = Context::new(tensor, naming);
        if context.symbols.is_empty() || seen.contains(&operand.tensor) {
            continue;
        }
        seen.push(operand.tensor);
        let args = context.symbols.iter().filter_map(|symbol| named(symbol.facts)).collect();
        all.push(Stmt::Assert { condition: Expr::call(&context.function("symbols_ok"), args) });
    }
    all
}

/// Statements that write the fill value to the whole target before its elements are written; empty for an intermediate
/// tensor, and if there is no padding to fill.
fn padding(
    bound: &KernelBuffer,
    naming: &Naming<'_>,
    namer: &mut Namer<'_>,
    scope: &Scope<'_>,
) -> Result<Vec<Stmt>, PlanError> {
    let context = Context::new(&bound.tensor, naming);
    let elements = bound.tensor.layout.physical_elements();
    if !context.fills() || bound.is_local || elements.as_const() == Some(0) {
        return Ok(Vec::new());
    }
    let buffer = bound.name.clone();
    if fill_bits(&context)? == 0 {
        let bytes = lower(&super::index::buffer_bytes(&context, elements)?, scope)?;
        return Ok(vec![Primitive::Zero { buffer, index: Expr::int(0), bytes }.into()]);
    }
    let fill = namer.name("fill");
    let constant = fill_constant(&context, &fill)?;
    let name = namer.name("slot");
    let (index, value) = (Expr::name(&name), Value::Name { name: fill });
    let body = vec![Stmt::Store { buffer, index, value, through: bound.store.clone() }];
    let to = lower(elements, scope)?;
    Ok(vec![
        constant,
        Stmt::For { name, from: Expr::int(0), to, step: 1, kind: LoopKind::Serial, body },
    ])
}
