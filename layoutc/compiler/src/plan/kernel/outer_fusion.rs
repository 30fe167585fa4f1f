//! Fusion of the outermost loops of consecutive statements, such as the three of a softmax: one loop computes all of them
//! for each row, which stays in the caches. It is legal if each iteration uses only the elements that it writes itself
//! of the tensors that one of the statements writes.

use layoutc_algebra::expr::ExprError;

use super::super::loops::domain::{IterationDomain, digit};
use super::scheduled_statement::ScheduledStatement;
use crate::ir::{Expr, LoopKind, Stmt};
use crate::model::compute::{BufferRef, ComputeAt, ElementRead, Statement, TypedExpr};

/// Statement with the outermost loop of its plan.
pub(super) struct Member<'a> {
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
    /// Member for a planned statement; `None` if its outermost loop is not the whole loop over an axis of the target.
    pub(super) fn new(statement: &'a Statement, planned: &ScheduledStatement) -> Option<Self> {
        let order = &planned.order;
        let number = *order.loops.first().filter(|_| order.first_reduced > 0)?;
        if order.split_k.is_some() || statement.scatter.is_some() {
            return None;
        }
        let own = digit(number).ok()?;
        let mut axes = planned.domain.axes.iter().take(statement.written_axes);
        let axis = axes.position(|axis| *axis == own)?;
        let has_inner = order.loops.len() > 1;
        Some(Self { statement, domain: planned.domain.clone(), number, axis, has_inner })
    }

    /// True if the outermost loop is that of `own`.
    pub(super) fn is_over(&self, own: &ComputeAt) -> bool {
        let found = self.domain.loops.get(self.number);
        found.is_some_and(|found| found.name == own.at.value)
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
        let own = digit(self.number)?;
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

/// Loops of consecutive statements that become one.
pub(super) struct Group<'a> {
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
    pub(super) fn new(member: Member<'a>, before: Vec<Stmt>, loops: &[Stmt]) -> Option<Self> {
        let [Stmt::For { name, from, to, step, kind, body }] = loops else { return None };
        let head = (name.clone(), from.clone(), to.clone(), *step, kind.clone());
        let parts = vec![(member.statement.text.clone(), body.clone())];
        Some(Self { members: vec![member], head, before, parts })
    }

    /// True if the loop of `other` may become part of the loop of the group, and uses a tensor that the group uses.
    /// Unless the manifest asks for it, loops of single elements stay apart.
    ///
    /// # Errors
    /// [`ExprError`] if an expression grows too large.
    pub(super) fn admits(&self, other: &Member<'_>, is_asked: bool) -> Result<bool, ExprError> {
        let has_inner = other.has_inner || self.members.iter().any(|member| member.has_inner);
        if !(has_inner || is_asked) || !self.members.iter().any(|member| member.shares(other)) {
            return Ok(false);
        }
        for member in &self.members {
            let writes_apart =
                member.statement.target == other.statement.target && member.axis != other.axis;
            if writes_apart || !member.follows(other)? || !other.follows(member)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if a statement of the group uses the buffer.
    pub(super) fn uses(&self, buffer: BufferRef) -> bool {
        self.members.iter().any(|member| member.uses(buffer))
    }

    /// Bodies of the loop, in order.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &[Stmt]> {
        self.parts.iter().map(|(_, body)| body.as_slice())
    }

    /// Adds a statement whose loops are one loop with the same variable, bounds and kind, and the statements `before` it.
    /// Returns false, and adds nothing, for other loops.
    pub(super) fn add(&mut self, member: Member<'a>, before: Vec<Stmt>, loops: &[Stmt]) -> bool {
        match Self::new(member, before, loops) {
            Some(other) if other.head == self.head => {
                self.before.extend(other.before);
                self.members.extend(other.members);
                self.parts.extend(other.parts);
                true
            }
            _ => false,
        }
    }

    /// True if `users` statements of the group use the intermediate `buffer`, and the loop of the group is that of `own`.
    pub(super) fn shares(&self, buffer: BufferRef, own: &ComputeAt, users: usize) -> bool {
        let mut members = self.members.iter().filter(|member| member.uses(buffer));
        let is_its_loop = |member: &Member<'_>| {
            let is_writer = member.statement.target == buffer;
            member.is_over(own) && (!is_writer || member.axis == own.axis)
        };
        members.clone().count() == users && members.all(is_its_loop)
    }

    /// The loop with the statements that precede it, and the declarations `arrays` inside. The text of a single statement
    /// precedes the loop, those of several are inside.
    pub(super) fn into_stmts(self, arrays: Vec<Stmt>) -> Vec<Stmt> {
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
