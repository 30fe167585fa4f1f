//! Split of a refinement whose elements end inside of a run that is copied as one element: full runs and remainder.

use layoutc_algebra::expr::{BinOp, Expr, ExprError};
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::{ceil_div, fold, product, sum};
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement};

/// Parts of the refinement, all but the last with full runs: `c` of 10 in runs of 4 becomes 2 runs of 4 and a run of 2.
/// The refinement itself if it is not split, for example because every run is full, or because a run has another size
/// than 1, 2, 4, 8 or 16 bytes. `element` is the size of an element in bytes.
///
/// # Errors
/// [`ExprError`] if an offset overflows or becomes too large.
pub(crate) fn split(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: u32,
) -> Result<Vec<DigitRefinement>, ExprError> {
    let Some((top, high)) = partial_run(refinement, symbols, element) else {
        return Ok(vec![refinement.clone()]);
    };
    let mut all = Vec::new();
    for part in peel_remainder(refinement, top, &high)? {
        all.extend(split(&part, symbols, element)?);
    }
    Ok(all)
}

/// Two parts of the refinement: full iterations of `top`, the most significant digit of a chain, and the remainder up
/// to `high`, an exclusive bound in units of the chain's `m`. A part with a digit of constant extent 0 is left out.
///
/// # Errors
/// As [`split`].
pub(crate) fn peel_remainder(
    refinement: &DigitRefinement,
    top: usize,
    high: &Expr,
) -> Result<Vec<DigitRefinement>, ExprError> {
    let Some(outer) = refinement.digits.get(top) else { return Ok(vec![refinement.clone()]) };
    let weight = Expr::constant(outer.weight);
    let whole = fold(BinOp::FloorDiv, high, &weight)?;
    let rest = fold(BinOp::Mod, high, &weight)?;

    let mut inside = refinement.clone();
    inside.set(top, &whole, &product(&whole, &weight)?);
    let mut region = refinement.clone();
    region.from_constant = sum(&region.from_constant, &product(&outer.from_stride, &whole)?)?;
    region.to_constant = sum(&region.to_constant, &product(&outer.to_stride, &whole)?)?;
    region.digits.remove(top);
    while let Some(next) = region.top_of(outer.chain) {
        let weight = region.digits.get(next).map_or(1, |digit| digit.weight);
        let count = ceil_div(&rest, weight)?;
        if weight > 1 && count.as_const() == Some(1) {
            region.digits.remove(next);
            continue;
        }
        region.set(next, &count, &rest);
        break;
    }
    let mut parts = vec![inside, region];
    parts.retain(|part| part.digits.iter().all(|digit| digit.extent.as_const() != Some(0)));
    Ok(parts)
}

/// Pair of the most significant digit of the chain whose elements may end inside of a run of 1, 2, 4, 8 or 16 bytes,
/// and of the end of these elements. `None` if there is no such run, or if the elements may start late. `element` is
/// the size of an element in bytes.
fn partial_run(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    element: u32,
) -> Option<(usize, Expr)> {
    let run = refinement.digits.iter().find(|digit| !digit.is_unit() && digit.is_run())?;
    let bytes = run.extent.as_const()?.checked_mul(i128::from(element))?;
    let bounds = refinement.chains.get(run.chain)?;
    let fits = bytes <= 16 && bytes.count_ones() == 1;
    let breaks = refinement.ends_early(run.chain, bounds, symbols) && !bounds.starts_late();
    if !fits || !breaks {
        return None;
    }
    Some((refinement.top_of(run.chain)?, bounds.high.clone()))
}

impl DigitRefinement {
    /// Position in `digits` of the most significant digit of a chain; `None` for a chain without digits.
    pub(crate) fn top_of(&self, chain: usize) -> Option<usize> {
        let digits = self.digits.iter().enumerate().filter(|(_, digit)| digit.chain == chain);
        digits.max_by_key(|(_, digit)| digit.weight).map(|(k, _)| k)
    }

    /// Sets the extent of the digit `top`, the most significant one of its chain, and the end `high` of the chain.
    fn set(&mut self, top: usize, extent: &Expr, high: &Expr) {
        let Some(digit) = self.digits.get_mut(top) else { return };
        *digit = CommonDigit { extent: extent.clone(), ..digit.clone() };
        if let Some(bounds) = self.chains.get_mut(digit.chain) {
            bounds.high = high.clone();
        }
    }
}
