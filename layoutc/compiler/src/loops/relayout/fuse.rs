//! Loop fusion in a relayout: two loops become one if the outer one continues the inner one without a gap in source and
//! destination.

use layoutc_algebra::expr::{BinOp, Expr, ExprError, apply};
use layoutc_algebra::normal_form::simplify::Facts;
use layoutc_algebra::symbol::Symbol;

use crate::loops::arith::product;
use crate::loops::relayout::digits::{CommonDigit, DigitRefinement, ValidRange};

/// Refinement with the fewest loops: `h` and `w`, row-major in the source and the destination, become the one loop
/// `h_w`. Loops of guarded chains are not fused.
///
/// # Errors
/// [`ExprError`] if an extent overflows or becomes too large.
pub(crate) fn merge(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
) -> Result<DigitRefinement, ExprError> {
    let facts = Facts::new(symbols);
    let mut merged = refinement.clone();
    let mut names: Vec<Vec<String>> =
        merged.digits.iter().map(|digit| vec![digit.name.clone()]).collect();
    while let Some((outer, inner)) = pair(&merged, symbols, &facts)? {
        let (Some(a), Some(b)) = (merged.digits.get(outer), merged.digits.get(inner)) else {
            break;
        };
        let extent = product(&a.extent, &b.extent)?;
        let digit = CommonDigit { chain: merged.chains.len(), weight: 1, extent, ..b.clone() };
        let high = digit.extent.clone();
        merged.chains.push(ValidRange { low: Expr::constant(0), high });
        let tail = names.get(inner).cloned().unwrap_or_default();
        if let (Some(place), Some(name)) = (merged.digits.get_mut(outer), names.get_mut(outer)) {
            name.extend(tail);
            *place = CommonDigit { name: joined(name), ..digit };
        }
        merged.digits.remove(inner);
        names.remove(inner);
        let outer = if inner < outer { outer.saturating_sub(1) } else { outer };
        tell_apart(&mut merged, outer);
    }
    Ok(merged)
}

/// Appends a number to the name of the fused loop `merged` if another loop has this name, as an axis may be called
/// `h_w`: `h_w_2`.
fn tell_apart(refinement: &mut DigitRefinement, merged: usize) {
    let Some(wanted) = refinement.digits.get(merged).map(|digit| digit.name.clone()) else {
        return;
    };
    let is_free = |name: &str| {
        let mut others = refinement.digits.iter().enumerate().filter(|(k, _)| *k != merged);
        others.all(|(_, other)| other.name != name)
    };
    let numbered = (2_u64..).map(|number| format!("{wanted}_{number}"));
    let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| is_free(name));
    if let (Some(name), Some(digit)) = (free, refinement.digits.get_mut(merged)) {
        digit.name = name;
    }
}

/// Name of a fused loop: `h_w`, and `h_to_c` for more than two loops.
fn joined(names: &[String]) -> String {
    match names {
        [first, .., last] if names.len() > 2 => format!("{first}_to_{last}"),
        _ => names.join("_"),
    }
}

/// Positions of an outer and an inner loop to fuse: the outer stride is the inner stride times the inner extent, in
/// source and destination. `None` if no two loops can be fused.
fn pair(
    refinement: &DigitRefinement,
    symbols: &[Symbol],
    facts: &Facts,
) -> Result<Option<(usize, usize)>, ExprError> {
    let free =
        |digit: &CommonDigit| !digit.is_unit() && !refinement.is_guarded(digit.chain, symbols);
    for (a, outer) in refinement.digits.iter().enumerate().filter(|(_, digit)| free(digit)) {
        for (b, inner) in refinement.digits.iter().enumerate().filter(|(_, digit)| free(digit)) {
            if a == b {
                continue;
            }
            let is_run = |outer: &Expr, inner_stride: &Expr| match (
                outer.as_const(),
                inner_stride.as_const(),
                inner.extent.as_const(),
            ) {
                (Some(outer), Some(stride), Some(extent)) => {
                    Ok(outer == apply(BinOp::Mul, stride, extent)?)
                }
                _ => facts.proves_eq(outer, &product(inner_stride, &inner.extent)?),
            };
            if is_run(&outer.to_stride, &inner.to_stride)?
                && is_run(&outer.from_stride, &inner.from_stride)?
            {
                return Ok(Some((a, b)));
            }
        }
    }
    Ok(None)
}
