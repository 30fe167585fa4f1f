//! Register tile of each thread of a thread block: the threads form a grid over the elements of the block's output
//! tile, and a thread reads each operand element once for all its elements that use it.

use crate::loops::access::AffineAccess;
use crate::loops::buffers::KernelBuffer;
use crate::loops::domain::IterationDomain;
use crate::loops::error::PlanError;
use crate::loops::reads::{StatementReads, index};
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::loops::staged_tile::StagedTile;
use crate::machine::GPU;
use crate::model::compute::{BufferRef, Statement};

/// Accesses of an iteration of a statement: the target, then the reads of its value, in the buffers of the tiles where
/// there are such.
pub(crate) fn accesses<'b>(
    statement: &'b Statement,
    ScheduledStatement { domain, .. }: &ScheduledStatement,
    tiles: &[StagedTile],
    whole: &dyn Fn(BufferRef) -> Option<&'b KernelBuffer>,
) -> Result<Vec<AffineAccess>, PlanError> {
    let tile_of = |buffer| tiles.iter().find(|tile| tile.cache.buffer == buffer);
    let written: Vec<_> = domain.axes.iter().take(statement.written_axes).cloned().collect();
    let mut offsets = vec![match tile_of(statement.target) {
        Some(tile) => tile.offset(&written, domain)?,
        None => domain.offset.clone(),
    }];
    let sight = StatementReads::of(statement, whole);
    for (read, _) in sight.reads.iter().filter(|(read, _)| whole(read.buffer).is_some()) {
        offsets.push(match tile_of(read.buffer) {
            Some(tile) => tile.offset(&index(read, domain)?, domain)?,
            None => sight.offset(read, domain)?,
        });
    }
    Ok(offsets.iter().map(|offset| AffineAccess::of(offset, domain)).collect::<Result<_, _>>()?)
}

/// Numbers of threads along the loops `loops` with the least cost, the result of `cost`. `accesses` are the result of
/// [`accesses`]. `None` if no grid of `GPU.threads` threads divides the trip counts, or if a trip count is not
/// constant.
pub(crate) fn grid(
    domain: &IterationDomain,
    loops: &[usize],
    accesses: &[AffineAccess],
) -> Option<Vec<i64>> {
    let extents = loops.iter().map(|number| domain.trip_count(*number));
    let extents: Vec<i64> =
        extents.map(|rounds| i64::try_from(rounds?).ok()).collect::<Option<_>>()?;
    let mut best: Option<(i64, Vec<i64>)> = None;
    for threads in grids(&extents, GPU.threads) {
        let cost = cost((domain, accesses), loops, &extents, &threads)?;
        // Of grids with equal cost, the first has the most threads along the last loop.
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, threads));
        }
    }
    best.map(|(_, threads)| threads)
}

/// Cost of a grid with `threads` threads along the loops `loops` of the trip counts `extents`: the number of elements
/// that a thread reads per iteration of the reduction. If stores would not be coalesced, with fewer than
/// `GPU.sector_elements` threads along the output's unit-stride loop, the number of elements of the tile is added.
/// `None` if a number overflows.
fn cost(
    (domain, accesses): (&IterationDomain, &[AffineAccess]),
    loops: &[usize],
    extents: &[i64],
    threads: &[i64],
) -> Option<i64> {
    let rounds = |number: usize| {
        let k = loops.iter().position(|other| *other == number)?;
        extents.get(k)?.checked_div(*threads.get(k)?)
    };
    let (target, reads) = accesses.split_first()?;
    let mut all = 0_i64;
    for access in reads {
        let mut mentioned = domain.mentioned(&access.rest);
        mentioned.extend(access.strides.iter().map(|(number, _)| *number));
        mentioned.sort_unstable();
        mentioned.dedup();
        let own = mentioned.into_iter().filter_map(rounds);
        all = all.checked_add(own.product())?;
    }
    let is_next = |number: &usize| {
        target.strides.iter().any(|(other, step)| other == number && step.as_const() == Some(1))
    };
    let run = loops.iter().position(is_next).and_then(|k| threads.get(k));
    let apart = run.is_some_and(|run| *run < GPU.sector_elements);
    all.checked_add(if apart { extents.iter().product() } else { 0 })
}

/// Grids of `threads` threads, a power of two, over loops with the trip counts `extents`: the numbers of threads along
/// each loop, powers of two that divide the trip counts and multiply to `threads`. Grids with more threads along the last
/// loop come first.
fn grids(extents: &[i64], threads: i64) -> Vec<Vec<i64>> {
    let Some((extent, rest)) = extents.split_first() else {
        return if threads == 1 { vec![Vec::new()] } else { Vec::new() };
    };
    let mut all = Vec::new();
    let mut own = 1_i64;
    while own <= threads && extent.checked_rem(own) == Some(0) {
        let others = grids(rest, threads.div_euclid(own));
        all.extend(others.into_iter().map(|others| [vec![own], others].concat()));
        own = own.saturating_mul(2);
    }
    all
}
