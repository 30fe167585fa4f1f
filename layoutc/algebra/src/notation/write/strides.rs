//! Export to notations that consist of strides or an axis order: `NumPy` and mdspan.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flat::{FlatLayout, StrideGap};
use super::{Inexpressible, NotationText};
use crate::expr::{BinOp, Expr};
use crate::layout::Layout;

/// Candidate texts for a layout in `NumPy`'s notation, in the order of trial: `C`, `F`, and the strides in bytes, such
/// as `(48, 4)`. `bits` is the size of an element. If strides are symbolic or not whole bytes, the candidates are `C`
/// and `F`, provided that the layout has no gaps. With gaps, the error is [`Inexpressible::Symbolic`] or
/// [`Inexpressible::Bits`].
pub(super) fn numpy(
    flat: &FlatLayout,
    layout: &Layout,
    bits: u32,
) -> Result<Vec<NotationText>, Inexpressible> {
    let mut texts: Vec<NotationText> = ["C", "F"].map(|text| text.to_string().into()).to_vec();
    match elements(flat, layout) {
        Ok(strides) => {
            let bytes = |stride: &i128| {
                let bits = stride.checked_mul(i128::from(bits))?;
                (bits % 8 == 0).then(|| (bits / 8).to_string())
            };
            match strides.iter().map(bytes).collect::<Option<Vec<_>>>() {
                Some(bytes) if bytes.len() == 1 => {
                    texts.push(format!("({},)", bytes.concat()).into());
                }
                Some(bytes) => texts.push(format!("({})", bytes.join(", ")).into()),
                None if is_dense(flat) => {}
                None => return Err(Inexpressible::Bits),
            }
        }
        Err(Inexpressible::Symbolic) if is_dense(flat) => {}
        Err(error) => return Err(error),
    }
    Ok(texts)
}

/// Candidate texts for a layout in mdspan's notation, in the order of trial: `layout_right`, `layout_left`,
/// `layout_right_padded<…>` and `layout_left_padded<…>` if the block with the smallest stride is padded, and
/// `layout_stride<…>`. If strides are symbolic, `layout_stride<…>` is omitted, and the error is
/// [`Inexpressible::Symbolic`] if the layout has gaps.
pub(super) fn mdspan(
    flat: &FlatLayout,
    layout: &Layout,
) -> Result<Vec<NotationText>, Inexpressible> {
    let mut texts: Vec<NotationText> =
        ["layout_right", "layout_left"].map(|text| text.to_string().into()).to_vec();
    if let Some(StrideGap::Padded(room)) = flat.pieces.first().map(|piece| piece.room) {
        let count = flat.pieces.first().and_then(|piece| piece.count.as_const()).unwrap_or(1);
        let multiple = multiple_of(count, room);
        for word in ["layout_right_padded", "layout_left_padded"] {
            texts.push(format!("{word}<{multiple}>").into());
        }
    }
    match elements(flat, layout) {
        Ok(strides) if strides.is_empty() => {}
        Ok(strides) => {
            let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
            texts.push(format!("layout_stride<{}>", strides.join(", ")).into());
        }
        Err(Inexpressible::Symbolic) if is_dense(flat) => {}
        Err(error) => return Err(error),
    }
    Ok(texts)
}

/// Least power of two `m`, at least 2, such that `count` rounded up to a multiple of `m` is `room`: 4 for a count of 6
/// and a room of 8. `room` itself if there is none.
pub(super) fn multiple_of(count: i128, room: i128) -> i128 {
    let rounds = |multiple: &i128| {
        let blocks = count.checked_add(multiple - 1).map(|up| up / multiple);
        blocks.and_then(|blocks| blocks.checked_mul(*multiple)) == Some(room)
    };
    (1..63).map(|k| 1_i128 << k).find(rounds).unwrap_or(room)
}

/// True if the gap of every block is [`StrideGap::Exact`], so that `C` or `F` may express the layout.
fn is_dense(flat: &FlatLayout) -> bool {
    flat.pieces.iter().all(|piece| piece.room == StrideGap::Exact)
}

/// Stride of each logical axis, in elements, in axis order. An axis without a block, such as an axis of extent 1, has
/// the stride of the storage axis of its name and extent 1. If there is none, it has `stride * extent` of the next
/// logical axis, as in `NumPy` and `PyTorch`, or 1 for the last axis. [`Inexpressible::Symbolic`] if a stride is
/// symbolic.
pub(super) fn elements(flat: &FlatLayout, layout: &Layout) -> Result<Vec<i128>, Inexpressible> {
    let whole = flat.whole(layout.logical.len())?;
    let mut strides = Vec::new();
    let mut next = Expr::constant(1);
    for (piece, axis) in whole.iter().zip(&layout.logical).rev() {
        let stride = match piece {
            Some(piece) => piece.stride.clone(),
            None => stored(layout, &axis.name).cloned().unwrap_or(next),
        };
        strides.push(stride.as_const().ok_or(Inexpressible::Symbolic)?);
        let own = Expr::binary(BinOp::Mul, &stride, &axis.extent)?;
        next = flat.facts.simplify(&own)?;
    }
    strides.reverse();
    Ok(strides)
}

/// Stride of the storage axis named `name` if its extent is 1; otherwise, or without such an axis, `None`.
fn stored<'a>(layout: &'a Layout, name: &str) -> Option<&'a Expr> {
    let at = layout.storage.iter().position(|axis| axis.name == name)?;
    let is_single = layout.storage.get(at)?.extent.as_const() == Some(1);
    layout.strides.get(at).filter(|_| is_single)
}
