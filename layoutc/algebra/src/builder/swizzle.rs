//! Swizzling of the last physical index of a proven layout.

use super::finish::{FinishError, physical_facts, weighted};
use crate::expr::{Expr, ExprError, Var};
use crate::layout::swizzle::Swizzle;
use crate::layout::{Layout, ProofMethod};
use crate::prove::{InjectivityError, check};

/// Layout `before` with the index along its last physical axis swizzled. [`InjectivityError::Certificate`] if the proof
/// checker does not accept the result.
pub(super) fn swizzle_layout(before: &Layout, swizzle: Swizzle) -> Result<Layout, FinishError> {
    let axes = before.facts()?;
    let slots = physical_facts(&before.symbols, &before.physical_shape)?;
    let simple =
        with_swizzle(before, swizzle, &|expr| axes.simplify(expr), &|expr| slots.simplify(expr))?;
    if check::check_swizzle(before, &simple).is_ok() {
        return Ok(simple);
    }
    // The checker cannot follow the simplified expressions: use the swizzled expressions without simplification.
    let plain = |expr: &Expr| Ok(expr.clone());
    let layout = with_swizzle(before, swizzle, &plain, &plain)?;
    check::check_swizzle(before, &layout).map_err(InjectivityError::Certificate)?;
    Ok(layout)
}

/// Layout `before` with the index along its last physical axis swizzled, without a check. The resulting expressions are
/// simplified: by the function `index` over logical axes, and by the function `slot` over physical indices.
pub(super) fn with_swizzle(
    before: &Layout,
    swizzle: Swizzle,
    index: &dyn Fn(&Expr) -> Result<Expr, ExprError>,
    slot: &dyn Fn(&Expr) -> Result<Expr, ExprError>,
) -> Result<Layout, ExprError> {
    let mut layout = before.clone();
    if let Some(last) = layout.physical_map.last_mut() {
        *last = index(&swizzle.apply(last)?)?;
    }
    layout.offset = index(&weighted(&layout.physical_map, &layout.physical_strides)?)?;
    let axis = u32::try_from(layout.physical_map.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let own = Var::Physical(axis);
    let back = swizzle.apply(&Expr::var(own))?;
    let turn = |expr: &Expr| slot(&expr.substitute(&|var| (var == own).then(|| back.clone()))?);
    if let Some(inverse) = &mut layout.inverse {
        *inverse = inverse.iter().map(turn).collect::<Result<_, _>>()?;
    }
    for comparison in layout.valid.iter_mut().flat_map(|valid| &mut valid.all) {
        comparison.left = turn(&comparison.left)?;
        comparison.right = turn(&comparison.right)?;
    }
    layout.swizzle = Some(swizzle);
    layout.digits = None;
    layout.proof = layout.proof.with(ProofMethod::Gf2);
    Ok(layout)
}
