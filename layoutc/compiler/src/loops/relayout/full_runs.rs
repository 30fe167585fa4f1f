//! Splits a transfer whose elements end inside of a run that is copied as one element: full runs and remainder.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, fold, product, sum};
use crate::loops::relayout::digits::{Cut, Transfer};

/// Parts of the transfer, all but the last with full runs: `c` of 10 in runs of 4 becomes 2 runs of 4 and a run of 2.
/// The transfer itself if every run is full, or if runs are too long to be copied as one element.
///
/// # Errors
/// [`ExprError`] if an offset exceeds the integer range.
pub(crate) fn split(
    transfer: &Transfer,
    symbols: &[Symbol],
    element: u32,
) -> Result<Vec<Transfer>, ExprError> {
    let Some((top, high)) = broken(transfer, symbols, element) else {
        return Ok(vec![transfer.clone()]);
    };
    let mut all = Vec::new();
    for part in cut_off(transfer, top, &high)? {
        all.extend(split(&part, symbols, element)?);
    }
    Ok(all)
}

/// Two parts of the transfer: full iterations of `top`, the most significant digit of a chain, and the remainder up to
/// `high`, in units of the chain's `m`. Parts that are empty for sure are left out.
///
/// # Errors
/// As [`split`].
pub(crate) fn cut_off(
    transfer: &Transfer,
    top: usize,
    high: &Expr,
) -> Result<Vec<Transfer>, ExprError> {
    let Some(outer) = transfer.cuts.get(top) else { return Ok(vec![transfer.clone()]) };
    let weight = Expr::constant(outer.weight);
    let whole = fold(BinOp::FloorDiv, high, &weight)?;
    let rest = fold(BinOp::Mod, high, &weight)?;

    let mut inside = transfer.clone();
    inside.set(top, &whole, &product(&whole, &weight)?);
    let mut border = transfer.clone();
    border.from_constant = sum(&border.from_constant, &product(&outer.from_stride, &whole)?)?;
    border.to_constant = sum(&border.to_constant, &product(&outer.to_stride, &whole)?)?;
    border.cuts.remove(top);
    while let Some(next) = border.top_of(outer.chain) {
        let weight = border.cuts.get(next).map_or(1, |cut| cut.weight);
        let count = ceil_div(&rest, weight)?;
        if weight > 1 && count.as_const() == Some(1) {
            border.cuts.remove(next);
            continue;
        }
        border.set(next, &count, &rest);
        break;
    }
    let mut parts = vec![inside, border];
    parts.retain(|part| part.cuts.iter().all(|cut| cut.extent.as_const() != Some(0)));
    Ok(parts)
}

/// Most significant digit of the chain that ends inside of a run, and the end of the chain's elements; `None` if no run
/// of at most 16 bytes is partial.
fn broken(transfer: &Transfer, symbols: &[Symbol], element: u32) -> Option<(usize, Expr)> {
    let run = transfer.cuts.iter().find(|cut| !cut.is_unit() && cut.is_run())?;
    let bytes = run.extent.as_const()?.checked_mul(i128::from(element))?;
    let bounds = transfer.chains.get(run.chain)?;
    let fits = bytes <= 16 && bytes.count_ones() == 1;
    let breaks = transfer.ends_early(run.chain, bounds, symbols) && !bounds.starts_late();
    if !fits || !breaks {
        return None;
    }
    Some((transfer.top_of(run.chain)?, bounds.high.clone()))
}

impl Transfer {
    /// Most significant digit of a chain; `None` for a chain without digits.
    pub(crate) fn top_of(&self, chain: usize) -> Option<usize> {
        let cuts = self.cuts.iter().enumerate().filter(|(_, cut)| cut.chain == chain);
        cuts.max_by_key(|(_, cut)| cut.weight).map(|(k, _)| k)
    }

    /// Sets the extent of the chain's most significant digit, and the end of the chain.
    fn set(&mut self, top: usize, extent: &Expr, high: &Expr) {
        let Some(cut) = self.cuts.get_mut(top) else { return };
        *cut = Cut { extent: extent.clone(), ..cut.clone() };
        if let Some(bounds) = self.chains.get_mut(cut.chain) {
            bounds.high = high.clone();
        }
    }
}
