//! The step `split c by=4`, which replaces an axis by two or more axes, such as `c // 4` and `c % 4`. If the extent
//! is not a multiple of the factors, the last block is padded.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{StepError, binary, current, find_axis, identity_item, item, map_of};
use crate::expr::{BinOp, Expr};
use crate::map::IndexMap;
use crate::symbol::Axis;

/// Splits the axis `name` into `by.len() + 1` axes, outermost first: for `by = [4, 4]`, into `i // 16`, `i // 4 % 4`
/// and `i % 4`. The new axes are named `into`; if `into` is empty, `<axis>_outer` and `<axis>_inner` for two axes, and
/// otherwise `<axis>_0`, `<axis>_1`, ….
///
/// # Errors
/// [`StepError::UnknownAxis`]; [`StepError::NameCount`] if `into` is not empty and has another number of names;
/// [`StepError::TooManyAxes`]; [`StepError::Expr`] if an index becomes too large an expression.
pub fn split(
    axes: &[Axis],
    name: &str,
    into: &[String],
    by: &[Expr],
) -> Result<IndexMap, StepError> {
    let position = find_axis(axes, name)?;
    let parts = by.len() + 1;
    let derived: Vec<String> = if parts == 2 {
        alloc::vec![format!("{name}_outer"), format!("{name}_inner")]
    } else {
        (0..parts).map(|k| format!("{name}_{k}")).collect()
    };
    if !into.is_empty() && into.len() != parts {
        return Err(StepError::NameCount {
            given: into.len(),
            wanted: parts,
            wanted_axes: derived,
        });
    }
    let names = if into.is_empty() { derived } else { into.to_vec() };
    // From the minor end: each part is the rest modulo its factor.
    let mut minor_first = Vec::new();
    let mut rest = current(position);
    for factor in by.iter().rev() {
        minor_first.push(binary(BinOp::Mod, &rest, factor)?);
        rest = binary(BinOp::FloorDiv, &rest, factor)?;
    }
    minor_first.push(rest);
    let parts = minor_first.into_iter().rev();
    let mut items: Vec<_> = (0..position).map(|k| identity_item(axes, k)).collect();
    items.extend(names.into_iter().zip(parts).map(|(name, index)| item(name, index)));
    items.extend((position + 1..axes.len()).map(|k| identity_item(axes, k)));
    map_of(items)
}
