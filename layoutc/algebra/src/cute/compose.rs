//! Composition: R(c) = A(B(c)), in the shape of B with its modes cut where A needs it.
//!
//! A mode of B runs through A in equal steps until a digit of A runs over; there it must be cut, so the run must divide
//! it. What is behind the cut is a mode of the same kind with a longer stride. This decides each mode: there is one way
//! to cut it, or none. The modes together are right if no digit of A runs over by their sum; see `agree`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::agree::{Agreement, ENUMERATED, Leaf, agree, steps_to_carry};
use super::coalesce::coalesce;
use super::error::{CuteError, Note};
use super::flat::{Mode, merged, value};
use super::layout::{Layout, Node};
use super::{Answer, Tiler, peer};

/// A after B. Where B reaches past the size of A, the last mode of A goes on, and a note says so.
///
/// # Errors
/// [`CuteError::Uneven`] and [`CuteError::Dependent`] where no layout of the shape of B is right,
/// [`CuteError::Unverified`], [`CuteError::Size`].
pub fn compose(a: &Layout, b: &Layout) -> Result<Answer, CuteError> {
    match composed(a, b) {
        Ok(layout) => {
            let mut notes = Vec::new();
            if b.cosize() > a.size() {
                notes.push(Note::Past { reach: b.cosize() - 1, size: a.size() });
            }
            notes.extend(peer::wrong(a, b).map(Note::Peer));
            Ok(Answer { layout, notes })
        }
        Err(error) => Err(explained(error, a, b)),
    }
}

/// A after a tiler: mode by mode where it has modes.
///
/// # Errors
/// As [`compose`], and [`CuteError::Rank`].
pub fn compose_by(a: &Layout, tiler: &Tiler) -> Result<Answer, CuteError> {
    match tiler {
        Tiler::Whole(b) => compose(a, b),
        Tiler::Modes(tilers) => by_mode(a, tilers, compose_by),
    }
}

/// Each mode by its part of a tiler; modes without one stay.
pub(super) fn by_mode<T>(
    a: &Layout,
    parts: &[Option<T>],
    one: impl Fn(&Layout, &T) -> Result<Answer, CuteError>,
) -> Result<Answer, CuteError> {
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
    Ok(Answer { layout: Layout::from_node(Node::List(nodes))?, notes })
}

/// A after B, verified.
pub(super) fn composed(a: &Layout, b: &Layout) -> Result<Layout, CuteError> {
    let outer = merged(&a.flat());
    let result = Layout::from_node(cut(&outer, b.node())?)?;
    let mut leaves = Vec::new();
    pair(b.node(), result.node(), &mut leaves);
    match agree(&outer, &leaves)? {
        Agreement::Equal => Ok(result),
        Agreement::Differs { index, right, given } => {
            Err(CuteError::Dependent { index, right, given, peer: None, merged: None })
        }
        Agreement::Unknown { size } => Err(CuteError::Unverified { size }),
    }
}

/// B with each mode cut as A needs it.
fn cut(outer: &[Mode], node: &Node) -> Result<Node, CuteError> {
    match node {
        Node::List(list) => {
            let parts = list.iter().map(|node| cut(outer, node));
            Ok(Node::List(parts.collect::<Result<_, _>>()?))
        }
        Node::Mode(mode) => Ok(Node::of(&cut_mode(outer, *mode)?)),
    }
}

fn cut_mode(outer: &[Mode], mode: Mode) -> Result<Vec<Mode>, CuteError> {
    let mut modes = Vec::new();
    let mut rest = mode;
    while rest.extent > 1 {
        let step = value(outer, rest.stride).ok_or(CuteError::Size)?;
        let run = run(outer, rest)?;
        if rest.extent % run != 0 {
            return Err(CuteError::Uneven { mode, part: rest, run, peer: None, merged: None });
        }
        modes.push(Mode::new(run, step));
        let stride = rest.stride.checked_mul(run).ok_or(CuteError::Size)?;
        rest = Mode::new(rest.extent / run, stride);
    }
    Ok(modes)
}

/// For how many indices of a mode A gives equal steps; the mode has at least two.
fn run(outer: &[Mode], mode: Mode) -> Result<i128, CuteError> {
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
    // Behind a first carry that makes no difference, the indices are looked at.
    while c < mode.extent && is_even(c)? {
        c += 1;
        if c - carry > ENUMERATED {
            return Err(CuteError::Unverified { size: mode.extent });
        }
    }
    Ok(c.min(mode.extent))
}

/// The modes of the result, with how far each steps in B.
fn pair(inner: &Node, result: &Node, leaves: &mut Vec<Leaf>) {
    match (inner, result) {
        (Node::List(inner), Node::List(result)) => {
            inner.iter().zip(result).for_each(|(inner, result)| pair(inner, result, leaves));
        }
        (Node::Mode(mode), result) => {
            let mut reach = mode.stride;
            for Mode { extent, stride } in result.flat() {
                leaves.push(Leaf { extent, reach, adds: stride });
                reach = reach.saturating_mul(extent);
            }
        }
        // `cut` keeps the lists of B.
        (Node::List(_), Node::Mode(_)) => {}
    }
}

/// A after B on the way of another operation, which says what A and B are.
pub(super) fn composed_within(a: &Layout, b: &Layout) -> Result<Layout, CuteError> {
    composed(a, b).map_err(|error| CuteError::Part {
        outer: Box::new(a.clone()),
        inner: Box::new(b.clone()),
        error: Box::new(explained(error, a, b)),
    })
}

/// The refusal with what CuTe answers, and with a way out.
fn explained(error: CuteError, a: &Layout, b: &Layout) -> CuteError {
    let peer = || peer::wrong(a, b).map(Box::new);
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

/// Checks that `outer` after `inner` is the identity below the size of `inner`.
pub(super) fn is_undone(inner: &[Mode], outer: &Layout) -> Result<bool, CuteError> {
    let mut leaves = vec![];
    let mut place = 1_i128;
    for mode in inner {
        leaves.push(Leaf { extent: mode.extent, reach: mode.stride, adds: place });
        place = place.checked_mul(mode.extent).ok_or(CuteError::Size)?;
    }
    match agree(&merged(&outer.flat()), &leaves)? {
        Agreement::Equal => Ok(true),
        Agreement::Differs { .. } => Ok(false),
        Agreement::Unknown { size } => Err(CuteError::Unverified { size }),
    }
}
