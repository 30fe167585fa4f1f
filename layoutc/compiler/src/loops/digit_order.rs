//! Loop order of a statement that writes a window: a view between whose elements its owner has further ones. The loops
//! follow the order of the memory.

use layoutc_algebra::expr::ExprError;

use crate::loops::domain::IterationDomain;
use crate::loops::relayout::address_map::physical_address_map;
use crate::model::{Tensor, splits_at_digits};

/// Splits the loops over the axes of the window `target` at the digits of its layout, and orders the loops by
/// decreasing absolute stride: the loops `h`, `w` of a window of tiles of 16 columns become `w_outer`, `h`, `w_inner`.
/// Reduced loops stay innermost. Nothing changes if `target` is no window or its layout has no `Layout::digits`, or if
/// a digit has no constant stride or does not belong to a single axis that it splits evenly.
///
/// # Errors
/// [`ExprError`] if a value overflows or an expression becomes too large.
pub(crate) fn follow_digits(
    domain: &mut IterationDomain,
    target: &Tensor,
) -> Result<(), ExprError> {
    let layout = &target.layout;
    let Some(digits) = layout.digits().filter(|_| target.is_window()) else { return Ok(()) };
    let map = physical_address_map(layout, digits)?;
    let mut strides = map.chains.iter().flat_map(|chain| &chain.digits);
    let are_split = digits.chains.iter().all(|chain| splits_at_digits(chain, digits));
    if !are_split || !strides.all(|digit| digit.stride.as_const().is_some()) {
        return Ok(());
    }
    let mut strides: Vec<(usize, i128)> = Vec::new();
    for chain in &map.chains {
        let Some(mut rest) = chain.axes.first().copied() else { continue };
        for (k, digit) in chain.digits.iter().enumerate() {
            let stride = digit.stride.as_const().unwrap_or(0);
            let by = i64::try_from(digit.weight).ok().filter(|_| k + 1 < chain.digits.len());
            let Some(by) = by else {
                strides.push((rest, stride));
                break;
            };
            let [outer, inner] = domain.split(rest, by)?;
            strides.push((outer, stride));
            rest = inner;
        }
    }
    let stride = |number: &usize| {
        let found = strides.iter().find(|(own, _)| own == number);
        found.map_or(0, |(_, stride)| stride.saturating_abs())
    };
    let reduced: Vec<usize> =
        domain.active.iter().copied().filter(|k| domain.is_reduced(*k)).collect();
    domain.active.retain(|k| !reduced.contains(k));
    domain.active.sort_by_key(|number| std::cmp::Reverse(stride(number)));
    domain.active.extend(reduced);
    Ok(())
}
