//! Small transpose tiles that share one call: consecutive tiles, so that vectors span several of them, and tiles whose
//! elements are interleaved.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, fold, is_multiple, scale};
use crate::loops::heuristics::relayout_primitive::{have_independent_bounds, of};
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement, ValidRange};
use crate::loops::relayout::full_runs::peel_remainder;
use crate::loops::relayout::fuse::merge;
use crate::loops::relayout::schedule::{RelayoutPrimitive, extent, speed};
use crate::machine::CPU;
use crate::model::InnerKernel;

/// Parts of a refinement, each with its fewest loops. There is more than one part if the split lets one call transpose
/// several tiles: 8001 rows, two to a tile, become 8000 and one. `element` is the size of an element in bytes.
///
/// # Errors
/// [`ExprError`] if an offset overflows or becomes too large.
pub(crate) fn parts(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: u32,
) -> Result<Vec<DigitRefinement>, ExprError> {
    let merged = merge(&separate_full_digits(refinement, symbols)?, symbols)?;
    let Some((top, high)) = partial_chain(&merged, symbols, element)? else {
        return Ok(vec![merged]);
    };
    let mut all = Vec::new();
    for part in peel_remainder(&merged, top, &high)? {
        all.extend(parts(&part, symbols, element)?);
    }
    Ok(all)
}

/// Primitive `inner`; for a transposition, with `count` set to the digit whose tiles one call can transpose, or to
/// `None` if there is none. `may_share(k)` is true if the manifest allows that digit `k` has no loop.
pub(crate) fn together(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
    may_share: &dyn Fn(usize) -> bool,
) -> RelayoutPrimitive {
    match inner {
        RelayoutPrimitive::Transpose { rows, columns, together, bytes, .. } => {
            let count = count(refinement, symbols, inner).filter(|k| may_share(*k));
            RelayoutPrimitive::Transpose { rows, columns, together, count, bytes }
        }
        other => other,
    }
}

/// Refinement in which the less significant digits of a chain have a chain of their own, if the chain's end is a
/// multiple of the weight above them: for 250 rows as 32 by 4 by 2, the digit of 2 is always full.
fn separate_full_digits(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
) -> Result<DigitRefinement, ExprError> {
    let mut freed = refinement.clone();
    for (k, bounds) in refinement.chains.iter().enumerate() {
        let weights =
            || refinement.digits.iter().filter(|digit| digit.chain == k).map(|digit| digit.weight);
        let least = weights().min().unwrap_or(1);
        let ends = |weight: &i128| *weight > least && is_multiple(&bounds.high, *weight, symbols);
        let Some(weight) = weights().filter(ends).max() else { continue };
        if bounds.starts_late() || !refinement.ends_early(k, bounds, symbols) {
            continue;
        }
        let own = freed.chains.len();
        freed.chains.push(ValidRange { low: Expr::constant(0), high: Expr::constant(weight) });
        for digit in freed.digits.iter_mut().filter(|digit| digit.chain == k) {
            match digit.weight.checked_div(weight) {
                Some(above) if above > 0 => digit.weight = above,
                _ => digit.chain = own,
            }
        }
        if let Some(left) = freed.chains.get_mut(k) {
            left.high = fold(BinOp::FloorDiv, &bounds.high, &Expr::constant(weight))?;
        }
    }
    Ok(freed)
}

/// Obstacle to one call for several tiles, a chain whose last tile is partial: the pair of its most significant digit
/// and the end of its elements. `None` if nothing is in the way, or if a split does not help. `element` is the size of
/// an element in bytes.
fn partial_chain(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: u32,
) -> Result<Option<(usize, Expr)>, ExprError> {
    let Some(inner @ RelayoutPrimitive::Transpose { rows, columns, .. }) =
        of(refinement, symbols, Some(element), InnerKernel::Transpose)
    else {
        return Ok(None);
    };
    if count(refinement, symbols, inner).is_some() {
        return Ok(None);
    }
    for chain in
        [rows, columns].iter().filter_map(|k| refinement.digits.get(*k)).map(|digit| digit.chain)
    {
        let Some(bounds) = refinement.chains.get(chain) else { continue };
        let ends = bounds.high.as_const().is_some() && !bounds.starts_late();
        if !ends || !refinement.ends_early(chain, bounds, symbols) {
            continue;
        }
        let top = refinement.top_weight(chain);
        let mut whole = refinement.clone();
        if let Some(bounds) = whole.chains.get_mut(chain) {
            bounds.high = scale(&ceil_div(&bounds.high, top)?, top)?;
        }
        if count(&whole, symbols, inner).is_some() {
            return Ok(refinement.top_of(chain).map(|top| (top, bounds.high.clone())));
        }
    }
    Ok(None)
}

/// Digit whose tiles are all transposed by one call of the transposition `inner`; `None` if no digit allows it or a
/// shared call does not pay.
fn count(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    inner: RelayoutPrimitive,
) -> Option<usize> {
    let RelayoutPrimitive::Transpose { rows, columns, bytes, .. } = inner else { return None };
    let (row, column) = (refinement.digits.get(rows)?, refinement.digits.get(columns)?);
    let block = extent(row, symbols)
        .saturating_mul(extent(column, symbols))
        .saturating_mul(i128::from(bytes));
    let is_small = block <= CPU.small_block_bytes;
    let free = |digit: &CommonDigit| {
        let fits = extent(digit, symbols).saturating_mul(block) <= CPU.call_most_bytes;
        let steps = [&digit.to_stride, &digit.from_stride];
        fits && !digit.is_unit()
            && steps.iter().all(|stride| stride.as_const().is_some_and(|stride| stride > 0))
            && have_independent_bounds(refinement, symbols, [digit, row])
            && have_independent_bounds(refinement, symbols, [digit, column])
    };
    let others = refinement.digits.iter().enumerate();
    let others = others.filter(|(k, digit)| inner.digits().all(|digit| digit != *k) && free(digit));
    let alternates = is_small && alternates(refinement, symbols, [row, column], bytes);
    let worth = others.filter(|(_, digit)| {
        alternates
            || follows(refinement, symbols, [row, column], digit, i128::from(bytes), is_small)
    });
    worth.min_by_key(|(_, digit)| speed(&digit.to_stride, symbols)).map(|(k, _)| k)
}

/// True if 2 or 4 rows of a tile are interleaved in the destination, or 2 or 4 columns in the source, with at most
/// `least_vector_bytes` in all. `bytes` is the size of what is transposed as one element.
fn alternates(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    [row, column]: [&CommonDigit; 2],
    bytes: u32,
) -> bool {
    let few = |few: &CommonDigit, [next, other]: [&Expr; 2]| {
        let count = few.extent.as_const().filter(|count| [2, 4].contains(count));
        let all = count.filter(|count| {
            count.saturating_mul(i128::from(bytes)) <= i128::from(CPU.least_vector_bytes)
        });
        let other_stride =
            next.as_const().zip(all).and_then(|(next, count)| next.checked_mul(count));
        other_stride.is_some()
            && other_stride == other.as_const()
            && !refinement.is_guarded(few.chain, symbols)
    };
    few(row, [&row.to_stride, &column.to_stride])
        || few(column, [&column.from_stride, &row.from_stride])
}

/// True if tiles of the digits `row` and `column` that follow each other along `digit` are adjacent in the source or
/// the destination, are at least a vector across, and gain from a shared call. Tiles of whole cache lines on both sides
/// gain nothing in a relayout of up to `l2_pair_bytes`. Tiles that are not small (`is_small`) gain only in one above
/// `stream_bytes`, with runs below `unaligned_run_bytes` that end inside of cache lines. `bytes` is the size of what is
/// transposed as one element.
fn follows(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    [row, column]: [&CommonDigit; 2],
    digit: &CommonDigit,
    bytes: i128,
    is_small: bool,
) -> bool {
    let known = |digit: &CommonDigit| {
        let strides = [&digit.extent, &digit.from_stride, &digit.to_stride];
        strides.iter().all(|value| value.as_const().is_some())
            && !refinement.is_guarded(digit.chain, symbols)
    };
    let is_next = |inner: &CommonDigit, stride: fn(&CommonDigit) -> &Expr| {
        let run = stride(inner).as_const().zip(inner.extent.as_const());
        run.and_then(|(stride, extent)| stride.checked_mul(extent)) == stride(digit).as_const()
    };
    let run = |digit: &CommonDigit| extent(digit, symbols).saturating_mul(bytes);
    let wide = |digit: &CommonDigit| run(digit) >= i128::from(CPU.least_vector_bytes);
    let is_lines = |digit: &CommonDigit| run(digit) % CPU.line_bytes == 0;
    let all = refinement.digits.iter();
    let all = all.fold(bytes, |bytes, digit| bytes.saturating_mul(extent(digit, symbols)));
    let shares = |digit: &CommonDigit| {
        is_small
            || all > i128::from(CPU.stream_bytes)
                && run(digit) < CPU.unaligned_run_bytes
                && !is_lines(digit)
    };
    known(row)
        && known(column)
        && !(all <= CPU.l2_pair_bytes && is_lines(row) && is_lines(column))
        && (is_next(column, |digit| &digit.from_stride) && wide(row) && shares(column)
            || is_next(row, |digit| &digit.to_stride) && wide(column) && shares(row))
}
