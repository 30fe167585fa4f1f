//! What CuTe itself answers to a composition, right or wrong.
//!
//! Source: CUTLASS, `composition_impl` of cute/layout.hpp: each mode of B is cut along the modes of A, the quotients
//! rounded up. A stride is a multiple of an extent or below it, and a run divides its mode, else it is refused; but
//! whether digits run over is not looked at, nor the other modes of B.

use alloc::vec::Vec;

use super::agree::{Agreement, Leaf, agree, ceil};
use super::error::Peer;
use super::flat::{Mode, merged};
use super::layout::{Layout, Node};

/// CuTe's answer if it has one and it is wrong.
pub(super) fn wrong(a: &Layout, b: &Layout) -> Option<Peer> {
    let outer = merged(&a.flat());
    let mut cut: Vec<Mode> = outer.iter().copied().filter(|mode| mode.extent > 1).collect();
    if cut.is_empty() {
        cut.push(Mode::UNIT);
    }
    let mut leaves = Vec::new();
    let layout = Layout::from_node(answer(&cut, b.node(), &mut leaves)?).ok()?;
    match agree(&outer, &leaves) {
        Ok(Agreement::Differs { index, right, given }) => {
            Some(Peer { layout, index, given, right })
        }
        Ok(Agreement::Equal | Agreement::Unknown { .. }) | Err(_) => None,
    }
}

fn answer(outer: &[Mode], node: &Node, leaves: &mut Vec<Leaf>) -> Option<Node> {
    let mode = match node {
        Node::List(list) => {
            let parts = list.iter().map(|node| answer(outer, node, leaves));
            return parts.collect::<Option<Vec<Node>>>().map(Node::List);
        }
        Node::Mode(mode) => mode,
    };
    let mut modes = Vec::new();
    let (mut extent, mut stride, mut reach) = (mode.extent, mode.stride, mode.stride);
    let (last, before) = outer.split_last()?;
    if stride != 0 {
        for one in before {
            if stride >= one.extent && stride % one.extent != 0 {
                return None;
            }
            let (next, step) = (ceil(one.extent, stride), ceil(stride, one.extent));
            if next > 1 && extent > 1 {
                let run = next.min(extent);
                if extent % run != 0 {
                    return None;
                }
                modes.push(Mode::new(run, stride.checked_mul(one.stride)?));
                leaves.push(Leaf { extent: run, reach, adds: stride.checked_mul(one.stride)? });
                extent /= run;
                reach = reach.checked_mul(run)?;
            }
            stride = step;
        }
    }
    if extent > 1 || modes.is_empty() {
        let adds = stride.checked_mul(last.stride)?;
        modes.push(Mode::new(extent, adds));
        leaves.push(Leaf { extent, reach, adds });
    }
    Some(Node::of(&modes))
}
