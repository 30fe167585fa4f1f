//! Cuts a transfer where a run that is moved as one element breaks off: what holds whole runs, and the rest.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use super::super::arith::{ceil_div, fold, product, sum};
use super::super::transfer::{Cut, Transfer};

/// The transfer in parts of which each but the last have whole runs: `c` of 10 in runs of 4 is 2 whole runs, and a
/// run of 2. The transfer itself where no run breaks off, or where runs are too long for one element.
///
/// # Errors
/// [`ExprError`] where an offset leaves the integer range.
pub(super) fn split(
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

/// The transfer in two, of which the first has whole rounds of the most significant digit of a chain, and the second what
/// is left up to `high`; without what has no element.
///
/// # Errors
/// As [`split`].
pub(super) fn cut_off(
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

/// The most significant digit of the chain whose run breaks off, and where its elements end.
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
    /// The most significant digit of a chain.
    pub(super) fn top_of(&self, chain: usize) -> Option<usize> {
        let cuts = self.cuts.iter().enumerate().filter(|(_, cut)| cut.chain == chain);
        cuts.max_by_key(|(_, cut)| cut.weight).map(|(k, _)| k)
    }

    /// Gives the most significant digit another extent, and its chain another end.
    fn set(&mut self, top: usize, extent: &Expr, high: &Expr) {
        let Some(cut) = self.cuts.get_mut(top) else { return };
        *cut = Cut { extent: extent.clone(), ..cut.clone() };
        if let Some(bounds) = self.chains.get_mut(cut.chain) {
            bounds.high = high.clone();
        }
    }
}
