//! Elimination: one variable after the other, the cheapest first, within a budget of entries.

use std::collections::BTreeSet;

use super::table::{Cost, Table, entries, sum};
use super::{Network, Step};

/// What elimination gives.
#[derive(Debug)]
pub(super) struct Eliminated {
    /// No assignment costs less than this.
    pub(super) bound: Cost,
    /// The steps.
    pub(super) steps: Vec<Step>,
    /// All tables: those of the network, then one for each group.
    pub(super) tables: Vec<Table>,
    /// The first variable whose tables had to be put into several groups.
    pub(super) split: Option<usize>,
}

/// Eliminates all variables. `fixed` are those that have one value only.
pub(super) fn eliminate(network: &Network, fixed: &[Option<usize>], most: usize) -> Eliminated {
    let mut work = Work::new(network, fixed);
    let (mut steps, mut split) = (Vec::new(), None);
    let mut left: BTreeSet<usize> = (0..network.domains.len()).collect();
    while let Some(variable) = work.cheapest(&left) {
        left.remove(&variable);
        let groups = work.groups(variable, most);
        // Of one value the parts of a sum are least together.
        let is_fixed = fixed.get(variable).is_some_and(Option::is_some);
        if groups.len() > 1 && !is_fixed && split.is_none() {
            split = Some(variable);
        }
        work.minimise(variable, &groups);
        steps.push(Step { variable, groups });
    }
    let bound = work.alive.iter().filter_map(|k| work.tables.get(*k)).map(|table| table.at(&[]));
    let bound = bound.fold(network.constant, sum);
    Eliminated { bound, steps, tables: work.tables, split }
}

struct Work<'n> {
    /// How many values each variable has, where it is not fixed.
    counts: Vec<usize>,
    domains: &'n [usize],
    fixed: &'n [Option<usize>],
    tables: Vec<Table>,
    /// The tables that stand for nothing else yet.
    alive: BTreeSet<usize>,
    /// For each variable the tables alive that mention it.
    mentions: Vec<BTreeSet<usize>>,
}

impl<'n> Work<'n> {
    fn new(network: &'n Network, fixed: &'n [Option<usize>]) -> Self {
        let domains = network.domains.as_slice();
        let count = |(k, count): (usize, &usize)| match fixed.get(k) {
            Some(Some(_)) => 1,
            _ => *count,
        };
        let tables = network.tables.clone();
        let mut mentions = vec![BTreeSet::new(); domains.len()];
        for (k, table) in tables.iter().enumerate() {
            for variable in &table.scope {
                mentions.get_mut(*variable).into_iter().for_each(|set| {
                    set.insert(k);
                });
            }
        }
        let counts = domains.iter().enumerate().map(count).collect();
        let alive = (0..tables.len()).collect();
        Self { counts, domains, fixed, tables, alive, mentions }
    }

    /// The variables beside `variable` in some tables.
    fn scope(&self, tables: &[usize], variable: usize) -> Vec<usize> {
        let tables = tables.iter().filter_map(|k| self.tables.get(*k));
        let scope: BTreeSet<usize> = tables.flat_map(|table| table.scope.iter().copied()).collect();
        scope.into_iter().filter(|other| *other != variable).collect()
    }

    fn tables_of(&self, variable: usize) -> Vec<usize> {
        self.mentions.get(variable).into_iter().flatten().copied().collect()
    }

    /// The variable whose elimination makes the smallest table; the first of several.
    fn cheapest(&self, left: &BTreeSet<usize>) -> Option<usize> {
        left.iter().copied().min_by_key(|variable| {
            let scope = self.scope(&self.tables_of(*variable), *variable);
            entries(&scope, &self.counts).unwrap_or(usize::MAX)
        })
    }

    /// The tables that mention a variable, in groups whose tables stay within the budget.
    fn groups(&self, variable: usize, most: usize) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut tables = self.tables_of(variable);
        let size = |k: &usize| self.tables.get(*k).map_or(0, |table| table.scope.len());
        // Large ones first: small ones fit in with them.
        tables.sort_by_key(|k| std::cmp::Reverse(size(k)));
        for table in tables {
            let fits = groups.iter_mut().find(|group| {
                let with: Vec<usize> = group.iter().copied().chain([table]).collect();
                let scope = self.scope(&with, variable);
                let own = self.counts.get(variable).copied().unwrap_or(1);
                let all = entries(&scope, &self.counts).and_then(|all| all.checked_mul(own));
                all.is_some_and(|all| all <= most)
            });
            match fits {
                Some(group) => group.push(table),
                None => groups.push(vec![table]),
            }
        }
        groups
    }

    /// Puts one table in the place of each group: the least over the values of the variable.
    fn minimise(&mut self, variable: usize, groups: &[Vec<usize>]) {
        for group in groups {
            let scope = self.scope(group, variable);
            let members: Vec<&Table> = group.iter().filter_map(|k| self.tables.get(*k)).collect();
            let values = match self.fixed.get(variable) {
                Some(Some(value)) => *value..*value + 1,
                _ => 0..self.domains.get(variable).copied().unwrap_or(0),
            };
            let least = least(&members, (&scope, variable), self.domains, self.fixed, &values);
            let position = self.tables.len();
            for k in group {
                self.alive.remove(k);
                self.mentions.iter_mut().for_each(|set| {
                    set.remove(k);
                });
            }
            self.alive.insert(position);
            for other in &least.scope {
                self.mentions.get_mut(*other).into_iter().for_each(|set| {
                    set.insert(position);
                });
            }
            self.tables.push(least);
        }
    }
}

/// The least sum of some tables over the values of a variable, for all values of the others. Entries for values that
/// fixed variables do not have are not worked out: nobody asks for them.
fn least(
    members: &[&Table],
    (scope, variable): (&[usize], usize),
    domains: &[usize],
    fixed: &[Option<usize>],
    values: &std::ops::Range<usize>,
) -> Table {
    let is_asked = |given: &[usize]| {
        scope.iter().all(|other| match (fixed.get(*other), given.get(*other)) {
            (Some(Some(value)), Some(own)) => value == own,
            _ => true,
        })
    };
    let mut cost = |given: &mut [usize]| {
        if !is_asked(given) {
            return 0;
        }
        let costs = values.clone().map(|value| {
            given.get_mut(variable).into_iter().for_each(|slot| *slot = value);
            members.iter().map(|table| table.at(given)).fold(0, sum)
        });
        costs.min().unwrap_or(super::table::INFINITE)
    };
    Table::of(scope.to_vec(), domains, &mut cost)
}
