//! Iteration domain of a statement: its loops, with the axes, the written offset and the guards over these loops. Loop
//! `k` is `Var::Digit(k)`.
//!
//! Source: TVM RFC 0039. The loops of a computation follow the physical layout of its output, so the axes of the
//! statement are the layout's inverse at the storage axes.

use layoutc_algebra::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use crate::loops::arith::{ceil_div, product, scale, sum};
use crate::loops::error::PlanError;
use crate::loops::order::refused;
use crate::loops::relayout::address_map::dense_strides;
use crate::model::compute::{Fuse, LoopStep};
use crate::model::{Spanned, Tensor};

/// Loop of the iteration domain.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    /// Name of the storage, logical or reduced axis. A split adds `_outer` or `_inner`; a fused loop has the name that
    /// the fusion gives it. Underscores are appended if a loop of the statement has or had the name.
    pub(crate) name: String,
    /// Trip count, over symbols.
    pub(crate) extent: Expr,
    /// True for a loop over a reduced axis or a part of it, whose iterations contribute to one element of the result,
    /// until [`IterationDomain::privatize`] clears it.
    pub(crate) is_reduced: bool,
    /// Number of the outer part, if the loop is the inner part of a split; `None` otherwise.
    pub(crate) outer: Option<usize>,
}

/// Split or fusion that was applied to the loops, by the names of the loops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DomainStep {
    Split { name: String, by: i64 },
    Fuse { outer: String, inner: String, name: String },
}

/// Loops of a statement, with the statement's axes, offset and guards over these loops.
#[derive(Debug, Clone)]
pub(crate) struct IterationDomain {
    /// Ranges of symbols and loops, for proofs and simplification.
    pub(crate) facts: Facts,
    /// All loops by number, including loops that were split or fused.
    pub(crate) loops: Vec<Loop>,
    /// Splits and fusions, in the order of application.
    pub(crate) steps: Vec<DomainStep>,
    /// Numbers of the live loops, outermost first: loops that were not split or fused, and whose trip count is not 1 or
    /// whose name is kept. The order in which they are emitted is in [`Order`](crate::loops::order::Order).
    pub(crate) active: Vec<usize>,
    /// Axes of the statement as expressions over the loops: the written axes, then the reduced ones.
    pub(crate) axes: Vec<Expr>,
    /// Offset of the written element in its buffer, in elements.
    pub(crate) offset: Expr,
    /// Conditions that an iteration must satisfy to have an element to write or a value to reduce. Conditions that are
    /// proven for all iterations are omitted.
    pub(crate) inside: Vec<ExprComparison>,
    /// Number of the only loop that the planner may vectorize, if the manifest names one and leaves the rest of the
    /// register tile to the planner; `None` otherwise.
    pub(crate) lead: Option<usize>,
    /// Number of the loop that the statement shares with other statements, because an intermediate is computed in each
    /// iteration of it (compute-at). The planner makes it the outermost loop unless the manifest orders it inside
    /// another one. `None` otherwise; always `None` on GPUs and with a complete schedule.
    pub(crate) outermost: Option<usize>,
    /// Numbers of the inner loops of the manifest's `tile` directives. In a reduction, those that are not reduced are
    /// in the register tile, unless a `loops` directive orders them.
    pub(crate) tiles: Vec<usize>,
    /// Names of loops that are live even if the trip count is 1.
    kept: Vec<String>,
    /// Numbers of the loops over axes of cached tiles. The name of one may equal the name of a loop that was split.
    copy_loops: Vec<usize>,
}

impl IterationDomain {
    /// Domain of a statement that writes `target`: loops over the storage axes of `target`, then over the `reduced`
    /// axes. The loops are over the logical axes of `target` instead if it is a window, or if its layout is swizzled,
    /// has no inverse in closed form, or has a stride that is not proven to be a multiple of the stride of its physical
    /// axis. Loops with a name in `kept` are live even if the trip count is 1.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn new(
        target: &Tensor,
        symbols: &[Symbol],
        reduced: &[Axis],
        kept: &[String],
    ) -> Result<Self, ExprError> {
        let layout = &target.layout;
        let mut all = kept.to_vec();
        // The loops of which a kept loop is a part must exist until they are split.
        for name in kept {
            let mut name = name.as_str();
            while let Some(whole) = name.strip_suffix("_outer").or(name.strip_suffix("_inner")) {
                all.push(whole.to_owned());
                name = whole;
            }
        }
        let empty = Self { kept: all, ..Self::empty(symbols) };
        let by_storage =
            if target.is_window() { None } else { empty.clone().by_storage(layout)? };
        let mut domain = match by_storage {
            Some(domain) => domain,
            None => empty.by_axes(layout)?,
        };
        for axis in reduced {
            let name = domain.free(axis.name.clone());
            let number = domain.add(&name, &axis.extent, true)?;
            domain.axes.push(domain.facts.simplify(&loop_index(number)?)?);
        }
        Ok(domain)
    }

    /// Domain with loops over `axes`, and the row-major offset of a dense tensor of these axes.
    ///
    /// # Errors
    /// As [`IterationDomain::new`].
    pub(crate) fn of_axes(axes: &[Axis], symbols: &[Symbol]) -> Result<Self, ExprError> {
        let mut domain = Self::empty(symbols);
        for (axis, stride) in axes.iter().zip(dense_strides(axes)?) {
            let number = domain.add(&axis.name, &axis.extent, false)?;
            let value = domain.facts.simplify(&loop_index(number)?)?;
            domain.offset = sum(&domain.offset, &product(&value, &stride)?)?;
            domain.axes.push(value);
        }
        Ok(domain)
    }

    /// Domain with loops over the logical axes of `layout`.
    ///
    /// # Errors
    /// As [`IterationDomain::new`].
    pub(crate) fn of_logical(layout: &Layout) -> Result<Self, ExprError> {
        Self::empty(layout.symbols()).by_axes(layout)
    }

    fn empty(symbols: &[Symbol]) -> Self {
        Self {
            facts: Facts::new(symbols),
            loops: Vec::new(),
            steps: Vec::new(),
            active: Vec::new(),
            axes: Vec::new(),
            offset: Expr::constant(0),
            inside: Vec::new(),
            lead: None,
            outermost: None,
            tiles: Vec::new(),
            kept: Vec::new(),
            copy_loops: Vec::new(),
        }
    }

    fn by_axes(self, layout: &Layout) -> Result<Self, ExprError> {
        let mut domain = self;
        for axis in layout.logical() {
            let number = domain.add(&axis.name, &axis.extent, false)?;
            domain.axes.push(domain.facts.simplify(&loop_index(number)?)?);
        }
        domain.offset = domain.at_axes(layout.offset())?;
        Ok(domain)
    }

    fn by_storage(self, layout: &Layout) -> Result<Option<Self>, ExprError> {
        let Some(inverse) = layout.inverse().filter(|_| layout.swizzle().is_none()) else {
            return Ok(None);
        };
        let mut domain = self;
        for axis in layout.storage() {
            domain.add(&axis.name, &axis.extent, false)?;
        }
        let Some((physical, offset)) = domain.places(layout)? else { return Ok(None) };
        domain.offset = domain.facts.simplify(&offset)?;
        let at_loops = |expr: &Expr| {
            let there = expr.substitute(&|var| match var {
                Var::Physical(k) => physical.get(usize::try_from(k).ok()?).cloned(),
                _ => None,
            })?;
            domain.facts.simplify(&there)
        };
        let axes = inverse.iter().map(&at_loops).collect::<Result<Vec<_>, _>>()?;
        let mut inside = Vec::new();
        for ExprComparison { left, op, right } in
            layout.valid().into_iter().flat_map(|valid| &valid.all)
        {
            inside.push(ExprComparison { left: at_loops(left)?, op: *op, right: at_loops(right)? });
        }
        domain.axes = axes;
        for condition in inside {
            domain.require(condition)?;
        }
        Ok(Some(domain))
    }

    /// Pair of the physical indices, one for each physical axis, and of the offset in elements, over the loops, of
    /// which loop `k` is over storage axis `k`. `None` if a stride is not proven to be a multiple of the stride of its
    /// physical axis.
    fn places(&self, layout: &Layout) -> Result<Option<(Vec<Expr>, Expr)>, ExprError> {
        let groups = layout.physical_strides().len();
        let mut physical = vec![Expr::constant(0); groups];
        let mut offset = layout.lead().clone();
        if let Some(last) = physical.last_mut() {
            last.clone_from(layout.lead());
        }
        let mut group = 0;
        for (k, stride) in layout.strides().iter().enumerate() {
            let Some(pitch) = layout.physical_strides().get(group) else { return Ok(None) };
            let quotient = Expr::binary(BinOp::FloorDiv, stride, pitch)?;
            let local = self.facts.simplify(&quotient)?;
            if !self.facts.proves_eq(&product(&local, pitch)?, stride)? {
                return Ok(None);
            }
            let here = loop_index(k)?;
            if let Some(index) = physical.get_mut(group) {
                *index = sum(index, &product(&here, &local)?)?;
            }
            offset = sum(&offset, &product(&here, stride)?)?;
            if layout.separators().contains(&k) {
                group = group.saturating_add(1);
            }
        }
        Ok(Some((physical, offset)))
    }

    /// Substitutes the statement's axes for `Var::Axis` in `expr`, an expression over the written tensor's axes.
    fn at_axes(&self, expr: &Expr) -> Result<Expr, ExprError> {
        self.at(expr, &self.axes)
    }

    /// Substitutes `axes` for `Var::Axis` in `expr`, and simplifies the result.
    pub(crate) fn at(&self, expr: &Expr, axes: &[Expr]) -> Result<Expr, ExprError> {
        let there = expr.substitute(&|var| match var {
            Var::Axis(k) => axes.get(usize::try_from(k).ok()?).cloned(),
            _ => None,
        })?;
        self.facts.simplify(&there)
    }

    fn add(&mut self, name: &str, extent: &Expr, is_reduced: bool) -> Result<usize, ExprError> {
        let number = self.loops.len();
        self.facts.set_extent(var(number)?, extent)?;
        let name = name.to_owned();
        self.loops.push(Loop { name, extent: extent.clone(), is_reduced, outer: None });
        if self.is_live(number) {
            self.active.push(number);
        }
        Ok(number)
    }

    /// True if the trip count of a loop is not 1, or the loop's name is kept.
    fn is_live(&self, number: usize) -> bool {
        let is_it = |found: &Loop| found.extent.as_const() != Some(1) || self.is_kept(&found.name);
        self.loops.get(number).is_some_and(is_it)
    }

    /// Makes a loop of this name, if it is added later, live even if its trip count is 1.
    pub(crate) fn keep(&mut self, name: &str) {
        self.kept.push(name.to_owned());
    }

    /// True if a loop of this name is kept even if the trip count is 1.
    pub(crate) fn is_kept(&self, name: &str) -> bool {
        self.kept.iter().any(|kept| kept == name)
    }

    /// Adds a loop with `extent` iterations over an axis of a cached tile, and returns the loop's number. No
    /// [`Order`](crate::loops::order::Order) contains the loop.
    ///
    /// # Errors
    /// As [`IterationDomain::new`].
    pub(crate) fn add_copy_loop(&mut self, name: &str, extent: i128) -> Result<usize, ExprError> {
        let number = self.add(name, &Expr::constant(extent), false)?;
        self.copy_loops.push(number);
        Ok(number)
    }

    /// Adds a condition to `inside`, unless it is proven or already present.
    fn require(&mut self, condition: ExprComparison) -> Result<(), ExprError> {
        if !self.holds(&condition)? && !self.inside.contains(&condition) {
            self.inside.push(condition);
        }
        Ok(())
    }

    /// True if a condition is proven to hold in every iteration; false if it is refuted or undecided.
    pub(crate) fn holds(
        &self,
        ExprComparison { left, op, right }: &ExprComparison,
    ) -> Result<bool, ExprError> {
        match op {
            CompareOp::Eq => self.facts.proves_eq(left, right),
            CompareOp::Ge => self.facts.proves_ge(left, right),
            CompareOp::Lt => self.facts.proves_ge(right, &sum(left, &Expr::constant(1))?),
        }
    }

    /// Number of the live loop with this name; `None` if there is none.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.active.iter().copied().find(|k| self.loops.get(*k).is_some_and(|l| l.name == name))
    }

    /// Splits the loop `number` into `name_outer` and `name_inner`, the latter with trip count `by`, and adds a guard
    /// unless the index is proven to stay below the trip count. Underscores are appended to names in use. Returns the
    /// numbers of the outer and the inner loop; one with trip count 1 is in `active` only if its name is kept.
    ///
    /// # Errors
    /// As [`IterationDomain::new`].
    pub(crate) fn split(&mut self, number: usize, by: i64) -> Result<[usize; 2], ExprError> {
        let Some(whole) = self.loops.get(number).cloned() else { return Ok([number, number]) };
        let step = DomainStep::Split { name: whole.name.clone(), by };
        let by = i128::from(by.max(1));
        let rounds = self.facts.simplify(&ceil_div(&whole.extent, by)?)?;
        let [first, second] =
            ["outer", "inner"].map(|part| self.free(format!("{}_{part}", whole.name)));
        let outer = self.add(&first, &rounds, whole.is_reduced)?;
        let inner = self.add(&second, &Expr::constant(by), whole.is_reduced)?;
        if let Some(part) = self.loops.get_mut(inner) {
            part.outer = Some(outer);
        }
        self.steps.push(step);
        let value = sum(&scale(&loop_index(outer)?, by)?, &loop_index(inner)?)?;
        let value = self.facts.simplify(&value)?;
        let place = self.active.iter().position(|k| *k == number);
        self.active.retain(|k| *k != number && *k != outer && *k != inner);
        let parts: Vec<usize> = [outer, inner].into_iter().filter(|k| self.is_live(*k)).collect();
        let place = place.unwrap_or(self.active.len());
        self.active.splice(place..place, parts);
        if self.lead == Some(number) {
            self.lead = Some(inner);
        }
        self.replace(&[(number, value.clone())])?;
        self.require(ExprComparison { left: value, op: CompareOp::Lt, right: whole.extent })?;
        Ok([outer, inner])
    }

    /// `name`, with underscores appended until no loop has or had the name.
    fn free(&self, mut name: String) -> String {
        while self.loops.iter().any(|found| found.name == name) {
            name.push('_');
        }
        name
    }

    /// Applies the splits and fusions of a schedule. For a loop with a constant trip count, a split factor is at most
    /// the trip count rounded up to a power of two. A step whose loops the statement does not have is skipped.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if a fused loop has no constant trip count. [`PlanError::Expr`] if a value overflows or an
    /// expression becomes too large.
    pub(crate) fn apply(&mut self, steps: &[LoopStep]) -> Result<(), PlanError> {
        for step in steps {
            let split = match step {
                LoopStep::Split(split) => split,
                LoopStep::Fuse(Fuse { outer, inner, name }) => {
                    let loops = self.find(&outer.value).zip(self.find(&inner.value));
                    if let Some((first, second)) = loops
                        && self.fuse([first, second], name)?.is_none()
                    {
                        let message = format!(
                            "cannot fuse `{}` and `{}`: a trip count is not constant",
                            outer.value, inner.value
                        );
                        let help = "split the loop, and fuse its inner part".to_owned();
                        return Err(refused(message, help, &inner.place));
                    }
                    continue;
                }
            };
            let Some(number) = self.find(&split.axis.value) else { continue };
            let rounds = self.trip_count(number).and_then(|rounds| u64::try_from(rounds).ok());
            let most = rounds.and_then(u64::checked_next_power_of_two);
            let most = most.and_then(|most| i64::try_from(most).ok());
            let by = most.map_or(split.by, |most| split.by.min(most));
            let [_, inner] = self.split(number, by)?;
            if split.is_tile {
                self.tiles.push(inner);
            }
        }
        Ok(())
    }

    /// Fuses two loops into one called `name`, with underscores appended if a loop has or had that name. The index of
    /// `inner` varies fastest. The fused loop takes the position of `outer`. Returns the number of the fused loop;
    /// `None` if a trip count is not constant.
    ///
    /// # Errors
    /// As [`IterationDomain::new`].
    pub(crate) fn fuse(
        &mut self,
        [outer, inner]: [usize; 2],
        name: &str,
    ) -> Result<Option<usize>, ExprError> {
        let Some((many, few)) = self.trip_count(outer).zip(self.trip_count(inner)) else {
            return Ok(None);
        };
        let is_reduced = self.is_reduced(inner);
        let place = self.active.iter().filter(|k| **k != inner).position(|k| *k == outer);
        let names = [outer, inner].map(|k| self.loops.get(k).map(|found| found.name.clone()));
        self.active.retain(|k| ![outer, inner].contains(k));
        let name = self.free(name.to_owned());
        let fused = self.add(&name, &Expr::constant(many.saturating_mul(few)), is_reduced)?;
        if self.is_live(fused) {
            self.active.retain(|k| *k != fused);
            let place = place.unwrap_or(self.active.len()).min(self.active.len());
            self.active.insert(place, fused);
        }
        if let [Some(outer), Some(inner)] = names {
            self.steps.push(DomainStep::Fuse { outer, inner, name });
        }
        let by = Expr::constant(few);
        let of = |op| Expr::binary(op, &loop_index(fused)?, &by);
        self.replace(&[(outer, of(BinOp::FloorDiv)?), (inner, of(BinOp::Mod)?)])?;
        Ok(Some(fused))
    }

    /// Substitutes expressions for loop variables in the offset, the axes and the guards.
    fn replace(&mut self, loops: &[(usize, Expr)]) -> Result<(), ExprError> {
        let loops: Vec<(Var, &Expr)> = loops
            .iter()
            .map(|(number, value)| Ok((var(*number)?, value)))
            .collect::<Result<_, ExprError>>()?;
        let facts = self.facts.clone();
        let replace = |expr: &Expr| {
            let value =
                |other| loops.iter().find(|(own, _)| *own == other).map(|(_, v)| (*v).clone());
            facts.simplify(&expr.substitute(&value)?)
        };
        self.offset = replace(&self.offset)?;
        self.axes = self.axes.iter().map(&replace).collect::<Result<_, _>>()?;
        for ExprComparison { left, op, right } in std::mem::take(&mut self.inside) {
            self.require(ExprComparison { left: replace(&left)?, op, right: replace(&right)? })?;
        }
        Ok(())
    }

    /// Trip count of a loop; `None` if the trip count is not constant.
    pub(crate) fn trip_count(&self, number: usize) -> Option<i128> {
        self.loops.get(number)?.extent.as_const()
    }

    /// Sets the trip count of the loop `number` to `rounds`, which must not exceed that of the loop when it was added.
    /// Returns the previous trip count; `None` if there is no such loop.
    pub(crate) fn set_trip_count(&mut self, number: usize, rounds: Expr) -> Option<Expr> {
        let found = self.loops.get_mut(number)?;
        Some(std::mem::replace(&mut found.extent, rounds))
    }

    /// True if a loop is reduced, see [`Loop::is_reduced`]; false if there is no such loop.
    pub(crate) fn is_reduced(&self, number: usize) -> bool {
        self.loops.get(number).is_some_and(|found| found.is_reduced)
    }

    /// Clears `is_reduced` of a loop: its iterations get accumulators of their own (partial sums), or carry the output
    /// from one to the next (split-K).
    pub(crate) fn privatize(&mut self, number: usize) {
        if let Some(found) = self.loops.get_mut(number) {
            found.is_reduced = false;
        }
    }

    /// True if `names` contains the name of the loop `number`, or of a loop whose outer part it is after one or more
    /// splits.
    pub(crate) fn is_split_from(&self, number: usize, names: &[Spanned<String>]) -> bool {
        self.position_of_part(number, names, &["_outer"]).is_some()
    }

    /// Position in `names` of the name of the loop `number`, or of a loop of which it is a part after one or more
    /// splits; `None` if there is neither.
    pub(crate) fn position(&self, number: usize, names: &[Spanned<String>]) -> Option<usize> {
        self.position_of_part(number, names, &["_outer", "_inner"])
    }

    /// Position in `names` of the name of the loop `number`, or of the name that remains after one or more of the
    /// suffixes `parts` are removed, as long as no live loop has the shorter name. `None` if there is neither.
    fn position_of_part(
        &self,
        number: usize,
        names: &[Spanned<String>],
        parts: &[&str],
    ) -> Option<usize> {
        let is_there = |name: &str| self.find(name).is_some_and(|k| !self.copy_loops.contains(&k));
        let mut name = self.loops.get(number)?.name.as_str();
        loop {
            if let Some(found) = names.iter().position(|chosen| chosen.value == name) {
                return Some(found);
            }
            let whole = parts.iter().find_map(|part| name.strip_suffix(part))?;
            name = Some(whole).filter(|whole| !is_there(whole))?;
        }
    }

    /// Numbers of the live loops that an expression mentions.
    pub(crate) fn mentioned(&self, expr: &Expr) -> Vec<usize> {
        let is_there =
            |k: &usize| var(*k).is_ok_and(|wanted| expr.mentions(&|other| other == wanted));
        self.active.iter().copied().filter(is_there).collect()
    }
}

/// Variable of the loop `number`, `Var::Digit(number)`.
///
/// # Errors
/// [`ExprError::TooLarge`] if the number exceeds 32 bits.
pub(crate) fn var(number: usize) -> Result<Var, ExprError> {
    u32::try_from(number).map(Var::Digit).map_err(|_| ExprError::TooLarge)
}

/// Variable of the loop `number` as an expression, the index of its current iteration.
///
/// # Errors
/// As [`var`].
pub(crate) fn loop_index(number: usize) -> Result<Expr, ExprError> {
    Ok(Expr::var(var(number)?))
}
