//! Which tables are added up when a variable goes: all of them where the next table is small enough, else groups.

use std::collections::BTreeSet;

use super::SolverLimits;

/// A table by its number, with its levels in ascending order.
pub(super) type TableScope = (usize, Vec<usize>);

/// A group of a bucket: what is added up, and the levels of the table that it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MiniBucket {
    pub(super) tables: Vec<usize>,
    pub(super) outer: Vec<usize>,
}

/// The groups of every level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EliminationPlan {
    pub(super) levels: Vec<Vec<MiniBucket>>,
    /// The entries of all tables that are made.
    entries: u128,
}

impl EliminationPlan {
    /// How many levels, from 0 on, there are up to the last one of more than one group: below them all costs are exact.
    pub(super) fn inexact_levels(&self) -> usize {
        self.levels.iter().rposition(|groups| groups.len() > 1).map_or(0, |level| level + 1)
    }
}

/// The plan of the largest groups whose tables stay within the limits. The tables that are made are numbered from `made`
/// on.
pub(super) fn plan(
    scopes: &[TableScope],
    sizes: &[usize],
    made: usize,
    limits: &SolverLimits,
) -> EliminationPlan {
    let most = u128::try_from(limits.table).unwrap_or(u128::MAX).max(1);
    let mut cap = most;
    loop {
        let plan = grouped(scopes, sizes, made, cap);
        if plan.entries <= most || cap == 1 {
            return plan;
        }
        cap /= 2;
    }
}

/// The plan of the least work: no two tables are put together unless that costs nothing.
pub(super) fn quick_plan(scopes: &[TableScope], sizes: &[usize], made: usize) -> EliminationPlan {
    grouped(scopes, sizes, made, 1)
}

/// A plan whose groups leave at most `cap` entries, or no more than their largest table leaves.
fn grouped(scopes: &[TableScope], sizes: &[usize], mut made: usize, cap: u128) -> EliminationPlan {
    let mut buckets: Vec<Vec<TableScope>> = vec![Vec::new(); sizes.len()];
    for scope in scopes {
        put(&mut buckets, scope.clone());
    }
    let mut plan = EliminationPlan { levels: vec![Vec::new(); sizes.len()], entries: 0 };
    for level in (0..sizes.len()).rev() {
        let bucket = buckets.get_mut(level).map(std::mem::take).unwrap_or_default();
        let groups = groups(bucket, level, sizes, cap);
        for group in &groups {
            plan.entries = plan.entries.saturating_add(entries(&group.outer, sizes));
            put(&mut buckets, (made, group.outer.clone()));
            made += 1;
        }
        if let Some(place) = plan.levels.get_mut(level) {
            *place = groups;
        }
    }
    plan
}

/// To the bucket of its innermost level, which goes first.
fn put(buckets: &mut [Vec<TableScope>], scope: TableScope) {
    if let Some(bucket) = scope.1.last().and_then(|&level| buckets.get_mut(level)) {
        bucket.push(scope);
    }
}

/// Each table, the largest first, goes to the first group that it fits in.
fn groups(
    mut bucket: Vec<TableScope>,
    level: usize,
    sizes: &[usize],
    cap: u128,
) -> Vec<MiniBucket> {
    bucket.sort_by_key(|(number, levels)| (std::cmp::Reverse(levels.len()), *number));
    let mut groups: Vec<(Vec<usize>, BTreeSet<usize>)> = Vec::new();
    for (number, levels) in bucket {
        let outer: BTreeSet<usize> = levels.into_iter().filter(|&l| l != level).collect();
        let fits = groups
            .iter_mut()
            .find(|(_, have)| outer.is_subset(have) || entries(have.union(&outer), sizes) <= cap);
        match fits {
            Some((tables, have)) => {
                tables.push(number);
                have.extend(outer);
            }
            None => groups.push((vec![number], outer)),
        }
    }
    let group = |(tables, outer): (_, BTreeSet<usize>)| MiniBucket {
        tables,
        outer: outer.into_iter().collect(),
    };
    groups.into_iter().map(group).collect()
}

fn entries<'a>(levels: impl IntoIterator<Item = &'a usize>, sizes: &[usize]) -> u128 {
    levels.into_iter().fold(1, |entries, &level| {
        let size = sizes.get(level).copied().unwrap_or(1);
        entries.saturating_mul(u128::try_from(size).unwrap_or(u128::MAX))
    })
}
