//! The step `fuse h w as=hw`, which fuses adjacent axes into one axis with their row-major index.

use alloc::string::String;
use alloc::vec::Vec;

use super::{StepError, binary, current, find_axis, identity_item, item, map_of};
use crate::expr::BinOp;
use crate::map::IndexMap;
use crate::symbol::Axis;

/// Fuses the axes named `fused`, which must follow each other directly in this order, into one axis: `h` and `w` into
/// `h * extent(w) + w`. The new axis is named `into`; `None` joins the names of the fused axes by `_`, as in `h_w`.
///
/// # Errors
/// [`StepError::UnknownAxis`]; [`StepError::TooFewAxes`] for fewer than two names; [`StepError::NotAdjacent`];
/// [`StepError::Expr`] if the index becomes too large an expression.
pub fn fuse(axes: &[Axis], fused: &[String], into: Option<&str>) -> Result<IndexMap, StepError> {
    let positions: Vec<usize> =
        fused.iter().map(|n| find_axis(axes, n)).collect::<Result<_, _>>()?;
    let (Some(first), Some(last)) = (positions.first().copied(), positions.last().copied()) else {
        return Err(StepError::TooFewAxes);
    };
    if positions.len() < 2 {
        return Err(StepError::TooFewAxes);
    }
    for (pair, names) in positions.windows(2).zip(fused.windows(2)) {
        if let ([a, b], [first, second]) = (pair, names)
            && *b != a + 1
        {
            return Err(StepError::NotAdjacent { first: first.clone(), second: second.clone() });
        }
    }
    let mut index = current(first);
    for (k, axis) in axes.iter().enumerate().take(last + 1).skip(first + 1) {
        index = binary(BinOp::Mul, &index, &axis.extent)?;
        index = binary(BinOp::Add, &index, &current(k))?;
    }
    let name = into.map_or_else(|| fused.join("_"), String::from);
    let mut items: Vec<_> = (0..first).map(|k| identity_item(axes, k)).collect();
    items.push(item(name, index));
    items.extend((last + 1..axes.len()).map(|k| identity_item(axes, k)));
    map_of(items)
}
