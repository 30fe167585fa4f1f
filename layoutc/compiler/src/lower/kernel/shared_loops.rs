//! Loops in each iteration of which intermediates are computed (compute-at): the buffer for one iteration is declared
//! in the loop that all writers and readers of the intermediate share.

use crate::ir::{Stmt, Storage};
use crate::loops::buffers::bound;
use crate::loops::error::PlanError;
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::outer_fusion::{Group, Member, Obstacle};
use crate::model::compute::{BufferRef, ComputeAt, KernelInstance, SharedLoop, Statement};

/// Intermediates of a kernel that are computed in each iteration of a loop, tracked while the loops of its statements
/// are fused.
pub(crate) struct SharedLoops<'a> {
    compute: &'a KernelInstance,
    /// Intermediates whose loop is not complete yet: position in the kernel's `locals`, loop, and buffer.
    open: Vec<(usize, &'a ComputeAt, &'a BufferBinding)>,
    /// First statement that uses an intermediate that is computed in a loop, but does not share this loop, with the
    /// obstacle; the obstacle is `None` if the outermost loop of the statement is not over the axis of the
    /// intermediate. `None` if all statements share their loops so far.
    apart: Option<(&'a Statement, Option<Obstacle>)>,
}

impl<'a> SharedLoops<'a> {
    pub(crate) fn new(compute: &'a KernelInstance, buffers: &'a [BufferBinding]) -> Self {
        let all = compute.locals.iter().enumerate().filter_map(|(k, local)| {
            let own = compute.compute_at(&local.name)?;
            let bound = bound(buffers, compute, BufferRef::Local(k))?;
            Some((k, own, bound)).filter(|_| bound.buffer.iteration.is_some())
        });
        Self { compute, open: all.collect(), apart: None }
    }

    /// Records that `statement` is not fused with the loop of the statements before it. `member` is the statement as a
    /// candidate for fusion (`None`: it is none), `obstacle` the reason (`None`: there was no loop before it). Has no
    /// effect for a statement that uses no intermediate that is computed in a loop.
    pub(crate) fn note(
        &mut self,
        statement: &'a Statement,
        member: Option<&Member<'_>>,
        obstacle: Option<Obstacle>,
    ) {
        let apart = match self.compute.shared_loop(statement) {
            None => return,
            Some(SharedLoop::NoAxis) => Some(Some(Obstacle::Index)),
            Some(SharedLoop::Axis(axis)) if !member.is_some_and(|own| own.is_over(axis)) => {
                Some(None)
            }
            Some(SharedLoop::Axis(_)) => obstacle.map(Some),
        };
        if let Some(obstacle) = apart {
            self.apart.get_or_insert((statement, obstacle));
        }
    }

    /// Statements of the fused loop `group`, with the declarations of the buffers for one iteration inside the loop.
    /// Intermediates whose writers and readers are all in the group are complete.
    pub(crate) fn close(&mut self, group: Group<'_>) -> Vec<Stmt> {
        let compute = self.compute;
        let mut arrays = Vec::new();
        self.open.retain(|(local, own, bound)| {
            let users = users(compute, *local).count();
            let is_inside = group.shares(BufferRef::Local(*local), own, users);
            let iteration = bound.buffer.iteration.as_ref().filter(|_| is_inside);
            arrays.extend(iteration.map(|iteration| Stmt::Allocate {
                name: bound.name.clone(),
                dtype: bound.tensor().dtype,
                elements: iteration.elements.max(1),
                storage: Storage::Private,
            }));
            iteration.is_none()
        });
        group.into_stmts(arrays)
    }

    /// Checks that writers and readers of each intermediate share a loop.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if those of an intermediate do not, located at its `at` directive.
    pub(crate) fn finish(self) -> Result<(), PlanError> {
        let Some((_, ComputeAt { local, at, .. }, _)) = self.open.first() else { return Ok(()) };
        let name = &at.value;
        let share =
            format!("the statements that write or read `{local}` share a loop over `{name}`");
        let (message, help) = match self.apart {
            Some((Statement { text, .. }, None)) => (
                format!("the outermost loop of `{text}` is not the whole loop over `{name}`"),
                format!("{share}: order the loops by `loops`, or remove `at`"),
            ),
            Some((Statement { text, .. }, Some(obstacle))) => {
                let reason = match obstacle {
                    Obstacle::Elements(buffer) => {
                        let buffer = self.compute.buffer_name(buffer);
                        format!("an iteration uses elements of `{buffer}` that another one writes")
                    }
                    Obstacle::Index => format!("it reads `{local}` at an index that is no axis"),
                    Obstacle::Padding => "padding is filled before that the loop reads".to_owned(),
                    Obstacle::Loops => {
                        "their bounds differ, or only one of them is parallel".to_owned()
                    }
                    Obstacle::Unrelated => {
                        "it uses no tensor of the statement before it".to_owned()
                    }
                };
                let message =
                    format!("`{text}` and the statement before it are not one loop: {reason}");
                (message, format!("{share}: change this, or remove `at`"))
            }
            None => (
                format!(
                    "the statements that write or read `{local}` are not one loop over `{name}`"
                ),
                "write them next to each other, or remove `at`".to_owned(),
            ),
        };
        Err(PlanError::Choice { message, help, place: at.place.clone() })
    }
}

/// Statements of `compute` that write or read the intermediate at position `local` of its `locals`.
fn users(compute: &KernelInstance, local: usize) -> impl Iterator<Item = &Statement> {
    let buffer = BufferRef::Local(local);
    compute.statements.iter().filter(move |own| own.target == buffer || own.reads(buffer))
}
