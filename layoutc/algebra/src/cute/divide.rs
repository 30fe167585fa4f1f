//! Division of CuTe layouts: A is split into tiles. The result has the modes of the tile and the modes of the grid of
//! tiles, grouped by a [`DivisionGrouping`].

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::complement::{covered, places};
use super::compose::{by_mode, inner_composition};
use super::error::{CuteError, CuteNote};
use super::layout::{CuteLayout, ModeTree};
use super::{CuteOutcome, Tiler};

/// Grouping of the modes of a division, for A with modes M, N and tiles of extents m, n. If the tiler is a single
/// layout for all of A, `Logical` and `Zipped` both group as `(tile, grid)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivisionGrouping {
    /// Tile and grid of each mode together: `((m,M/m),(n,N/n))`.
    Logical,
    /// Modes of the tile in one group, modes of the grid in another: `((m,n),(M/m,N/n))`.
    Zipped,
    /// Modes of the tile in one group, followed by the modes of the grid: `((m,n),M/m,N/n)`.
    Tiled,
    /// All modes without groups, those of the tile first: `(m,n,M/m,N/n)`.
    Flat,
}

/// Treatment of a tiler whose tiles do not divide the number of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemainderPolicy {
    /// The division fails with [`CuteError::Rounds`].
    Refuse,
    /// The last tile is extended past the existing elements, as in CuTe, and a [`CuteNote::Rounded`] reports the
    /// extension.
    Pad,
}

/// Divides A into tiles. The modes of the result are those of the tile and those of the grid of tiles, grouped as
/// `kind` states. The result is a permutation of the elements of A if the tiler divides their number; otherwise
/// `rounding` decides between an error and padding. Modes without a tiler belong to the grid; with
/// [`DivisionGrouping::Logical`], they are unchanged.
///
/// # Errors
/// [`CuteError::Rounds`] if tiles would cover elements that do not exist and `rounding` is [`RemainderPolicy::Refuse`];
/// [`CuteError::Repeats`] for a tiler with a mode of stride 0 and an extent above 1; [`CuteError::Overlap`] for a tiler
/// whose modes interleave, [`CuteError::Uncovered`] for one whose copies leave holes; [`CuteError::Rank`] if there are
/// more tilers than modes of A; [`CuteError::InnerComposition`] if the composition of A after the tiler and its
/// complement has no result; [`CuteError::Size`] and [`CuteError::Depth`] if the result exceeds their limits.
pub fn divide(
    a: &CuteLayout,
    tiler: &Tiler,
    kind: DivisionGrouping,
    rounding: RemainderPolicy,
) -> Result<CuteOutcome, CuteError> {
    if kind == DivisionGrouping::Logical {
        return logical(a, tiler, rounding);
    }
    let ((tile, rest), notes) = zipped(a, tiler, rounding)?;
    let mut nodes = match kind {
        DivisionGrouping::Flat => tile.parts().to_vec(),
        DivisionGrouping::Logical | DivisionGrouping::Zipped | DivisionGrouping::Tiled => {
            vec![tile]
        }
    };
    match kind {
        DivisionGrouping::Logical | DivisionGrouping::Zipped => nodes.push(rest),
        DivisionGrouping::Tiled | DivisionGrouping::Flat => nodes.extend_from_slice(rest.parts()),
    }
    Ok(CuteOutcome { layout: CuteLayout::from_node(ModeTree::List(nodes))?, notes })
}

fn logical(
    a: &CuteLayout,
    tiler: &Tiler,
    rounding: RemainderPolicy,
) -> Result<CuteOutcome, CuteError> {
    match tiler {
        Tiler::Whole(tiler) => by_layout(a, tiler, rounding),
        Tiler::Modes(tilers) => by_mode(a, tilers, |mode, tiler| logical(mode, tiler, rounding)),
    }
}

fn by_layout(
    a: &CuteLayout,
    tiler: &CuteLayout,
    rounding: RemainderPolicy,
) -> Result<CuteOutcome, CuteError> {
    let size_in = a.size();
    if let Some(mode) = tiler.flat().into_iter().find(|mode| mode.extent > 1 && mode.stride == 0) {
        return Err(CuteError::Repeats { mode });
    }
    let rest = places(tiler, size_in)?;
    let element = covered(tiler, &rest)?;
    if element < size_in {
        let peer = Box::new(rest);
        return Err(CuteError::Uncovered { element, cotarget: size_in, peer });
    }
    let size_out = tiler.size().checked_mul(rest.size()).ok_or(CuteError::Size)?;
    let mut notes = Vec::new();
    if size_out != size_in {
        if rounding == RemainderPolicy::Refuse {
            let tiler = Box::new(tiler.clone());
            return Err(CuteError::Rounds { size_in, size_out, tiler });
        }
        notes.push(CuteNote::Rounded { size_in, size_out });
    }
    let by =
        CuteLayout::from_node(ModeTree::List(vec![tiler.node().clone(), rest.node().clone()]))?;
    let layout = inner_composition(a, &by)?;
    Ok(CuteOutcome { layout, notes })
}

type DivisionResult = ((ModeTree, ModeTree), Vec<CuteNote>);

/// Division of A by a tiler, as `((tile, grid), notes)`: the modes of the tile, those of the grid of tiles, and the
/// notes of all divided modes.
fn zipped(
    a: &CuteLayout,
    tiler: &Tiler,
    rounding: RemainderPolicy,
) -> Result<DivisionResult, CuteError> {
    let tilers = match tiler {
        Tiler::Whole(tiler) => {
            let CuteOutcome { layout, notes } = by_layout(a, tiler, rounding)?;
            return Ok((halves(layout.node()), notes));
        }
        Tiler::Modes(tilers) => tilers,
    };
    let modes = a.modes();
    if tilers.len() > modes.len() {
        return Err(CuteError::Rank { given: tilers.len(), modes: modes.len() });
    }
    let (mut tiles, mut rests, mut notes) = (Vec::new(), Vec::new(), Vec::new());
    for (k, mode) in modes.iter().enumerate() {
        match tilers.get(k) {
            Some(Some(tiler)) => {
                let ((tile, rest), more) = zipped(mode, tiler, rounding)?;
                tiles.push(tile);
                rests.push(rest);
                notes.extend(more);
            }
            Some(None) => {
                tiles.push(CuteLayout::unit().node().clone());
                rests.push(mode.node().clone());
            }
            None => rests.push(mode.node().clone()),
        }
    }
    Ok(((ModeTree::List(tiles), ModeTree::List(rests)), notes))
}

/// Mode trees `(tile, grid)` of `node`, the result of `by_layout`: its two modes. If it does not consist of two modes,
/// the whole tree is the tile, and the grid is `1:0`.
fn halves(node: &ModeTree) -> (ModeTree, ModeTree) {
    match node.parts() {
        [tile, rest] => (tile.clone(), rest.clone()),
        _ => (node.clone(), CuteLayout::unit().node().clone()),
    }
}
