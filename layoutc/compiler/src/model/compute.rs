//! Checked kernels: a [`KernelInstance`] holds statements such as `B[i] += A[i, k]` over logical axes, and the tensors
//! that they read and write.
//!
//! In an [`Expr`], `Var::Axis(k)` is axis `k` of the statement and `Var::Symbol(k)` is
//! symbol `k` of the [`KernelInstance`]. A value has one of the compute types (see [`TypedExpr::ty`]).

mod loop_schedule;
mod operand;
mod operator;
mod statement;
mod typed_expr;

use std::borrow::Cow;

use layoutc_algebra::expr::{Expr, Var};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::Tensor;
use crate::base::diagnostic::FileSpan;

pub use loop_schedule::{
    ComputeAt, Fuse, LoopSchedule, LoopStep, Split, StatementSchedule, TileCache,
};
pub use operand::{BufferRef, KernelOperand};
pub use operator::{Arithmetic, ComparePredicate, MathFunction};
pub use statement::{Reduction, Statement};
pub use typed_expr::{BoundaryCondition, DataIndex, ElementRead, Gather, TypedExpr, TypedExprKind};

/// Kernel whose operands are bound to concrete tensors by an `instance` item. It has checked statements, tensors and a
/// loop schedule. A kernel without `operands` names tensors directly and is an instance by itself.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct KernelInstance {
    /// Name of the generated function: the name of the `instance` item, or of the kernel if the kernel has no
    /// `operands`.
    pub name: String,
    /// Name of the kernel that the instance binds.
    pub kernel: String,
    /// Operands, in the order of the generated function's parameters: those that are only read, by first appearance in
    /// the statements, then those that are written.
    pub operands: Vec<KernelOperand>,
    /// Intermediate tensors that are stored in a buffer: those with a `local` node, and the results of reductions that
    /// later statements read.
    pub locals: Vec<Tensor>,
    /// Symbols (extents known only at run time), each name once, in this order: those of the operands' tensors; those
    /// that only the kernel's text names, sorted by name; those of `locals`.
    pub symbols: Vec<Symbol>,
    /// Statements in execution order.
    pub statements: Vec<Statement>,
    /// Intermediates and statements before reductions were fused with the statements that map their results; `None` if
    /// none was.
    pub unfused: Option<Box<UnfusedStatements>>,
    /// Loop schedule that the manifest gives. The planner makes all decisions that the schedule leaves open.
    pub schedule: LoopSchedule,
    /// Span in the manifest of the `instance` item, or of the kernel if the kernel has no `operands`.
    pub place: FileSpan,
}

/// Loop of a statement in each iteration of which an intermediate that the statement writes or reads is computed
/// (compute-at).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SharedLoop {
    /// Loop over this axis of the statement.
    Axis(usize),
    /// No loop: along the axis of the loop, the statement reads the intermediate at an index that is none of the axes
    /// that it writes.
    NoAxis,
}

impl SharedLoop {
    /// Shared loop of `statement` in a kernel with the intermediates `locals`, of which those in `compute_at` are
    /// computed in loops; `None` if the statement uses no such intermediate.
    pub(crate) fn of(
        locals: &[Tensor],
        compute_at: &[ComputeAt],
        statement: &Statement,
    ) -> Option<Self> {
        locals.iter().enumerate().find_map(|(k, local)| {
            let own = compute_at.iter().find(|own| own.local == local.name)?;
            let buffer = BufferRef::Local(k);
            if statement.target == buffer {
                return Some(Self::Axis(own.axis));
            }
            let mut reads = statement.values().flat_map(TypedExpr::reads);
            let is_used = statement.reads(buffer);
            let axis = reads.find(|read| read.buffer == buffer).and_then(|read| {
                let index = read.index.get(own.axis)?;
                let mut axes = (0_u32..).zip(&statement.axes).take(statement.written_axes);
                // The index along an axis of one element is 0.
                let is_it = |(k, axis): &(u32, &Axis)| {
                    let is_only = axis.extent.as_const() == Some(1) && axis.name == own.at.value;
                    *index == Expr::var(Var::Axis(*k)) || is_only && index.as_const() == Some(0)
                };
                usize::try_from(axes.find(is_it)?.0).ok()
            });
            is_used.then_some(axis.map_or(Self::NoAxis, Self::Axis))
        })
    }
}

/// Intermediates and statements of a kernel before reductions were fused with the statements that map their results.
#[derive(Debug, Clone)]
pub struct UnfusedStatements {
    /// Intermediate tensors that are stored in a buffer, as [`KernelInstance::locals`].
    pub locals: Vec<Tensor>,
    /// Statements in execution order, without epilogues.
    pub statements: Vec<Statement>,
}

impl KernelInstance {
    /// Instance with the statements before fusion (see [`KernelInstance::unfused`]), and without intermediates that are
    /// computed in each iteration of a loop.
    pub(crate) fn as_written(&self) -> Cow<'_, Self> {
        let mut whole = self.computed_as_a_whole();
        if let Some(unfused) = &self.unfused {
            let UnfusedStatements { locals, statements } = (**unfused).clone();
            whole = Cow::Owned(Self { locals, statements, unfused: None, ..whole.into_owned() });
        }
        whole
    }

    /// Instance without intermediates that are computed in each iteration of a loop.
    pub(crate) fn computed_as_a_whole(&self) -> Cow<'_, Self> {
        if self.schedule.compute_at.is_empty() {
            return Cow::Borrowed(self);
        }
        let schedule = LoopSchedule { compute_at: Vec::new(), ..self.schedule.clone() };
        Cow::Owned(self.with_schedule(schedule))
    }

    /// Loop in each iteration of which the intermediate `name` is computed; `None` if it is computed as a whole.
    pub(crate) fn compute_at(&self, name: &str) -> Option<&ComputeAt> {
        self.schedule.compute_at.iter().find(|own| own.local == name)
    }

    /// Loop that a statement shares with the other writers and readers of an intermediate; `None` if the statement uses
    /// no intermediate that is computed in a loop.
    pub(crate) fn shared_loop(&self, statement: &Statement) -> Option<SharedLoop> {
        SharedLoop::of(&self.locals, &self.schedule.compute_at, statement)
    }

    /// Copy of the instance with the name `NAME_auto`, from which the loop schedule, the tile caches and the complete
    /// schedules are removed. `None` if the instance has none of these.
    pub(crate) fn unscheduled(&self) -> Option<Self> {
        if self.schedule == LoopSchedule::default()
            && self.statements.iter().all(|own| own.caches.is_empty() && own.schedules.is_empty())
        {
            return None;
        }
        let statements = self.statements.iter().cloned();
        let free = |own| Statement { caches: Vec::new(), schedules: Vec::new(), ..own };
        let statements = statements.map(free).collect();
        let name = format!("{}_auto", self.name);
        Some(Self { name, statements, ..self.with_schedule(LoopSchedule::default()) })
    }

    /// Name of an operand or intermediate in the kernel; empty if the kernel has none at this position.
    pub(crate) fn buffer_name(&self, buffer: BufferRef) -> &str {
        let name = match buffer {
            BufferRef::Operand(k) => self.operands.get(k).map(|operand| &operand.name),
            BufferRef::Local(k) => self.locals.get(k).map(|local| &local.name),
        };
        name.map_or("", String::as_str)
    }

    /// Copy of the instance with the loop schedule `schedule`.
    pub(crate) fn with_schedule(&self, schedule: LoopSchedule) -> Self {
        Self { schedule, ..self.clone() }
    }
}
