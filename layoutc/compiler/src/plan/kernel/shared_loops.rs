//! Loops in each iteration of which intermediates are computed (compute-at): the buffer of an iteration is declared in the
//! loop that all writers and readers of the intermediate share.

use super::outer_fusion::Group;
use super::{Bound, bound};
use crate::ir::{Stmt, Storage};
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance, Statement};
use crate::plan::lower::PlanError;

/// Intermediates of a kernel that are computed in loops, while the loops of its statements are fused.
pub(super) struct SharedLoops<'a> {
    compute: &'a KernelInstance,
    /// Intermediates whose loop is not closed yet, each with its position in the kernel's `locals`, and its buffer.
    open: Vec<(usize, &'a ComputeAt, &'a Bound)>,
}

impl<'a> SharedLoops<'a> {
    pub(super) fn new(compute: &'a KernelInstance, buffers: &'a [Bound]) -> Self {
        let all = compute.locals.iter().enumerate().filter_map(|(k, local)| {
            let own = compute.compute_at(&local.name)?;
            let bound = bound(buffers, compute, BufferRef::Local(k))?;
            Some((k, own, bound)).filter(|_| bound.iteration.is_some())
        });
        Self { compute, open: all.collect() }
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
        let numbers = users(self.compute, *local).map(|(k, _)| k + 1);
        let numbers: Vec<String> = numbers.map(|k| k.to_string()).collect();
        Err(PlanError::Choice {
            message: format!(
                "the statements {} write or read `{name}`, and share no loop `{}`",
                numbers.join(", "),
                at.value
            ),
            help: format!(
                "each must be next to the one before, have the whole loop `{}` outermost, and read `{name}` at its index",
                at.value
            ),
            place: at.place.clone(),
        })
    }
}

/// Statements that write or read an intermediate, each with its position in the kernel.
fn users(compute: &KernelInstance, local: usize) -> impl Iterator<Item = (usize, &Statement)> {
    let buffer = BufferRef::Local(local);
    let all = compute.statements.iter().enumerate();
    all.filter(move |(_, own)| own.target == buffer || own.reads(buffer))
}
