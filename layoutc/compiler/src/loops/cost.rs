//! Estimated cost of the loops of a statement on one core.
//!
//! One iteration of a reduction takes one multiply-add, the loads of its operands that the register tile does not
//! share, and a load and a store of the accumulator if the accumulators exceed the registers. A vector instruction
//! executes these for one vector of elements, and waits for the previous update of the same accumulator unless other
//! accumulators are in flight. Cache and TLB misses are not counted.

use layoutc_algebra::expr::ExprError;

use crate::loops::access::AffineAccess;
use crate::loops::reads::StatementReads;
use crate::loops::scheduled_statement::ScheduledStatement;
use crate::machine::{CPU, Registers};

/// Estimated time per iteration of the planned loops, in thousandths of a cycle, at least 1. `sight` are the reads of
/// the statement, `bits` is the width of an accumulator, `registers` are the vector registers of the core. `None` if a
/// loop of the register tile has no constant trip count.
pub(crate) fn cycles(
    planned: &ScheduledStatement,
    sight: &StatementReads<'_>,
    bits: u32,
    registers: Registers,
) -> Result<Option<i128>, ExprError> {
    let domain = &planned.domain;
    let tile: Vec<usize> = planned.order.register_tile(domain).collect();
    let trips: Option<Vec<i128>> = tile.iter().map(|number| domain.trip_count(*number)).collect();
    let Some(mut trips) = trips else { return Ok(None) };
    let seen = sight.seen(domain)?;
    let is_packed = |k: usize| {
        let read = sight.reads.get(k).map(|(read, _)| read.buffer);
        planned.caches.iter().any(|cache| Some(cache.buffer) == read)
    };
    let mut width = 1;
    if let (Some(last), Some(trip)) = (tile.last(), trips.last_mut()) {
        let is_unit = |(k, steps): (usize, &AffineAccess)| {
            let stride = steps.stride(*last, domain).and_then(|stride| stride.as_const());
            is_packed(k) || matches!(stride, Some(0 | 1))
        };
        if seen.steps.iter().enumerate().all(is_unit) {
            width = registers.lanes(bits).min(*trip).max(1);
            *trip = trip.saturating_add(width - 1).div_euclid(width);
        }
    }
    let sums = trips.iter().copied().fold(1, i128::saturating_mul).max(1);
    let mut loads = 0_i128;
    for steps in &seen.steps {
        let is_shared = |number: &usize| {
            steps.stride(*number, domain).is_some_and(|stride| stride.as_const() == Some(0))
        };
        let shared = tile.iter().zip(&trips).filter(|(number, _)| is_shared(number));
        let uses = shared.map(|(_, trip)| *trip).fold(1, i128::saturating_mul).max(1);
        loads = loads.saturating_add(1000_i128.div_euclid(uses));
    }
    let mut stores = 0;
    if sums > registers.sums() {
        (loads, stores) = (loads.saturating_add(1000), 1000);
    }
    let waits = CPU.sum_latency.saturating_mul(1000).div_euclid(sums);
    let step = 1000_i128
        .div_euclid(CPU.sums_per_cycle)
        .max(loads.div_euclid(CPU.loads_per_cycle))
        .max(stores)
        .max(waits);
    Ok(Some(step.div_euclid(width).max(1)))
}
