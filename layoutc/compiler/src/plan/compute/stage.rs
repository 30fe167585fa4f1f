//! Blocks of tensors that are copied near the compute: into another layout before they are read, back after they are written.

use layoutc_algebra::expr::{Cmp, Comparison, Expr as Algebra, ExprError};

use super::super::arith::sum;
use super::super::lower::{PlanError, add, multiply};
use super::super::tree::{Expr, Number, Operand, Stmt};
use super::access::Steps;
use super::block::Block;
use super::bounds::Bounds;
use super::domain::{Domain, digit, var};
use super::nest::Nest;
use super::value::{condition, convert, float_constant, integer_constant, scalar};
use super::{Bound, Runs};
use crate::dtype::Dtype;
use crate::model::compute::{Cache, Reduction, Statement, Value, ValueKind};

/// The most bytes of blocks of one statement on the stack of a core, and in the memory of a work group.
const STACK: i128 = 1 << 18;
const GROUP_MEMORY: i128 = 48 << 10;

/// A block of a tensor, ready to be copied.
pub(super) struct Staged<'a> {
    pub(super) cache: &'a Cache,
    pub(super) block: Block,
    /// The tensor, and the block.
    pub(super) whole: &'a Bound,
    pub(super) part: &'a Bound,
    /// The loop inside which it is used.
    pub(super) at: usize,
    pub(super) is_written: bool,
    /// Whether the next block is copied into another half while one is used.
    pub(super) has_halves: bool,
    /// What stands in the block for elements outside the tensor, where all reads have the same there.
    pub(super) outside: Option<Number>,
    /// The loops over the axes of the block, by axis.
    digits: Vec<usize>,
}

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
    pub(super) inside: Vec<Comparison>,
    /// How far apart two of them lie at most in the tensor, in elements; `None` where that is not known.
    pub(super) reach: Option<i128>,
}

impl<'a> Staged<'a> {
    /// The block of a cache, with loops of its own.
    pub(super) fn new(
        cache: &'a Cache,
        block: Block,
        (whole, part): (&'a Bound, &'a Bound),
        (at, is_written): (usize, bool),
        (domain, runs): (&mut Domain, Runs),
        statement: &Statement,
    ) -> Result<Self, ExprError> {
        let axes = whole.tensor.layout.logical.iter().zip(&block.extents);
        let digits = axes.map(|(axis, extent)| domain.aside(&axis.name, *extent));
        let digits = digits.collect::<Result<_, _>>()?;
        let is_shared = runs == Runs::OnItems && cache.is_shared;
        // Blocks that are used outside the reduced loops are used once by a group.
        let has_halves = cache.is_double && is_shared && domain.is_reduced(at);
        let outside = outside(statement, cache, whole.tensor.dtype);
        Ok(Self { cache, block, whole, part, at, is_written, has_halves, outside, digits })
    }

    /// How many elements the block has.
    pub(super) fn elements(&self) -> i64 {
        let elements = self.part.tensor.layout.physical_elements.as_const();
        elements.and_then(|elements| i64::try_from(elements).ok()).unwrap_or(0)
    }

    /// Where an element of the tensor is in the block.
    ///
    /// # Errors
    /// [`ExprError`] where an expression grows too large.
    pub(super) fn offset(&self, index: &[Algebra], domain: &Domain) -> Result<Algebra, ExprError> {
        let inside = index
            .iter()
            .zip(&self.block.begin)
            .map(|(index, begin)| domain.facts.simplify(&sum(index, &Algebra::negate(begin)?)?));
        let inside = inside.collect::<Result<Vec<_>, _>>()?;
        domain.at(&self.part.tensor.layout.offset, &inside)
    }
}

/// What all reads of a tensor have in the place of what lies outside; `None` where that differs, or no element of the block can be
/// it.
fn outside(statement: &Statement, cache: &Cache, dtype: Dtype) -> Option<Number> {
    let reads = super::nest::reads(&statement.value);
    let mut found: Vec<&Value> = Vec::new();
    for read in reads.iter().filter(|read| read.buffer == cache.buffer) {
        found.extend(read.outside.as_ref().map(|outside| &outside.value));
    }
    let (first, others) = found.split_first()?;
    if others.iter().any(|other| other != first) || first.ty != dtype.scalar.computed() {
        return None;
    }
    let (number, is_zero) = match &first.kind {
        ValueKind::Float(float) => (float_constant(first.ty, *float), *float == 0.0),
        ValueKind::Integer(integer) => (integer_constant(first.ty, *integer), *integer == 0),
        _ => return None,
    };
    (is_zero || dtype == scalar(first.ty)).then(|| convert(number, scalar(first.ty), dtype))
}

/// Refuses blocks that are too large for where they are.
pub(super) fn fits(staged: &[Staged<'_>], runs: Runs) -> Result<(), PlanError> {
    let Some(first) = staged.first() else { return Ok(()) };
    let is_shared = runs == Runs::OnItems && first.cache.is_shared;
    let (most, home) = if is_shared {
        (GROUP_MEMORY, "a work group shares")
    } else {
        (STACK, "of blocks go on a stack")
    };
    let bytes = |one: &Staged<'_>| {
        let size = i128::from(one.part.tensor.dtype.element_bits().div_ceil(8));
        let halves = if one.has_halves { 2 } else { 1 };
        i128::from(one.elements()).saturating_mul(size).saturating_mul(halves)
    };
    let all: i128 = staged.iter().map(bytes).sum();
    if all <= most {
        return Ok(());
    }
    let largest = staged.iter().max_by_key(|one| bytes(one)).unwrap_or(first);
    let (name, at) = (&largest.whole.name, &largest.cache.at);
    Err(PlanError::Choice {
        message: format!("the blocks take {all} bytes, and at most {most} bytes {home}"),
        help: format!(
            "use the block of `{name}` inside a loop further in than `{}`, or smaller tiles",
            at.value
        ),
        place: at.place.clone(),
    })
}

impl Nest<'_> {
    /// What copies one element of a block, and what is around it.
    pub(super) fn copied(&mut self, k: usize, which: Which) -> Result<Copied, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let (own, digits) = (var(staged.at)?, staged.digits.clone());
        let round = match which {
            Which::Own => digit(staged.at)?,
            Which::First => Algebra::constant(0),
            Which::Next => sum(&digit(staged.at)?, &Algebra::constant(1))?,
        };
        let (mut index, mut inside) = (Vec::new(), Vec::new());
        let axes = staged.whole.tensor.layout.logical.iter();
        for ((begin, number), axis) in staged.block.begin.iter().zip(&digits).zip(axes) {
            let there = sum(begin, &self.element(*number)?)?;
            let here = there.substitute(&|other| (other == own).then(|| round.clone()))?;
            let [there, here] =
                [self.domain.facts.simplify(&there)?, self.domain.facts.simplify(&here)?];
            for (op, right) in [(Cmp::Ge, Algebra::constant(0)), (Cmp::Lt, axis.extent.clone())] {
                // What holds in every round holds in the next one, which there is.
                let in_all = Comparison { left: there.clone(), op, right: right.clone() };
                if !self.domain.holds(&in_all)? {
                    inside.push(Comparison { left: here.clone(), op, right });
                }
            }
            index.push(here);
        }
        let whole = self.domain.at(&staged.whole.tensor.layout.offset, &index)?;
        let is_image = staged.whole.image.is_some();
        let map = &staged.whole.tensor.layout.physical_map;
        let place: Vec<Algebra> = if is_image {
            map.iter().map(|expr| self.domain.at(expr, &index)).collect::<Result<_, _>>()?
        } else {
            Vec::new()
        };
        let own =
            digits.iter().map(|number| self.element(*number)).collect::<Result<Vec<_>, _>>()?;
        let part = self.domain.at(&staged.part.tensor.layout.offset, &own)?;
        let elements = staged.elements();
        let (has_halves, at) = (staged.has_halves, staged.at);
        let prefix = super::nest::partial(&staged.whole.name);
        let steps = Steps::of(&whole, &self.domain)?;
        let mut loops: Vec<(usize, i128)> = Vec::new();
        for number in &digits {
            let rounds = self.domain.rounds(*number).unwrap_or(1);
            if rounds != 1 {
                loops.push((*number, rounds));
            }
        }
        let stride = |number: usize| steps.stride(number, &self.domain).and_then(|s| s.as_const());
        if loops.iter().all(|(number, _)| stride(*number).is_some()) {
            loops.sort_by_key(|(number, _)| std::cmp::Reverse(stride(*number).unwrap_or(0).abs()));
        }
        for (number, _) in &loops {
            let wanted = self.domain.loops.get(*number).map_or("", |l| l.name.as_str()).to_owned();
            let name = self.namer.name(&wanted);
            if self.names.len() <= *number {
                self.names.resize(number.saturating_add(1), String::new());
            }
            if let Some(slot) = self.names.get_mut(*number) {
                *slot = name;
            }
        }
        let far = |(number, rounds): &(usize, i128)| {
            let stride = stride(*number)?;
            Some(stride.saturating_abs().saturating_mul(*rounds))
        };
        let reach = loops.iter().map(far).sum::<Option<i128>>();
        let elements_in_all = staged.whole.tensor.layout.physical_elements.as_const();
        let reach = reach.or(elements_in_all);
        // What does not change in the copy has a name.
        let (mut base, mut rest, mut before) = (Algebra::constant(0), Expr::int(0), Vec::new());
        let is_own = |number: &usize| loops.iter().any(|(own, _)| own == number);
        if self.domain.mentioned(&steps.rest).iter().any(is_own) {
            rest = self.lower(&steps.rest)?;
        } else {
            base = steps.rest.clone();
        }
        for (number, stride) in &steps.strides {
            if is_own(number) {
                rest = add(rest, multiply(self.named(*number), self.lower(stride)?)?)?;
            } else {
                let by = super::super::arith::product(stride, &digit(*number)?)?;
                base = sum(&base, &by)?;
            }
        }
        let mut whole = self.lower(&self.domain.facts.simplify(&base)?)?;
        if !is_image && !matches!(whole, Expr::Int { .. } | Expr::Name { .. }) {
            let name = self.namer.partial(&prefix);
            before.push(Stmt::Let { name: name.clone(), value: whole });
            whole = Expr::name(&name);
        }
        let whole = add(whole, rest)?;
        let place = place.iter().map(|expr| self.lower(expr)).collect::<Result<_, _>>()?;
        let mut part = self.lower(&part)?;
        if has_halves {
            let half = match which {
                Which::First => Expr::int(0),
                Which::Own => self.half(at, 0)?,
                Which::Next => self.half(at, 1)?,
            };
            part = add(multiply(half, Expr::int(elements))?, part)?;
        }
        Ok(Copied { loops, before, whole, place, part, inside, reach })
    }

    /// A loop of a copy as an index: 0 where there is one element.
    fn element(&self, number: usize) -> Result<Algebra, ExprError> {
        if self.domain.rounds(number) == Some(1) {
            return Ok(Algebra::constant(0));
        }
        digit(number)
    }

    pub(super) fn named(&self, number: usize) -> Expr {
        Expr::name(self.names.get(number).map_or("", String::as_str))
    }

    /// Which half of a block is used in a round of a loop, or in one so much later.
    pub(super) fn half(&self, at: usize, later: i64) -> Result<Expr, PlanError> {
        let round = add(self.named(at), Expr::int(later))?;
        Ok(Expr::Mod { a: Box::new(round), b: Box::new(Expr::int(2)) })
    }

    /// An element of the tensor becomes one of the block, or the other way round.
    pub(super) fn copy(&self, k: usize, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let (whole, part) = (staged.whole.name.clone(), staged.part.name.clone());
        let load = |buffer: String, index: &Expr| Operand::Load {
            buffer,
            index: index.clone(),
            through: None,
        };
        if staged.is_written {
            let (index, value) = (copied.whole.clone(), load(part, &copied.part));
            return Ok(Stmt::Store { buffer: whole, index, value, through: None });
        }
        let value = match &staged.whole.image {
            None => load(whole, &copied.whole),
            Some([fetch, _]) => {
                let args = [Expr::name(&whole)].into_iter().chain(copied.place.iter().cloned());
                let value = Number::Fetch { function: fetch.clone(), args: args.collect() };
                Operand::Number { value }
            }
        };
        Ok(Stmt::Store { buffer: part, index: copied.part.clone(), value, through: None })
    }

    /// An element of the block becomes what stands for those outside the tensor, or 0.
    pub(super) fn clear(&self, k: usize, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let dtype = staged.part.tensor.dtype;
        let ty = dtype.scalar.computed();
        let zero = || convert(super::gather::identity(Reduction::Sum, ty), scalar(ty), dtype);
        let value = Operand::Number { value: staged.outside.clone().unwrap_or_else(zero) };
        let (buffer, index) = (staged.part.name.clone(), copied.part.clone());
        Ok(Stmt::Store { buffer, index, value, through: None })
    }

    /// The body of a loop with the blocks that are used in a round of it.
    pub(super) fn with_blocks(
        &mut self,
        number: usize,
        body: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let own: Vec<usize> = (0..self.staged.len())
            .filter(|k| self.staged.get(*k).is_some_and(|staged| staged.at == number))
            .collect();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for k in own {
            let Some(staged) = self.staged.get(k) else { continue };
            let (name, element) = (staged.part.name.clone(), staged.part.tensor.dtype.to_string());
            let elements = staged.elements().max(1);
            let (is_written, whole) = (staged.is_written, staged.whole.name.clone());
            before.push(Stmt::DeclareArray { name: name.clone(), element, elements });
            if !is_written || self.statement.accumulate {
                before.push(Stmt::Comment { text: format!("A block of {whole}.") });
                before.extend(self.copied_in(k)?);
            }
            if is_written {
                after.push(Stmt::Comment { text: format!("The block goes to {whole}.") });
                after.extend(self.copied_out(k)?);
            }
        }
        Ok(before.into_iter().chain(body).chain(after).collect())
    }

    /// What is written, from the tensor into the block.
    pub(super) fn back(&self, k: usize, copied: &Copied) -> Result<Stmt, PlanError> {
        let staged = self.staged.get(k).ok_or(PlanError::Scope)?;
        let (whole, part) = (staged.whole.name.clone(), staged.part.name.clone());
        let value = Operand::Load { buffer: whole, index: copied.whole.clone(), through: None };
        Ok(Stmt::Store { buffer: part, index: copied.part.clone(), value, through: None })
    }

    /// Copies a block before it is used, on a core or by an item.
    fn copied_in(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, Which::Own)?;
        let mut all = Vec::new();
        if !copied.inside.is_empty() {
            let clear = self.clear(k, &copied)?;
            all.push(copied.loops.iter().rev().fold(clear, |body, (number, rounds)| {
                self.counted(*number, [Expr::int(0), literal(*rounds)], vec![body])
            }));
        }
        let one = match self.staged.get(k) {
            // What is written holds what was there before.
            Some(staged) if staged.is_written => self.back(k, &copied)?,
            _ => self.copy(k, &copied)?,
        };
        all.extend(self.bounded(copied, one)?);
        Ok(all)
    }

    /// Copies a block after it is written.
    fn copied_out(&mut self, k: usize) -> Result<Vec<Stmt>, PlanError> {
        let copied = self.copied(k, Which::Own)?;
        let one = self.copy(k, &copied)?;
        self.bounded(copied, one)
    }

    /// The loops of a copy over the elements that there are.
    fn bounded(&self, copied: Copied, one: Stmt) -> Result<Vec<Stmt>, PlanError> {
        let Copied { loops, before, inside, .. } = copied;
        let when = |conditions: &[Comparison], body: Vec<Stmt>| {
            if conditions.is_empty() {
                return Ok(body);
            }
            let condition = condition(conditions, &|var| self.scope(var))?;
            let otherwise = Vec::new();
            Ok::<_, PlanError>(vec![Stmt::If { condition, is_usual: false, body, otherwise }])
        };
        let mut body = vec![one];
        for (number, rounds) in loops.iter().rev() {
            let is_own = |condition: &&Comparison| self.mentioned(condition).contains(number);
            let own: Vec<Comparison> = inside.iter().filter(is_own).cloned().collect();
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
        let is_left = |condition: &&Comparison| {
            let all = self.mentioned(condition);
            !loops.iter().any(|(number, _)| all.contains(number))
        };
        let left: Vec<Comparison> = inside.iter().filter(is_left).cloned().collect();
        Ok(before.into_iter().chain(when(&left, body)?).collect())
    }

    fn counted(&self, number: usize, [from, to]: [Expr; 2], body: Vec<Stmt>) -> Stmt {
        let name = self.names.get(number).cloned().unwrap_or_default();
        Stmt::For { name, from, to, step: 1, parallel: false, body }
    }
}

fn literal(rounds: i128) -> Expr {
    Expr::int(i64::try_from(rounds).unwrap_or(i64::MAX))
}
