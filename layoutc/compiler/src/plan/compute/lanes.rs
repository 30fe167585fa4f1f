//! Sums of one element put together in several lanes, where no loop of what is written has vectors: every so manyth value goes into
//! the same lane, and the lanes are put together in the end.

use layoutc_algebra::expr::ExprError;

use super::domain::Domain;
use super::vectors::{Reads, Registers, Seen, row};
use crate::model::compute::{Function, Reduction, Statement, ValueKind};

/// Into how many vectors the values of one element go at most: as many as keep a core busy while each waits for the last.
const VECTORS: i128 = 4;

/// The same, where several elements are put together at once.
const WITH_ROWS: i128 = 2;

/// The loops inside the reduction.
pub(super) struct Lanes {
    /// The reduced loop that is left around the lanes.
    pub(super) around: usize,
    /// Rows of elements, and the lanes.
    pub(super) inner: Vec<usize>,
    /// The loop over the lanes.
    pub(super) lanes: usize,
}

/// Whether the values of a statement may go into lanes: not where computing one takes so long that the order does not matter.
pub(super) fn may_have_lanes(statement: &Statement) -> bool {
    let mut is_quick = statement.op != Reduction::Assign && !statement.value.divides();
    statement.value.walk(&mut |value| {
        if let ValueKind::Call(function, _) = &value.kind {
            is_quick &= matches!(function, Function::Abs | Function::Sqrt);
        }
    });
    is_quick
}

/// Cuts lanes off the reduced loop along which all that is read stays or goes on by one, and rows off the `outer` loops. `None`
/// where there is no such loop, it is short, or borders cut it.
pub(super) fn lanes(
    domain: &mut Domain,
    outer: &mut Vec<usize>,
    reduced: &[usize],
    reads: Reads<'_>,
    (lanes, registers): (i128, Registers),
) -> Result<Option<Lanes>, ExprError> {
    let Seen { steps, guarded } = reads(domain)?;
    let follows = |number: &usize| {
        let strides = steps.iter().map(|one| one.stride(*number, domain)?.as_const());
        let strides: Option<Vec<i128>> = strides.collect();
        !guarded.contains(number)
            && strides.is_some_and(|all| {
                all.contains(&1) && all.iter().all(|stride| [0, 1].contains(stride))
            })
    };
    let Some(along) = reduced.iter().copied().find(follows) else { return Ok(None) };
    let most = domain.rounds(along).map_or(i128::MAX, |rounds| rounds.div_euclid(2));
    if most < lanes {
        return Ok(None);
    }
    let as_it_was = (domain.clone(), outer.clone());
    let mut inner = Vec::new();
    let with_rows = registers.vectors().div_euclid(WITH_ROWS).min(registers.rows());
    let row = row(domain, outer, (None, with_rows, WITH_ROWS), reads)?;
    let mut vectors = if row.is_some() { WITH_ROWS } else { VECTORS };
    inner.extend(row);
    while vectors > 1 && vectors.saturating_mul(lanes) > most {
        vectors = vectors.div_euclid(2);
    }
    let by = i64::try_from(vectors.saturating_mul(lanes)).unwrap_or(1);
    let [around, lanes] = domain.split(along, by)?;
    if !domain.live.contains(&around) || !domain.live.contains(&lanes) {
        (*domain, *outer) = as_it_was;
        return Ok(None);
    }
    domain.put_together_later(lanes);
    inner.push(lanes);
    Ok(Some(Lanes { around, inner, lanes }))
}
