//! Choice of the primitive inside all loops of a relayout: transposition of a tile, copies of runs, or one element.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::heuristics::small_tiles;
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement, ValidRange};
use crate::loops::relayout::schedule::{RelayoutPrimitive, extent, speed};
use crate::machine::CPU;
use crate::model::InnerKernel;

/// Primitive that the planner chooses for a refinement: transposition, copies of runs or single elements, the first of
/// these that is possible and moves enough bytes per call. `element`: size of an element in bytes, `None` if only
/// single elements can be copied; `may_share`: true for a digit whose tiles one call may transpose.
pub(crate) fn best(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: Option<u32>,
    may_share: &dyn Fn(usize) -> bool,
) -> RelayoutPrimitive {
    let candidates =
        [(InnerKernel::Transpose, CPU.call_bytes), (InnerKernel::CopyRuns, CPU.call_run_bytes)];
    let mut worth = candidates.into_iter().filter_map(|(kind, least)| {
        let inner = of(refinement, symbols, element, kind)?;
        let inner = small_tiles::together(refinement, symbols, inner, may_share);
        (bytes_per_call(refinement, symbols, inner, element?) >= least).then_some(inner)
    });
    worth.next().unwrap_or(RelayoutPrimitive::Element)
}

/// Primitive of the kind `kind`; `None` if the refinement does not allow it. `element`: size of an element in bytes,
/// `None` if only single elements can be copied.
pub(crate) fn of(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: Option<u32>,
    kind: InnerKernel,
) -> Option<RelayoutPrimitive> {
    let shared = refinement.digits.iter().position(|digit| !digit.is_unit() && digit.is_run());
    match (kind, shared) {
        (InnerKernel::Elementwise, _) => Some(RelayoutPrimitive::Element),
        (InnerKernel::Transpose, Some(run)) => together(refinement, symbols, run, element?),
        (InnerKernel::Transpose, None) => transpose(refinement, symbols, None, element?),
        (InnerKernel::CopyRuns, run) => element.and_then(|_| runs(refinement, symbols, run?)),
    }
}

/// Number of bytes that one call transposes, that one run has, or that an element has, depending on the primitive
/// `inner`. `element` is the size of an element in bytes.
fn bytes_per_call(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
    element: u32,
) -> i128 {
    let extent = |k: usize| refinement.digits.get(k).map_or(1, |digit| extent(digit, symbols));
    match inner {
        RelayoutPrimitive::Element => i128::from(element),
        RelayoutPrimitive::Transpose { rows, columns, count, bytes, .. } => {
            let block = extent(rows).saturating_mul(extent(columns));
            block.saturating_mul(count.map_or(1, extent)).saturating_mul(i128::from(bytes))
        }
        RelayoutPrimitive::Runs { run, .. } => extent(run).saturating_mul(i128::from(element)),
    }
}

/// Transposition of the runs along digit `run` as if each was one element. `element` is the size of an element in
/// bytes. `None` if runs may be partial, have no constant length or not 1, 2, 4, 8 or 16 bytes, or cannot be
/// transposed.
fn together(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    run: usize,
    element: u32,
) -> Option<RelayoutPrimitive> {
    let digit = refinement.digits.get(run)?;
    if refinement.is_guarded(digit.chain, symbols) {
        return None;
    }
    let extent = u32::try_from(digit.extent.as_const()?).ok()?;
    transpose(refinement, symbols, Some((run, extent)), element.checked_mul(extent)?)
}

fn transpose(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    together: Option<(usize, u32)>,
    bytes: u32,
) -> Option<RelayoutPrimitive> {
    if !bytes.is_power_of_two() || bytes > 16 {
        return None;
    }
    let step = together.map_or(1, |(_, extent)| i128::from(extent));
    let along = |stride: fn(&CommonDigit) -> &Algebra| {
        let is_next =
            |digit: &CommonDigit| !digit.is_unit() && stride(digit).as_const() == Some(step);
        refinement.digits.iter().position(is_next)
    };
    let (rows, columns) = (along(|digit| &digit.to_stride)?, along(|digit| &digit.from_stride)?);
    let (a, b) = (refinement.digits.get(rows)?, refinement.digits.get(columns)?);
    if rows == columns || !have_independent_bounds(refinement, symbols, [a, b]) {
        return None;
    }
    let together = together.map(|(run, _)| run);
    Some(RelayoutPrimitive::Transpose { rows, columns, together, count: None, bytes })
}

/// Copies of strided runs along digit `run`, which is contiguous in source and destination. The runs are counted by the
/// digit that is fastest in the destination among those whose bounds are independent of `run`. `None` without such a
/// digit.
fn runs(refinement: &DigitRefinement, symbols: &[Symbol], run: usize) -> Option<RelayoutPrimitive> {
    let digit = refinement.digits.get(run)?;
    let others = refinement.digits.iter().enumerate().filter(|(k, other)| {
        *k != run
            && !other.is_unit()
            && have_independent_bounds(refinement, symbols, [digit, other])
    });
    let count = others.min_by_key(|(_, other)| speed(&other.to_stride, symbols))?.0;
    Some(RelayoutPrimitive::Runs { run, count })
}

/// True if the bounds of the two digits are known to be independent of each other, and the elements of their chains
/// start at digit values of 0.
pub(crate) fn have_independent_bounds(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    [a, b]: [&CommonDigit; 2],
) -> bool {
    let late = |digit: &CommonDigit| {
        refinement.chains.get(digit.chain).is_some_and(ValidRange::starts_late)
    };
    (a.chain != b.chain || !refinement.is_guarded(a.chain, symbols)) && !late(a) && !late(b)
}
