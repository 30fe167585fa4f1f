//! Advice on symbols: if a layout is refused, searches for a fact of a symbol, such as `multiple=4`, under which the
//! layout is valid. The numbers in the layout suggest the facts that are tried.

use std::collections::BTreeSet;

use layoutc_algebra::symbol::Symbol;

use super::replay::ReplayOutcome;

/// Maximum number of candidate facts that are tried for one advice.
const MOST_TRIALS: usize = 64;

/// Maximum number of the layout's numbers from which candidate facts are formed; the smallest are taken.
const MOST_NUMBERS: usize = 8;

/// Least number of values that a suggested maximum leaves a symbol: a symbol with only a few sizes is of no use.
const LEAST_VALUES: i128 = 4;

/// Fact that may be added to a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SymbolFact {
    /// Every value of the symbol is a multiple of this number.
    Multiple(i128),
    /// Every value of the symbol is at least this number.
    Min(i128),
    /// Every value of the symbol is at most this number.
    Max(i128),
}

/// Help text with the first candidate fact under which a refused layout is valid. `trial` is called with the symbols,
/// to which the candidate is added; the layout is valid if it returns `Proven`. `None` if no candidate is, after
/// [`MOST_TRIALS`] calls, or once a call returns `Costly`. Candidates are the `hints`, each a pair (position of the
/// symbol, fact), then those that `numbers`, the integers in the layout's steps, suggest.
pub(super) fn advice(
    symbols: &[Symbol],
    numbers: &BTreeSet<i128>,
    hints: &[(usize, SymbolFact)],
    trial: &mut dyn FnMut(&[Symbol]) -> ReplayOutcome,
) -> Option<String> {
    let mut candidates: Vec<Vec<(usize, SymbolFact)>> =
        hints.iter().map(|hint| vec![*hint]).collect();
    candidates.extend(suggested(symbols, numbers));
    let mut left = MOST_TRIALS;
    for facts in candidates {
        let Some(stronger) = with(symbols, &facts) else { continue };
        left = left.checked_sub(1)?;
        match trial(&stronger) {
            ReplayOutcome::Proven(_) => return Some(advice_text(symbols, &stronger, &facts)),
            ReplayOutcome::Refused => {}
            ReplayOutcome::Costly => return None,
        }
    }
    None
}

/// Candidates that the integers `numbers` of a layout suggest, in the order in which they are tried: multiples of one
/// symbol, or of all symbols; then minima; then maxima. Each candidate is a list of pairs (position of the symbol,
/// fact) that are added together.
fn suggested(symbols: &[Symbol], numbers: &BTreeSet<i128>) -> Vec<Vec<(usize, SymbolFact)>> {
    let numbers: Vec<i128> = numbers.iter().copied().take(MOST_NUMBERS).collect();
    let pairs = |of: &dyn Fn(i128, i128) -> Option<i128>| -> BTreeSet<i128> {
        let all = numbers.iter().flat_map(|a| numbers.iter().map(move |b| (*a, *b)));
        all.filter_map(|(a, b)| of(a, b)).chain(numbers.iter().copied()).collect()
    };
    let mut all = Vec::new();
    for multiple in pairs(&lcm).into_iter().take(16) {
        let fact = |k: usize| (k, SymbolFact::Multiple(multiple));
        all.extend((0..symbols.len()).map(|k| vec![fact(k)]));
        if symbols.len() > 1 {
            all.push((0..symbols.len()).map(fact).collect());
        }
    }
    let each = |fact: SymbolFact| (0..symbols.len()).map(move |k| vec![(k, fact)]);
    all.extend(numbers.iter().take(4).flat_map(|least| each(SymbolFact::Min(*least))));
    let most = pairs(&i128::checked_mul);
    all.extend(most.into_iter().rev().take(16).flat_map(|most| each(SymbolFact::Max(most))));
    all
}

/// Symbols with `facts` added, each a pair (position of the symbol, fact). `None` if the facts change no symbol, if
/// they leave a symbol fewer values than 2 (after a maximum, than [`LEAST_VALUES`]), or if a `multiple` exceeds 2^31.
fn with(symbols: &[Symbol], facts: &[(usize, SymbolFact)]) -> Option<Vec<Symbol>> {
    let mut stronger = symbols.to_vec();
    for (k, fact) in facts {
        let symbol = stronger.get_mut(*k)?;
        match fact {
            SymbolFact::Multiple(n) => symbol.multiple = lcm(symbol.multiple, *n)?,
            SymbolFact::Min(n) => symbol.min = symbol.min.max(*n),
            SymbolFact::Max(n) => symbol.max = symbol.max.min(*n),
        }
        let values = |n: i128| n.checked_div_euclid(symbol.multiple);
        let least = if matches!(fact, SymbolFact::Max(_)) { LEAST_VALUES } else { 2 };
        if values(symbol.max)? - values(symbol.min - 1)? < least {
            return None;
        }
    }
    (stronger.as_slice() != symbols).then_some(stronger)
}

/// Help text for facts: ``holds when `c` is a multiple of 4: add `multiple=4` to its symbol``. `stronger` are the
/// symbols with the facts added.
fn advice_text(symbols: &[Symbol], stronger: &[Symbol], facts: &[(usize, SymbolFact)]) -> String {
    let one = |(k, fact): &(usize, SymbolFact)| {
        let (before, after) = (symbols.get(*k)?, stronger.get(*k)?);
        let name = &after.name;
        let (what, fact, is_new) = match fact {
            SymbolFact::Multiple(_) => {
                let n = after.multiple;
                (format!("a multiple of {n}"), format!("multiple={n}"), before.multiple == 1)
            }
            SymbolFact::Min(n) => (format!("at least {n}"), format!("min={n}"), before.min == 1),
            SymbolFact::Max(n) => {
                let is_new = before.max == super::scope::DEFAULT_MAX;
                (format!("at most {n}"), format!("max={n}"), is_new)
            }
        };
        let symbol = if facts.len() == 1 { "its symbol".to_owned() } else { format!("`{name}`") };
        let write = if is_new {
            format!("add `{fact}` to {symbol}")
        } else {
            format!("change {symbol} to `{fact}`")
        };
        Some((format!("`{name}` is {what}"), write))
    };
    let (what, write): (Vec<String>, Vec<String>) = facts.iter().filter_map(one).unzip();
    format!("holds when {}: {}", what.join(" and "), write.join(", "))
}

/// Least common multiple of two positive numbers; `None` if it exceeds 2^31.
fn lcm(a: i128, b: i128) -> Option<i128> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x.checked_rem(y)?);
    }
    a.checked_div(x)?.checked_mul(b).filter(|n| *n <= 1 << 31)
}
