//! Costs over some variables: one entry for each combination of their values, the last variable fastest.

/// A cost, in whatever the user counts; [`INFINITE`] is forbidden.
pub type Cost = u128;

/// What is forbidden.
pub const INFINITE: Cost = u128::MAX;

/// The sum of two costs; what does not fit is forbidden.
pub(super) fn sum(a: Cost, b: Cost) -> Cost {
    a.checked_add(b).unwrap_or(INFINITE)
}

/// Costs over some variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    /// The variables, each once, ascending.
    pub(super) scope: Vec<usize>,
    /// How many entries lie between one value of each and the next.
    strides: Vec<usize>,
    costs: Vec<Cost>,
}

impl Table {
    /// A table; `scope` and `costs` may have the variables in any order. Entries that are missing are forbidden.
    pub(super) fn new(scope: Vec<usize>, domains: &[usize], costs: Vec<Cost>) -> Self {
        let given = Self { strides: strides(&scope, domains), scope, costs };
        if given.scope.is_sorted() {
            return given;
        }
        let mut sorted = given.scope.clone();
        sorted.sort_unstable();
        Self::of(sorted, domains, &mut |values| given.at(values))
    }

    /// The table whose entries a function gives for the values of all variables of the network. Those outside `scope` are
    /// 0 first, and the function may change them.
    pub(super) fn of(
        scope: Vec<usize>,
        domains: &[usize],
        cost: &mut dyn FnMut(&mut [usize]) -> Cost,
    ) -> Self {
        let mut values = vec![0; domains.len()];
        let mut costs = Vec::with_capacity(entries(&scope, domains).unwrap_or(0));
        for _ in 0..entries(&scope, domains).unwrap_or(0) {
            costs.push(cost(&mut values));
            next(&scope, domains, &mut values);
        }
        Self { strides: strides(&scope, domains), scope, costs }
    }

    /// The entry for the values of all variables of the network.
    pub(super) fn at(&self, values: &[usize]) -> Cost {
        let steps = self.scope.iter().zip(&self.strides);
        let place = steps.map(|(variable, stride)| {
            values.get(*variable).copied().unwrap_or(0).saturating_mul(*stride)
        });
        self.costs.get(place.sum::<usize>()).copied().unwrap_or(INFINITE)
    }

    /// Whether it is over a variable.
    pub(super) fn mentions(&self, variable: usize) -> bool {
        self.scope.contains(&variable)
    }
}

/// How many combinations of values there are; `None` beyond the machine's numbers.
pub(super) fn entries(scope: &[usize], domains: &[usize]) -> Option<usize> {
    let mut counts = scope.iter().map(|variable| domains.get(*variable).copied().unwrap_or(0));
    counts.try_fold(1_usize, usize::checked_mul)
}

fn strides(scope: &[usize], domains: &[usize]) -> Vec<usize> {
    let mut strides = Vec::with_capacity(scope.len());
    let mut stride = 1_usize;
    for variable in scope.iter().rev() {
        strides.push(stride);
        stride = stride.saturating_mul(domains.get(*variable).copied().unwrap_or(0));
    }
    strides.reverse();
    strides
}

/// The next combination of the values of `scope`; the first after the last.
pub(super) fn next(scope: &[usize], domains: &[usize], values: &mut [usize]) {
    for variable in scope.iter().rev() {
        let Some(value) = values.get_mut(*variable) else { return };
        *value += 1;
        if *value < domains.get(*variable).copied().unwrap_or(0) {
            return;
        }
        *value = 0;
    }
}
