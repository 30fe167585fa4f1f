//! Distribution of the loops of a statement over the threads of a GPU.

use crate::loops::ExecutionModel;
use crate::loops::buffers::{KernelBuffer, bound};
use crate::loops::error::PlanError;
use crate::loops::heuristics::gpu_tile;
use crate::loops::order::MAX_REGISTER_TILE;
use crate::loops::order::refused;
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::loops::staged_tile::StagedTile;
use crate::machine::GPU;
use crate::model::compute::{KernelInstance, Statement};

/// Distribution of the loops of a statement over the threads of a GPU. Loops are given by their numbers, outermost
/// first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ThreadMapping {
    /// Each thread executes one iteration of all loops before the first reduced one, which are these.
    Threads(Vec<usize>),
    /// The threads of a block execute one iteration of the outer loops together, and share staging buffers.
    Blocks(BlockMapping),
}

/// Distribution of a statement's loops over thread blocks and threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockMapping {
    /// Loops whose iterations are distributed over thread blocks.
    pub(crate) outer: Vec<usize>,
    /// Loops whose iterations are distributed over the threads of a thread block.
    pub(crate) threads: Vec<usize>,
    /// Reduced loops, which every thread executes in full.
    pub(crate) reduced: Vec<usize>,
    /// Number of iterations that are distributed over the threads: the product of the trip counts of `threads`.
    pub(crate) iterations: i64,
    /// Number of threads along each loop of `threads` in a reduction: each thread has a register tile, and adjacent
    /// iterations belong to adjacent threads. If `None`, each thread executes every n-th iteration, n being the number
    /// of threads.
    pub(crate) grid: Option<Vec<i64>>,
}

impl BlockMapping {
    /// Number of iterations of each thread, rounded up.
    pub(crate) fn thread_iterations(&self) -> i64 {
        self.iterations.saturating_add(GPU.threads - 1).div_euclid(GPU.threads)
    }
}

impl ThreadMapping {
    /// Mapping of the statement with the schedule `planned`: thread blocks if a cache is in shared memory. `buffers` has
    /// the operands and intermediates of `compute`.
    ///
    /// # Errors
    /// [`PlanError::Choice`] if a tile cannot be cached, a cache is at an outer loop other than the innermost one, the
    /// number of iterations to distribute over threads is not constant or exceeds [`MAX_REGISTER_TILE`], or a thread
    /// block would use only a part of a tile. [`PlanError::Expr`] if a value overflows or an expression becomes too
    /// large.
    pub(crate) fn new(
        compute: &KernelInstance,
        statement: &Statement,
        planned: &ScheduledStatement,
        buffers: &[KernelBuffer],
    ) -> Result<Self, PlanError> {
        let whole = |buffer| bound(buffers, compute, buffer);
        let own = (compute, statement);
        let tiles = StagedTile::all(own, planned, &whole, ExecutionModel::Gpu)?;
        if planned.caches.iter().any(|cache| cache.is_shared) {
            let mut mapping = blocks(statement, planned, &tiles)?;
            if !mapping.reduced.is_empty() {
                let accesses = gpu_tile::accesses(statement, planned, &tiles, &whole)?;
                mapping.grid = gpu_tile::grid(&planned.domain, &mapping.threads, &accesses);
            }
            return Ok(Self::Blocks(mapping));
        }
        let outer = planned.order.loops.get(..planned.order.first_reduced).unwrap_or_default();
        has_tiles_of_one(outer, &tiles)?;
        Ok(Self::Threads(outer.to_vec()))
    }
}

/// Rejects a tile at a loop of `outer` other than the last with a [`PlanError::Choice`]: several threads would each hold
/// a copy of it.
fn has_tiles_of_one(outer: &[usize], tiles: &[StagedTile]) -> Result<(), PlanError> {
    let before = outer.split_last().map_or(&[][..], |(_, before)| before);
    let Some(tile) = tiles.iter().find(|tile| before.contains(&tile.at)) else { return Ok(()) };
    let at = &tile.cache.at;
    Err(refused(
        format!("an item does one element of `{}`, and its block is for several", at.value),
        "say `memory shared`, or use the block inside a loop that is reduced".to_owned(),
        &at.place,
    ))
}

/// Mapping to thread blocks, without a grid. The loops up to the innermost tile outside the reduction, or all before the
/// first reduced loop if there is no such tile, go to thread blocks; the rest of the loops that are not reduced go to
/// threads.
fn blocks(
    statement: &Statement,
    planned: &ScheduledStatement,
    tiles: &[StagedTile],
) -> Result<BlockMapping, PlanError> {
    let ScheduledStatement { domain, order, .. } = planned;
    let first = order.first_reduced;
    let places =
        tiles.iter().filter_map(|tile| order.loops.iter().position(|number| *number == tile.at));
    let last = places.filter(|place| *place < first).max();
    let cut = last.map_or(first, |place| place.saturating_add(1));
    are_of_one_block(planned, tiles, last, cut)?;
    let (outer, inner) = order.loops.split_at(cut);
    let (reduced, threads): (Vec<usize>, Vec<usize>) =
        inner.iter().partition(|number| domain.is_reduced(**number));
    let iterations = threads.iter().map(|number| domain.trip_count(*number));
    let iterations = iterations.product::<Option<i128>>().filter(|all| *all <= MAX_REGISTER_TILE);
    let Some(iterations) = iterations.and_then(|all| i64::try_from(all).ok()) else {
        let at = statement.caches.first().map(|cache| &cache.at);
        return Err(refused(
            format!(
                "the threads of a thread block share at most {MAX_REGISTER_TILE} iterations of the inner loops"
            ),
            "tile the loops: `tile i j by=\"16 16\"`".to_owned(),
            at.map_or(&statement.place, |at| &at.place),
        ));
    };
    Ok(BlockMapping { outer: outer.to_vec(), threads, reduced, iterations, grid: None })
}

/// Rejects tiles of which a thread block would use only a part: written tiles of loops outside the reduction other than
/// the one at position `last`, the innermost with a tile there, and tiles inside the reduction if the loops from position
/// `cut`, which threads share, include loops outside it.
///
/// # Errors
/// [`PlanError::Choice`], located at the loop of the cache.
fn are_of_one_block(
    planned: &ScheduledStatement,
    tiles: &[StagedTile],
    last: Option<usize>,
    cut: usize,
) -> Result<(), PlanError> {
    let ScheduledStatement { domain, order, .. } = planned;
    let first = order.first_reduced;
    for tile in tiles {
        let place = order.loops.iter().position(|number| *number == tile.at);
        let is_near = place.is_some_and(|place| place < first);
        let is_part = is_near && tile.is_written && place != last;
        if is_part || (!is_near && cut < first) {
            let at = &tile.cache.at;
            let name = domain.loops.get(*order.loops.get(cut.saturating_sub(1)).unwrap_or(&0));
            let name = name.map_or("", |found| found.name.as_str());
            return Err(refused(
                format!(
                    "a thread block executes one iteration of `{name}`, and a part of the block of `{}`",
                    at.value
                ),
                "use all blocks inside the same loop, or tile the loops between them".to_owned(),
                &at.place,
            ));
        }
    }
    Ok(())
}
