//! Small transpose tiles that share one call: consecutive tiles, so that vectors span several of them, and tiles whose
//! elements are interleaved.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, fold, is_multiple, scale};
use crate::loops::heuristics::inner_kernel::{apart, of};
use crate::loops::relayout::digits::{Bounds, Cut, Transfer};
use crate::loops::relayout::full_runs::cut_off;
use crate::loops::relayout::fuse::merge;
use crate::loops::relayout::schedule::{Inner, extent, speed};
use crate::machine::CPU;
use crate::model::InnerKernel;

/// The transfer in its fewest loops, split if that lets one call transpose several tiles: 8001 rows, two to a tile,
/// become 8000 and one.
///
/// # Errors
/// [`ExprError`] if an offset exceeds the integer range.
pub(crate) fn parts(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: u32,
) -> Result<Vec<Transfer>, ExprError> {
    let merged = merge(&unbound(transfer, symbols)?, symbols)?;
    let Some((top, high)) = hindrance(&merged, symbols, element)? else { return Ok(vec![merged]) };
    let mut all = Vec::new();
    for part in cut_off(&merged, top, &high)? {
        all.extend(parts(&part, symbols, element)?);
    }
    Ok(all)
}

/// Inner kernel with `count` set if one call can transpose several tiles; other kernels unchanged.
pub(crate) fn together(transfer: &Transfer, symbols: &[Symbol], inner: Inner) -> Inner {
    match inner {
        Inner::Transpose { rows, columns, together, bytes, .. } => {
            let count = count(transfer, symbols, inner);
            Inner::Transpose { rows, columns, together, count, bytes }
        }
        other => other,
    }
}

/// The transfer with the less significant digits of a chain in a chain of their own if the chain's end is a multiple of
/// the weight above them: for 250 rows as 32 by 4 by 2, the digit of 2 is always full.
fn unbound(transfer: &Transfer, symbols: &[Symbol]) -> Result<Transfer, ExprError> {
    let mut freed = transfer.clone();
    for (k, bounds) in transfer.chains.iter().enumerate() {
        let weights = || transfer.cuts.iter().filter(|cut| cut.chain == k).map(|cut| cut.weight);
        let least = weights().min().unwrap_or(1);
        let ends = |weight: &i128| *weight > least && is_multiple(&bounds.high, *weight, symbols);
        let Some(weight) = weights().filter(ends).max() else { continue };
        if bounds.starts_late() || !transfer.ends_early(k, bounds, symbols) {
            continue;
        }
        let own = freed.chains.len();
        freed.chains.push(Bounds { low: Expr::constant(0), high: Expr::constant(weight) });
        for cut in freed.cuts.iter_mut().filter(|cut| cut.chain == k) {
            match cut.weight.checked_div(weight) {
                Some(above) if above > 0 => cut.weight = above,
                _ => cut.chain = own,
            }
        }
        if let Some(left) = freed.chains.get_mut(k) {
            left.high = fold(BinOp::FloorDiv, &bounds.high, &Expr::constant(weight))?;
        }
    }
    Ok(freed)
}

/// Obstacle to one call for several tiles: the most significant digit of a chain whose last tile is partial, and the
/// end of the chain's elements; `None` if nothing is in the way, or if a split does not help.
fn hindrance(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: u32,
) -> Result<Option<(usize, Expr)>, ExprError> {
    let Some(inner @ Inner::Transpose { rows, columns, .. }) =
        of(transfer, symbols, Some(element), InnerKernel::Transpose)
    else {
        return Ok(None);
    };
    if count(transfer, symbols, inner).is_some() {
        return Ok(None);
    }
    for chain in [rows, columns].iter().filter_map(|k| transfer.cuts.get(*k)).map(|cut| cut.chain) {
        let Some(bounds) = transfer.chains.get(chain) else { continue };
        let ends = bounds.high.as_const().is_some() && !bounds.starts_late();
        if !ends || !transfer.ends_early(chain, bounds, symbols) {
            continue;
        }
        let top = transfer.top_weight(chain);
        let mut whole = transfer.clone();
        if let Some(bounds) = whole.chains.get_mut(chain) {
            bounds.high = scale(&ceil_div(&bounds.high, top)?, top)?;
        }
        if count(&whole, symbols, inner).is_some() {
            return Ok(transfer.top_of(chain).map(|top| (top, bounds.high.clone())));
        }
    }
    Ok(None)
}

/// Digit whose tiles are all transposed by one call; `None` if no digit allows it or a shared call does not pay.
fn count(transfer: &Transfer, symbols: &[Symbol], inner: Inner) -> Option<usize> {
    let Inner::Transpose { rows, columns, bytes, .. } = inner else { return None };
    let (row, column) = (transfer.cuts.get(rows)?, transfer.cuts.get(columns)?);
    let block = extent(row, symbols)
        .saturating_mul(extent(column, symbols))
        .saturating_mul(i128::from(bytes));
    let is_small = block <= CPU.small_block_bytes;
    let free = |cut: &Cut| {
        let fits = extent(cut, symbols).saturating_mul(block) <= CPU.call_most_bytes;
        let steps = [&cut.to_stride, &cut.from_stride];
        fits && !cut.is_unit()
            && steps.iter().all(|stride| stride.as_const().is_some_and(|stride| stride > 0))
            && apart(transfer, symbols, [cut, row])
            && apart(transfer, symbols, [cut, column])
    };
    let others = transfer.cuts.iter().enumerate();
    let others = others.filter(|(k, cut)| inner.digits().all(|digit| digit != *k) && free(cut));
    let alternates = is_small && alternates(transfer, symbols, [row, column], bytes);
    let worth = others.filter(|(_, cut)| {
        alternates || follows(transfer, symbols, [row, column], cut, i128::from(bytes), is_small)
    });
    worth.min_by_key(|(_, cut)| speed(&cut.to_stride, symbols)).map(|(k, _)| k)
}

/// True if 2 or 4 rows of a tile are interleaved in the destination, or 2 or 4 columns in the source, with at most
/// `least_vector_bytes` in all.
fn alternates(
    transfer: &Transfer,
    symbols: &[Symbol],
    [row, column]: [&Cut; 2],
    bytes: u32,
) -> bool {
    let few = |few: &Cut, [next, other]: [&Expr; 2]| {
        let count = few.extent.as_const().filter(|count| [2, 4].contains(count));
        let all = count.filter(|count| {
            count.saturating_mul(i128::from(bytes)) <= i128::from(CPU.least_vector_bytes)
        });
        let apart = next.as_const().zip(all).and_then(|(next, count)| next.checked_mul(count));
        apart.is_some() && apart == other.as_const() && !transfer.is_guarded(few.chain, symbols)
    };
    few(row, [&row.to_stride, &column.to_stride])
        || few(column, [&column.from_stride, &row.from_stride])
}

/// True if tiles along `cut` are adjacent in the source or the destination, are at least a vector across, and gain from
/// a shared call. Whole cache lines on both sides gain nothing up to `l2_pair_bytes`; tiles that are not small gain
/// only above `stream_bytes`, with runs below `unaligned_run_bytes` that end inside of cache lines.
fn follows(
    transfer: &Transfer,
    symbols: &[Symbol],
    [row, column]: [&Cut; 2],
    cut: &Cut,
    bytes: i128,
    is_small: bool,
) -> bool {
    let known = |cut: &Cut| {
        let strides = [&cut.extent, &cut.from_stride, &cut.to_stride];
        strides.iter().all(|value| value.as_const().is_some())
            && !transfer.is_guarded(cut.chain, symbols)
    };
    let is_next = |inner: &Cut, stride: fn(&Cut) -> &Expr| {
        let run = stride(inner).as_const().zip(inner.extent.as_const());
        run.and_then(|(stride, extent)| stride.checked_mul(extent)) == stride(cut).as_const()
    };
    let run = |cut: &Cut| extent(cut, symbols).saturating_mul(bytes);
    let wide = |cut: &Cut| run(cut) >= i128::from(CPU.least_vector_bytes);
    let is_lines = |cut: &Cut| run(cut) % CPU.line_bytes == 0;
    let all = transfer.cuts.iter();
    let all = all.fold(bytes, |bytes, cut| bytes.saturating_mul(extent(cut, symbols)));
    let shares = |cut: &Cut| {
        is_small
            || all > i128::from(CPU.stream_bytes)
                && run(cut) < CPU.unaligned_run_bytes
                && !is_lines(cut)
    };
    known(row)
        && known(column)
        && !(all <= CPU.l2_pair_bytes && is_lines(row) && is_lines(column))
        && (is_next(column, |cut| &cut.from_stride) && wide(row) && shares(column)
            || is_next(row, |cut| &cut.to_stride) && wide(column) && shares(row))
}
