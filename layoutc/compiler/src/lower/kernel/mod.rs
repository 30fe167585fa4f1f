//! Kernels: loop nests over the tensors of a kernel instance, in the physical order of the written tensor.
//!
//! Source: TVM RFC 0039, "the loop order is rewritten along the new layout". A statement becomes one nest: loops over
//! the storage axes of its target, then the reduced ones. The accumulators of a register tile are a local array.

pub(crate) mod buffers;
pub(crate) mod copy;
pub(crate) mod emit_loops;
pub(crate) mod grid;
pub(crate) mod group;
pub(crate) mod indexed;
pub(crate) mod item;
pub(crate) mod iteration;
pub(crate) mod nest;
pub(crate) mod outer_fusion;
pub(crate) mod partial_sums;
pub(crate) mod prologue;
pub(crate) mod reduction;
pub(crate) mod scatter;
pub(crate) mod shared_loops;
pub(crate) mod staging;
pub(crate) mod value;

use crate::ir::{Expr, LoopKind, Primitive, Stmt, Storage, Value};
use crate::loops::ExecutionModel;
use crate::loops::buffers::bound;
use crate::loops::error::PlanError;
use crate::loops::scheduled_kernel::StatementPlan;
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::loops::thread_mapping::ThreadMapping;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::{Scope, lower};
use crate::lower::kernel::buffers::{BufferBinding, parts};
use crate::lower::kernel::nest::Nest;
use crate::lower::kernel::outer_fusion::{Group, Member, Obstacle};
use crate::lower::kernel::prologue::KernelPrologue;
use crate::lower::kernel::shared_loops::SharedLoops;
use crate::lower::launch::Items;
use crate::lower::names::Namer;
use crate::lower::relayout::padding::{fill_bits, fill_constant};
use crate::machine::GPU;
use crate::model::compute::{BufferRef, KernelInstance, Statement};

/// Loop nests of all statements of an instance on a CPU, in order. Outermost loops of consecutive statements are fused
/// where possible (see `Obstacle`). `buffers` has the operands and intermediates of `compute`.
pub(crate) fn statements(
    (compute, plans): (&KernelInstance, Vec<StatementPlan>),
    buffers: &[BufferBinding],
    naming: &Naming<'_>,
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    processor: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let mut body = Vec::new();
    let mut filled: Vec<BufferRef> = Vec::new();
    let mut group: Option<Group<'_>> = None;
    let mut shared = SharedLoops::new(compute, buffers);
    for (statement, plan) in compute.statements.iter().zip(plans) {
        let target = bound(buffers, compute, statement.target).ok_or(PlanError::Scope)?;
        let mut before = Vec::new();
        if !filled.contains(&statement.target) && !statement.keeps() {
            before = padding(target, naming, namer, scope)?;
        }
        filled.push(statement.target);
        let member = || Member::new(statement, plan.schedule()?, target.tensor());
        let mut obstacle = None;
        if let (Some(group), Some(planned), Some(member)) = (&mut group, plan.schedule(), member())
        {
            let is_asked = compute.shared_loop(statement).is_some();
            obstacle = group.obstacle(&member, &before, is_asked)?;
            if obstacle.is_none() {
                let mut namer = namer.clone();
                group.bodies().for_each(|body| reserve(body, &mut namer));
                let names = (scope, &mut namer);
                let loops = loops(compute, statement, planned.clone(), buffers, names, processor)?;
                if group.add(member, before.clone(), &loops) {
                    continue;
                }
                obstacle = Some(Obstacle::Loops);
            }
        }
        let member = member();
        shared.note(statement, member.as_ref(), obstacle);
        body.extend(group.take().into_iter().flat_map(|group| shared.close(group)));
        let nest = nest(compute, statement, plan, buffers, (scope, namer), processor)?;
        group = member.and_then(|member| Group::new(member, before.clone(), &nest));
        if group.is_none() {
            body.push(Stmt::Comment { text: statement.text.clone() });
            body.extend(before.into_iter().chain(nest));
        }
    }
    body.extend(group.into_iter().flat_map(|group| shared.close(group)));
    shared.finish()?;
    Ok(body)
}

/// Statements that execute a statement of a kernel on a CPU.
fn nest(
    compute: &KernelInstance,
    statement: &Statement,
    plan: StatementPlan,
    buffers: &[BufferBinding],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    processor: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    match plan {
        StatementPlan::Empty => Ok(Vec::new()),
        StatementPlan::Scatter => {
            scatter::on_cores(compute, statement, buffers, (scope, namer), processor)
        }
        StatementPlan::Loops { schedule, initial, .. } => {
            let mut body = Vec::new();
            if let Some((first, own)) = initial.map(|initial| *initial) {
                body = loops(compute, &first, own, buffers, (scope, namer), processor)?;
            }
            body.extend(loops(compute, statement, *schedule, buffers, (scope, namer), processor)?);
            Ok(body)
        }
    }
}

/// Loop nest of one statement on a CPU with the loops `planned`. Names that the nest declares outside of its loops are
/// in use in `namer` afterwards.
pub(crate) fn loops(
    compute: &KernelInstance,
    statement: &Statement,
    planned: ScheduledStatement,
    buffers: &[BufferBinding],
    (scope, namer): (&Scope<'_>, &mut Namer<'_>),
    processor: ExecutionModel,
) -> Result<Vec<Stmt>, PlanError> {
    let parts = parts(compute, &planned.caches, namer);
    let nest =
        Nest::new(compute, statement, (buffers, &parts), planned, scope, namer.clone(), processor)?;
    let written = nest.write()?;
    reserve(&written, namer);
    Ok(written)
}

/// Marks the names of the index constants, variables and arrays that `body` declares outside of loops as in use.
/// Branches of conditions count, because a branch whose condition is constant is merged into the enclosing statements.
pub(crate) fn reserve(body: &[Stmt], namer: &mut Namer<'_>) {
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

/// Triple of the body of a statement's GPU kernel, of the number of threads, and of the number of threads of a thread
/// block; the last is `None` if threads do not cooperate.
pub(crate) fn by_items(
    compute: &KernelInstance,
    (statement, plan): (&Statement, StatementPlan),
    prologue: &KernelPrologue<'_>,
    scope: &Scope<'_>,
) -> Result<(Vec<Stmt>, Items, Option<i64>), PlanError> {
    let mut namer = prologue.namer.clone();
    let (planned, mapping) = match plan {
        StatementPlan::Empty => {
            return Ok((Vec::new(), Items { count: Expr::int(0), may_be_none: true }, None));
        }
        StatementPlan::Scatter => {
            let names = (scope, &mut namer);
            let (body, items) = scatter::on_items(compute, statement, &prologue.buffers, names)?;
            return Ok((body, items, None));
        }
        StatementPlan::Loops { schedule, mapping, .. } => (*schedule, mapping),
    };
    let mapping = mapping.ok_or(PlanError::Scope)?;
    let parts = parts(compute, &planned.caches, &mut namer);
    let bounds = (prologue.buffers.as_slice(), parts.as_slice());
    let nest = Nest::new(compute, statement, bounds, planned, scope, namer, ExecutionModel::Gpu)?;
    match mapping {
        ThreadMapping::Threads(outer) => {
            let (body, items) = nest.write_item(&outer)?;
            Ok((body, items, None))
        }
        ThreadMapping::Blocks(mapping) => {
            let (body, items) = nest.write_group(mapping)?;
            Ok((body, items, Some(GPU.threads)))
        }
    }
}

/// Statements of a CPU kernel that write the fill value to the whole tensor `bound` before its elements are written;
/// empty for an intermediate tensor, and if there is no padding to fill.
pub(crate) fn padding(
    bound: &BufferBinding,
    naming: &Naming<'_>,
    namer: &mut Namer<'_>,
    scope: &Scope<'_>,
) -> Result<Vec<Stmt>, PlanError> {
    let context = Context::new(bound.tensor(), naming);
    let elements = bound.tensor().layout.physical_elements();
    if !context.fills() || bound.buffer.is_local || elements.as_const() == Some(0) {
        return Ok(Vec::new());
    }
    let buffer = bound.name.clone();
    if fill_bits(&context)? == 0 {
        let bytes = lower(&crate::lower::index::buffer_bytes(&context, elements)?, scope)?;
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
