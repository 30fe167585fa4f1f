//! Search for XLA tiles, such as `T(8,128)(2,1)`, that produce a given layout. [`tiles`] searches for a given
//! number of tiles.

use alloc::vec;
use alloc::vec::Vec;

use super::flat::{FlatLayout, StrideGap, StridedBlock};

/// Maximum number of tiles in a tiling; a layout that needs more is not expressible.
pub(super) const MAX_TILES: usize = 3;
/// Maximum number of tilings that are tried for each buffer size and number of tiles, over all orders of the
/// dimensions. After these, the search for that number of tiles ends without a result.
pub(super) const MAX_TRIES: u32 = 4000;

/// Logical axes that are linearized and tiled as one dimension; a group may be a single axis. Groups are ordered
/// major to minor in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisGroup {
    /// Positions of the axes of the group, outermost first.
    pub(super) axes: Vec<usize>,
    /// Product of the extents of the axes; `None` if it depends on a symbol or overflows.
    pub(super) extent: Option<i128>,
}

/// Dimension of memory during the search. `g` is the linearized index of the axis group at position `group`. The index
/// of the dimension is `g // div`; within a tile it is `g // div % slots`. `slots` is the number of values of the index
/// with padding, `None` if symbolic.
#[derive(Debug, Clone, Copy)]
struct MemoryAxis {
    group: usize,
    div: i128,
    slots: Option<i128>,
}

/// Progress of the comparison of dimensions of memory with the blocks of the layout.
#[derive(Debug, Clone, Copy)]
struct TilingState {
    /// Number of blocks matched so far, in the order of descending stride.
    piece: usize,
    /// Number of elements, with padding, that one index of the last matched dimension spans: the product of the `slots`
    /// of all dimensions not matched yet. `None` if it depends on a symbol.
    slots: Option<i128>,
}

/// Finds `count` tiles that produce the layout `flat`. `groups` are the dimensions of memory, major to minor. `slots`
/// is the size of the buffer in elements, `None` if symbolic. Each tile lists its extents along the trailing
/// dimensions, major to minor. `tries` is the number of tilings that may still be tried, at first [`MAX_TRIES`]; each
/// tiling decreases it by 1. `None` if no tiles are found, or no tries are left.
pub(super) fn tiles(
    flat: &FlatLayout,
    groups: &[AxisGroup],
    slots: Option<i128>,
    count: usize,
    tries: &mut u32,
) -> Option<Vec<Vec<i128>>> {
    let whole = |(group, own): (usize, &AxisGroup)| MemoryAxis { group, div: 1, slots: own.extent };
    let runs: Vec<MemoryAxis> = groups.iter().enumerate().map(whole).collect();
    let mut search = TilingSearch { pieces: flat.pieces.iter().rev().collect(), groups, tries };
    search.search_tiles(&runs, TilingState { piece: 0, slots }, runs.len(), count)
}

struct TilingSearch<'a> {
    /// Blocks of the layout, by descending stride.
    pieces: Vec<&'a StridedBlock>,
    groups: &'a [AxisGroup],
    tries: &'a mut u32,
}

impl TilingSearch<'_> {
    /// Finds `count` tiles for `runs`, the dimensions of memory that are not matched, major to minor. The first tile
    /// has at most `length` extents. `at` is the state before the first of `runs`. `None` if no tiles are found.
    fn search_tiles(
        &mut self,
        runs: &[MemoryAxis],
        at: TilingState,
        length: usize,
        count: usize,
    ) -> Option<Vec<Vec<i128>>> {
        if count == 0 {
            let end = self.match_prefix(runs, at)?;
            let is_whole =
                end.piece == self.pieces.len() && end.slots.is_none_or(|slots| slots == 1);
            return is_whole.then(Vec::new);
        }
        for own in 1..=length.min(runs.len()) {
            let (prefix, tiled) = runs.split_at_checked(runs.len() - own)?;
            let Some(at) = self.match_prefix(prefix, at) else { continue };
            let choices: Vec<Vec<i128>> = tiled.iter().map(|run| self.extents(*run)).collect();
            let mut picked = vec![0_usize; own];
            loop {
                let tile: Vec<i128> = choices
                    .iter()
                    .zip(&picked)
                    .filter_map(|(choices, k)| choices.get(*k).copied())
                    .collect();
                *self.tries = self.tries.checked_sub(1)?;
                if let Some(mut rest) = self.tiles_after(tiled, &tile, at, count) {
                    rest.insert(0, tile);
                    return Some(rest);
                }
                if !advance(&mut picked, &choices) {
                    break;
                }
            }
        }
        None
    }

    /// Finds the `count - 1` tiles that follow `tile`, whose extents apply to the dimensions `tiled`. `at` is the state
    /// before the first of `tiled`. `None` if no tiles are found, or all extents of `tile` are 1.
    fn tiles_after(
        &mut self,
        tiled: &[MemoryAxis],
        tile: &[i128],
        at: TilingState,
        count: usize,
    ) -> Option<Vec<Vec<i128>>> {
        if tile.iter().all(|extent| *extent == 1) {
            return None;
        }
        let (mut grid, mut inner) = (Vec::new(), Vec::new());
        for (run, extent) in tiled.iter().zip(tile) {
            let up = match run.slots {
                Some(slots) => Some(slots.checked_add(extent - 1)? / extent),
                None => None,
            };
            grid.push(MemoryAxis { div: run.div.checked_mul(*extent)?, slots: up, ..*run });
            inner.push(MemoryAxis { slots: Some(*extent), ..*run });
        }
        // The next tile may include the last dimension of the grid: `T(1024)(128)(2,1)`.
        grid.extend(inner);
        self.search_tiles(&grid, at, tile.len() + 1, count - 1)
    }

    /// State after each dimension of `runs` is matched with the next block of the layout, in order, from the state
    /// `at`. `None` if a dimension differs from its block.
    fn match_prefix(&self, runs: &[MemoryAxis], mut at: TilingState) -> Option<TilingState> {
        for run in runs {
            let whole = self.groups.get(run.group)?.extent;
            if let (Some(left), Some(slots)) = (at.slots, run.slots) {
                if slots == 0 || left % slots != 0 {
                    return None;
                }
                at.slots = Some(left / slots);
            }
            // A dimension of memory with a single index corresponds to no block of the layout.
            let is_single = run.slots == Some(1) || whole.is_some_and(|whole| whole <= run.div);
            if is_single {
                continue;
            }
            let piece = self.pieces.get(at.piece)?;
            let is_here = piece.axes == self.groups.get(run.group)?.axes
                && piece.div == run.div
                && (at.slots.is_none() || piece.stride.as_const() == at.slots)
                && fills(piece, run, at.slots.is_some());
            if !is_here {
                return None;
            }
            at.piece += 1;
        }
        Some(at)
    }

    /// Candidate extents of a tile along the dimension `run`, in indices of `run`, in the order of trial:
    /// * the extents that end at a boundary between blocks of the axes of `run`;
    /// * for an axis of extent 1, the factors `room / count` by which other blocks are padded, then the smallest
    ///   stride;
    /// * 1.
    fn extents(&self, run: MemoryAxis) -> Vec<i128> {
        let mut extents = Vec::new();
        let mut add = |extent: i128| {
            if extent > 1 && !extents.contains(&extent) {
                extents.push(extent);
            }
        };
        let Some(group) = self.groups.get(run.group) else { return vec![1] };
        for piece in &self.pieces {
            let room = match piece.room {
                StrideGap::Padded(room) => Some(room),
                StrideGap::Exact | StrideGap::Unknown => None,
            };
            let count = piece.count.as_const();
            if piece.axes == group.axes {
                for end in [Some(1), count, room].into_iter().flatten() {
                    if let Some(end) = piece.div.checked_mul(end).filter(|end| end % run.div == 0) {
                        add(end / run.div);
                    }
                }
            } else if let (Some(1), Some(room), Some(count)) = (group.extent, room, count)
                && room % count == 0
            {
                add(room / count);
            }
        }
        // If the smallest stride exceeds 1, the elements below it are padding, which a tile along an axis of extent 1
        // expresses.
        if let (Some(1), Some(piece)) = (group.extent, self.pieces.last()) {
            add(piece.stride.as_const().unwrap_or(1));
        }
        extents.push(1);
        extents
    }
}

/// True if the block `piece`, with its padding, has the extent of the dimension `run`. `by_slots` is true if the caller
/// has found the stride of the block equal to the number of elements that one index of `run` spans; the result is then
/// true. Otherwise the gap of the block must be [`StrideGap::Exact`], and its count must equal `run.slots` unless that
/// is `None`.
fn fills(piece: &StridedBlock, run: &MemoryAxis, by_slots: bool) -> bool {
    if by_slots {
        return true;
    }
    let is_exact = piece.room == StrideGap::Exact;
    is_exact && (run.slots.is_none() || run.slots == piece.count.as_const())
}

/// Advances `picked`, the position of the selected element in each list of `choices`, to the next selection, the last
/// list fastest. After the last selection, returns false and sets all positions to 0.
fn advance(picked: &mut [usize], choices: &[Vec<i128>]) -> bool {
    for (k, choices) in picked.iter_mut().zip(choices).rev() {
        *k += 1;
        if *k < choices.len() {
            return true;
        }
        *k = 0;
    }
    false
}
