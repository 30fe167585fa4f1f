//! Products of CuTe layouts: disjoint copies of A, in the order of B.

use alloc::vec;
use alloc::vec::Vec;

use super::coalesce::coalesce;
use super::complement::{self, by_stride, covered, places};
use super::compose::{by_mode, inner_composition};
use super::error::{CuteError, CuteNote};
use super::layout::{CuteLayout, ModeTree};
use super::{CuteOutcome, Tiler};

/// Grouping of the modes of a product, for A with modes m, n and B with modes M, N.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProductGrouping {
    /// For a single layout B, modes of A in one group, modes of the copies in a second one: `((m,n),(M,N))`. For a
    /// tiler of modes, each mode of A in a group with its own copies: `((m,M),(n,N))`.
    Logical,
    /// Modes of A in one group, modes of the copies in a second one, also for a tiler of modes: `((m,n),(M,N))`.
    Zipped,
    /// Modes of A in one group, followed by the modes of the copies: `((m,n),M,N)`.
    Tiled,
    /// Blocks side by side: `((m,M),(n,N))`, with each pair coalesced.
    Blocked,
    /// Blocks interleaved: `((M,m),(N,n))`, with each pair coalesced.
    Raked,
}

/// Product of A and B: index `i` of B selects copy number `B(i)` of A, where copy 0 is A and all copies are disjoint.
/// Two indices of B with the same offset select the same copy. With a tiler of modes, each mode of A is multiplied
/// separately, and a note reports that modes interleave.
///
/// # Errors
/// [`CuteError::Overlap`] if modes of A interleave, so that copies of A may share elements; [`CuteError::Rank`] if
/// there are more tilers than modes of A; [`CuteError::Tiler`] for a blocked or raked product with a tiler of modes;
/// [`CuteError::InnerComposition`] if the composition of the complement, the offsets of the copies, after B has no
/// layout; [`CuteError::Size`] and [`CuteError::Depth`] if the result exceeds their limits.
pub fn product(a: &CuteLayout, b: &Tiler, kind: ProductGrouping) -> Result<CuteOutcome, CuteError> {
    let layout = match (kind, b) {
        (ProductGrouping::Logical, _) => logical(a, b)?.layout,
        (ProductGrouping::Zipped, _) => {
            let (block, rest) = zipped(a, b)?;
            CuteLayout::from_node(ModeTree::List(vec![block, rest]))?
        }
        (ProductGrouping::Tiled, _) => {
            let (block, rest) = zipped(a, b)?;
            let mut nodes = vec![block];
            nodes.extend_from_slice(rest.parts());
            CuteLayout::from_node(ModeTree::List(nodes))?
        }
        (ProductGrouping::Blocked, Tiler::Whole(b)) => by_rank(a, b, |block, rest| [block, rest])?,
        (ProductGrouping::Raked, Tiler::Whole(b)) => by_rank(a, b, |block, rest| [rest, block])?,
        (ProductGrouping::Blocked | ProductGrouping::Raked, Tiler::Modes(_)) => {
            return Err(CuteError::Tiler);
        }
    };
    // Modes of separate products can interleave.
    let notes = match (b, covered(&layout, &CuteLayout::unit())) {
        (Tiler::Modes(_), Err(CuteError::Overlap { first, second })) => {
            vec![CuteNote::Overlap { first, second }]
        }
        _ => Vec::new(),
    };
    Ok(CuteOutcome { layout, notes })
}

fn logical(a: &CuteLayout, b: &Tiler) -> Result<CuteOutcome, CuteError> {
    match b {
        Tiler::Whole(b) => {
            let nodes = vec![a.node().clone(), copies(a, b)?.node().clone()];
            Ok(CuteOutcome {
                layout: CuteLayout::from_node(ModeTree::List(nodes))?,
                notes: Vec::new(),
            })
        }
        Tiler::Modes(parts) => by_mode(a, parts, logical),
    }
}

/// Layout of the offsets of the copies of A: index `i` of B is mapped to the offset of the copy number `B(i)`.
/// [`CuteError::Overlap`] if modes of A interleave, [`CuteError::InnerComposition`] if there is no such layout.
fn copies(a: &CuteLayout, b: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let cotarget = a.size().checked_mul(b.cosize()).ok_or(CuteError::Size)?;
    let mut places = places(a, cotarget)?;
    if places.size() < b.cosize() {
        // A has holes that no copy fills: its span exceeds its size.
        let end = by_stride(a).last().and_then(|mode| mode.end());
        let cotarget = end.and_then(|end| end.checked_mul(b.cosize())).ok_or(CuteError::Size)?;
        places = complement::places(a, cotarget)?;
    }
    // Only the check is needed: an error if modes interleave.
    covered(a, &places)?;
    inner_composition(&places, b)
}

fn zipped(a: &CuteLayout, b: &Tiler) -> Result<(ModeTree, ModeTree), CuteError> {
    let parts = match b {
        Tiler::Whole(b) => return Ok((a.node().clone(), copies(a, b)?.node().clone())),
        Tiler::Modes(parts) => parts,
    };
    let modes = a.modes();
    if parts.len() > modes.len() {
        return Err(CuteError::Rank { given: parts.len(), modes: modes.len() });
    }
    let (mut blocks, mut rests) = (Vec::new(), Vec::new());
    for (k, mode) in modes.iter().enumerate() {
        match parts.get(k) {
            Some(Some(part)) => {
                let (block, rest) = zipped(mode, part)?;
                blocks.push(block);
                rests.push(rest);
            }
            Some(None) => {
                blocks.push(CuteLayout::unit().node().clone());
                rests.push(mode.node().clone());
            }
            None => rests.push(mode.node().clone()),
        }
    }
    Ok((ModeTree::List(blocks), ModeTree::List(rests)))
}

/// Layout whose mode `k` is the coalesced pair of mode `k` of A and mode `k` of its copies in the order of B. `order`
/// takes the modes of A and of the copies, and returns them in the order of the pair. The shorter list of modes is
/// padded with `1:0`.
fn by_rank(
    a: &CuteLayout,
    b: &CuteLayout,
    order: impl Fn(ModeTree, ModeTree) -> [ModeTree; 2],
) -> Result<CuteLayout, CuteError> {
    let rank = a.modes().len().max(b.modes().len());
    let padded = |layout: &CuteLayout| {
        let mut nodes = layout.node().parts().to_vec();
        nodes.resize(rank, CuteLayout::unit().node().clone());
        nodes
    };
    let blocks = padded(a);
    let copies = copies(a, &CuteLayout::from_node(ModeTree::List(padded(b)))?)?;
    let pairs = blocks.into_iter().zip(copies.node().parts().to_vec());
    let modes = pairs.map(|(block, rest)| {
        let pair = CuteLayout::from_node(ModeTree::List(order(block, rest).to_vec()))?;
        coalesce(&pair).map(|answer| answer.layout.node().clone())
    });
    let nodes = modes.collect::<Result<Vec<_>, CuteError>>()?;
    match nodes.as_slice() {
        [node] => CuteLayout::from_node(node.clone()),
        _ => CuteLayout::from_node(ModeTree::List(nodes)),
    }
}
