//! Loops in each iteration of which intermediates are computed (compute-at): the buffer of an iteration is declared in the
//! loop that all writers and readers of the intermediate share.

use super::outer_fusion::{Group, Member};
use super::{KernelBuffer, bound};
use crate::ir::{Stmt, Storage};
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance, Statement};
use crate::plan::lower::PlanError;

/// Intermediates of a kernel that are computed in loops, while the loops of its statements are fused.
pub(super) struct SharedLoops<'a> {
    compute: &'a KernelInstance,
    /// Intermediates whose loop is not closed yet, each with its position in the kernel's `locals`, and its buffer.
    open: Vec<(usize, &'a ComputeAt, &'a KernelBuffer)>,
    /// For each statement visited so far, false if it uses such an intermediate and has another outermost loop.
    has_loop: Vec<bool>,
}

impl<'a> SharedLoops<'a> {
    pub(super) fn new(compute: &'a KernelInstance, buffers: &'a [KernelBuffer]) -> Self {
        let all = compute.locals.iter().enumerate().filter_map(|(k, local)| {
            let own = compute.compute_at(&local.name)?;
            let bound = bound(buffers, compute, BufferRef::Local(k))?;
            Some((k, own, bound)).filter(|_| bound.iteration.is_some())
        });
        Self { compute, open: all.collect(), has_loop: Vec::new() }
    }

    /// Notes whether the next statement has the loop that it must share; `member` has its outermost loop.
    pub(super) fn visit(&mut self, statement: &Statement, member: impl Fn() -> Option<Member<'a>>) {
        let own = self.compute.shared_loop(statement);
        let has_loop = own.is_none_or(|own| member().is_some_and(|member| member.is_over(own)));
        self.has_loop.push(has_loop);
    }

    /// Statements of a fused loop, with the declarations of the buffers of an iteration in the loop.
    pub(super) fn close(&mut self, group: Group<'_>) -> Vec<Stmt> {
        let compute = self.compute;
        let mut arrays = Vec::new();
        self.open.retain(|(local, own, bound)| {
            let users = users(compute, *local).count();
            let is_inside = group.shares(BufferRef::Local(*local), own, users);
            let iteration = bound.iteration.as_ref().filter(|_| is_inside);
            arrays.extend(iteration.map(|iteration| Stmt::Allocate {
                name: bound.name.clone(),
                element: bound.tensor.dtype.to_string(),
                elements: iteration.elements.max(1),
                storage: Storage::Private,
            }));
            iteration.is_none()
        });
        group.into_stmts(arrays)
    }

    /// Error if writers and readers of an intermediate share no loop.
    pub(super) fn finish(self) -> Result<(), PlanError> {
        let Some((local, ComputeAt { local: name, at, .. }, _)) = self.open.first() else {
            return Ok(());
        };
        let mut users = users(self.compute, *local);
        let other = users.find(|(k, _)| self.has_loop.get(*k) == Some(&false));
        let at_loop = &at.value;
        let (message, help) = match other {
            Some((_, statement)) => (
                format!(
                    "the outermost loop of `{}` is not the whole loop `{at_loop}`",
                    statement.text
                ),
                format!(
                    "all statements that write or read `{name}` share the loop: `loops {at_loop} …` makes it the outermost of the output's"
                ),
            ),
            None => (
                format!(
                    "the statements that write or read `{name}` are not one loop over `{at_loop}`"
                ),
                format!(
                    "write them next to each other, and read what they write at the index `{at_loop}`"
                ),
            ),
        };
        Err(PlanError::Choice { message, help, place: at.place.clone() })
    }
}

/// Statements that write or read an intermediate, each with its position in the kernel.
fn users(compute: &KernelInstance, local: usize) -> impl Iterator<Item = (usize, &Statement)> {
    let buffer = BufferRef::Local(local);
    let all = compute.statements.iter().enumerate();
    all.filter(move |(_, own)| own.target == buffer || own.reads(buffer))
}
