//! How a block of a tensor is copied: from where to where each of its elements goes.

use layoutc_algebra::expr::{CompareOp, Expr as Algebra, ExprComparison, ExprError};

use super::super::arith::{product, sum};
use super::super::lower::{PlanError, add, multiply};
use super::Runs;
use super::access::Steps;
use super::bounds::Bounds;
use super::domain::{digit, var};
use super::gather;
use super::nest::{Nest, partial};
use super::value::{condition, convert, scalar};
use crate::ir::{Expr, LoopKind, Primitive, Stmt, Value};
use crate::model::compute::Reduction;

/// Which block is copied where.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// That of this round.
    Own,
    /// The first of a loop, into the first half.
    First,
    /// The next of a loop, into the other half.
    Next,
}

/// Into the block, or out of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    In,
    Out,
}

/// The element that a round of a copy copies.
pub(super) struct Copied {
    /// The index along each axis that is not of one element: its loop and rounds, the tensor's slowest first.
    pub(super) loops: Vec<(usize, i128)>,
    /// What is computed once, before the loops.
    pub(super) before: Vec<Stmt>,
    pub(super) whole: Expr,
    /// The physical index, where the tensor is an image.
    pub(super) place: Vec<Expr>,
    pub(super) part: Expr,
    /// What holds of the elements that there are.
    pub(super) inside: Vec<ExprComparison>,
    /// How far apart two of them lie at most in the tensor, in elements; `None` where that is not known.
    pub(super) reach: Option<i128>,
}

/// The loops of a copy with their rounds, and how far apart elements lie at most.
type Loops = (Vec<(usize, i128)>, Option<i128>);

/// The index of a copied element, over the loops, and what holds of those that there are.
type Index = (Vec<Algebra>, Vec<ExprComparison>);

impl Nest<'_> {
    /// What copies one element of a block, and what is around it.
    pub(super) fn copied(&mut self, k: usize, which: Which) -> Result<Copied, PlanError> {
        let (index, inside) = self.index_there(k, which)?;
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let layout = &staged.whole.tensor.layout;
        let steps = Steps::of(&self.domain.at(layout.offset(), &index)?, &self.domain)?;
        let mut place = Vec::new();
        if staged.whole.image.is_some() {
            for expr in layout.physical_map() {
                place.push(self.domain.at(expr, &index)?);
            }
        }
        let own = staged.digits.iter().map(|number| self.element(*number));
        let own = own.collect::<Result<Vec<_>, _>>()?;
        let part = self.domain.at(staged.part.tensor.layout.offset(), &own)?;
        let (loops, reach) = self.loops_of_copy(k, &steps)?;
        self.name_loops(&loops);
        let (before, whole) = self.offset_there(k, &steps, &loops)?;
        let place = place.iter().map(|expr| self.lower(expr)).collect::<Result<_, _>>()?;
        let part = add(self.half_of(k, which)?, self.lower(&part)?)?;
        Ok(Copied { loops, before, whole, place, part, inside, reach })
    }

    /// The index of an element of a block in its tensor.
    fn index_there(&self, k: usize, which: Which) -> Result<Index, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let own = var(staged.at)?;
        let round = match which {
            Which::Own => digit(staged.at)?,
            Which::First => Algebra::constant(0),
            Which::Next => sum(&digit(staged.at)?, &Algebra::constant(1))?,
        };
        let (mut index, mut inside) = (Vec::new(), Vec::new());
        let axes = staged.whole.tensor.layout.logical().iter();
        for ((begin, number), axis) in staged.block.begin.iter().zip(&staged.digits).zip(axes) {
            let there = sum(begin, &self.element(*number)?)?;
            let here = there.substitute(&|other| (other == own).then(|| round.clone()))?;
            let [there, here] =
                [self.domain.facts.simplify(&there)?, self.domain.facts.simplify(&here)?];
            for (op, right) in
                [(CompareOp::Ge, Algebra::constant(0)), (CompareOp::Lt, axis.extent.clone())]
            {
                // What holds in every round holds in the next one, which there is.
                let in_all = ExprComparison { left: there.clone(), op, right: right.clone() };
                if !self.domain.holds(&in_all)? {
                    inside.push(ExprComparison { left: here.clone(), op, right });
                }
            }
            index.push(here);
        }
        Ok((index, inside))
    }

    /// The loops of a copy with their rounds, those outermost along which elements of the tensor lie farthest apart; and how far they
    /// lie apart at most.
    fn loops_of_copy(&self, k: usize, steps: &Steps) -> Result<Loops, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let stride = |number: usize| steps.stride(number, &self.domain)?.as_const();
        let rounds = |number: &usize| (*number, self.domain.rounds(*number).unwrap_or(1));
        let mut loops: Vec<(usize, i128)> =
            staged.digits.iter().map(rounds).filter(|(_, rounds)| *rounds != 1).collect();
        if loops.iter().all(|(number, _)| stride(*number).is_some()) {
            loops.sort_by_key(|(number, _)| std::cmp::Reverse(stride(*number).unwrap_or(0).abs()));
        }
        let far = |(number, rounds): &(usize, i128)| {
            Some(stride(*number)?.saturating_abs().saturating_mul(*rounds))
        };
        let reach = loops.iter().map(far).sum::<Option<i128>>();
        let elements = staged.whole.tensor.layout.physical_elements();
        Ok((loops, reach.or_else(|| elements.as_const())))
    }

    /// Gives the loops of a copy names of their own.
    fn name_loops(&mut self, loops: &[(usize, i128)]) {
        for (number, _) in loops {
            let wanted = self.domain.loops.get(*number).map_or("", |found| found.name.as_str());
            let name = self.namer.name(wanted);
            if self.names.len() <= *number {
                self.names.resize(number.saturating_add(1), String::new());
            }
            if let Some(slot) = self.names.get_mut(*number) {
                *slot = name;
            }
        }
    }

    /// Where the element is in its tensor; what does not change in the copy has a name.
    fn offset_there(
        &mut self,
        k: usize,
        steps: &Steps,
        loops: &[(usize, i128)],
    ) -> Result<(Vec<Stmt>, Expr), PlanError> {
        let whole = self.staged.get(k).ok_or(PlanError::Scope)?.whole;
        let is_own = |number: &usize| loops.iter().any(|(own, _)| own == number);
        let (mut base, mut rest) = (Algebra::constant(0), Expr::int(0));
        if self.domain.mentioned(&steps.rest).iter().any(is_own) {
            rest = self.lower(&steps.rest)?;
        } else {
            base = steps.rest.clone();
        }
        for (number, stride) in &steps.strides {
            if is_own(number) {
                rest = add(rest, multiply(self.named(*number), self.lower(stride)?)?)?;
            } else {
                base = sum(&base, &product(stride, &digit(*number)?)?)?;
            }
        }
        let mut base = self.lower(&self.domain.facts.simplify(&base)?)?;
        let mut before = Vec::new();
        if whole.image.is_none() && !matches!(base, Expr::Int { .. } | Expr::Name { .. }) {
            let name = self.namer.partial(&partial(&whole.name));
            before.push(Stmt::Let { name: name.clone(), value: base });
            base = Expr::name(&name);
        }
        Ok((before, add(base, rest)?))
    }

    /// A loop of a copy as an index: 0 where there is one element.
    fn element(&self, number: usize) -> Result<Algebra, ExprError> {
        if self.domain.rounds(number) == Some(1) {
            return Ok(Algebra::constant(0));
        }
        digit(number)
    }

    /// Where the half of a block begins that a copy is of.
    pub(super) fn half_of(&self, k: usize, which: Which) -> Result<Expr, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let later = match which {
            _ if !staged.has_halves => return Ok(Expr::int(0)),
            Which::First => return Ok(Expr::int(0)),
            Which::Own => 0,
            Which::Next => 1,
        };
        let round = add(self.named(staged.at), Expr::int(later))?;
        let half = Expr::Mod { a: Box::new(round), b: Box::new(Expr::int(2)) };
        multiply(half, Expr::int(staged.elements()))
    }

    /// An element of the tensor becomes one of the block, or the other way round.
    pub(super) fn copy(&self, k: usize, way: Way, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let whole = (staged.whole.name.clone(), copied.whole.clone());
        let part = (staged.part.name.clone(), copied.part.clone());
        let load = |(buffer, index)| Value::Load { buffer, index, through: None };
        let ((buffer, index), value) = match (way, &staged.whole.image) {
            (Way::Out, _) => (whole, load(part)),
            (Way::In, None) => (part, load(whole)),
            (Way::In, Some([fetch, _])) => {
                let args = [Expr::name(&whole.0)].into_iter().chain(copied.place.iter().cloned());
                let value = Value::Fetch { function: fetch.clone(), args: args.collect() };
                (part, value)
            }
        };
        Ok(Stmt::Store { buffer, index, value, through: None })
    }

    /// An element of the block becomes what stands for those outside the tensor, or 0.
    pub(super) fn clear(&self, k: usize, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let dtype = staged.part.tensor.dtype;
        let ty = dtype.scalar.compute_type();
        let zero = || convert(gather::identity(Reduction::Sum, ty), scalar(ty), dtype);
        let value = staged.outside.clone().unwrap_or_else(zero);
        let (buffer, index) = (staged.part.name.clone(), copied.part.clone());
        Ok(Stmt::Store { buffer, index, value, through: None })
    }

    /// Copies a block before it is used, on a core or by an item.
    pub(super) fn copied_in(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, Which::Own)?;
        let mut all = Vec::new();
        if !copied.inside.is_empty() {
            all.push(self.cleared(k, &copied)?);
        }
        let one = self.copy(k, Way::In, &copied)?;
        all.extend(self.bounded(copied, one)?);
        Ok(all)
    }

    /// All elements of the block become what stands for those outside the tensor.
    fn cleared(&self, k: usize, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        if staged.outside.is_none() && self.runs != Runs::OnItems {
            let bits = i64::from(staged.part.tensor.dtype.element_bits());
            let bytes = Expr::int(staged.elements().saturating_mul(bits.div_euclid(8)));
            let buffer = staged.part.name.clone();
            return Ok(Primitive::Zero { buffer, index: Expr::int(0), bytes }.into());
        }
        let clear = self.clear(k, copied)?;
        Ok(copied.loops.iter().rev().fold(clear, |body, (number, rounds)| {
            self.counted(*number, [Expr::int(0), literal(*rounds)], vec![body])
        }))
    }

    /// Copies a block after it is written.
    pub(super) fn copied_out(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, Which::Own)?;
        let one = self.copy(k, Way::Out, &copied)?;
        self.bounded(copied, one)
    }

    /// The loops of a copy over the elements that there are.
    fn bounded(&self, copied: Copied, one: Stmt) -> Result<Vec<Stmt>, PlanError> {
        let Copied { loops, before, inside, .. } = copied;
        let when = |conditions: &[ExprComparison], body: Vec<Stmt>| {
            if conditions.is_empty() {
                return Ok(body);
            }
            let condition = condition(conditions, &|var| self.scope(var))?;
            let otherwise = Vec::new();
            Ok::<_, PlanError>(vec![Stmt::If { condition, likely: false, body, otherwise }])
        };
        let mut body = vec![one];
        for (number, rounds) in loops.iter().rev() {
            let is_own = |condition: &&ExprComparison| self.mentioned(condition).contains(number);
            let own: Vec<ExprComparison> = inside.iter().filter(is_own).cloned().collect();
            let bounds = Bounds::of(*number, &own, &self.domain)?;
            let (mut from, mut to) = (Expr::int(0), literal(*rounds));
            for low in &bounds.low {
                from = from.max(self.lower(low)?);
            }
            for high in &bounds.high {
                to = to.min(self.lower(high)?);
            }
            body = vec![self.counted(*number, [from, to], when(&bounds.asked, body)?)];
        }
        // Axes of one element have no loop.
        let is_left = |condition: &&ExprComparison| {
            let all = self.mentioned(condition);
            !loops.iter().any(|(number, _)| all.contains(number))
        };
        let left: Vec<ExprComparison> = inside.iter().filter(is_left).cloned().collect();
        Ok(before.into_iter().chain(when(&left, body)?).collect())
    }

    fn counted(&self, number: usize, [from, to]: [Expr; 2], body: Vec<Stmt>) -> Stmt {
        let name = self.names.get(number).cloned().unwrap_or_default();
        Stmt::For { name, from, to, step: 1, kind: LoopKind::Serial, body }
    }
}

fn literal(rounds: i128) -> Expr {
    Expr::int(i64::try_from(rounds).unwrap_or(i64::MAX))
}
