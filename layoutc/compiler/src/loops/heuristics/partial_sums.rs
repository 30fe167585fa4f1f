//! Partial sums (rfactor) of one element, used if no loop of the written tensor can be vectorized: the reduction is
//! split over L accumulators, value k goes to accumulator k mod L, and a tree combines the accumulators at the end.

use layoutc_algebra::expr::ExprError;

use crate::loops::domain::IterationDomain;
use crate::loops::heuristics::register_tile::row_tile;
use crate::loops::order::PartialSums;
use crate::loops::reads::{AccessSummary, Reads};
use crate::machine::{CPU, Registers};
use crate::model::compute::{MathFunction, Reduction, Statement, TypedExprKind};

/// True if a statement may use partial sums: a reduction without integer divisions, and without calls of functions
/// other than `abs` and `sqrt`. After such slow operations, the latency of the accumulation does not matter.
pub(crate) fn may_have_partial_sums(statement: &Statement) -> bool {
    let mut is_quick = statement.op != Reduction::Assign && !statement.value.divides();
    statement.value.walk(&mut |value| {
        if let TypedExprKind::Call(function, _) = &value.kind {
            is_quick &= matches!(function, MathFunction::Abs | MathFunction::Sqrt);
        }
    });
    is_quick
}

/// Splits the loop over accumulators off the first loop of `reduced` along which no read has a boundary condition, and
/// all reads have stride 0 or 1, at least one of them 1. It has up to `partial_sum_vectors` vectors of `lanes`
/// iterations. A loop over rows may be split off `outer`; there are then up to `partial_sum_vectors_of_rows` vectors.
/// Returns the pair of the loops of the partial sums, and of the loops inside the reduced loop around the accumulators,
/// outermost first. `None` if the reduction is not split, for example if there is no such loop, or the first one has a
/// constant trip count of fewer than two vectors.
pub(crate) fn lanes(
    domain: &mut IterationDomain,
    outer: &mut Vec<usize>,
    reduced: &[usize],
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Option<(PartialSums, Vec<usize>)>, ExprError> {
    let AccessSummary { steps, guarded } = reads(domain)?;
    let follows = |number: &usize| {
        let strides = steps.iter().map(|one| one.stride(*number, domain)?.as_const());
        let strides: Option<Vec<i128>> = strides.collect();
        !guarded.contains(number)
            && strides.is_some_and(|all| {
                all.contains(&1) && all.iter().all(|stride| [0, 1].contains(stride))
            })
    };
    let Some(along) = reduced.iter().copied().find(follows) else { return Ok(None) };
    let most = domain.trip_count(along).map_or(i128::MAX, |rounds| rounds.div_euclid(2));
    if most < lanes {
        return Ok(None);
    }
    let as_it_was = (domain.clone(), outer.clone());
    let mut inner = Vec::new();
    let with_rows =
        registers.tile_vectors.div_euclid(CPU.partial_sum_vectors_of_rows).min(registers.tile_rows);
    let row = row_tile(domain, outer, (None, with_rows, CPU.partial_sum_vectors_of_rows), reads)?;
    let mut vectors =
        if row.is_some() { CPU.partial_sum_vectors_of_rows } else { CPU.partial_sum_vectors };
    inner.extend(row);
    while vectors > 1 && vectors.saturating_mul(lanes) > most {
        vectors = vectors.div_euclid(2);
    }
    let by = i64::try_from(vectors.saturating_mul(lanes)).unwrap_or(1);
    let [around, lanes] = domain.split(along, by)?;
    if !domain.active.contains(&around) || !domain.active.contains(&lanes) {
        (*domain, *outer) = as_it_was;
        return Ok(None);
    }
    domain.privatize(lanes);
    inner.push(lanes);
    Ok(Some((PartialSums { number: lanes, around }, inner)))
}
