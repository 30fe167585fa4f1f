//! What a statement's loops go over: the storage axes of what it writes, then the reduced axes.
//!
//! Loop `k` is `Var::Digit(k)`. RFC 0039: the loops of a computation follow the physical layout of its output, so the axes
//! of the statement are the layout's inverse at the storage axes.

use layoutc_algebra::expr::{BinOp, CompareOp, Expr, ExprComparison, ExprError, Var};
use layoutc_algebra::layout::Layout;
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::{Axis, Symbol};

use super::super::arith::{ceil_div, product, scale, sum};
use crate::model::Spanned;
use crate::model::compute::Split;

/// One loop.
#[derive(Debug, Clone)]
pub(super) struct Loop {
    /// Its name: that of a storage axis or of a reduced axis.
    pub(super) name: String,
    /// How many rounds it has, over symbols.
    pub(super) extent: Expr,
    /// Whether its rounds are put together in one element.
    pub(super) is_reduced: bool,
}

/// The loops of a statement, and what is where in them.
#[derive(Debug, Clone)]
pub(super) struct Domain {
    /// The ranges of the loops.
    pub(super) facts: Facts,
    /// All loops, also those that were cut in two.
    pub(super) loops: Vec<Loop>,
    /// Those that there are, by number: no loop of one round, none that was cut.
    pub(super) live: Vec<usize>,
    /// The axes of the statement, over the loops.
    pub(super) axes: Vec<Expr>,
    /// Where the element is that is written.
    pub(super) offset: Expr,
    /// What holds where there is an element, or a value: each mentions a loop.
    pub(super) inside: Vec<ExprComparison>,
    /// The loop along which vectors are to go, where the manifest names one and leaves the others to the planner.
    pub(super) lead: Option<usize>,
    /// Inner loops of the tiles in the manifest: they are inside the reduction.
    pub(super) tiles: Vec<usize>,
    /// The names of loops that there are even with one round.
    kept: Vec<String>,
    /// The loops over axes of blocks, which may be called as a loop that was cut.
    aside: Vec<usize>,
}

impl Domain {
    /// The loops over the storage axes of `layout`, or over its logical axes where its inverse is not known in closed form,
    /// and over `reduced` axes. Those that are called as in `kept` are there even with one round.
    ///
    /// # Errors
    /// [`ExprError`] where an expression grows too large.
    pub(super) fn new(
        layout: &Layout,
        symbols: &[Symbol],
        reduced: &[Axis],
        kept: &[String],
    ) -> Result<Self, ExprError> {
        let mut all = kept.to_vec();
        // What they are parts of is split.
        for name in kept {
            let mut name = name.as_str();
            while let Some(whole) = name.strip_suffix("_outer").or(name.strip_suffix("_inner")) {
                all.push(whole.to_owned());
                name = whole;
            }
        }
        let empty = Self { kept: all, ..Self::empty(symbols) };
        let mut domain = match empty.clone().by_storage(layout)? {
            Some(domain) => domain,
            None => empty.by_axes(layout)?,
        };
        for axis in reduced {
            let number = domain.add(&axis.name, &axis.extent, true)?;
            domain.axes.push(domain.facts.simplify(&digit(number)?)?);
        }
        Ok(domain)
    }

    fn empty(symbols: &[Symbol]) -> Self {
        Self {
            facts: Facts::new(symbols),
            loops: Vec::new(),
            live: Vec::new(),
            axes: Vec::new(),
            offset: Expr::constant(0),
            inside: Vec::new(),
            lead: None,
            tiles: Vec::new(),
            kept: Vec::new(),
            aside: Vec::new(),
        }
    }

    fn by_axes(self, layout: &Layout) -> Result<Self, ExprError> {
        let mut domain = self;
        for axis in layout.logical() {
            let number = domain.add(&axis.name, &axis.extent, false)?;
            domain.axes.push(domain.facts.simplify(&digit(number)?)?);
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

    /// The physical indices and the offset at the storage axes; `None` where strides do not tell the indices.
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
            let here = digit(k)?;
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

    /// An expression over a tensor's axes at the loops, where the statement's axes are that tensor's.
    fn at_axes(&self, expr: &Expr) -> Result<Expr, ExprError> {
        self.at(expr, &self.axes)
    }

    /// An expression over axes, where `axes` stand for them.
    pub(super) fn at(&self, expr: &Expr, axes: &[Expr]) -> Result<Expr, ExprError> {
        let there = expr.substitute(&|var| match var {
            Var::Axis(k) => axes.get(usize::try_from(k).ok()?).cloned(),
            _ => None,
        })?;
        self.facts.simplify(&there)
    }

    fn add(&mut self, name: &str, extent: &Expr, is_reduced: bool) -> Result<usize, ExprError> {
        let number = self.loops.len();
        self.facts.set_extent(var(number)?, extent)?;
        self.loops.push(Loop { name: name.to_owned(), extent: extent.clone(), is_reduced });
        if self.is_live(number) {
            self.live.push(number);
        }
        Ok(number)
    }

    /// Whether a loop has rounds to tell apart, or is kept.
    fn is_live(&self, number: usize) -> bool {
        let is_it = |found: &Loop| found.extent.as_const() != Some(1) || self.is_kept(&found.name);
        self.loops.get(number).is_some_and(is_it)
    }

    /// Has a loop of this name be there even with one round.
    pub(super) fn keep(&mut self, name: &str) {
        self.kept.push(name.to_owned());
    }

    /// Whether a loop of this name is there even with one round.
    pub(super) fn is_kept(&self, name: &str) -> bool {
        self.kept.iter().any(|kept| kept == name)
    }

    /// Adds a loop that no order holds: over an axis of a block.
    ///
    /// # Errors
    /// As [`Domain::new`].
    pub(super) fn aside(&mut self, name: &str, extent: i128) -> Result<usize, ExprError> {
        let number = self.add(name, &Expr::constant(extent), false)?;
        self.aside.push(number);
        Ok(number)
    }

    /// Adds a condition, unless it always holds.
    fn require(&mut self, condition: ExprComparison) -> Result<(), ExprError> {
        if !self.holds(&condition)? && !self.inside.contains(&condition) {
            self.inside.push(condition);
        }
        Ok(())
    }

    /// Whether a condition is known to hold in every round.
    pub(super) fn holds(
        &self,
        ExprComparison { left, op, right }: &ExprComparison,
    ) -> Result<bool, ExprError> {
        match op {
            CompareOp::Eq => self.facts.proves_eq(left, right),
            CompareOp::Ge => self.facts.proves_ge(left, right),
            CompareOp::Lt => self.facts.proves_ge(right, &sum(left, &Expr::constant(1))?),
        }
    }

    /// The loop of this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.live.iter().copied().find(|k| self.loops.get(*k).is_some_and(|l| l.name == name))
    }

    /// Cuts a loop into `name_outer` and `name_inner`, which has `by` rounds. Their numbers; one of them may have one round
    /// and be none.
    ///
    /// # Errors
    /// As [`Domain::new`].
    pub(super) fn split(&mut self, number: usize, by: i64) -> Result<[usize; 2], ExprError> {
        let Some(cut) = self.loops.get(number).cloned() else { return Ok([number, number]) };
        let by = i128::from(by.max(1));
        let rounds = self.facts.simplify(&ceil_div(&cut.extent, by)?)?;
        let outer = self.add(&format!("{}_outer", cut.name), &rounds, cut.is_reduced)?;
        let inner =
            self.add(&format!("{}_inner", cut.name), &Expr::constant(by), cut.is_reduced)?;
        let value = sum(&scale(&digit(outer)?, by)?, &digit(inner)?)?;
        let value = self.facts.simplify(&value)?;
        let place = self.live.iter().position(|k| *k == number);
        self.live.retain(|k| *k != number && *k != outer && *k != inner);
        let parts: Vec<usize> = [outer, inner].into_iter().filter(|k| self.is_live(*k)).collect();
        let place = place.unwrap_or(self.live.len());
        self.live.splice(place..place, parts);
        if self.lead == Some(number) {
            self.lead = Some(inner);
        }
        self.replace(&[(number, value.clone())])?;
        self.require(ExprComparison { left: value, op: CompareOp::Lt, right: cut.extent })?;
        Ok([outer, inner])
    }

    /// Splits the loops that a schedule splits. A factor beyond a constant extent is at most the next power of two.
    ///
    /// # Errors
    /// As [`Domain::new`].
    pub(super) fn split_by(&mut self, splits: &[Split]) -> Result<(), ExprError> {
        for split in splits {
            let Some(number) = self.find(&split.axis.value) else { continue };
            let rounds = self.rounds(number).and_then(|rounds| u64::try_from(rounds).ok());
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

    /// Makes one loop, called `name`, of two with known rounds; it changes the inner one's index fastest.
    ///
    /// # Errors
    /// As [`Domain::new`].
    pub(super) fn fuse(
        &mut self,
        [outer, inner]: [usize; 2],
        name: &str,
    ) -> Result<Option<usize>, ExprError> {
        let Some((many, few)) = self.rounds(outer).zip(self.rounds(inner)) else { return Ok(None) };
        let is_reduced = self.is_reduced(inner);
        let fused = self.add(name, &Expr::constant(many.saturating_mul(few)), is_reduced)?;
        self.live.retain(|k| ![outer, inner, fused].contains(k));
        self.live.push(fused);
        let by = Expr::constant(few);
        let of = |op| Expr::binary(op, &digit(fused)?, &by);
        self.replace(&[(outer, of(BinOp::FloorDiv)?), (inner, of(BinOp::Mod)?)])?;
        Ok(Some(fused))
    }

    /// Writes expressions in the place of loops, everywhere.
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

    /// The rounds of a loop, where they are known.
    pub(super) fn rounds(&self, number: usize) -> Option<i128> {
        self.loops.get(number)?.extent.as_const()
    }

    /// Gives a loop so many rounds, no more than it had; and gives those that it had.
    pub(super) fn set_rounds(&mut self, number: usize, rounds: Expr) -> Option<Expr> {
        let found = self.loops.get_mut(number)?;
        Some(std::mem::replace(&mut found.extent, rounds))
    }

    /// Whether the rounds of a loop are put together in one element.
    pub(super) fn is_reduced(&self, number: usize) -> bool {
        self.loops.get(number).is_some_and(|found| found.is_reduced)
    }

    /// Has the rounds of a loop be values of their own.
    pub(super) fn put_together_later(&mut self, number: usize) {
        if let Some(found) = self.loops.get_mut(number) {
            found.is_reduced = false;
        }
    }

    /// Whether a loop is one of these, or what is left around a part that was cut off one of them.
    pub(super) fn is_among(&self, number: usize, names: &[Spanned<String>]) -> bool {
        self.position_of_part(number, names, &["_outer"]).is_some()
    }

    /// Position of a loop in a list of names: of its own name, or of the loop of which it is a part.
    pub(super) fn position(&self, number: usize, names: &[Spanned<String>]) -> Option<usize> {
        self.position_of_part(number, names, &["_outer", "_inner"])
    }

    /// Position of a loop in a list of names: of its own name, or of a split loop of which it is a part with one of these
    /// suffixes.
    fn position_of_part(
        &self,
        number: usize,
        names: &[Spanned<String>],
        parts: &[&str],
    ) -> Option<usize> {
        let is_there = |name: &str| self.find(name).is_some_and(|k| !self.aside.contains(&k));
        let mut name = self.loops.get(number)?.name.as_str();
        loop {
            if let Some(found) = names.iter().position(|chosen| chosen.value == name) {
                return Some(found);
            }
            let whole = parts.iter().find_map(|part| name.strip_suffix(part))?;
            name = Some(whole).filter(|whole| !is_there(whole))?;
        }
    }

    /// The loops that an expression mentions.
    pub(super) fn mentioned(&self, expr: &Expr) -> Vec<usize> {
        let is_there =
            |k: &usize| var(*k).is_ok_and(|wanted| expr.mentions(&|other| other == wanted));
        self.live.iter().copied().filter(is_there).collect()
    }
}

/// The variable of a loop.
///
/// # Errors
/// [`ExprError::TooLarge`] for a number that no loop has.
pub(super) fn var(number: usize) -> Result<Var, ExprError> {
    u32::try_from(number).map(Var::Digit).map_err(|_| ExprError::TooLarge)
}

/// A loop as an expression.
///
/// # Errors
/// As [`var`].
pub(super) fn digit(number: usize) -> Result<Expr, ExprError> {
    Ok(Expr::var(var(number)?))
}
