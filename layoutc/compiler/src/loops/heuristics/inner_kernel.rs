//! Kernels inside all loops of a relayout: transposition of a tile, copies of runs, or one element.

use layoutc_algebra::expr::Expr as Algebra;
use layoutc_algebra::symbol::Symbol;

use crate::loops::heuristics::small_tiles;
use crate::loops::relayout::digits::{Bounds, Cut, Transfer};
use crate::loops::relayout::schedule::{Inner, extent, speed};
use crate::machine::CPU;
use crate::model::InnerKernel;

/// Inner kernel that the planner chooses. `element`: size of an element in bytes, `None` if only single elements can be
/// copied; `several`: true if one call may transpose several tiles.
pub(crate) fn best(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: Option<u32>,
    several: bool,
) -> Inner {
    let ways =
        [(InnerKernel::Transpose, CPU.call_bytes), (InnerKernel::CopyRuns, CPU.call_run_bytes)];
    let mut worth = ways.into_iter().filter_map(|(way, least)| {
        let inner = of(transfer, symbols, element, way)?;
        let inner = if several { small_tiles::together(transfer, symbols, inner) } else { inner };
        (moved(transfer, symbols, inner, element?) >= least).then_some(inner)
    });
    worth.next().unwrap_or(Inner::Element)
}

/// Inner kernel of the kind `way`; `None` if the transfer does not allow it.
pub(crate) fn of(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: Option<u32>,
    way: InnerKernel,
) -> Option<Inner> {
    let shared = transfer.cuts.iter().position(|cut| !cut.is_unit() && cut.is_run());
    match (way, shared) {
        (InnerKernel::Elementwise, _) => Some(Inner::Element),
        (InnerKernel::Transpose, Some(run)) => together(transfer, symbols, run, element?),
        (InnerKernel::Transpose, None) => transpose(transfer, symbols, None, element?),
        (InnerKernel::CopyRuns, run) => element.and_then(|_| runs(transfer, symbols, run?)),
    }
}

/// Bytes that one call transposes, the length of one run, or the size of an element.
fn moved(transfer: &Transfer, symbols: &[Symbol], inner: Inner, element: u32) -> i128 {
    let extent = |k: usize| transfer.cuts.get(k).map_or(1, |cut| extent(cut, symbols));
    match inner {
        Inner::Element => i128::from(element),
        Inner::Transpose { rows, columns, count, bytes, .. } => {
            let block = extent(rows).saturating_mul(extent(columns));
            block.saturating_mul(count.map_or(1, extent)).saturating_mul(i128::from(bytes))
        }
        Inner::Runs { run, .. } => extent(run).saturating_mul(i128::from(element)),
    }
}

/// Transposition of runs that are short enough to be copied as one element; `None` if runs may be partial.
fn together(transfer: &Transfer, symbols: &[Symbol], run: usize, element: u32) -> Option<Inner> {
    let cut = transfer.cuts.get(run)?;
    if transfer.is_guarded(cut.chain, symbols) {
        return None;
    }
    let extent = u32::try_from(cut.extent.as_const()?).ok()?;
    transpose(transfer, symbols, Some((run, extent)), element.checked_mul(extent)?)
}

fn transpose(
    transfer: &Transfer,
    symbols: &[Symbol],
    together: Option<(usize, u32)>,
    bytes: u32,
) -> Option<Inner> {
    if !bytes.is_power_of_two() || bytes > 16 {
        return None;
    }
    let step = together.map_or(1, |(_, extent)| i128::from(extent));
    let along = |stride: fn(&Cut) -> &Algebra| {
        let is_next = |cut: &Cut| !cut.is_unit() && stride(cut).as_const() == Some(step);
        transfer.cuts.iter().position(is_next)
    };
    let (rows, columns) = (along(|cut| &cut.to_stride)?, along(|cut| &cut.from_stride)?);
    let (a, b) = (transfer.cuts.get(rows)?, transfer.cuts.get(columns)?);
    if rows == columns || !apart(transfer, symbols, [a, b]) {
        return None;
    }
    let together = together.map(|(run, _)| run);
    Some(Inner::Transpose { rows, columns, together, count: None, bytes })
}

/// Copies of strided runs: the run digit `run`, counted by the digit that is fastest in the destination among those
/// with independent bounds; `None` without such a digit.
fn runs(transfer: &Transfer, symbols: &[Symbol], run: usize) -> Option<Inner> {
    let cut = transfer.cuts.get(run)?;
    let others = transfer.cuts.iter().enumerate().filter(|(k, other)| {
        *k != run && !other.is_unit() && apart(transfer, symbols, [cut, other])
    });
    let count = others.min_by_key(|(_, other)| speed(&other.to_stride, symbols))?.0;
    Some(Inner::Runs { run, count })
}

/// True if the bounds of the two digits are independent of each other, and neither chain starts late.
pub(crate) fn apart(transfer: &Transfer, symbols: &[Symbol], [a, b]: [&Cut; 2]) -> bool {
    let late = |cut: &Cut| transfer.chains.get(cut.chain).is_some_and(Bounds::starts_late);
    (a.chain != b.chain || !transfer.is_guarded(a.chain, symbols)) && !late(a) && !late(b)
}
