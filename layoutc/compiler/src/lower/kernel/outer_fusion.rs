//! Fusion of the outermost loops of consecutive statements, such as the three of a softmax: one loop computes all of them
//! for each row, which stays in the caches. It is legal if each iteration uses only the elements that it writes itself
//! of the tensors that one of the statements writes.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};
use layoutc_algebra::symbol::Axis;

use crate::ir::{Expr, LoopKind, Stmt};
use crate::loops::domain::{IterationDomain, loop_index};
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::model::Tensor;
use crate::model::compute::{BufferRef, ComputeAt, ElementRead, Statement, TypedExpr};

/// Statement with the outermost loop of its plan.
pub(crate) struct Member<'a> {
    statement: &'a Statement,
    domain: IterationDomain,
    /// Number of the outermost loop.
    number: usize,
    /// Axis of the target that has the index of the loop.
    axis: usize,
    /// True if the statement has other loops.
    has_inner: bool,
}

impl<'a> Member<'a> {
    /// Member for a planned statement that writes `target`; `None` if its outermost loop is not the whole loop over an
    /// axis of the target.
    pub(crate) fn new(
        statement: &'a Statement,
        planned: &ScheduledStatement,
        target: &Tensor,
    ) -> Option<Self> {
        let order = &planned.order;
        let number = *order.loops.first().filter(|_| order.first_reduced > 0)?;
        if order.split_k.is_some() || statement.scatter.is_some() {
            return None;
        }
        let domain = &planned.domain;
        let own = iteration(domain, number).ok()?;
        let name = &domain.loops.get(number)?.name;
        let axes = domain.axes.iter().take(statement.written_axes).zip(target.layout.logical());
        // The index of a loop of one iteration is 0, as that of other axes may be.
        let is_own = own.as_const().is_none();
        let is_it =
            |(index, axis): (&Algebra, &Axis)| *index == own && (is_own || axis.name == *name);
        let axis = axes.into_iter().position(is_it)?;
        let has_inner = order.loops.len() > 1;
        Some(Self { statement, domain: planned.domain.clone(), number, axis, has_inner })
    }

    /// True if the outermost loop is over this axis of the target.
    pub(crate) fn is_over(&self, axis: usize) -> bool {
        self.axis == axis
    }

    fn reads(&self) -> impl Iterator<Item = &ElementRead> {
        self.statement.values().flat_map(TypedExpr::reads)
    }

    /// True if an iteration of the outermost loop reads, of the tensor that `writer` writes, only elements that the same
    /// iteration of the loop of `writer` writes.
    fn follows(&self, writer: &Self) -> Result<bool, ExprError> {
        let buffer = writer.statement.target;
        if self.statement.values().any(|value| value.gathers_of(buffer)) {
            return Ok(false);
        }
        let own = iteration(&self.domain, self.number)?;
        for read in self.reads().filter(|read| read.buffer == buffer) {
            let Some(index) = read.index.get(writer.axis) else { return Ok(false) };
            if self.domain.at(index, &self.domain.axes)? != own {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn uses(&self, buffer: BufferRef) -> bool {
        self.statement.target == buffer || self.statement.reads(buffer)
    }

    /// True if both statements use the same tensor.
    fn shares(&self, other: &Self) -> bool {
        other.uses(self.statement.target) || self.reads().any(|read| other.uses(read.buffer))
    }
}

/// Iteration of a loop as an index: 0 for a loop of one iteration.
fn iteration(domain: &IterationDomain, number: usize) -> Result<Algebra, ExprError> {
    domain.facts.simplify(&loop_index(number)?)
}

/// Reason for which a statement does not become part of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The statement shares no tensor with the loop, or neither has further loops.
    Unrelated,
    /// An iteration uses elements of the buffer that another iteration writes.
    Elements(BufferRef),
    /// The statement reads an intermediate of the loop at an index that is no axis of the statement.
    Index,
    /// The loop uses the statement's target, whose padding is filled before.
    Padding,
    /// The loops differ in their bounds or kinds.
    Loops,
}

/// Loops of consecutive statements that become one.
pub(crate) struct Group<'a> {
    members: Vec<Member<'a>>,
    /// Variable, begin, end (exclusive), step and kind of the loop.
    head: (String, Expr, Expr, i64, LoopKind),
    /// Statements that precede the loop.
    before: Vec<Stmt>,
    /// Text and loop body of each statement.
    parts: Vec<(String, Vec<Stmt>)>,
}

impl<'a> Group<'a> {
    /// Group of one statement, whose loops `before` precedes; `None` if the loops are not one loop.
    pub(crate) fn new(member: Member<'a>, before: Vec<Stmt>, loops: &[Stmt]) -> Option<Self> {
        let [Stmt::For { name, from, to, step, kind, body }] = loops else { return None };
        let head = (name.clone(), from.clone(), to.clone(), *step, kind.clone());
        let parts = vec![(member.statement.text.clone(), body.clone())];
        Some(Self { members: vec![member], head, before, parts })
    }

    /// Obstacle to making the loop of `other`, which statements `before` precede, part of the loop of the group. Unless
    /// the manifest asks for it, loops of single elements stay apart.
    ///
    /// # Errors
    /// [`ExprError`] if an expression grows too large.
    pub(crate) fn obstacle(
        &self,
        other: &Member<'_>,
        before: &[Stmt],
        is_asked: bool,
    ) -> Result<Option<Obstacle>, ExprError> {
        let target = other.statement.target;
        if !before.is_empty() && self.members.iter().any(|member| member.uses(target)) {
            return Ok(Some(Obstacle::Padding));
        }
        let has_inner = other.has_inner || self.members.iter().any(|member| member.has_inner);
        if !(has_inner || is_asked) || !self.members.iter().any(|member| member.shares(other)) {
            return Ok(Some(Obstacle::Unrelated));
        }
        for member in &self.members {
            let own = member.statement.target;
            if own == target && member.axis != other.axis || !member.follows(other)? {
                return Ok(Some(Obstacle::Elements(target)));
            }
            if !other.follows(member)? {
                return Ok(Some(Obstacle::Elements(own)));
            }
        }
        Ok(None)
    }

    /// Bodies of the loop, in order.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &[Stmt]> {
        self.parts.iter().map(|(_, body)| body.as_slice())
    }

    /// Adds a statement whose loops are one loop with the same bounds and kind, and the statements `before` it. Its
    /// variable becomes that of the group. Returns false, and adds nothing, for other loops, and for a loop in which the
    /// name of the group's variable is declared.
    pub(crate) fn add(&mut self, member: Member<'a>, before: Vec<Stmt>, loops: &[Stmt]) -> bool {
        let Some(mut other) = Self::new(member, before, loops) else { return false };
        if other.head.0 != self.head.0 {
            let (from, to) =
                (std::mem::replace(&mut other.head.0, self.head.0.clone()), &self.head.0);
            let bodies = || other.parts.iter().flat_map(|(_, body)| body);
            if bodies().any(|stmt| stmt.declares(to) || stmt.declares(&from)) {
                return false;
            }
            let bodies = other.parts.iter_mut().flat_map(|(_, body)| body);
            bodies.for_each(|stmt| stmt.rename(&from, to));
        }
        if other.head != self.head {
            return false;
        }
        self.before.extend(other.before);
        self.members.extend(other.members);
        self.parts.extend(other.parts);
        true
    }

    /// True if `users` statements of the group use the intermediate `buffer`, and those that write it are over the axis
    /// of `own`. Those that read it are in the same iteration then.
    pub(crate) fn shares(&self, buffer: BufferRef, own: &ComputeAt, users: usize) -> bool {
        let members = || self.members.iter().filter(|member| member.uses(buffer));
        let mut writers = members().filter(|member| member.statement.target == buffer);
        members().count() == users && writers.all(|member| member.is_over(own.axis))
    }

    /// The loop with the statements that precede it, and the declarations `arrays` inside. The text of a single statement
    /// precedes the loop, those of several are inside.
    pub(crate) fn into_stmts(self, arrays: Vec<Stmt>) -> Vec<Stmt> {
        let (name, from, to, step, kind) = self.head;
        let is_single = self.parts.len() == 1;
        let (mut all, mut inside) = (Vec::new(), arrays);
        for (text, body) in self.parts {
            let comments = if is_single { &mut all } else { &mut inside };
            comments.push(Stmt::Comment { text });
            inside.extend(body);
        }
        all.extend(self.before);
        all.push(Stmt::For { name, from, to, step, kind, body: inside });
        all
    }
}
