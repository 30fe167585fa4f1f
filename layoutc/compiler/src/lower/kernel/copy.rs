//! Copies between a tensor and the staging buffer of one of its tiles: loops, indices, bounds and boundary values.

use layoutc_algebra::expr::{CompareOp, Expr as Algebra, ExprComparison, ExprError};

use crate::base::dtype::Scalar;
use crate::ir::{Expr, LoopKind, Primitive, Stmt, Value};
use crate::loops::ExecutionModel;
use crate::loops::access::AffineAccess;
use crate::loops::arith::{product, sum};
use crate::loops::bounds::LoopBounds;
use crate::loops::domain::{loop_index, var};
use crate::loops::error::PlanError;
use crate::lower::expr::{add, multiply};
use crate::lower::kernel::nest::{Nest, partial};
use crate::lower::kernel::reduction;
use crate::lower::kernel::value::{condition, convert};
use crate::model::compute::Reduction;

/// Iteration of a cache's loop whose tile is copied, and, with double buffering, the half of the staging buffer that
/// holds the tile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TileIteration {
    /// The current iteration, in the half of that iteration.
    Own,
    /// The first iteration, in the first half.
    First,
    /// The next iteration, in the other half.
    Next,
}

/// Direction of a copy: `In` from the tensor to the tile, `Out` from the tile to the tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CopyDirection {
    In,
    Out,
}

/// Copy of one element between a tensor and the staging buffer of a tile: the loops around the copy, and the offsets in
/// the tensor (`whole`) and in the staging buffer (`part`), in elements.
pub(crate) struct StagingCopy {
    /// Pairs (number, trip count) of the loops, one for each axis of the tile with an extent other than 1. The greatest
    /// stride in the tensor comes first if all strides are constant.
    pub(crate) loops: Vec<(usize, i128)>,
    /// Declaration, before the loops, of the loop-invariant part of the offset in the tensor; empty if that part is a
    /// name or a constant, or if the tensor is an image.
    pub(crate) before: Vec<Stmt>,
    pub(crate) whole: Expr,
    /// Physical index in the tensor if the tensor is an image; empty otherwise.
    pub(crate) place: Vec<Expr>,
    pub(crate) part: Expr,
    /// Conditions under which the element is in bounds of the tensor, without those that are proven.
    pub(crate) inside: Vec<ExprComparison>,
    /// Upper bound on the distance of two copied elements in the tensor, in elements: from the strides of the loops, or
    /// else the size of the tensor. `None` if no constant bound is known.
    pub(crate) reach: Option<i128>,
}

/// Loops of a copy with their trip counts, and [`StagingCopy::reach`].
type Loops = (Vec<(usize, i128)>, Option<i128>);

/// Index of a copied element in its tensor, over the loops, and the conditions, without those that are proven, under
/// which that index is in bounds.
type Index = (Vec<Algebra>, Vec<ExprComparison>);

impl Nest<'_> {
    /// Copy of one element of the tile of staging buffer `k`, for the iteration `which` of the cache's loop. Gives the
    /// loops of the copy new variable names.
    pub(crate) fn copied(
        &mut self,
        k: usize,
        which: TileIteration,
    ) -> Result<StagingCopy, PlanError> {
        let (index, inside) = self.index_there(k, which)?;
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let layout = &staged.whole.tensor().layout;
        let steps = AffineAccess::of(&self.domain.at(layout.offset(), &index)?, &self.domain)?;
        let mut place = Vec::new();
        if staged.whole.texels.is_some() {
            for expr in layout.physical_map() {
                place.push(self.domain.at(expr, &index)?);
            }
        }
        let own = staged.digits.iter().map(|number| self.element(*number));
        let own = own.collect::<Result<Vec<_>, _>>()?;
        let part = self.domain.at(staged.part.tensor().layout.offset(), &own)?;
        let (loops, reach) = self.loops_of_copy(k, &steps)?;
        self.name_loops(&loops);
        let (before, whole) = self.offset_there(k, &steps, &loops)?;
        let place = place.iter().map(|expr| self.lower(expr)).collect::<Result<_, _>>()?;
        let part = add(self.half_of(k, which)?, self.lower(&part)?)?;
        Ok(StagingCopy { loops, before, whole, place, part, inside, reach })
    }

    /// Logical index in the tensor of the element of tile `k` at the current iterations of the copy loops, for the
    /// iteration `which` of the cache's loop, with its bounds checks.
    fn index_there(&self, k: usize, which: TileIteration) -> Result<Index, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let own = var(staged.tile.at)?;
        let round = match which {
            TileIteration::Own => loop_index(staged.tile.at)?,
            TileIteration::First => Algebra::constant(0),
            TileIteration::Next => sum(&loop_index(staged.tile.at)?, &Algebra::constant(1))?,
        };
        let (mut index, mut inside) = (Vec::new(), Vec::new());
        let axes = staged.whole.tensor().layout.logical().iter();
        for ((begin, number), axis) in staged.tile.block.begin.iter().zip(&staged.digits).zip(axes)
        {
            let there = sum(begin, &self.element(*number)?)?;
            let here = there.substitute(&|other| (other == own).then(|| round.clone()))?;
            let [there, here] =
                [self.domain.facts.simplify(&there)?, self.domain.facts.simplify(&here)?];
            for (op, right) in
                [(CompareOp::Ge, Algebra::constant(0)), (CompareOp::Lt, axis.extent.clone())]
            {
                // A condition that holds in all iterations holds in the next one too: a tile is copied only if its
                // iteration exists.
                let in_all = ExprComparison { left: there.clone(), op, right: right.clone() };
                if !self.domain.holds(&in_all)? {
                    inside.push(ExprComparison { left: here.clone(), op, right });
                }
            }
            index.push(here);
        }
        Ok((index, inside))
    }

    /// Loops of the copy of tile `k`, the greatest stride in the tensor outermost, and [`StagingCopy::reach`]. `steps`
    /// is the affine offset in the tensor.
    fn loops_of_copy(&self, k: usize, steps: &AffineAccess) -> Result<Loops, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let stride = |number: usize| steps.stride(number, &self.domain)?.as_const();
        let rounds = |number: &usize| (*number, self.domain.trip_count(*number).unwrap_or(1));
        let mut loops: Vec<(usize, i128)> =
            staged.digits.iter().map(rounds).filter(|(_, rounds)| *rounds != 1).collect();
        if loops.iter().all(|(number, _)| stride(*number).is_some()) {
            loops.sort_by_key(|(number, _)| std::cmp::Reverse(stride(*number).unwrap_or(0).abs()));
        }
        let far = |(number, rounds): &(usize, i128)| {
            Some(stride(*number)?.saturating_abs().saturating_mul(*rounds))
        };
        let reach = loops.iter().map(far).sum::<Option<i128>>();
        let elements = staged.whole.tensor().layout.physical_elements();
        Ok((loops, reach.or_else(|| elements.as_const())))
    }

    /// Gives each loop of a copy a variable name that is not in use, derived from the name of the loop, and stores it
    /// in `names`. `loops` are pairs (number, trip count), as in [`StagingCopy::loops`].
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

    /// Pair of the declaration, before the copy loops `loops`, of the loop-invariant part of an element's offset in the
    /// tensor of tile `k`, and of the whole offset in elements. `steps` is the affine offset. An image gets no
    /// declaration.
    fn offset_there(
        &mut self,
        k: usize,
        steps: &AffineAccess,
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
                base = sum(&base, &product(stride, &loop_index(*number)?)?)?;
            }
        }
        let mut base = self.lower(&self.domain.facts.simplify(&base)?)?;
        let mut before = Vec::new();
        if whole.texels.is_none() && !matches!(base, Expr::Int { .. } | Expr::Name { .. }) {
            let name = self.namer.partial(&partial(&whole.name));
            before.push(Stmt::Let { name: name.clone(), value: base });
            base = Expr::name(&name);
        }
        Ok((before, add(base, rest)?))
    }

    /// Index along one axis of the tile: the variable of the copy loop `number`, or 0 if the loop has one iteration.
    fn element(&self, number: usize) -> Result<Algebra, ExprError> {
        if self.domain.trip_count(number) == Some(1) {
            return Ok(Algebra::constant(0));
        }
        loop_index(number)
    }

    /// Offset of the half of staging buffer `k` for the iteration `which` of the cache's loop, in elements:
    /// `i % 2 * elements` for iteration `i`; 0 without double buffering.
    pub(crate) fn half_of(&self, k: usize, which: TileIteration) -> Result<Expr, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let later = match which {
            _ if !staged.tile.has_halves => return Ok(Expr::int(0)),
            TileIteration::First => return Ok(Expr::int(0)),
            TileIteration::Own => 0,
            TileIteration::Next => 1,
        };
        let round = add(self.named(staged.tile.at), Expr::int(later))?;
        let half = Expr::Mod { a: Box::new(round), b: Box::new(Expr::int(2)) };
        multiply(half, Expr::int(staged.tile.elements()))
    }

    /// True if tile `k` is copied in asynchronously: elements of 4, 8 or 16 bytes of a buffer, with double buffering,
    /// so that the copy of the next tile continues while the thread block uses the current one.
    pub(crate) fn is_async(&self, k: usize) -> bool {
        let Some(staged) = self.staged.get(k) else { return false };
        let dtype = staged.whole.tensor().dtype;
        // Vectors of several lanes may be structures whose alignment is that of a lane.
        let is_aligned = dtype.lanes == 1 && !matches!(dtype.scalar, Scalar::Record(_));
        staged.tile.has_halves
            && staged.whole.texels.is_none()
            && is_aligned
            && matches!(dtype.element_bits(), 32 | 64 | 128)
    }

    /// Statement that copies one element, `copied`, between the tensor and the tile of staging buffer `k`, in the
    /// direction `way`.
    pub(crate) fn copy(
        &self,
        k: usize,
        way: CopyDirection,
        copied: &StagingCopy,
    ) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let whole = (staged.whole.name.clone(), copied.whole.clone());
        let part = (staged.part.name.clone(), copied.part.clone());
        let load = |(buffer, index)| Value::Load { buffer, index, through: None };
        if way == CopyDirection::In && self.is_async(k) {
            let ((to, to_index), (from, from_index)) = (part, whole);
            let dtype = staged.whole.tensor().dtype;
            return Ok(Primitive::CopyAsync { dtype, to, to_index, from, from_index }.into());
        }
        let ((buffer, index), value) = match (way, &staged.whole.texels) {
            (CopyDirection::Out, _) => (whole, load(part)),
            (CopyDirection::In, None) => (part, load(whole)),
            (CopyDirection::In, Some([fetch, _])) => {
                let args = [Expr::name(&whole.0)].into_iter().chain(copied.place.iter().cloned());
                let value = Value::Fetch { function: fetch.clone(), args: args.collect() };
                (part, value)
            }
        };
        Ok(Stmt::Store { buffer, index, value, through: None })
    }

    /// Statement that stores the boundary value of the tensor in one element of the tile of staging buffer `k`; 0 if
    /// there is no boundary value.
    pub(crate) fn clear(&self, k: usize, copied: &StagingCopy) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let dtype = staged.part.tensor().dtype;
        let ty = dtype.scalar.compute_type();
        let zero = || convert(reduction::identity(Reduction::Sum, ty), ty.element(), dtype);
        let value = staged.outside.clone().unwrap_or_else(zero);
        let (buffer, index) = (staged.part.name.clone(), copied.part.clone());
        Ok(Stmt::Store { buffer, index, value, through: None })
    }

    /// Statements that copy tile `k` in before its use, on a CPU or in a single GPU thread. If elements of the tile may
    /// be out of bounds, the whole tile is first filled with the boundary value, or with 0 if there is none.
    pub(crate) fn copied_in(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, TileIteration::Own)?;
        let mut all = Vec::new();
        if !copied.inside.is_empty() {
            all.push(self.cleared(k, &copied)?);
        }
        let one = self.copy(k, CopyDirection::In, &copied)?;
        all.extend(self.bounded(copied, one)?);
        Ok(all)
    }

    /// Statement that fills the whole tile `k` with the boundary value, or with 0 if there is none. `copied` has its
    /// loops.
    fn cleared(&self, k: usize, copied: &StagingCopy) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        if staged.outside.is_none() && self.processor != ExecutionModel::Gpu {
            let bits = i64::from(staged.part.tensor().dtype.element_bits());
            let bytes = Expr::int(staged.tile.elements().saturating_mul(bits.div_euclid(8)));
            let buffer = staged.part.name.clone();
            return Ok(Primitive::Zero { buffer, index: Expr::int(0), bytes }.into());
        }
        let clear = self.clear(k, copied)?;
        Ok(copied.loops.iter().rev().fold(clear, |body, (number, rounds)| {
            self.counted(*number, [Expr::int(0), literal(*rounds)], vec![body])
        }))
    }

    /// Statements that copy tile `k` out after it is written, on a CPU or in a single GPU thread.
    pub(crate) fn copied_out(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, TileIteration::Own)?;
        let one = self.copy(k, CopyDirection::Out, &copied)?;
        self.bounded(copied, one)
    }

    /// Loops of the copy `copied` around the statement `one`, with bounds and guards that exclude elements outside the
    /// tensor.
    fn bounded(&self, copied: StagingCopy, one: Stmt) -> Result<Vec<Stmt>, PlanError> {
        let StagingCopy { loops, before, inside, .. } = copied;
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
            let bounds = LoopBounds::of(*number, &own, &self.domain)?;
            let (mut from, mut to) = (Expr::int(0), literal(*rounds));
            for low in &bounds.lower {
                from = from.max(self.lower(low)?);
            }
            for high in &bounds.upper {
                to = to.min(self.lower(high)?);
            }
            body = vec![self.counted(*number, [from, to], when(&bounds.residual_guards, body)?)];
        }
        // Conditions that mention no loop of the copy: axes of extent 1 have no loop.
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
