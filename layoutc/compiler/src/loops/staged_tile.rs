//! Tiles of tensors that a statement uses from staging buffers.

use layoutc_algebra::expr::{Expr, ExprError};

use crate::loops::ExecutionModel;
use crate::loops::arith::sum;
use crate::loops::buffers::KernelBuffer;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::footprint::Block;
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::machine::{CPU, GPU};
use crate::model::compute::{BufferRef, KernelInstance, Statement, TileCache};

/// Tile of a tensor that each iteration of a loop uses from a staging buffer.
#[derive(Debug, Clone)]
pub(crate) struct StagedTile {
    /// Cache of the manifest or of the planner.
    pub(crate) cache: TileCache,
    /// Position of the cache in [`ScheduledStatement::caches`].
    pub(crate) position: usize,
    /// First index and extents of the tile in the tensor.
    pub(crate) block: Block,
    /// Number of the loop in each iteration of which the tile is copied and used.
    pub(crate) at: usize,
    /// True if the statement writes the tensor, so that the tile is copied out after its use.
    pub(crate) is_written: bool,
    /// True for double buffering: the next tile is copied into one half of the buffer while the other half is used.
    pub(crate) has_halves: bool,
}

impl StagedTile {
    /// Tiles of the caches of a statement with the schedule `planned`, in their order. `whole` returns the buffer of a
    /// tensor. A tile whose tensor or loop the statement does not have is omitted.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if a tile is not a box of constant size or cannot be at its loop, a tensor has a buffer for
    /// one iteration of a loop, or all tiles together exceed their memory. [`PlanError::Expr`] if a value overflows or
    /// an expression becomes too large.
    pub(crate) fn all<'b>(
        (compute, statement): (&KernelInstance, &Statement),
        planned: &ScheduledStatement,
        whole: &dyn Fn(BufferRef) -> Option<&'b KernelBuffer>,
        processor: ExecutionModel,
    ) -> Result<Vec<Self>, PlanError> {
        let ScheduledStatement { domain, order, caches, .. } = planned;
        let mut all = Vec::new();
        for (position, cache) in caches.iter().enumerate() {
            let block = Block::new(domain, order, statement, (cache.buffer, &cache.at))?;
            let at = order.place(domain, &cache.at.value);
            let at = at.and_then(|place| order.loops.get(place).copied());
            let (Some(whole), Some(block), Some(at)) = (whole(cache.buffer), block, at) else {
                continue;
            };
            if whole.iteration.is_some() {
                let message = format!(
                    "`{}` has a buffer for each iteration of a loop, and is not cached",
                    whole.tensor.name
                );
                let (help, place) = ("remove this directive".to_owned(), cache.at.place.clone());
                return Err(PlanError::Choice { message, help, place });
            }
            let is_shared = processor == ExecutionModel::Gpu && cache.is_shared;
            // A tile used outside the reduced loops is used once by a thread block.
            let has_halves = cache.is_double && is_shared && domain.is_reduced(at);
            let (cache, is_written) = (cache.clone(), statement.target == cache.buffer);
            all.push(Self { cache, position, block, at, is_written, has_halves });
        }
        fits(&all, compute, processor)?;
        Ok(all)
    }

    /// Number of elements of the tile, padding included.
    pub(crate) fn elements(&self) -> i64 {
        let elements = self.cache.block.layout.physical_elements().as_const();
        elements.and_then(|elements| i64::try_from(elements).ok()).unwrap_or(0)
    }

    /// Offset in the staging buffer, in elements, of the tensor's element with the logical index `index`, over the
    /// loops of `domain`.
    ///
    /// # Errors
    /// [`ExprError`] if a value overflows or an expression becomes too large.
    pub(crate) fn offset(
        &self,
        index: &[Expr],
        domain: &IterationDomain,
    ) -> Result<Expr, ExprError> {
        let inside = index
            .iter()
            .zip(&self.block.begin)
            .map(|(index, begin)| domain.facts.simplify(&sum(index, &Expr::negate(begin)?)?));
        let inside = inside.collect::<Result<Vec<_>, _>>()?;
        domain.at(self.cache.block.layout.offset(), &inside)
    }

    /// Size of the staging buffer in bytes, with both halves.
    fn bytes(&self) -> i128 {
        let size = i128::from(self.cache.block.dtype.element_bits().div_ceil(8));
        let halves = if self.has_halves { 2 } else { 1 };
        i128::from(self.elements()).saturating_mul(size).saturating_mul(halves)
    }
}

/// Checks that the staging buffers fit the shared memory of a GPU if thread blocks share them, and otherwise the limit
/// for blocks on a stack; a [`PlanError::Choice`] if they do not.
fn fits(
    tiles: &[StagedTile],
    compute: &KernelInstance,
    processor: ExecutionModel,
) -> Result<(), PlanError> {
    let Some(first) = tiles.first() else { return Ok(()) };
    let is_shared = processor == ExecutionModel::Gpu && first.cache.is_shared;
    let (most, home) = if is_shared {
        (GPU.shared_bytes, "a thread block shares")
    } else {
        (CPU.block_stack_bytes, "of blocks go on a stack")
    };
    let all: i128 = tiles.iter().map(StagedTile::bytes).sum();
    if all <= most {
        return Ok(());
    }
    let largest = tiles.iter().max_by_key(|one| one.bytes()).unwrap_or(first);
    let (name, at) = (compute.buffer_name(largest.cache.buffer), &largest.cache.at);
    Err(PlanError::Choice {
        message: format!("the blocks take {all} bytes, and at most {most} bytes {home}"),
        help: format!(
            "use the block of `{name}` inside a loop further in than `{}`, or smaller tiles",
            at.value
        ),
        place: at.place.clone(),
    })
}
