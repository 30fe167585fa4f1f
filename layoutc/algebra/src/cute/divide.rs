//! Division: A cut into tiles, the tile first, then the tiles.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::complement::{covered, places};
use super::compose::{by_mode, composed_within};
use super::error::{CuteError, Note};
use super::layout::{Layout, Node};
use super::{Answer, Tiler};

/// How the modes of a division are gathered; of A with modes M, N and tiles of m, n:
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Division {
    /// `((m,M/m),(n,N/n))`
    Logical,
    /// `((m,n),(M/m,N/n))`
    Zipped,
    /// `((m,n),M/m,N/n)`
    Tiled,
    /// `(m,n,M/m,N/n)`
    Flat,
}

/// What becomes of a tiler that does not divide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// It is refused.
    Refuse,
    /// The last tile goes on past the elements that exist, as CuTe's does, and a note says how far.
    Pad,
}

/// A by a tiler: the same elements in another order, as many as before. Modes without a tiler stay among the rest.
///
/// # Errors
/// [`CuteError::Rounds`] where tiles would cover elements that do not exist, [`CuteError::Repeats`] for a tiler with a
/// stride of 0, [`CuteError::Overlap`] and [`CuteError::Uncovered`] for one whose copies do not lie side by side, and
/// the errors of [`super::compose_by`].
pub fn divide(
    a: &Layout,
    tiler: &Tiler,
    kind: Division,
    rounding: Rounding,
) -> Result<Answer, CuteError> {
    if kind == Division::Logical {
        return logical(a, tiler, rounding);
    }
    let ((tile, rest), notes) = zipped(a, tiler, rounding)?;
    let mut nodes = match kind {
        Division::Flat => tile.parts().to_vec(),
        Division::Logical | Division::Zipped | Division::Tiled => vec![tile],
    };
    match kind {
        Division::Logical | Division::Zipped => nodes.push(rest),
        Division::Tiled | Division::Flat => nodes.extend_from_slice(rest.parts()),
    }
    Ok(Answer { layout: Layout::from_node(Node::List(nodes))?, notes })
}

fn logical(a: &Layout, tiler: &Tiler, rounding: Rounding) -> Result<Answer, CuteError> {
    match tiler {
        Tiler::Whole(tiler) => by_layout(a, tiler, rounding),
        Tiler::Modes(tilers) => by_mode(a, tilers, |mode, tiler| logical(mode, tiler, rounding)),
    }
}

fn by_layout(a: &Layout, tiler: &Layout, rounding: Rounding) -> Result<Answer, CuteError> {
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
        if rounding == Rounding::Refuse {
            let tiler = Box::new(tiler.clone());
            return Err(CuteError::Rounds { size_in, size_out, tiler });
        }
        notes.push(Note::Rounded { size_in, size_out });
    }
    let by = Layout::from_node(Node::List(vec![tiler.node().clone(), rest.node().clone()]))?;
    let layout = composed_within(a, &by)?;
    Ok(Answer { layout, notes })
}

type Parts = ((Node, Node), Vec<Note>);

/// The tile, and the rest.
fn zipped(a: &Layout, tiler: &Tiler, rounding: Rounding) -> Result<Parts, CuteError> {
    let tilers = match tiler {
        Tiler::Whole(tiler) => {
            let Answer { layout, notes } = by_layout(a, tiler, rounding)?;
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
                let ((tile, rest), said) = zipped(mode, tiler, rounding)?;
                tiles.push(tile);
                rests.push(rest);
                notes.extend(said);
            }
            Some(None) => {
                tiles.push(Layout::unit().node().clone());
                rests.push(mode.node().clone());
            }
            None => rests.push(mode.node().clone()),
        }
    }
    Ok(((Node::List(tiles), Node::List(rests)), notes))
}

/// The two parts of a layout by a tiler.
fn halves(node: &Node) -> (Node, Node) {
    match node.parts() {
        [tile, rest] => (tile.clone(), rest.clone()),
        _ => (node.clone(), Layout::unit().node().clone()),
    }
}
