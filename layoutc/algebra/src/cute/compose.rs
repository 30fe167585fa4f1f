//! Composition of CuTe layouts: R with R(c) = A(B(c)) for every index c. R has the shape of B, with modes split
//! where A requires a split.
//!
//! A mode of B advances in A with a constant step until a digit of the index in A carries. There the mode must be
//! split, so the number of steps must divide its extent; the remainder is a mode with a longer stride. Hence each
//! mode has at most one possible split. R is correct for all modes together if the sum of their digits carries in no
//! digit of A; see `composition_check`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::coalesce::coalesce;
use super::composition_check::{
    Agreement, ENUMERATED, InnerMode, check_composition, steps_to_carry,
};
use super::error::{CuteError, CuteNote};
use super::flat::{CuteMode, merged, value};
use super::layout::{CuteLayout, ModeTree};
use super::{CuteOutcome, Tiler, reference};

/// Composition of A after B: the layout R with R(c) = A(B(c)) for every index c, in the shape of B. Where B reaches
/// past the size of A, the last mode of A is extended, and a note reports it. Another note reports a wrong result of
/// CuTe itself.
///
/// # Errors
/// [`CuteError::Uneven`] if a mode of B cannot be split as A requires. [`CuteError::Dependent`] if the modes of B
/// cannot be composed together: no layout of the shape of B is then A after B. [`CuteError::Unverified`] if carries
/// between digits do not decide, and there are more than [`ENUMERATED`] indices. [`CuteError::Size`] if an offset does
/// not fit its integer type, [`CuteError::Depth`] if the modes of the result nest too deep.
pub fn compose(a: &CuteLayout, b: &CuteLayout) -> Result<CuteOutcome, CuteError> {
    match composed(a, b) {
        Ok(layout) => {
            let mut notes = Vec::new();
            if b.cosize() > a.size() {
                notes.push(CuteNote::PastEnd { reach: b.cosize() - 1, size: a.size() });
            }
            notes.extend(reference::wrong_reference_result(a, b).map(CuteNote::Reference));
            Ok(CuteOutcome { layout, notes })
        }
        Err(error) => Err(explain_failure(error, a, b)),
    }
}

/// Composition of A after a tiler. Tilers of modes, [`Tiler::Modes`], are applied to the top-level modes of A one by
/// one.
///
/// # Errors
/// Errors of [`compose`], and [`CuteError::Rank`] if there are more tilers than top-level modes of A, or more nested
/// tilers than modes of the mode that they apply to.
pub fn compose_by(a: &CuteLayout, tiler: &Tiler) -> Result<CuteOutcome, CuteError> {
    match tiler {
        Tiler::Whole(b) => compose(a, b),
        Tiler::Modes(tilers) => by_mode(a, tilers, compose_by),
    }
}

/// Applies `one` to each top-level mode `k` of the layout and `parts[k]`, such as a tiler, and collects the resulting
/// modes and notes. Modes whose entry is `None` or absent are unchanged. [`CuteError::Rank`] if there are more entries
/// than modes.
pub(super) fn by_mode<T>(
    a: &CuteLayout,
    parts: &[Option<T>],
    one: impl Fn(&CuteLayout, &T) -> Result<CuteOutcome, CuteError>,
) -> Result<CuteOutcome, CuteError> {
    let modes = a.modes();
    if parts.len() > modes.len() {
        return Err(CuteError::Rank { given: parts.len(), modes: modes.len() });
    }
    let (mut nodes, mut notes) = (Vec::new(), Vec::new());
    for (k, mode) in modes.iter().enumerate() {
        match parts.get(k) {
            Some(Some(part)) => {
                let answer = one(mode, part)?;
                nodes.push(answer.layout.node().clone());
                notes.extend(answer.notes);
            }
            Some(None) | None => nodes.push(mode.node().clone()),
        }
    }
    Ok(CuteOutcome { layout: CuteLayout::from_node(ModeTree::List(nodes))?, notes })
}

/// Composition of A after B, verified for all indices. Errors are those of [`compose`], with `peer` and `merged` left
/// `None`.
pub(super) fn composed(a: &CuteLayout, b: &CuteLayout) -> Result<CuteLayout, CuteError> {
    let outer = merged(&a.flat());
    let result = CuteLayout::from_node(cut(&outer, b.node())?)?;
    let mut leaves = Vec::new();
    pair(b.node(), result.node(), &mut leaves);
    match check_composition(&outer, &leaves)? {
        Agreement::Equal => Ok(result),
        Agreement::Differs { index, right, given } => {
            Err(CuteError::Dependent { index, right, given, peer: None, merged: None })
        }
        Agreement::Unknown { size } => Err(CuteError::Unverified { size }),
    }
}

/// Mode tree of the result: the modes of the tree `node` of B, each split where A (`outer`) requires a split, with
/// strides in the offsets of A. [`CuteError::Uneven`] if a mode cannot be split there.
fn cut(outer: &[CuteMode], node: &ModeTree) -> Result<ModeTree, CuteError> {
    match node {
        ModeTree::List(list) => {
            let parts = list.iter().map(|node| cut(outer, node));
            Ok(ModeTree::List(parts.collect::<Result<_, _>>()?))
        }
        ModeTree::Mode(mode) => Ok(ModeTree::of(&cut_mode(outer, *mode)?)),
    }
}

fn cut_mode(outer: &[CuteMode], mode: CuteMode) -> Result<Vec<CuteMode>, CuteError> {
    let mut modes = Vec::new();
    let mut rest = mode;
    while rest.extent > 1 {
        let step = value(outer, rest.stride).ok_or(CuteError::Size)?;
        let run = run(outer, rest)?;
        if rest.extent % run != 0 {
            return Err(CuteError::Uneven { mode, part: rest, run, peer: None, merged: None });
        }
        modes.push(CuteMode::new(run, step));
        let stride = rest.stride.checked_mul(run).ok_or(CuteError::Size)?;
        rest = CuteMode::new(rest.extent / run, stride);
    }
    Ok(modes)
}

/// Number of leading indices of a mode over which the offset of A (`outer`) grows by a constant step: 2 for the mode
/// `6:3` in A with the modes `6:8` and `2:2`, where index 6 carries. The mode has at least two indices.
fn run(outer: &[CuteMode], mode: CuteMode) -> Result<i128, CuteError> {
    let step = value(outer, mode.stride).ok_or(CuteError::Size)?;
    let is_even = |c: i128| {
        let index = c.checked_mul(mode.stride).and_then(|index| value(outer, index));
        match (index, c.checked_mul(step)) {
            (Some(right), Some(given)) => Ok(right == given),
            _ => Err(CuteError::Size),
        }
    };
    let carry = steps_to_carry(outer, mode.stride).unwrap_or(mode.extent);
    let mut c = carry;
    // A carry need not change the step: the indices beyond the first one are checked one by one.
    while c < mode.extent && is_even(c)? {
        c += 1;
        if c - carry > ENUMERATED {
            return Err(CuteError::Unverified { size: mode.extent });
        }
    }
    Ok(c.min(mode.extent))
}

/// Adds the modes of `result` to `leaves`, for [`check_composition`]. Each has its extent, its stride in the result,
/// and its stride in the index of A, which follows from `inner`, the modes of B.
fn pair(inner: &ModeTree, result: &ModeTree, leaves: &mut Vec<InnerMode>) {
    match (inner, result) {
        (ModeTree::List(inner), ModeTree::List(result)) => {
            inner.iter().zip(result).for_each(|(inner, result)| pair(inner, result, leaves));
        }
        (ModeTree::Mode(mode), result) => {
            let mut reach = mode.stride;
            for CuteMode { extent, stride } in result.flat() {
                leaves.push(InnerMode { extent, reach, adds: stride });
                reach = reach.saturating_mul(extent);
            }
        }
        // Impossible: `cut` returns a list for every list of B.
        (ModeTree::List(_), ModeTree::Mode(_)) => {}
    }
}

/// Composition of A after B for use in another operation; its error is [`CuteError::InnerComposition`], which
/// contains A and B.
pub(super) fn inner_composition(a: &CuteLayout, b: &CuteLayout) -> Result<CuteLayout, CuteError> {
    composed(a, b).map_err(|error| CuteError::InnerComposition {
        outer: Box::new(a.clone()),
        inner: Box::new(b.clone()),
        error: Box::new(explain_failure(error, a, b)),
    })
}

/// Error of a composition of A after B, in which the fields `peer` and `merged` are set: the result of CuTe itself, if
/// it is wrong, and the coalesced B with its composition, if that exists.
fn explain_failure(error: CuteError, a: &CuteLayout, b: &CuteLayout) -> CuteError {
    let peer = || reference::wrong_reference_result(a, b).map(Box::new);
    let merged = || {
        let fewer = coalesce(b).ok()?.layout;
        let answer = composed(a, &fewer).ok()?;
        (fewer != *b).then(|| Box::new((fewer, answer)))
    };
    match error {
        CuteError::Uneven { mode, part, run, .. } => {
            CuteError::Uneven { mode, part, run, peer: peer(), merged: merged() }
        }
        CuteError::Dependent { index, right, given, .. } => {
            CuteError::Dependent { index, right, given, peer: peer(), merged: merged() }
        }
        other => other,
    }
}

/// True if the composition of `outer` after the layout of the modes `inner` is the identity for all indices below the
/// size of `inner`; [`CuteError::Unverified`] if that is not decided.
pub(super) fn is_left_inverse(inner: &[CuteMode], outer: &CuteLayout) -> Result<bool, CuteError> {
    let mut leaves = vec![];
    let mut place = 1_i128;
    for mode in inner {
        leaves.push(InnerMode { extent: mode.extent, reach: mode.stride, adds: place });
        place = place.checked_mul(mode.extent).ok_or(CuteError::Size)?;
    }
    match check_composition(&merged(&outer.flat()), &leaves)? {
        Agreement::Equal => Ok(true),
        Agreement::Differs { .. } => Ok(false),
        Agreement::Unknown { size } => Err(CuteError::Unverified { size }),
    }
}
