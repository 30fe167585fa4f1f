//! CuTe's layouts: one mode for each axis, its fastest part first.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flat::{Flat, Piece};
use super::{Inexpressible, Written};
use crate::layout::Layout;

/// `((16,4),8):((1,128),16)`
pub(super) fn write(flat: &Flat, layout: &Layout) -> Result<Written, Inexpressible> {
    if layout.logical.is_empty() {
        return Err(Inexpressible::Scalar);
    }
    let (mut shapes, mut strides) = (Vec::new(), Vec::new());
    for (position, axis) in layout.logical.iter().enumerate() {
        let mut pieces: Vec<&Piece> =
            flat.pieces.iter().filter(|piece| piece.axes.contains(&position)).collect();
        pieces.sort_by_key(|piece| piece.div);
        if axis.extent.as_const().is_none() {
            return Err(Inexpressible::Symbolic);
        }
        let (mut counts, mut steps) = (Vec::new(), Vec::new());
        for piece in pieces {
            if piece.axis().is_none() {
                return Err(Inexpressible::merged(piece));
            }
            let numbers = piece.count.as_const().zip(piece.stride.as_const());
            let (count, step) = numbers.ok_or(Inexpressible::Symbolic)?;
            counts.push(count.to_string());
            steps.push(step.to_string());
        }
        shapes.push(mode(&counts, "1"));
        strides.push(mode(&steps, "0"));
    }
    let tuple = |modes: &[String]| match modes {
        [one] => one.clone(),
        several => format!("({})", several.join(",")),
    };
    Ok(format!("{}:{}", tuple(&shapes), tuple(&strides)).into())
}

/// A mode of these parts, or of one value.
fn mode(parts: &[String], none: &str) -> String {
    match parts {
        [] => none.to_string(),
        [one] => one.clone(),
        several => format!("({})", several.join(",")),
    }
}
