//! Second execution of the bucket elimination in a proof. The checker executes it without the solver's code.

use std::collections::{BTreeMap, BTreeSet};

use super::super::SolverLimits;
use super::super::data::{Cost, INFINITE, LARGEST};
use super::super::proof::{Bucket, BucketGroup, ProofPart};
use super::ProofError;
use super::tables::{CostTable, PartAssignment, clamp_cost};

/// Elimination of one variable: the cost tables that it consumes (`gone`), and those that it produces (`made`).
#[derive(Debug, Default)]
pub(super) struct EliminationStep {
    pub(super) gone: Vec<CostTable>,
    pub(super) made: Vec<CostTable>,
    /// Number of values of the eliminated variable.
    pub(super) size: usize,
}

/// Elimination steps of the subproblem at position `number` of a proof, which is `part`. The index of a step is the
/// position of its variable in the subproblem, where the variable eliminated last has position 0.
///
/// # Errors
/// * [`ProofError::Message`]: a message is invalid.
/// * [`ProofError::Shift`]: the shifts of a bucket do not cancel.
/// * [`ProofError::Table`]: a group names a table that it cannot use.
/// * [`ProofError::LeftOut`]: a table of the eliminated variable is in no group.
/// * [`ProofError::Negative`]: a table has a negative entry.
/// * [`ProofError::Limits`]: the steps produce more entries than `limits.table` plus the entries of the subproblem's
///   own tables.
pub(super) fn rebuild_tables(
    parts: &mut PartAssignment<'_>,
    number: usize,
    part: &ProofPart,
    limits: &SolverLimits,
) -> Result<Vec<EliminationStep>, ProofError> {
    let mut alive = parts.tables(number, part)?;
    let read: usize = alive.values().map(|table| table.entries.len()).sum();
    let mut room = limits.table.saturating_add(read);
    let mut next = parts.network_tables();
    let mut steps = Vec::new();
    for (bucket, place) in part.buckets.iter().zip((0..part.buckets.len()).rev()) {
        let size = parts.left.get(bucket.variable).map_or(0, Vec::len);
        let mut step = EliminationStep { size, ..EliminationStep::default() };
        if !shifts_cancel(bucket, size) {
            return Err(ProofError::Shift { variable: bucket.variable });
        }
        for group in &bucket.groups {
            let mut members = Vec::new();
            for &table in &group.tables {
                let costs = alive.remove(&table).ok_or(ProofError::Table { table })?;
                if costs.axes.last().map(|&(place, _)| place) != Some(place) {
                    return Err(ProofError::Table { table });
                }
                members.push(costs);
            }
            let made = least(&members, group, place, size, &mut room, next)?;
            step.gone.append(&mut members);
            step.made.push(made.clone());
            alive.insert(next, made);
            next += 1;
        }
        if alive.values().any(|table| table.axes.iter().any(|&(p, _)| p == place)) {
            return Err(ProofError::LeftOut { variable: bucket.variable });
        }
        steps.push(step);
    }
    steps.reverse();
    Ok(steps)
}

fn shifts_cancel(bucket: &Bucket, size: usize) -> bool {
    let mut sums = vec![0i128; size];
    for shift in bucket.groups.iter().map(|group| &group.shift).filter(|shift| !shift.is_empty()) {
        if shift.len() != size {
            return false;
        }
        for (sum, &by) in sums.iter_mut().zip(shift) {
            *sum += i128::from(by);
        }
    }
    sums.iter().all(|&sum| sum == 0)
}

/// Table that the group `group` produces when the variable at position `place`, which has `size` values, is eliminated.
/// An entry is the minimum over these values of the sum of `members` plus the group's shift. The number of entries is
/// subtracted from `room`; [`ProofError::Limits`] if it is greater. `number` is the number of the table in errors.
fn least(
    members: &[CostTable],
    group: &BucketGroup,
    place: usize,
    size: usize,
    room: &mut usize,
    number: usize,
) -> Result<CostTable, ProofError> {
    let all: BTreeMap<usize, usize> = members.iter().flat_map(|m| m.axes.iter().copied()).collect();
    let axes: Vec<(usize, usize)> = all.into_iter().filter(|&(p, _)| p != place).collect();
    let entries = axes.iter().try_fold(1usize, |n, &(_, extent)| n.checked_mul(extent));
    let entries = entries.filter(|entries| entries <= room).ok_or(ProofError::Limits)?;
    *room -= entries;
    let needed: BTreeSet<usize> = axes.iter().map(|&(p, _)| p).chain([place]).collect();
    let mut values = vec![0usize; needed.last().map_or(0, |last| last + 1)];
    let mut made = Vec::with_capacity(entries);
    for index in 0..entries {
        let mut rest = index;
        for &(p, extent) in axes.iter().rev() {
            put(&mut values, p, rest % extent);
            rest /= extent;
        }
        let mut best = INFINITE;
        for value in 0..size {
            put(&mut values, place, value);
            let mut sum = Some(0i128);
            for member in members {
                let cost = member.at(&values);
                sum = sum.filter(|_| cost != INFINITE).map(|sum| sum + i128::from(cost));
            }
            // A sum above all finite costs is infinite, whatever the shift.
            let shift = i128::from(group.shift.get(value).copied().unwrap_or(0));
            let sum = sum.filter(|&sum| sum <= i128::from(LARGEST)).map(|sum| sum + shift);
            best = best.min(clamp_cost(sum).ok_or(ProofError::Negative { table: number })?);
        }
        made.push(best);
    }
    Ok(CostTable { axes, entries: made })
}

fn put(values: &mut [usize], place: usize, value: usize) {
    if let Some(slot) = values.get_mut(place) {
        *slot = value;
    }
}

/// Sum of the entries at `values` of the tables that a step consumes, minus the sum for the tables that it produces.
/// `values[p]` is the value of the variable at position `p` of the subproblem. `None` if an entry is infinite.
pub(super) fn difference(step: &EliminationStep, values: &[usize]) -> Option<i128> {
    let mut sum = 0i128;
    for table in &step.gone {
        let cost: Cost = table.at(values);
        if cost == INFINITE {
            return None;
        }
        sum += i128::from(cost);
    }
    for table in &step.made {
        let cost = table.at(values);
        if cost == INFINITE {
            return None;
        }
        sum -= i128::from(cost);
    }
    Some(sum)
}
