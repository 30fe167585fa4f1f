//! The search: elimination gives the answer where all tables fit, else a bound; then one variable is given each of its
//! values, the part with the lowest bound first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::assign::assignment;
use super::eliminate::eliminate;
use super::table::{Cost, INFINITE};
use super::{Failure, Limits, Network, Proof, Solution};

/// A part of the search: what is fixed there.
#[derive(Debug)]
struct Part {
    fixed: Vec<Option<usize>>,
    bound: Cost,
    proof: Proof,
    /// The variable to branch on, where the bound may be raised.
    split: Option<usize>,
    /// The parts that it was cut into, by the values of that variable.
    parts: Option<(usize, Vec<usize>)>,
}

/// The assignment of least cost, or the best that was found within the limits, or until `stop` says so, with a bound.
///
///
/// Two variables of two values, of which equal values cost 3 and others nothing, have the least cost 0 by (0, 1).
///
/// # Errors
/// [`Failure`].
pub fn solve(
    network: &Network,
    limits: &Limits,
    stop: &dyn Fn() -> bool,
) -> Result<Solution, Failure> {
    let mut best: (Vec<usize>, Cost) = (Vec::new(), INFINITE);
    let mut parts: Vec<Part> = Vec::new();
    let root = vec![None; network.domains.len()];
    look(network, limits, root, &mut parts, &mut best);
    let mut open = BinaryHeap::from([Reverse((Cost::MIN, 0))]);
    for _ in 1..limits.nodes {
        let Some(Reverse((bound, next))) = open.pop() else { break };
        // What cannot be better than what is known is done with, and so is all that is left.
        if bound >= best.1 || stop() {
            break;
        }
        let before = parts.len();
        branch(network, limits, next, &mut parts, &mut best);
        let new = parts.iter().enumerate().skip(before);
        let new = new.filter(|(_, part)| part.split.is_some() && part.bound < best.1);
        open.extend(new.map(|(k, part)| Reverse((part.bound, k))));
    }
    let bound = proven(&parts, 0);
    let (values, cost) = best;
    // Where all is forbidden the bound says so.
    if bound == INFINITE {
        return Err(Failure::Impossible);
    }
    if cost == INFINITE {
        return Err(Failure::GaveUp);
    }
    let bound = bound.min(cost);
    Ok(Solution { values, cost, bound, proof: proof(&mut parts, 0) })
}

/// Works out a part.
fn look(
    network: &Network,
    limits: &Limits,
    fixed: Vec<Option<usize>>,
    parts: &mut Vec<Part>,
    best: &mut (Vec<usize>, Cost),
) {
    let found = eliminate(network, &fixed, limits.entries);
    if found.bound != INFINITE {
        let (values, cost) = assignment(network, &found, &fixed);
        if cost < best.1 {
            *best = (values, cost);
        }
    }
    let (bound, split) = (found.bound, found.split);
    parts.push(Part { fixed, bound, proof: Proof::Eliminated(found.steps), split, parts: None });
}

/// Cuts a part by the values of the variable that had to be split.
fn branch(
    network: &Network,
    limits: &Limits,
    position: usize,
    parts: &mut Vec<Part>,
    best: &mut (Vec<usize>, Cost),
) {
    let Some(part) = parts.get(position) else { return };
    let (Some(variable), fixed) = (part.split, part.fixed.clone()) else { return };
    let mut children = Vec::new();
    for value in 0..network.domains.get(variable).copied().unwrap_or(0) {
        let mut fixed = fixed.clone();
        fixed.get_mut(variable).into_iter().for_each(|slot| *slot = Some(value));
        children.push(parts.len());
        look(network, limits, fixed, parts, best);
    }
    if let Some(part) = parts.get_mut(position) {
        part.parts = Some((variable, children));
    }
}

/// The bound that the parts below one show. Parts come after those that they are cut from.
fn proven(parts: &[Part], root: usize) -> Cost {
    let mut bounds: Vec<Cost> = parts.iter().map(|part| part.bound).collect();
    for (k, part) in parts.iter().enumerate().rev() {
        let Some((_, children)) = &part.parts else { continue };
        let least = children.iter().filter_map(|child| bounds.get(*child)).min().copied();
        let own = bounds.get(k).copied().unwrap_or(0);
        let bound = own.max(least.unwrap_or(INFINITE));
        bounds.get_mut(k).into_iter().for_each(|slot| *slot = bound);
    }
    bounds.get(root).copied().unwrap_or(0)
}

/// The proof below a part: of a cut part the cases, where they show more than its own elimination.
fn proof(parts: &mut [Part], root: usize) -> Proof {
    for k in (root..parts.len()).rev() {
        let Some((variable, children)) = parts.get_mut(k).and_then(|part| part.parts.take()) else {
            continue;
        };
        let bound = |parts: &[Part], child: &usize| parts.get(*child).map_or(0, |part| part.bound);
        let least = children.iter().map(|child| bound(parts, child)).min().unwrap_or(INFINITE);
        if least <= bound(parts, &k) {
            continue;
        }
        let mut take = |child: &usize| match parts.get_mut(*child) {
            Some(part) => std::mem::replace(&mut part.proof, Proof::Open),
            None => Proof::Open,
        };
        let cases = children.iter().map(&mut take).collect();
        if let Some(part) = parts.get_mut(k) {
            part.bound = least;
            part.proof = Proof::Cases { variable, cases };
        }
    }
    parts.get_mut(root).map_or(Proof::Open, |part| std::mem::replace(&mut part.proof, Proof::Open))
}
