//! Proofs that an expression over the logical indices of a layout is 0 at every index. The result is one of three:
//! proven, refuted by a witness, or unknown.

use layoutc_algebra::expr::{Expr, ExprError, Var};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Symbol;

use crate::check::index_point::{ClaimResult, IndexPoint};

/// Maximum number of indices at which an expression is evaluated exhaustively. With more indices, a sample is
/// evaluated.
const MOST_VISITED: i128 = 1 << 20;

/// Maximum number of indices of a sample, for each assignment of the symbols.
const MOST_PROBED: usize = 1 << 14;

/// Decides if `expr` is 0 for all indices in `0..extents` (axis k is `Var::Axis(k)`) and all values of the symbols;
/// [`ClaimResult::Holds`] if an extent is the constant 0 or less.
///
/// # Errors
/// [`ExprError`] if index arithmetic fails, for example because a value overflows.
pub(super) fn is_zero(
    expr: &Expr,
    extents: &[Expr],
    symbols: &[Symbol],
) -> Result<ClaimResult, ExprError> {
    let mut facts = Facts::new(symbols);
    let extents: Vec<Expr> =
        extents.iter().map(|extent| facts.simplify(extent)).collect::<Result<_, _>>()?;
    if extents.iter().any(|extent| extent.as_const().is_some_and(|extent| extent <= 0)) {
        return Ok(ClaimResult::Holds);
    }
    for (k, extent) in (0_u32..).zip(&extents) {
        facts.set_extent(Var::Axis(k), extent)?;
    }
    let expr = facts.simplify(expr)?;
    if expr.as_const() == Some(0) {
        return Ok(ClaimResult::Holds);
    }
    let mut is_whole = true;
    for values in samples(symbols) {
        match visit(&expr, &extents, values)? {
            SampleResult::NonZero(point) => return Ok(ClaimResult::Fails(point)),
            SampleResult::AllZero => {}
            SampleResult::Sampled => is_whole = false,
        }
    }
    // Visiting all indices proves nothing for other values of a symbol.
    let is_static = symbols.is_empty() || !depends_on_symbols(&expr, &extents);
    Ok(if is_whole && is_static { ClaimResult::Holds } else { ClaimResult::Unknown })
}

fn depends_on_symbols(expr: &Expr, extents: &[Expr]) -> bool {
    let is_symbol = |expr: &Expr| expr.mentions(&|var| matches!(var, Var::Symbol(_)));
    let is_read =
        |k: usize| expr.mentions(&|var| matches!(var, Var::Axis(a) if usize::try_from(a) == Ok(k)));
    is_symbol(expr) || extents.iter().enumerate().any(|(k, extent)| is_read(k) && is_symbol(extent))
}

/// Result of evaluating an expression at many indices, for one assignment of the symbols.
enum SampleResult {
    /// The expression is not 0 at this index.
    NonZero(IndexPoint),
    /// The expression is 0 at all indices. It was evaluated for every combination of the indices that it reads.
    AllZero,
    /// The expression is 0 at a sample of the indices.
    Sampled,
}

fn visit(expr: &Expr, extents: &[Expr], symbols: Vec<i128>) -> Result<SampleResult, ExprError> {
    let point = IndexPoint { axes: vec![0; extents.len()], symbols };
    let mut lengths = Vec::new();
    for extent in extents {
        lengths.push(extent.evaluate(&|var| point.value(var))?);
    }
    if lengths.iter().any(|length| *length <= 0) {
        return Ok(SampleResult::AllZero);
    }
    let mut read: Vec<(usize, i128)> = Vec::new();
    for var in expr.vars() {
        if let Var::Axis(k) = var
            && let Ok(k) = usize::try_from(k)
            && let Some(length) = lengths.get(k)
        {
            read.push((k, *length));
        }
    }
    let all = read.iter().try_fold(1_i128, |all, (_, length)| all.checked_mul(*length));
    let is_whole = all.is_some_and(|all| all <= MOST_VISITED);
    let chosen: Vec<(usize, Vec<i128>)> = read
        .iter()
        .map(|(k, length)| (*k, if is_whole { (0..*length).collect() } else { probes(*length) }))
        .collect();
    let mut left = if is_whole { usize::MAX } else { MOST_PROBED };
    let mut result = Ok(if is_whole { SampleResult::AllZero } else { SampleResult::Sampled });
    point.visit(&chosen, &mut |point| {
        match expr.evaluate(&|var| point.value(var)) {
            Ok(0) => {
                left = left.saturating_sub(1);
                return left > 0;
            }
            Ok(_) => result = Ok(SampleResult::NonZero(point.clone())),
            Err(error) => result = Err(error),
        }
        false
    });
    result
}

/// Sample of the indices of an axis of extent `length`, in ascending order, at which a claim is most likely to fail:
/// the first 12, those at and next to powers of two, and the last two.
fn probes(length: i128) -> Vec<i128> {
    let powers = (1..40).map(|n| 1_i128 << n).take_while(|power| *power < length);
    let around = powers.flat_map(|power| [power - 1, power, power + 1]);
    let all = (0..12).chain(around).chain([length - 2, length - 1]);
    let found: std::collections::BTreeSet<i128> =
        all.filter(|index| (0..length).contains(index)).collect();
    found.into_iter().collect()
}

/// Sample assignments of the symbols, without duplicates. In the first, all symbols have their least sample value. In
/// the others, one symbol has one of its sample values, and the other symbols all have their least or all have their
/// greatest sample value. A single empty assignment if there are no symbols.
pub(super) fn samples(symbols: &[Symbol]) -> Vec<Vec<i128>> {
    let values: Vec<Vec<i128>> = symbols.iter().map(values_of).collect();
    let least: Vec<i128> = values.iter().filter_map(|v| v.first().copied()).collect();
    let most: Vec<i128> = values.iter().filter_map(|v| v.last().copied()).collect();
    let mut all = vec![least.clone()];
    for base in [&least, &most] {
        for (k, values) in values.iter().enumerate() {
            for value in values {
                let mut choice = base.clone();
                if let Some(slot) = choice.get_mut(k) {
                    *slot = *value;
                }
                all.push(choice);
            }
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|choice| seen.insert(choice.clone()));
    all
}

/// Sample values of one symbol in ascending order: multiples of its `multiple`, at least 1, at and near its least and
/// greatest value.
fn values_of(symbol: &Symbol) -> Vec<i128> {
    let multiple = symbol.multiple.max(1);
    let floor = |value: i128| value.div_euclid(multiple).saturating_mul(multiple);
    let (low, high) = (floor(symbol.min.max(1) + multiple - 1), floor(symbol.max));
    let around =
        [0, 1, 2, 3, 4, 7, 8].map(|step| low.saturating_add(multiple.saturating_mul(step)));
    let all = around.into_iter().chain([high.saturating_sub(multiple), high]);
    let found: std::collections::BTreeSet<i128> =
        all.filter(|value| (low..=high).contains(value)).collect();
    found.into_iter().collect()
}
