//! Legal values of symbols (multiples of `multiple` from `min` to `max`), and sample assignments of values to all
//! symbols.

use alloc::vec::Vec;

use crate::expr::{Expr, Var};
use crate::symbol::Symbol;

/// Number of smallest nonzero legal values of each symbol of which [`samples`] forms all combinations, indexed by the
/// number of symbols minus 1: 17 values if there is one symbol, 2 values each if there are four. It is 1 for more
/// symbols.
const SMALL: [i128; 4] = [17, 6, 3, 2];

impl Symbol {
    /// Least legal value of the symbol: the first multiple of `multiple` from `min` up. For 5 to 12 in multiples
    /// of 4, it is 8.
    #[must_use]
    pub fn least(&self) -> i128 {
        let multiple = self.multiple.max(1);
        let below = self.min.max(0).rem_euclid(multiple);
        let up = if below == 0 { 0 } else { multiple - below };
        self.min.max(0).saturating_add(up)
    }

    /// Greatest legal value of the symbol: the last multiple of `multiple` up to `max`, or the least value if
    /// there is none.
    #[must_use]
    pub fn greatest(&self) -> i128 {
        (self.max - self.max.rem_euclid(self.multiple.max(1))).max(self.least())
    }

    /// Only legal value of the symbol; `None` if there are several.
    #[must_use]
    pub fn only(&self) -> Option<i128> {
        let least = self.least();
        (least == self.greatest()).then_some(least)
    }

    /// True if every legal value of this symbol is legal for `other`, a symbol of the same name: the range of `other`
    /// contains the range of this symbol, and the multiple of `other` divides the multiple of this symbol.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let whole = self.multiple.checked_rem(other.multiple) == Some(0);
        self.name == other.name && self.min >= other.min && self.max <= other.max && whole
    }

    /// Legal value that follows the legal value `from` by `steps` multiples, `from + steps * multiple`, limited to the
    /// greatest legal value.
    fn above(&self, from: i128, steps: i128) -> i128 {
        from.saturating_add(self.multiple.max(1).saturating_mul(steps)).min(self.greatest())
    }

    /// Least nonzero legal value of the symbol; 0 if there is none.
    fn small(&self) -> i128 {
        if self.least() == 0 { self.above(0, 1) } else { self.least() }
    }
}

/// Sample values of the symbols, at which counterexamples are searched for. Each list has one legal value per symbol,
/// in the order of `symbols`. A list is left out if one of the expressions `extents` is below 1 for it, or cannot be
/// evaluated. The lists combine small values, values up to 64 multiples above these, the greatest values of all symbols
/// and of each alone, and values one multiple below the greatest.
pub(crate) fn samples(symbols: &[Symbol], extents: &[Expr]) -> Vec<Vec<i128>> {
    let mut found: Vec<Vec<i128>> = Vec::new();
    let small: Vec<i128> = symbols.iter().map(Symbol::small).collect();
    let near = SMALL.get(symbols.len().saturating_sub(1)).copied().unwrap_or(1);
    let mut all = grid(symbols, &small, near);
    for steps in [5, 11, 23, 64] {
        all.push(symbols.iter().zip(&small).map(|(s, from)| s.above(*from, steps)).collect());
    }
    let last: Vec<i128> = symbols.iter().map(Symbol::greatest).collect();
    let before = |(symbol, last): (&Symbol, &i128)| (last - symbol.multiple).max(symbol.least());
    let before: Vec<i128> = symbols.iter().zip(&last).map(before).collect();
    let least: Vec<i128> = symbols.iter().map(Symbol::least).collect();
    for (ends, others) in [(&last, &small), (&small, &last), (&last, &least), (&before, &small)] {
        for k in 0..symbols.len() {
            let value = |at: usize| if at == k { ends.get(at) } else { others.get(at) };
            all.push((0..symbols.len()).filter_map(value).copied().collect());
        }
    }
    all.extend([last, before, least]);
    for values in all {
        if !found.contains(&values) && has_elements(extents, &values) {
            found.push(values);
        }
    }
    found
}

/// Combinations of legal values, one list per combination in the order of `symbols`: each symbol takes its first `near`
/// legal values from its value in `small` up. Combinations with the fewest steps above `small` come first: `[1, 1]`,
/// `[1, 2]`, `[2, 1]`, `[2, 2]` for two symbols from 1 up and `near` 2.
fn grid(symbols: &[Symbol], small: &[i128], near: i128) -> Vec<Vec<i128>> {
    let mut all: Vec<(i128, Vec<i128>)> = alloc::vec![(0, Vec::new())];
    for (symbol, from) in symbols.iter().zip(small) {
        let mut longer = Vec::new();
        for (sum, values) in &all {
            for steps in 0..near {
                let own = [values.as_slice(), &[symbol.above(*from, steps)]].concat();
                longer.push((sum + steps, own));
            }
        }
        all = longer;
    }
    all.sort_by_key(|(sum, _)| *sum);
    all.into_iter().map(|(_, values)| values).collect()
}

/// True if every extent is at least 1 where `Var::Symbol(k)` is `values[k]`; false if an extent cannot be evaluated.
fn has_elements(extents: &[Expr], values: &[i128]) -> bool {
    let value = |var: Var| match var {
        Var::Symbol(k) => values.get(usize::try_from(k).ok()?).copied(),
        _ => None,
    };
    extents.iter().all(|extent| extent.evaluate(&value).is_ok_and(|extent| extent > 0))
}
