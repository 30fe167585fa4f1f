//! Export to Triton's linear layouts: the offset of the element at every power of two along every axis.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Inexpressible, NotationText};
use crate::expr::Expr;
use crate::layout::Layout;

/// Layout in Triton's notation, such as `{row: [[8], [16]], col: [[1], [2]]} -> {offset: 32}`. The text contains
/// only the offsets at powers of two; parsing the text again proves that the other offsets are XORs of these.
pub(super) fn write(layout: &Layout) -> Result<NotationText, Inexpressible> {
    let mut inputs: Vec<String> = Vec::new();
    for (axis, images) in layout.logical.iter().zip(images(layout)?) {
        let images: Vec<String> = images.iter().map(|image| format!("[{image}]")).collect();
        inputs.push(format!("{}: [{}]", axis.name, images.join(", ")));
    }
    let size = layout.physical_shape.first().and_then(Expr::as_const).unwrap_or(1);
    let size = (0..63).map(|bits| 1_i128 << bits).find(|power| *power >= size).unwrap_or(size);
    Ok(NotationText::from(format!("{{{}}} -> {{offset: {}}}", inputs.join(", "), size)))
}

/// Offsets of the elements at the indices 1, 2, 4, … along each axis, with the other indices 0:
/// `[[8, 16], [1, 2]]` for a row-major 4×4 tensor with a row stride of 8.
pub(super) fn images(layout: &Layout) -> Result<Vec<Vec<i128>>, Inexpressible> {
    if layout.physical_shape.len() > 1 {
        return Err(Inexpressible::Separators { rank: layout.physical_shape.len() });
    }
    let extents: Option<Vec<i128>> = layout.logical.iter().map(|a| a.extent.as_const()).collect();
    let size = layout.physical_shape.first().and_then(Expr::as_const);
    let (Some(extents), Some(_)) = (extents, size) else { return Err(Inexpressible::Symbolic) };
    if extents.is_empty() {
        return Err(Inexpressible::Scalar);
    }
    let is_power = |size: i128| size.count_ones() == 1;
    if let Some(axis) = extents.iter().position(|extent| !is_power(*extent)) {
        return Err(Inexpressible::PowerOfTwo { axis });
    }
    let place = |point: &[i128]| layout.locate(point, &[]).map(|place| place.offset);
    let mut point: Vec<i128> = extents.iter().map(|_| 0).collect();
    if place(&point) != Ok(0) {
        return Err(Inexpressible::Offset);
    }
    let mut all = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        let mut images = Vec::new();
        let mut power = 1;
        while power < *extent {
            if let Some(index) = point.get_mut(k) {
                *index = power;
            }
            images.push(place(&point).map_err(|_| Inexpressible::NoDigits)?);
            power *= 2;
        }
        if let Some(index) = point.get_mut(k) {
            *index = 0;
        }
        all.push(images);
    }
    Ok(all)
}
