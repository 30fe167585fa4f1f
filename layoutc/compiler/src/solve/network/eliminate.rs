//! Bucket elimination of a subproblem, as an [`EliminationPlan`] prescribes.

use std::collections::BTreeMap;

use super::data::{Cost, INFINITE};
use super::elimination_plan::EliminationPlan;
use super::table::{LevelTable, capped, sum_rows};

/// Result of a bucket elimination of a subproblem: all its cost tables, and the shifts that were applied in the
/// buckets.
#[derive(Debug, Clone, Default)]
pub(super) struct BucketTables {
    /// Tables of the subproblem before the elimination, and tables that the elimination produced, by table number.
    pub(super) tables: BTreeMap<usize, LevelTable>,
    /// Numbers of the tables that the elimination of each level produced, level 0 first.
    pub(super) made: Vec<Vec<usize>>,
    /// Shifts of the costs of each group: `shifts[level][group][value]`, where `group` is the position of the group in
    /// the level's bucket, and `value` a value of the variable at the level. Empty for a group without shifts.
    pub(super) shifts: Vec<Vec<Vec<i64>>>,
    /// Sum of the tables without variables after all eliminations: a lower bound on the cost of every assignment.
    pub(super) bound: Cost,
}

/// Executes an elimination plan from the last level to level 0. `originals` are the tables of the subproblem by number,
/// and `sizes` has the number of values of each level. The tables that it produces are numbered from `first_made` on.
/// `None` if `stop` returned true.
pub(super) fn eliminate(
    plan: &EliminationPlan,
    originals: BTreeMap<usize, LevelTable>,
    first_made: usize,
    sizes: &[usize],
    stop: &dyn Fn() -> bool,
) -> Option<BucketTables> {
    let levels = plan.levels.len();
    let mut done = BucketTables {
        tables: originals,
        made: vec![Vec::new(); levels],
        shifts: vec![Vec::new(); levels],
        bound: 0,
    };
    let mut number = first_made;
    for (level, groups) in plan.levels.iter().enumerate().rev() {
        let width = sizes.get(level).copied().unwrap_or(1);
        let members: Vec<Vec<&LevelTable>> = groups
            .iter()
            .map(|group| group.tables.iter().filter_map(|t| done.tables.get(t)).collect())
            .collect();
        let mut shifts = vec![Vec::new(); groups.len()];
        if groups.len() > 1 {
            let mut least = Vec::with_capacity(groups.len());
            for (group, tables) in groups.iter().zip(&members) {
                least.push(marginals(tables, &group.outer, sizes, width, stop)?);
            }
            shifts = equalizing_shifts(&least, width);
        }
        let mut next = Vec::with_capacity(groups.len());
        for ((group, tables), shift) in groups.iter().zip(&members).zip(&shifts) {
            let costs = least_sums(tables, &group.outer, sizes, shift, stop)?;
            next.push(LevelTable::new(group.outer.clone(), sizes, costs));
        }
        for table in next {
            if table.innermost().is_none() {
                done.bound = capped(done.bound.saturating_add(table.at(&[])));
            }
            if let Some(made) = done.made.get_mut(level) {
                made.push(number);
            }
            done.tables.insert(number, table);
            number += 1;
        }
        if let Some(place) = done.shifts.get_mut(level) {
            *place = shifts;
        }
    }
    Some(done)
}

/// Min-marginals of the sum of `tables`, which have the same innermost level. There is one for each of the `width`
/// values of this level: the least sum over all assignments of the `outer` levels. `sizes` has the number of values of
/// each level of the subproblem. `None` if `stop` returned true.
fn marginals(
    tables: &[&LevelTable],
    outer: &[usize],
    sizes: &[usize],
    width: usize,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Cost>> {
    let mut least = vec![INFINITE; width];
    sum_rows(tables, outer, sizes, stop, |row| {
        for (least, &cost) in least.iter_mut().zip(row) {
            *least = (*least).min(cost);
        }
    })?;
    Some(least.into_iter().map(capped).collect())
}

/// Shifts `[group][value]` that make the min-marginals of all groups equal, at each value their mean.
/// `least[group][value]` are the min-marginals, and `width` is the number of values. `[6, 2]` and `[0, 4]` become
/// `[3, 3]` and `[3, 3]`, which raises the bound from 2 + 0 to 3 + 3. The shift is 0 at a value that some group
/// forbids. A remainder of the mean goes to the first group.
fn equalizing_shifts(least: &[Vec<Cost>], width: usize) -> Vec<Vec<i64>> {
    let mut shifts = vec![vec![0i64; width]; least.len()];
    let groups = u64::try_from(least.len()).unwrap_or(u64::MAX).max(1);
    for value in 0..width {
        let at = || least.iter().map(|costs| costs.get(value).copied().unwrap_or(INFINITE));
        if at().any(|cost| cost == INFINITE) {
            continue;
        }
        let mean = at().map(|cost| cost / groups).sum::<u64>();
        let rest = at().map(u128::from).sum::<u128>() - u128::from(mean) * u128::from(groups);
        let mut rest = i64::try_from(rest).unwrap_or(0);
        for (shift, cost) in shifts.iter_mut().zip(at()) {
            if let Some(shift) = shift.get_mut(value) {
                // `mean` and `cost` are at most 2^62 - 1, and `rest` is less than the square of the number of groups.
                *shift = i64::try_from(mean).unwrap_or(0) - i64::try_from(cost).unwrap_or(0) + rest;
                rest = 0;
            }
        }
    }
    shifts
}

/// Entries of the table that a group produces, in row-major order, one for each assignment of the `outer` levels. An
/// entry is the minimum over the values v of the innermost level of the sum of `tables` plus `shift[v]`; an empty
/// `shift` stands for zeros. `None` if `stop` returned true.
fn least_sums(
    tables: &[&LevelTable],
    outer: &[usize],
    sizes: &[usize],
    shift: &[i64],
    stop: &dyn Fn() -> bool,
) -> Option<Vec<Cost>> {
    let mut costs = Vec::new();
    sum_rows(tables, outer, sizes, stop, |row| {
        let least = if shift.is_empty() {
            row.iter().copied().min()
        } else {
            row.iter().zip(shift).map(|(&cost, &by)| shifted(cost, by)).min()
        };
        costs.push(capped(least.unwrap_or(INFINITE)));
    })?;
    Some(costs)
}

fn shifted(cost: Cost, by: i64) -> Cost {
    let cost = capped(cost);
    if cost == INFINITE { INFINITE } else { cost.saturating_add_signed(by) }
}
