//! Value ranges of index expressions, derived from the ranges of the names in them.

use crate::ir::{Compare, Expr};

/// Least and greatest value of an expression, both inclusive.
pub(super) type Interval = [i128; 2];

/// Pairs `(name, range)` of the visible names, those of the innermost scope last; the last entry of a name counts.
/// `None`: the range of the name is unknown.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    names: Vec<(String, Option<Interval>)>,
}

impl Ranges {
    /// Ranges of a function's parameters, from pairs (name, least and greatest value).
    pub fn new(symbols: impl IntoIterator<Item = (String, Interval)>) -> Self {
        Self { names: symbols.into_iter().map(|(name, range)| (name, Some(range))).collect() }
    }

    /// Number of visible names, to be given to [`leave`](Self::leave) at the end of a scope.
    pub fn depth(&self) -> usize {
        self.names.len()
    }

    /// Declares a name with its range; `None` if the range is unknown.
    pub fn declare(&mut self, name: &str, range: Option<Interval>) {
        self.names.push((name.to_owned(), range));
    }

    /// Removes all names declared since [`depth`](Self::depth) returned this number.
    pub fn leave(&mut self, depth: usize) {
        self.names.truncate(depth);
    }

    /// Restricts the range of one name to `value`. `depth` is the number of visible names when the name was declared,
    /// not counting the name.
    pub fn fix(&mut self, depth: usize, value: i64) {
        if let Some((_, range)) = self.names.get_mut(depth) {
            *range = Some([i128::from(value); 2]);
        }
    }

    /// Range of the loop variable of `from..to`: from the least value of `from` to the greatest value of `to` minus 1.
    /// If the loop has no iteration, the first may exceed the second. `None` if the range of a bound is unknown.
    pub fn of_loop(&self, from: &Expr, to: &Expr) -> Option<Interval> {
        let ([low, _], [_, high]) = (self.of(from)?, self.of(to)?);
        Some([low, high.checked_sub(1)?])
    }

    /// Range that contains all values of an expression, from the ranges of the names in it. `None` if a range that is
    /// needed is unknown, if a divisor may be 0 or negative, and if a value does not fit 128 bits. `None` too for
    /// conditions, calls, bitwise operations, Hilbert curves, and values or addresses of output parameters and
    /// variables (`Output`, `Address`).
    #[expect(clippy::wildcard_enum_match_arm, reason = "the other nodes have no known range")]
    pub fn of(&self, expr: &Expr) -> Option<Interval> {
        match expr {
            Expr::Int { value } => Some([i128::from(*value); 2]),
            Expr::Name { name } => self.names.iter().rev().find(|(known, _)| known == name)?.1,
            Expr::Neg { a } => {
                let [low, high] = self.of(a)?;
                Some([high.checked_neg()?, low.checked_neg()?])
            }
            Expr::Add { args } => args.iter().try_fold([0_i128; 2], |[low, high], arg| {
                let [least, most] = self.of(arg)?;
                Some([low.checked_add(least)?, high.checked_add(most)?])
            }),
            Expr::Mul { args } => args.iter().try_fold([1_i128; 2], |so_far, arg| {
                corners(so_far, self.of(arg)?, i128::checked_mul)
            }),
            Expr::Div { a, b } | Expr::FloorDiv { a, b } => {
                let (a, b) = (self.of(a)?, self.of(b)?);
                (b[0] > 0).then(|| corners(a, b, i128::checked_div_euclid))?
            }
            Expr::Mod { a, b } | Expr::FloorMod { a, b } => {
                let [least, most] = self.of(b)?;
                let within = self.of(a).filter(|a| a[0] >= 0 && a[1] < least);
                (least > 0).then(|| within.unwrap_or([0, most.saturating_sub(1)]))
            }
            Expr::Min { a, b } => match (self.of(a), self.of(b)) {
                (Some(a), Some(b)) => Some([a[0].min(b[0]), a[1].min(b[1])]),
                _ => None,
            },
            Expr::Max { a, b } => match (self.of(a), self.of(b)) {
                (Some(a), Some(b)) => Some([a[0].max(b[0]), a[1].max(b[1])]),
                _ => None,
            },
            Expr::Select { then, otherwise, .. } => {
                let (a, b) = (self.of(then)?, self.of(otherwise)?);
                Some([a[0].min(b[0]), a[1].max(b[1])])
            }
            _ => None,
        }
    }
}

fn corners(
    a: Interval,
    b: Interval,
    operation: impl Fn(i128, i128) -> Option<i128>,
) -> Option<Interval> {
    let all = [(a[0], b[0]), (a[0], b[1]), (a[1], b[0]), (a[1], b[1])];
    let all: Vec<i128> = all.into_iter().map(|(a, b)| operation(a, b)).collect::<Option<_>>()?;
    Some([*all.iter().min()?, *all.iter().max()?])
}

/// Truth of the comparison `a op b` for all values in the ranges `a` and `b`; `None` if it is true for some of them and
/// false for others.
pub(super) fn decide(op: Compare, a: Interval, b: Interval) -> Option<bool> {
    match op {
        Compare::Lt if a[1] < b[0] => Some(true),
        Compare::Lt if a[0] >= b[1] => Some(false),
        Compare::Le if a[1] <= b[0] => Some(true),
        Compare::Le if a[0] > b[1] => Some(false),
        Compare::Ge => decide(Compare::Lt, a, b).map(|less| !less),
        Compare::Eq if a[1] < b[0] || a[0] > b[1] => Some(false),
        Compare::Eq if a == b && a[0] == a[1] => Some(true),
        Compare::Lt | Compare::Le | Compare::Eq => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_remainders_have_the_ranges_of_their_values() {
        let ranges = Ranges::new([("n".to_owned(), [-3, 19])]);
        let name = || Box::new(Expr::name("n"));
        let by = |value| Box::new(Expr::int(value));
        assert_eq!(ranges.of(&Expr::FloorDiv { a: name(), b: by(4) }), Some([-1, 4]));
        assert_eq!(ranges.of(&Expr::FloorMod { a: name(), b: by(4) }), Some([0, 3]));
        let unknown = Box::new(Expr::name("m"));
        assert_eq!(ranges.of(&Expr::FloorMod { a: unknown, b: by(4) }), Some([0, 3]));
    }

    #[test]
    fn comparisons_are_decided_for_all_values() {
        assert_eq!(decide(Compare::Lt, [0, 3], [4, 9]), Some(true));
        assert_eq!(decide(Compare::Lt, [0, 4], [4, 9]), None);
        assert_eq!(decide(Compare::Ge, [4, 9], [0, 4]), Some(true));
        assert_eq!(decide(Compare::Eq, [4, 4], [4, 4]), Some(true));
        assert_eq!(decide(Compare::Eq, [4, 5], [4, 5]), None);
    }
}
