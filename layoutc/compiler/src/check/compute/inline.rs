//! An intermediate without memory: its value written in place of a read of it.

use std::cell::Cell;

use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::layout::Axis;

use super::inside::{Domain, Sign};
use super::value::Built;
use crate::model::compute::{Buffer, Gather, Index, Outside, Read, Value, ValueKind};

/// How many nodes are written in place in one statement.
pub(super) const MAX_SIZE: usize = 1 << 12;

/// How deep one value may be; every level of a text may have brought two conversions.
const MAX_DEPTH: usize = 512;

/// Why a value is not written in place.
pub(super) enum Refused {
    /// It would be too large.
    Size,
    /// An index would be.
    Expr(ExprError),
}

impl From<ExprError> for Refused {
    fn from(error: ExprError) -> Self {
        Self::Expr(error)
    }
}

/// Writes a value over other axes.
pub(super) struct Inliner<'a> {
    domain: Domain<'a>,
    /// What each axis becomes.
    index: &'a [Expr],
    shapes: &'a dyn Fn(Buffer) -> Option<&'a [Axis]>,
    left: &'a Cell<usize>,
}

impl<'a> Inliner<'a> {
    /// Each axis of the value becomes the index at its place, over the axes of `domain`; `left` nodes may be written.
    pub(super) fn new(
        domain: Domain<'a>,
        index: &'a [Expr],
        shapes: &'a dyn Fn(Buffer) -> Option<&'a [Axis]>,
        left: &'a Cell<usize>,
    ) -> Self {
        Self { domain, index, shapes, left }
    }

    /// The value over the axes of the domain.
    fn value(&self, value: &Value) -> Result<Value, Refused> {
        self.at_depth(value, 0)
    }

    /// The same of a value on the way.
    pub(super) fn built(&self, built: &Built) -> Result<Built, Refused> {
        Ok(match built {
            Built::Number(number) => Built::Number(*number),
            Built::Index(expr) => {
                let expr = self.expr(expr)?;
                expr.as_const().map_or(Built::Index(expr), Built::Number)
            }
            Built::Loose(value) => Built::Loose(self.value(value)?),
            Built::Typed(value) => Built::Typed(self.value(value)?),
        })
    }

    fn at_depth(&self, value: &Value, depth: usize) -> Result<Value, Refused> {
        let left = self.left.get().checked_sub(1).ok_or(Refused::Size)?;
        self.left.set(left);
        if depth > MAX_DEPTH {
            return Err(Refused::Size);
        }
        let of = |a: &Value| self.at_depth(a, depth + 1).map(Box::new);
        let kind = match &value.kind {
            ValueKind::Integer(_) | ValueKind::Float(_) | ValueKind::Bool(_) => value.kind.clone(),
            ValueKind::Index(expr) => ValueKind::Index(self.expr(expr)?),
            ValueKind::Read(read) => ValueKind::Read(Box::new(self.read(read, depth)?)),
            ValueKind::Gather(gather) => ValueKind::Gather(Box::new(self.gather(gather, depth)?)),
            ValueKind::Negate(a) => ValueKind::Negate(of(a)?),
            ValueKind::Not(a) => ValueKind::Not(of(a)?),
            ValueKind::Convert(a) => ValueKind::Convert(of(a)?),
            ValueKind::Binary(op, a, b) => ValueKind::Binary(*op, of(a)?, of(b)?),
            ValueKind::Compare(op, a, b) => ValueKind::Compare(*op, of(a)?, of(b)?),
            ValueKind::Select(c, a, b) => ValueKind::Select(of(c)?, of(a)?, of(b)?),
            ValueKind::Call(function, arguments) => {
                let all = arguments.iter().map(|value| self.at_depth(value, depth + 1));
                ValueKind::Call(*function, all.collect::<Result<_, _>>()?)
            }
        };
        Ok(Value { ty: value.ty, kind })
    }

    fn expr(&self, expr: &Expr) -> Result<Expr, ExprError> {
        let placed = expr.substitute(&|var| match var {
            Var::Axis(k) => self.index.get(usize::try_from(k).ok()?).cloned(),
            _ => None,
        })?;
        self.domain.facts.simplify(&placed)
    }

    fn read(&self, read: &Read, depth: usize) -> Result<Read, Refused> {
        let index: Vec<Expr> =
            read.index.iter().map(|expr| self.expr(expr)).collect::<Result<_, _>>()?;
        let outside = match &read.outside {
            Some(outside) => self.outside(outside, read.buffer, &index, depth)?,
            None => None,
        };
        Ok(Read { buffer: read.buffer, index, outside })
    }

    fn gather(&self, gather: &Gather, depth: usize) -> Result<Gather, Refused> {
        let index = gather.index.iter().map(|index| {
            let value = self.at_depth(&index.value, depth + 1)?;
            Ok(Index { value, is_checked: index.is_checked })
        });
        let index = index.collect::<Result<_, Refused>>()?;
        let outside = self.at_depth(&gather.outside, depth + 1)?;
        Ok(Gather { buffer: gather.buffer, index, outside })
    }

    /// What stands outside, along the axes that these indices still leave.
    fn outside(
        &self,
        outside: &Outside,
        buffer: Buffer,
        index: &[Expr],
        depth: usize,
    ) -> Result<Option<Outside>, Refused> {
        let shape = (self.shapes)(buffer).unwrap_or_default();
        let leaves = |axis: &usize, side: usize| {
            let both = index.get(*axis).zip(shape.get(*axis));
            both.is_none_or(|(index, own)| {
                self.domain.leaves(index, &own.extent).get(side) != Some(&Sign::Holds)
            })
        };
        let side = |list: &[usize], side: usize| {
            list.iter().copied().filter(|axis| leaves(axis, side)).collect::<Vec<_>>()
        };
        let (below, beyond) = (side(&outside.below, 0), side(&outside.beyond, 1));
        if below.is_empty() && beyond.is_empty() {
            return Ok(None);
        }
        let value = self.at_depth(&outside.value, depth + 1)?;
        Ok(Some(Outside { value, below, beyond }))
    }
}
