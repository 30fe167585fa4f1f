//! Blocks of tensors that are copied near the compute: which there are, what stands in them, and where they are used.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};

use super::super::arith::sum;
use super::super::lower::PlanError;
use super::block::Block;
use super::domain::Domain;
use super::nest::Nest;
use super::order::Order;
use super::value::{convert, float_constant, integer_constant, scalar};
use super::{Bound, Runs};
use crate::base::dtype::Dtype;
use crate::ir::{LoopKind, Stmt, Storage, Value};
use crate::machine::{CPU, GPU};
use crate::model::compute::{BufferRef, Statement, TileCache, TypedExpr, TypedExprKind};

/// A block of a tensor, ready to be copied.
pub(super) struct Staged<'a> {
    pub(super) cache: TileCache,
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
    pub(super) outside: Option<Value>,
    /// The loops over the axes of the block, by axis.
    pub(super) digits: Vec<usize>,
}

/// The blocks of a statement, each with its tensor and its part of the memory near.
///
/// # Errors
/// [`PlanError::Choice`] where a block is no box, or all of them are too large for where they are.
pub(super) fn staged<'a>(
    (statement, caches): (&Statement, Vec<TileCache>),
    (whole, parts): (&dyn Fn(BufferRef) -> Option<&'a Bound>, &'a [Bound]),
    (domain, order): (&mut Domain, &Order),
    runs: Runs,
) -> Result<Vec<Staged<'a>>, PlanError> {
    let mut all = Vec::new();
    for (cache, part) in caches.into_iter().zip(parts) {
        let block = Block::new(domain, order, statement, (cache.buffer, &cache.at))?;
        let at = order.place(domain, &cache.at.value);
        let at = at.and_then(|place| order.loops.get(place).copied());
        let (Some(whole), Some(block), Some(at)) = (whole(cache.buffer), block, at) else {
            continue;
        };
        all.push(Staged::new(statement, (cache, block), (whole, part), at, (domain, runs))?);
    }
    fits(&all, runs)?;
    Ok(all)
}

impl<'a> Staged<'a> {
    /// The block of a cache, with loops of its own.
    fn new(
        statement: &Statement,
        (cache, block): (TileCache, Block),
        (whole, part): (&'a Bound, &'a Bound),
        at: usize,
        (domain, runs): (&mut Domain, Runs),
    ) -> Result<Self, ExprError> {
        let is_written = statement.target == cache.buffer;
        let axes = whole.tensor.layout.logical().iter().zip(&block.extents);
        let digits = axes.map(|(axis, extent)| domain.aside(&axis.name, *extent));
        let digits = digits.collect::<Result<_, _>>()?;
        let is_shared = runs == Runs::OnItems && cache.is_shared;
        // Blocks that are used outside the reduced loops are used once by a group.
        let has_halves = cache.is_double && is_shared && domain.is_reduced(at);
        let outside = outside(statement, &cache, whole.tensor.dtype);
        Ok(Self { cache, block, whole, part, at, is_written, has_halves, outside, digits })
    }

    /// How many elements the block has.
    pub(super) fn elements(&self) -> i64 {
        let elements = self.part.tensor.layout.physical_elements().as_const();
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
        domain.at(self.part.tensor.layout.offset(), &inside)
    }
}

/// What all reads of a tensor have in the place of what lies outside; `None` where that differs, or no element of the block can be
/// it.
fn outside(statement: &Statement, cache: &TileCache, dtype: Dtype) -> Option<Value> {
    let reads = statement.value.reads();
    let mut found: Vec<&TypedExpr> = Vec::new();
    for read in reads.iter().filter(|read| read.buffer == cache.buffer) {
        found.extend(read.outside.as_ref().map(|outside| &outside.value));
    }
    let (first, others) = found.split_first()?;
    if others.iter().any(|other| other != first) || first.ty != dtype.scalar.compute_type() {
        return None;
    }
    let (number, is_zero) = match &first.kind {
        TypedExprKind::Float(float) => (float_constant(first.ty, *float), *float == 0.0),
        TypedExprKind::Integer(integer) => (integer_constant(first.ty, *integer), *integer == 0),
        _ => return None,
    };
    (is_zero || dtype == scalar(first.ty)).then(|| convert(number, scalar(first.ty), dtype))
}

/// Refuses blocks that are too large for where they are.
fn fits(staged: &[Staged<'_>], runs: Runs) -> Result<(), PlanError> {
    let Some(first) = staged.first() else { return Ok(()) };
    let is_shared = runs == Runs::OnItems && first.cache.is_shared;
    let (most, home) = if is_shared {
        (GPU.shared_bytes, "a work group shares")
    } else {
        (CPU.block_stack_bytes, "of blocks go on a stack")
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

/// The outermost loops of a copy, on all cores where they are at hand.
fn shared(mut copy: Vec<Stmt>, is_shared: bool) -> Vec<Stmt> {
    for stmt in &mut copy {
        if let Stmt::For { kind, .. } = stmt
            && is_shared
        {
            *kind = LoopKind::Parallel;
        }
    }
    copy
}

impl Nest<'_> {
    /// The blocks that are used in a round of a loop.
    pub(super) fn blocks_at(&self, number: usize) -> Vec<usize> {
        let all = self.staged.iter().enumerate();
        all.filter(|(_, staged)| staged.at == number).map(|(k, _)| k).collect()
    }

    /// The body of a loop with the blocks that are used in a round of it.
    pub(super) fn with_blocks(
        &mut self,
        number: usize,
        body: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        // Cores that share loops inside share the copying too: each round has elements of its own.
        let is_shared = body.iter().any(Stmt::is_parallel);
        for k in self.blocks_at(number) {
            let Some(staged) = self.staged.get(k) else { continue };
            let (name, element) = (staged.part.name.clone(), staged.part.tensor.dtype.to_string());
            let elements = staged.elements().max(1);
            let (is_written, whole) = (staged.is_written, staged.whole.name.clone());
            let storage = match self.runs {
                Runs::OnCores(_) => {
                    Storage::Restrict { memory: self.namer.name(&format!("{whole}_memory")) }
                }
                Runs::OnItems => Storage::Private,
            };
            before.push(Stmt::Allocate { name, element, elements, storage });
            if !is_written || self.statement.accumulate {
                before.push(Stmt::Comment { text: format!("A block of {whole}.") });
                before.extend(shared(self.copied_in(k)?, is_shared));
            }
            if is_written {
                after.push(Stmt::Comment { text: format!("The block goes to {whole}.") });
                after.extend(shared(self.copied_out(k)?, is_shared));
            }
        }
        Ok(before.into_iter().chain(body).chain(after).collect())
    }
}
