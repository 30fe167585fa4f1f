//! Staging buffers of a statement: the tiles of tensors that they hold, and the loops in which the tiles are used.

use layoutc_algebra::expr::{Expr as Algebra, ExprError};

use crate::base::dtype::Dtype;
use crate::ir::{LoopKind, Stmt, Storage, Value};
use crate::loops::ExecutionModel;
use crate::loops::arith::sum;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::footprint::Block;
use crate::loops::order::Order;
use crate::lower::kernel::buffers::BufferBinding;
use crate::lower::kernel::nest::Nest;
use crate::lower::kernel::value::{convert, float_constant, integer_constant};
use crate::machine::{CPU, GPU};
use crate::model::compute::{BufferRef, Statement, TileCache, TypedExpr, TypedExprKind};

/// Tile of a tensor with its staging buffer.
pub(crate) struct StagingBuffer<'a> {
    /// Cache of the manifest or of the planner.
    pub(crate) cache: TileCache,
    /// First index and extents of the tile in the tensor.
    pub(crate) block: Block,
    /// Buffer of the tensor.
    pub(crate) whole: &'a BufferBinding,
    /// Staging buffer that holds the tile.
    pub(crate) part: &'a BufferBinding,
    /// Number of the loop in each iteration of which the tile is copied and used.
    pub(crate) at: usize,
    /// True if the statement writes the tensor, so that the tile is copied out after its use.
    pub(crate) is_written: bool,
    /// True for double buffering: the next tile is copied into one half of the buffer while the other half is used.
    pub(crate) has_halves: bool,
    /// Constant that the tile holds for elements outside the tensor, the boundary value of all reads of the tensor that
    /// have one; `None` if there is no such constant, or the element type cannot hold it.
    pub(crate) outside: Option<Value>,
    /// Numbers of the copy loops, one for each axis of the tile.
    pub(crate) digits: Vec<usize>,
}

/// Staging buffers of the tiles `caches` of a statement, in their order. `whole` returns the buffer of a tensor,
/// `parts` are the buffers of the tiles, in the order of `caches`. A tile whose tensor or loop the statement does not
/// have is omitted. Adds the copy loops to `domain`.
///
/// # Errors
/// [`PlanError::Choice`] if a tile is not a box of constant size or cannot be at its loop, a tensor has a buffer for
/// one iteration of a loop, or all tiles together exceed their memory. [`PlanError::Expr`] if a value overflows or an
/// expression becomes too large.
pub(crate) fn staged<'a>(
    (statement, caches): (&Statement, Vec<TileCache>),
    (whole, parts): (&dyn Fn(BufferRef) -> Option<&'a BufferBinding>, &'a [BufferBinding]),
    (domain, order): (&mut IterationDomain, &Order),
    processor: ExecutionModel,
) -> Result<Vec<StagingBuffer<'a>>, PlanError> {
    let mut all = Vec::new();
    for (cache, part) in caches.into_iter().zip(parts) {
        let block = Block::new(domain, order, statement, (cache.buffer, &cache.at))?;
        let at = order.place(domain, &cache.at.value);
        let at = at.and_then(|place| order.loops.get(place).copied());
        let (Some(whole), Some(block), Some(at)) = (whole(cache.buffer), block, at) else {
            continue;
        };
        if whole.buffer.iteration.is_some() {
            let message = format!(
                "`{}` has a buffer for each iteration of a loop, and is not cached",
                whole.tensor().name
            );
            let help = "remove this directive".to_owned();
            return Err(PlanError::Choice { message, help, place: cache.at.place });
        }
        all.push(StagingBuffer::new(
            statement,
            (cache, block),
            (whole, part),
            at,
            (domain, processor),
        )?);
    }
    fits(&all, processor)?;
    Ok(all)
}

impl<'a> StagingBuffer<'a> {
    /// Staging buffer of the tile `block` of a cache at the loop `at`. Adds the copy loops to `domain`.
    fn new(
        statement: &Statement,
        (cache, block): (TileCache, Block),
        (whole, part): (&'a BufferBinding, &'a BufferBinding),
        at: usize,
        (domain, processor): (&mut IterationDomain, ExecutionModel),
    ) -> Result<Self, ExprError> {
        let is_written = statement.target == cache.buffer;
        let axes = whole.tensor().layout.logical().iter().zip(&block.extents);
        let digits = axes.map(|(axis, extent)| domain.add_copy_loop(&axis.name, *extent));
        let digits = digits.collect::<Result<_, _>>()?;
        let is_shared = processor == ExecutionModel::Gpu && cache.is_shared;
        // A tile used outside the reduced loops is used once by a thread block.
        let has_halves = cache.is_double && is_shared && domain.is_reduced(at);
        let outside = outside(statement, &cache, whole.tensor().dtype);
        Ok(Self { cache, block, whole, part, at, is_written, has_halves, outside, digits })
    }

    /// Number of elements of the tile, padding included.
    pub(crate) fn elements(&self) -> i64 {
        let elements = self.part.tensor().layout.physical_elements().as_const();
        elements.and_then(|elements| i64::try_from(elements).ok()).unwrap_or(0)
    }

    /// Offset in the staging buffer, in elements, of the tensor's element with the logical index `index`, over the
    /// loops of `domain`.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn offset(
        &self,
        index: &[Algebra],
        domain: &IterationDomain,
    ) -> Result<Algebra, ExprError> {
        let inside = index
            .iter()
            .zip(&self.block.begin)
            .map(|(index, begin)| domain.facts.simplify(&sum(index, &Algebra::negate(begin)?)?));
        let inside = inside.collect::<Result<Vec<_>, _>>()?;
        domain.at(self.part.tensor().layout.offset(), &inside)
    }
}

/// Constant that all reads of the cached tensor with a boundary condition have for elements outside, converted to
/// `dtype`. `None` if no read has a boundary condition, the values differ or are no number constants, their type is not
/// the compute type of `dtype`, or a nonzero value is of another type than `dtype`.
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
    (is_zero || dtype == first.ty.element()).then(|| convert(number, first.ty.element(), dtype))
}

/// Checks that the staging buffers fit the shared memory of a GPU if thread blocks share them, and otherwise the limit
/// for blocks on a stack; a [`PlanError::Choice`] if they do not.
fn fits(staged: &[StagingBuffer<'_>], processor: ExecutionModel) -> Result<(), PlanError> {
    let Some(first) = staged.first() else { return Ok(()) };
    let is_shared = processor == ExecutionModel::Gpu && first.cache.is_shared;
    let (most, home) = if is_shared {
        (GPU.shared_bytes, "a thread block shares")
    } else {
        (CPU.block_stack_bytes, "of blocks go on a stack")
    };
    let bytes = |one: &StagingBuffer<'_>| {
        let size = i128::from(one.part.tensor().dtype.element_bits().div_ceil(8));
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

/// Statements `copy`; with `is_shared`, their outermost loops become parallel.
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
    /// Positions in `staged` of the staging buffers that are used in each iteration of the loop `number`.
    pub(crate) fn blocks_at(&self, number: usize) -> Vec<usize> {
        let all = self.staged.iter().enumerate();
        all.filter(|(_, staged)| staged.at == number).map(|(k, _)| k).collect()
    }

    /// Body of the loop `number`, enclosed by the declarations, copy-in and copy-out of the staging buffers that its
    /// iterations use.
    pub(crate) fn with_blocks(
        &mut self,
        number: usize,
        body: Vec<Stmt>,
    ) -> Result<Vec<Stmt>, PlanError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        // If a loop inside is parallel, the copy is too: its iterations write different elements.
        let is_shared = body.iter().any(Stmt::is_parallel);
        for k in self.blocks_at(number) {
            let Some(staged) = self.staged.get(k) else { continue };
            let (name, dtype) = (staged.part.name.clone(), staged.part.tensor().dtype);
            let elements = staged.elements().max(1);
            let (is_written, whole) = (staged.is_written, staged.whole.name.clone());
            let storage = match self.processor {
                ExecutionModel::Cpu(_) => {
                    Storage::Restrict { memory: self.namer.name(&format!("{whole}_memory")) }
                }
                ExecutionModel::Gpu => Storage::Private,
            };
            before.push(Stmt::Allocate { name, dtype, elements, storage });
            if !is_written || self.accumulates_into_output {
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
