//! CuTe's layouts, `((4,2),8):((1,32),4)`, with one top-level mode per logical axis.
//!
//! Source: CUTLASS, CuTe layouts. A mode has sub-modes, the first one fastest, each with its stride in elements; C++
//! prefixes compile-time values with `_`. A mode may exceed its axis (CuTe predicates the excess), but not be smaller.
//! A swizzle permutes the offsets. If a permuted offset exceeds the size of the buffer, the size is rounded up.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use super::blocks::{self, AxisBlock};
use super::{NotationError, NotationExtras, NotationFault, count_fault, shown};
use crate::builder::LayoutBuilder;
use crate::cute::{CuteLayoutText, SpannedTuple, parse};
use crate::expr::Expr;

/// Applies a CuTe layout to the current axes of `builder`: splits each axis into the sub-modes of its mode, and
/// sets their strides and the swizzle.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let CuteLayoutText { swizzle, shape, stride, offset } = parse(text)?;
    if let (Some((_, span)), 1..) = (&swizzle, offset) {
        let message = "an offset before the first element is not supported";
        let fault = NotationFault::unsupported(span.clone(), message);
        return Err(fault.help("`pad … before=` leaves room before the first element").into());
    }
    let axes = builder.axes();
    let modes: Vec<(SpannedTuple, SpannedTuple)> = match (shape, stride) {
        (SpannedTuple::List(shapes, _), SpannedTuple::List(strides, _))
            if axes.len() != 1 || shapes.len() == 1 =>
        {
            shapes.into_iter().zip(strides).collect()
        }
        mode => alloc::vec![mode],
    };
    if modes.len() != axes.len() {
        return Err(count_fault(modes.len(), "mode", axes, 0..text.len()).into());
    }
    let (mut dims, mut strides) = (Vec::new(), Vec::new());
    for (position, ((shape, stride), axis)) in modes.iter().zip(axes).enumerate() {
        let (sizes, steps) = (shape.leaves(), stride.leaves());
        let whole = sizes.iter().try_fold(1_i128, |n, (size, _)| n.checked_mul(*size));
        let Some(whole) = whole.filter(|whole| *whole <= i128::from(i64::MAX)) else {
            let message = "the mode does not fit 64 bits";
            let fault = NotationFault::value(shape.span(), message);
            return Err(fault.help("write smaller sizes").into());
        };
        if axis.extent.as_const().is_none_or(|extent| extent > whole) {
            let (name, extent) = (&axis.name, shown(axis));
            let message = format!("the mode has {whole} indices, and `{name}` has {extent}");
            let help = match axis.extent.as_const() {
                Some(extent) => format!("write a mode of {extent} or more"),
                None => "give the axis a fixed extent, or write the layout as a `map`".to_string(),
            };
            return Err(NotationFault::axes(shape.span(), message).help(help).into());
        }
        let mut div = 1;
        let last = sizes.len().saturating_sub(1);
        let mut mode = Vec::new();
        for (k, ((size, _), (step, _))) in sizes.iter().zip(&steps).enumerate() {
            let modulus = (k != last).then_some(*size);
            mode.push((AxisBlock { axis: position, div, modulus }, Expr::constant(*step)));
            div *= size;
        }
        // A mode lists its sub-modes fastest first; storage axes are outermost first.
        for (piece, step) in mode.into_iter().rev() {
            dims.push(alloc::vec![piece]);
            strides.push(step);
        }
    }
    let map = blocks::map(&dims, axes)?;
    builder.apply(&map)?;
    builder.strides(&strides)?;
    if let Some((swizzle, _)) = swizzle {
        builder.swizzle(swizzle)?;
    }
    Ok(NotationExtras::default())
}

/// Extents of the logical axes that a CuTe layout implies, one per top-level mode: `(4,(2,8)):(16,(1,2))` has
/// `[4, 16]`.
pub(super) fn extents(text: &str) -> Result<Vec<i128>, NotationFault> {
    let modes = match parse(text)?.shape {
        SpannedTuple::List(modes, _) => modes,
        mode @ SpannedTuple::Integer(..) => alloc::vec![mode],
    };
    let extent = |mode: &SpannedTuple| {
        let product = mode.leaves().iter().try_fold(1_i128, |n, (size, _)| n.checked_mul(*size));
        product.ok_or_else(|| {
            NotationFault::value(mode.span(), "the mode does not fit 64 bits")
                .help("write smaller sizes")
        })
    };
    modes.iter().map(extent).collect()
}
