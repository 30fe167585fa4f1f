//! Elimination plan: the partition of the bucket of each variable into groups of tables whose sums fit the memory
//! limit.

use std::collections::BTreeSet;

use super::SolverLimits;

/// Pair (number, levels) of a table: its number as defined at `ProofPart`, and the levels of its variables, ascending.
/// Level 0 is the variable eliminated last.
pub(super) type TableScope = (usize, Vec<usize>);

/// Group of tables in a bucket, which are summed. `tables` are their numbers, and `outer` the levels of the table that
/// the group produces, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MiniBucket {
    pub(super) tables: Vec<usize>,
    pub(super) outer: Vec<usize>,
}

/// Elimination plan: the groups of the bucket of every level, level 0 first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct EliminationPlan {
    pub(super) levels: Vec<Vec<MiniBucket>>,
    /// Total number of entries of the tables that all groups produce.
    entries: u128,
}

impl EliminationPlan {
    /// Number of levels from level 0 to the last level whose bucket has more than one group, inclusive; 0 if there is
    /// none. A prefix that assigns all these levels has an exact cost: the least cost of its completions.
    pub(super) fn inexact_levels(&self) -> usize {
        self.levels.iter().rposition(|groups| groups.len() > 1).map_or(0, |level| level + 1)
    }
}

/// Elimination plan for a subproblem. A group may produce a number of entries that starts at `limits.table` and is
/// halved until all groups together produce at most `limits.table` entries, or until it is 1. `scopes` are the tables
/// of the subproblem, and `sizes` has the number of values of each level. New tables are numbered from `made` on.
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

/// Elimination plan with the least work. Tables share a group only if the table that it produces is not larger than the
/// one that the largest of them alone would produce. The arguments are as in [`plan`].
pub(super) fn quick_plan(scopes: &[TableScope], sizes: &[usize], made: usize) -> EliminationPlan {
    grouped(scopes, sizes, made, 1)
}

/// Elimination plan in which each group produces at most `cap` entries. A group may produce more if its largest table
/// alone would produce as many. `scopes`, `sizes` and `made` are as in [`plan`].
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

/// Adds the table `scope` to the bucket of its innermost level, the last one in its list of levels. A table without
/// levels is ignored.
fn put(buckets: &mut [Vec<TableScope>], scope: TableScope) {
    if let Some(bucket) = scope.1.last().and_then(|&level| buckets.get_mut(level)) {
        bucket.push(scope);
    }
}

/// Partition of the bucket of `level` into groups. Tables are taken in order of decreasing number of levels. Each is
/// added to the first group whose result it does not enlarge, or that then produces at most `cap` entries; if there is
/// none, it begins a new group.
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
