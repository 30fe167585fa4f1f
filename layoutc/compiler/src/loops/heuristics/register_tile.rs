//! Register tile of a CPU: vectors along one loop, several vectors for each of several rows; and the order of the
//! reduced loops.

use std::cmp::Reverse;

use layoutc_algebra::expr::ExprError;

use crate::loops::access::AffineAccess;
use crate::loops::domain::IterationDomain;
use crate::loops::reads::{AccessSummary, Reads};
use crate::machine::{CPU, Registers};

/// Loops of the register tile, outermost first: up to two loops over rows, one over vectors, one over the `lanes` of a
/// vector. `registers` limits the number of rows and vectors. The loops are removed or split off from `outer`. Empty if
/// no loop is vectorizable.
pub(crate) fn register_tile(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Vec<usize>, ExprError> {
    let Some(along) = vector_axis(domain, outer, reads, lanes)? else { return Ok(Vec::new()) };
    let (vector, mut rest) = whole_vector(domain, outer, (along, lanes), reads)?;
    let mut inner = vec![vector];
    let (mut left, mut each) = (registers.tile_vectors, 1);
    let around = match rest {
        Some(around) => Some(around),
        None => second_vector_axis(domain, outer, vector, reads)?,
    };
    if let Some(around) = around {
        let rounds = domain.trip_count(around).unwrap_or(1);
        let count =
            [2, 3].into_iter().find(|n| rounds % n == 0).unwrap_or(if rounds > 4 { 2 } else { 1 });
        if count > 1 {
            let (vectors, more) = split_off(domain, outer, around, count)?;
            inner.insert(0, vectors);
            (rest, left, each) = (more, left.div_euclid(count), count);
        }
    }
    for _ in 0..2 {
        let most = left.min(registers.tile_rows);
        let Some(row) = row_tile(domain, outer, (rest, most, each), reads)? else { break };
        let rounds = domain.trip_count(row).unwrap_or(1);
        left = left.checked_div(rounds).unwrap_or(0);
        each = each.saturating_mul(rounds);
        inner.insert(0, row);
    }
    Ok(inner)
}

/// Number of the loop of `outer` to vectorize: all reads are broadcast or unit-stride along it, some read or the target
/// is unit-stride, and it has a constant trip count above 1. If the manifest names the loop, only that one qualifies.
/// Prefers a loop without boundary conditions, then one whose trip count is a multiple or divisor of `lanes`, then a
/// unit-stride target, then the greatest trip count. `None` if no loop qualifies.
pub(crate) fn vector_axis(
    domain: &IterationDomain,
    outer: &[usize],
    reads: Reads<'_>,
    lanes: i128,
) -> Result<Option<usize>, ExprError> {
    let AccessSummary { steps, guarded } = reads(domain)?;
    let stride = |steps: &AffineAccess, number: usize| steps.stride(number, domain)?.as_const();
    let written = AffineAccess::of(&domain.offset, domain)?;
    let follows = |number: &usize| {
        if domain.lead.is_some_and(|lead| lead != *number) {
            return false;
        }
        let strides: Option<Vec<i128>> = steps.iter().map(|one| stride(one, *number)).collect();
        let written = stride(&written, *number);
        strides.is_some_and(|strides| {
            strides.iter().all(|stride| [0, 1].contains(stride))
                && (strides.contains(&1) || written == Some(1))
        }) && domain.trip_count(*number).is_some_and(|rounds| rounds > 1)
    };
    let worth = |number: &usize| {
        let rounds = domain.trip_count(*number).unwrap_or(1);
        let is_whole = rounds % lanes == 0 || lanes % rounds == 0;
        let is_next = stride(&written, *number) == Some(1);
        (!guarded.contains(number), is_whole, is_next, rounds)
    };
    Ok(outer.iter().copied().filter(follows).max_by_key(worth))
}

/// Splits the loop `along` into vectors of `lanes` iterations. Returns the pair `(vector, around)`: the loop over the
/// lanes of one vector, which is removed from `outer`, and the loop over vectors, which stays in `outer`; `around` is
/// `None` if that loop would have one iteration.
///
/// A loop with fewer than `lanes` iterations is completed to a vector by part of an outer loop, the innermost one that
/// continues each read where `along` ends: the stride of the read is that along `along`, times the trip count of
/// `along` (both are 0 for a broadcast read). The trip count of `along` must divide `lanes`, and the quotient must
/// divide that of the outer loop. If there is no such loop, `along` itself is a short vector.
fn whole_vector(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    (along, lanes): (usize, i128),
    reads: Reads<'_>,
) -> Result<(usize, Option<usize>), ExprError> {
    let rounds = domain.trip_count(along).unwrap_or(1);
    if rounds > lanes {
        return split_off(domain, outer, along, lanes);
    }
    outer.retain(|number| *number != along);
    let more = lanes.checked_div(rounds).unwrap_or(1);
    if more < 2 || lanes % rounds != 0 {
        return Ok((along, None));
    }
    let AccessSummary { steps, .. } = reads(domain)?;
    let stride = |steps: &AffineAccess, number: usize| steps.stride(number, domain)?.as_const();
    let goes_on = |number: &usize| {
        domain.trip_count(*number).is_some_and(|all| all % more == 0)
            && steps.iter().all(|one| {
                let strides = stride(one, along).zip(stride(one, *number));
                strides.is_some_and(|(near, far)| far == near.saturating_mul(rounds))
            })
    };
    let Some(next) = outer.iter().copied().rfind(goes_on) else { return Ok((along, None)) };
    let (near, rest) = split_off(domain, outer, next, more)?;
    let fused = domain.fuse([near, along], "lane")?;
    Ok((fused.unwrap_or(along), rest))
}

/// Innermost loop of `outer` whose iterations use further vectors for the same rows, for a lane loop `vector` without a
/// loop over vectors around it. All reads that are broadcast along `vector` are broadcast along the loop too, so that
/// one load serves several vectors, and some other read is not. `None` if there is no such loop, or no read is
/// broadcast along `vector`.
fn second_vector_axis(
    domain: &IterationDomain,
    outer: &[usize],
    vector: usize,
    reads: Reads<'_>,
) -> Result<Option<usize>, ExprError> {
    let AccessSummary { steps, guarded } = reads(domain)?;
    let stays = |steps: &AffineAccess, number: usize| {
        steps.stride(number, domain).is_some_and(|stride| stride.as_const() == Some(0))
    };
    let (same, vectors): (Vec<&AffineAccess>, Vec<&AffineAccess>) =
        steps.iter().partition(|one| stays(one, vector));
    let is_beside = |number: &usize| {
        let is_long = domain.trip_count(*number).is_some_and(|rounds| rounds > 1);
        let moves = vectors.iter().any(|one| !stays(one, *number));
        is_long && moves && !guarded.contains(number) && same.iter().all(|one| stays(one, *number))
    };
    let found = if same.is_empty() { None } else { outer.iter().copied().rfind(is_beside) };
    Ok(found)
}

/// Splits the loop `number` of `outer` into an outer loop, which takes its place in `outer`, and an inner loop of
/// `rounds` iterations. Returns the inner loop and the outer one. If the loop has `rounds` iterations, removes it from
/// `outer` and returns it with `None` for the outer loop.
fn split_off(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    number: usize,
    rounds: i128,
) -> Result<(usize, Option<usize>), ExprError> {
    let place = outer.iter().position(|other| *other == number);
    if domain.trip_count(number) == Some(rounds) {
        outer.retain(|other| *other != number);
        return Ok((number, None));
    }
    let [first, second] = domain.split(number, i64::try_from(rounds).unwrap_or(i64::MAX))?;
    if let Some(slot) = place.and_then(|place| outer.get_mut(place)) {
        *slot = first;
    }
    Ok((second, Some(first)))
}

/// Loop over the rows of a register tile, split from the innermost loop of `outer` that is not `rest`, the loop over
/// vectors, and whose trip count is not 1. It has at most `most` rows, with `each` vectors each. Rows pay if some read
/// is constant along the loop, because that read is loaded once for several rows. `None` if no read is, there is no
/// such loop, its trip count is not constant or is 0, or `most` is below 2.
pub(crate) fn row_tile(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    (rest, most, each): (Option<usize>, i128, i128),
    reads: Reads<'_>,
) -> Result<Option<usize>, ExprError> {
    // `rest` iterates over whole vectors; a loop of one iteration has no rows to share a load.
    let has_others =
        |number: &usize| Some(*number) != rest && domain.trip_count(*number) != Some(1);
    let Some(number) = outer.iter().copied().rfind(has_others) else { return Ok(None) };
    let Some(rounds) = domain.trip_count(number) else { return Ok(None) };
    let AccessSummary { steps, .. } = reads(domain)?;
    let stays = |steps: &AffineAccess| {
        steps.stride(number, domain).is_some_and(|s| s.as_const() == Some(0))
    };
    if most < 2 || rounds < 2 || !steps.iter().any(stays) {
        return Ok(None);
    }
    let by = if rounds <= most { rounds } else { rows(rounds, most, each) };
    Ok(Some(split_off(domain, outer, number, by)?.0))
}

/// Number of rows of a register tile along a loop of `rounds` rows with `each` vectors each. It is the greatest divisor
/// of `rounds` up to `most`, if that is at least half of `most` rounded down, and either has `sums_in_flight` vectors
/// or gives no more tiles than `most`; else `most`.
fn rows(rounds: i128, most: i128, each: i128) -> i128 {
    let least = most.div_euclid(2).max(2);
    let parts = |by: &i128| rounds.saturating_add(by - 1).checked_div(*by).unwrap_or(rounds);
    let is_valid = |by: &i128| {
        by.saturating_mul(each) >= CPU.sums_in_flight
            || rounds.checked_div(*by) == Some(parts(&most))
    };
    (least..=most).rev().find(|by| rounds % by == 0).filter(is_valid).unwrap_or(most)
}

/// The loops `reduced` in the order of memory, outermost first: loops with boundary conditions, then the others, each
/// by decreasing sum of the absolute constant strides of all reads. A loop in which the offset of a read is not affine
/// is split if the offsets are affine in both parts.
pub(crate) fn order_reduction_by_stride(
    domain: &mut IterationDomain,
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
    let AccessSummary { steps, guarded } = reads(domain)?;
    let far = |number: &usize| {
        let stride = |one: &AffineAccess| one.stride(*number, domain)?.as_const().map(i128::abs);
        (Reverse(guarded.contains(number)), Reverse(steps.iter().filter_map(stride).sum::<i128>()))
    };
    all.sort_by_key(far);
    Ok(all)
}

/// Trip count of the inner loop with which the loop `number` must be split so that the offsets of all reads are affine
/// in both loops. `None` if they are affine in the loop already, the trip count is not constant, or no power of 2 from
/// 2 to 256 that is a proper divisor of it makes them affine.
fn even_parts(
    domain: &IterationDomain,
    number: usize,
    reads: Reads<'_>,
) -> Result<Option<i64>, ExprError> {
    let is_even = |domain: &IterationDomain, numbers: &[usize]| {
        let seen = reads(domain)?;
        let even = |one: &AffineAccess| {
            let left = domain.mentioned(&one.rest);
            !left.iter().any(|k| numbers.contains(k))
        };
        Ok::<bool, ExprError>(seen.steps.iter().all(even))
    };
    let Some(rounds) = domain.trip_count(number) else { return Ok(None) };
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
