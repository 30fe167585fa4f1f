//! Which elements a core puts together at once: vectors of them, several vectors of several rows; and in which order it goes
//! through what it puts together.

use crate::machine::{CPU, Registers};
use std::cmp::Reverse;

use layoutc_algebra::expr::ExprError;

use super::access::Steps;
use super::domain::Domain;

/// What is known of the reads of a statement, where the loops are as they are.
pub(super) struct Seen {
    /// Where each of them is.
    pub(super) steps: Vec<Steps>,
    /// The loops that say whether one lies outside its tensor.
    pub(super) guarded: Vec<usize>,
}

/// Looks at the reads of a statement.
pub(super) type Reads<'r> = &'r dyn Fn(&Domain) -> Result<Seen, ExprError>;

/// The loops inside the reduction: rows, vectors, and the elements of a vector, of so many lanes. They are taken from the
/// `outer` ones. None where nothing that is read lies in vectors.
pub(super) fn inner_loops(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Vec<usize>, ExprError> {
    let Some(along) = along(domain, outer, reads, lanes)? else { return Ok(Vec::new()) };
    let (vector, mut rest) = whole_vector(domain, outer, (along, lanes), reads)?;
    let mut inner = vec![vector];
    let (mut left, mut each) = (registers.tile_vectors, 1);
    let around = match rest {
        Some(around) => Some(around),
        None => beside(domain, outer, vector, reads)?,
    };
    if let Some(around) = around {
        let rounds = domain.rounds(around).unwrap_or(1);
        let count =
            [2, 3].into_iter().find(|n| rounds % n == 0).unwrap_or(if rounds > 4 { 2 } else { 1 });
        if count > 1 {
            let (vectors, more) = part(domain, outer, around, count)?;
            inner.insert(0, vectors);
            (rest, left, each) = (more, left.div_euclid(count), count);
        }
    }
    for _ in 0..2 {
        let most = left.min(registers.tile_rows);
        let Some(row) = row(domain, outer, (rest, most, each), reads)? else { break };
        let rounds = domain.rounds(row).unwrap_or(1);
        left = left.checked_div(rounds).unwrap_or(0);
        each = each.saturating_mul(rounds);
        inner.insert(0, row);
    }
    Ok(inner)
}

/// The loop along which vectors lie: all that is read stays or goes on by one. Rather one that no border cuts, whose rounds are
/// whole vectors, along which what is written lies in vectors too, and has many.
pub(super) fn along(
    domain: &Domain,
    outer: &[usize],
    reads: Reads<'_>,
    lanes: i128,
) -> Result<Option<usize>, ExprError> {
    let Seen { steps, guarded } = reads(domain)?;
    let stride = |steps: &Steps, number: usize| steps.stride(number, domain)?.as_const();
    let written = Steps::of(&domain.offset, domain)?;
    let follows = |number: &usize| {
        if domain.lead.is_some_and(|lead| lead != *number) {
            return false;
        }
        let strides: Option<Vec<i128>> = steps.iter().map(|one| stride(one, *number)).collect();
        let written = stride(&written, *number);
        strides.is_some_and(|strides| {
            strides.iter().all(|stride| [0, 1].contains(stride))
                && (strides.contains(&1) || written == Some(1))
        }) && domain.rounds(*number).is_some_and(|rounds| rounds > 1)
    };
    let worth = |number: &usize| {
        let rounds = domain.rounds(*number).unwrap_or(1);
        let is_whole = rounds % lanes == 0 || lanes % rounds == 0;
        let is_next = stride(&written, *number) == Some(1);
        (!guarded.contains(number), is_whole, is_next, rounds)
    };
    Ok(outer.iter().copied().filter(follows).max_by_key(worth))
}

/// A loop of as many rounds as a vector has lanes, and what is left of the loop along which it lies. A shorter loop is put together
/// with one around it, where what is read goes on from one to the other.
fn whole_vector(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    (along, lanes): (usize, i128),
    reads: Reads<'_>,
) -> Result<(usize, Option<usize>), ExprError> {
    let rounds = domain.rounds(along).unwrap_or(1);
    if rounds > lanes {
        return part(domain, outer, along, lanes);
    }
    outer.retain(|number| *number != along);
    let more = lanes.checked_div(rounds).unwrap_or(1);
    if more < 2 || lanes % rounds != 0 {
        return Ok((along, None));
    }
    let Seen { steps, .. } = reads(domain)?;
    let stride = |steps: &Steps, number: usize| steps.stride(number, domain)?.as_const();
    let goes_on = |number: &usize| {
        domain.rounds(*number).is_some_and(|all| all % more == 0)
            && steps.iter().all(|one| {
                let strides = stride(one, along).zip(stride(one, *number));
                strides.is_some_and(|(near, far)| far == near.saturating_mul(rounds))
            })
    };
    let Some(next) = outer.iter().copied().rfind(goes_on) else { return Ok((along, None)) };
    let (near, rest) = part(domain, outer, next, more)?;
    let fused = domain.fuse([near, along], "lane")?;
    Ok((fused.unwrap_or(along), rest))
}

/// The loop of which a round is another vector for the same rows, where none is left around the vectors: all that is one
/// element for a whole vector stays along it, and something that is a vector does not. What is read for a row is then read
/// once for several vectors.
fn beside(
    domain: &Domain,
    outer: &[usize],
    vector: usize,
    reads: Reads<'_>,
) -> Result<Option<usize>, ExprError> {
    let Seen { steps, guarded } = reads(domain)?;
    let stays = |steps: &Steps, number: usize| {
        steps.stride(number, domain).is_some_and(|stride| stride.as_const() == Some(0))
    };
    let (same, vectors): (Vec<&Steps>, Vec<&Steps>) =
        steps.iter().partition(|one| stays(one, vector));
    let is_beside = |number: &usize| {
        let is_long = domain.rounds(*number).is_some_and(|rounds| rounds > 1);
        let moves = vectors.iter().any(|one| !stays(one, *number));
        is_long && moves && !guarded.contains(number) && same.iter().all(|one| stays(one, *number))
    };
    let found = if same.is_empty() { None } else { outer.iter().copied().rfind(is_beside) };
    Ok(found)
}

/// So many rounds of a loop as one of its own, and what is left of it, which stays among the outer ones.
fn part(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    number: usize,
    rounds: i128,
) -> Result<(usize, Option<usize>), ExprError> {
    let place = outer.iter().position(|other| *other == number);
    if domain.rounds(number) == Some(rounds) {
        outer.retain(|other| *other != number);
        return Ok((number, None));
    }
    let [first, second] = domain.split(number, i64::try_from(rounds).unwrap_or(i64::MAX))?;
    if let Some(slot) = place.and_then(|place| outer.get_mut(place)) {
        *slot = first;
    }
    Ok((second, Some(first)))
}

/// A part of the loop around the vectors, of at most so many rounds of so many vectors each, where something that is read is the
/// same in all of it: so that it is read once for several vectors.
pub(super) fn row(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    (rest, most, each): (Option<usize>, i128, i128),
    reads: Reads<'_>,
) -> Result<Option<usize>, ExprError> {
    // The loop whose neighbours lie nearest, besides that over whole vectors; one of a single round has none.
    let has_others = |number: &usize| Some(*number) != rest && domain.rounds(*number) != Some(1);
    let Some(number) = outer.iter().copied().rfind(has_others) else { return Ok(None) };
    let Some(rounds) = domain.rounds(number) else { return Ok(None) };
    let Seen { steps, .. } = reads(domain)?;
    let stays =
        |steps: &Steps| steps.stride(number, domain).is_some_and(|s| s.as_const() == Some(0));
    if most < 2 || rounds < 2 || !steps.iter().any(stays) {
        return Ok(None);
    }
    let by = if rounds <= most { rounds } else { rows(rounds, most, each) };
    Ok(Some(part(domain, outer, number, by)?.0))
}

/// Into parts of how many rows `rounds` rows of so many vectors `each` are cut, at most `most`: whole parts where there is such a
/// number that is not much smaller, and keeps a core busy or makes no more parts than the greatest.
fn rows(rounds: i128, most: i128, each: i128) -> i128 {
    let least = most.div_euclid(2).max(2);
    let parts = |by: &i128| rounds.saturating_add(by - 1).checked_div(*by).unwrap_or(rounds);
    let is_valid = |by: &i128| {
        by.saturating_mul(each) >= CPU.sums_in_flight
            || rounds.checked_div(*by) == Some(parts(&most))
    };
    (least..=most).rev().find(|by| rounds % by == 0).filter(is_valid).unwrap_or(most)
}

/// The reduced loops in the order of memory: those that meet borders first, then those whose neighbours lie far apart. One that
/// what is read does not go through evenly is cut, where that helps.
pub(super) fn by_memory(
    domain: &mut Domain,
    reduced: &[usize],
    reads: Reads<'_>,
) -> Result<Vec<usize>, ExprError> {
    let mut all = Vec::new();
    for number in reduced {
        match even_parts(domain, *number, reads)? {
            Some(by) => all.extend(domain.split(*number, by)?),
            None => all.push(*number),
        }
    }
    let Seen { steps, guarded } = reads(domain)?;
    let far = |number: &usize| {
        let stride = |one: &Steps| one.stride(*number, domain)?.as_const().map(i128::abs);
        (Reverse(guarded.contains(number)), Reverse(steps.iter().filter_map(stride).sum::<i128>()))
    };
    all.sort_by_key(far);
    Ok(all)
}

/// Into parts of how many rounds a loop has to be cut, so that each adds the same to every place in every round; `None` where it
/// does already, or no cut does it.
fn even_parts(domain: &Domain, number: usize, reads: Reads<'_>) -> Result<Option<i64>, ExprError> {
    let is_even = |domain: &Domain, numbers: &[usize]| {
        let seen = reads(domain)?;
        let even = |one: &Steps| {
            let left = domain.mentioned(&one.rest);
            !left.iter().any(|k| numbers.contains(k))
        };
        Ok::<bool, ExprError>(seen.steps.iter().all(even))
    };
    let Some(rounds) = domain.rounds(number) else { return Ok(None) };
    if is_even(domain, &[number])? {
        return Ok(None);
    }
    for by in [2, 4, 8, 16, 32, 64, 128, 256] {
        if rounds % i128::from(by) == 0 && i128::from(by) < rounds {
            let mut tried = domain.clone();
            let parts = tried.split(number, by)?;
            if is_even(&tried, &parts)? {
                return Ok(Some(by));
            }
        }
    }
    Ok(None)
}
