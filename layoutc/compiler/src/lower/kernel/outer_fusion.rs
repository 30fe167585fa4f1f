//! Fusion of the outermost loops of consecutive statements, such as the three of a softmax: one loop computes all of
//! them for each row, which stays in the caches. Fusion is legal if each iteration uses only the elements that it
//! writes itself of the tensors that one of the statements writes.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};
use layoutc_algebra::symbol::Axis;

use crate::ir::{Expr, LoopKind, Stmt};
use crate::loops::domain::{IterationDomain, loop_index};
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::model::Tensor;
use crate::model::compute::{BufferRef, ComputeAt, ElementRead, Statement, TypedExpr};

/// Statement with its outermost loop, as a candidate for fusion.
pub(crate) struct Member<'a> {
    statement: &'a Statement,
    domain: IterationDomain,
    /// Number of the outermost loop.
    number: usize,
    /// Axis of the target whose index is the iteration of the loop.
    axis: usize,
    /// True if the statement has loops inside the outermost one.
    has_inner: bool,
}

impl<'a> Member<'a> {
    /// Member for a planned statement that writes `target`; `None` if its outermost loop is not the whole loop over an
    /// axis of the target, or if it has split-K or a scatter.
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

    /// True if the outermost loop is over the axis `axis` of the target.
    pub(crate) fn is_over(&self, axis: usize) -> bool {
        self.axis == axis
    }

    fn reads(&self) -> impl Iterator<Item = &ElementRead> {
        self.statement.values().flat_map(TypedExpr::reads)
    }

    /// True if an iteration of the outermost loop reads only elements of the target of `writer` that the same iteration
    /// of the loop of `writer` writes; also if it reads no element of that tensor.
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

    /// True if both statements use a common tensor. Tensors that this statement only reads at data-dependent indices do
    /// not count.
    fn shares(&self, other: &Self) -> bool {
        other.uses(self.statement.target) || self.reads().any(|read| other.uses(read.buffer))
    }
}

/// Index of the loop `number` as an expression: its variable, or 0 for a loop of one iteration.
fn iteration(domain: &IterationDomain, number: usize) -> Result<Algebra, ExprError> {
    domain.facts.simplify(&loop_index(number)?)
}

/// Reason for which the loop of a statement is not fused with the loop of the statements before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The statement has no tensor in common with those of the loop, or all of them consist of a single loop and the
    /// manifest does not ask for the fusion.
    Unrelated,
    /// An iteration may use elements of this buffer that another iteration writes.
    Elements(BufferRef),
    /// The statement reads an intermediate that is computed in each iteration of the loop, but the index along the axis
    /// of the loop is none of the axes that the statement writes: for example a reduced axis, or an expression such as
    /// `63 - i`.
    Index,
    /// The loop uses the statement's target, whose padding is filled between the loop and the statement.
    Padding,
    /// A loop nest is not a single loop, the loops differ in their bounds or kinds, or a loop body declares the name of
    /// a loop variable.
    Loops,
}

/// Consecutive statements whose outermost loops are fused into one loop.
pub(crate) struct Group<'a> {
    members: Vec<Member<'a>>,
    /// Head of the loop: variable, first iteration, end (exclusive), step and kind.
    head: (String, Expr, Expr, i64, LoopKind),
    /// Statements that precede the loop.
    before: Vec<Stmt>,
    /// Text and loop body of each statement.
    parts: Vec<(String, Vec<Stmt>)>,
}

impl<'a> Group<'a> {
    /// Group of one statement, which is preceded by the statements `before`. `None` if `loops`, its loop nest, is not a
    /// single loop.
    pub(crate) fn new(member: Member<'a>, before: Vec<Stmt>, loops: &[Stmt]) -> Option<Self> {
        let [Stmt::For { name, from, to, step, kind, body }] = loops else { return None };
        let head = (name.clone(), from.clone(), to.clone(), *step, kind.clone());
        let parts = vec![(member.statement.text.clone(), body.clone())];
        Some(Self { members: vec![member], head, before, parts })
    }

    /// Obstacle to fusing the loop of `other`, which the statements `before` precede, with the loop of the group;
    /// `None` if fusion is legal. Loops without inner loops stay apart unless `is_asked`, the manifest asks for the
    /// fusion.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
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

    /// Loop bodies of the statements, in order.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &[Stmt]> {
        self.parts.iter().map(|(_, body)| body.as_slice())
    }

    /// Adds the statement `member`, whose loop nest `loops` must be a single loop with the same bounds and kind, and
    /// the statements `before` it. Its loop variable is renamed to that of the group. Returns false, and adds nothing,
    /// for any other loop nest, and for a loop in which the name of either variable is declared.
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

    /// True if exactly `users` statements of the group use the intermediate `buffer`, and the loops of those that write
    /// it are over the axis `own.axis`. Those that read it then use elements of the same iteration.
    pub(crate) fn shares(&self, buffer: BufferRef, own: &ComputeAt, users: usize) -> bool {
        let members = || self.members.iter().filter(|member| member.uses(buffer));
        let mut writers = members().filter(|member| member.statement.target == buffer);
        members().count() == users && writers.all(|member| member.is_over(own.axis))
    }

    /// Statements of the fused loop: those that precede it, and the loop with the declarations `arrays` at the start of
    /// its body. The text of a single statement becomes a comment before the loop; the texts of several statements
    /// become comments inside.
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
