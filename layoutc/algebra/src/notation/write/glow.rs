//! Export to Glow's layout strings: letters in memory order, with alignments of strides in bytes.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::blocks::letters;
use super::flat::{FlatLayout, StridedBlock};
use super::{Inexpressible, NotationText};
use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError};
use crate::layout::Layout;
use crate::notation::glow::MAX_DIMS;

/// Largest exponent of the powers of two, in bytes, that are tried as alignments.
const MAX_POWER: u32 = 24;

/// Text of `layout`, whose strided blocks are `flat`, as a Glow string such as `N[a=32]HWC`. `bits` is the size of an
/// element.
pub(super) fn write(
    flat: &FlatLayout,
    layout: &Layout,
    bits: u32,
) -> Result<NotationText, Inexpressible> {
    let rank = layout.logical.len();
    match rank {
        0 => return Err(Inexpressible::Scalar),
        rank if rank > MAX_DIMS => return Err(Inexpressible::Rank { rank, most: MAX_DIMS }),
        _ => {}
    }
    let whole = flat.whole(rank)?;
    let order = order(flat, &whole);
    let letters = letters(&order, layout)?;
    let mut dims: Vec<String> = Vec::new();
    let mut natural = Expr::constant(1);
    for axis in order.iter().rev() {
        let mut dim = String::from(letters.get(*axis).copied().unwrap_or('?'));
        if let Some(Some(piece)) = whole.get(*axis) {
            if !flat.facts.proves_eq(&natural, &piece.stride)? {
                let bytes = alignment(flat, &natural, &piece.stride, bits)?;
                dim.push_str(&format!("[a={}]", bytes.ok_or(Inexpressible::Padding)?));
            }
            let next = Expr::binary(BinOp::Mul, &piece.stride, &piece.count)?;
            natural = flat.facts.simplify(&next)?;
        }
        dims.push(dim);
    }
    dims.reverse();
    Ok(dims.concat().into())
}

/// Positions of the axes by descending stride. `whole` has the block of each axis, `None` for an axis without one, such
/// as an axis of extent 1. Such an axis follows its predecessor in logical order; without a predecessor it comes first.
fn order(flat: &FlatLayout, whole: &[Option<&StridedBlock>]) -> Vec<usize> {
    let mut order: Vec<usize> = flat.pieces.iter().rev().filter_map(StridedBlock::axis).collect();
    for (axis, _) in whole.iter().enumerate().filter(|(_, piece)| piece.is_none()) {
        let before = axis.checked_sub(1).and_then(|k| order.iter().position(|own| *own == k));
        order.insert(before.map_or(0, |at| at + 1), axis);
    }
    order
}

/// Alignment in bytes that rounds a stride of `natural` elements of `bits` bits up to `stride` elements. It is the
/// smallest power of two that does so, up to `2^MAX_POWER`, otherwise the stride itself in bytes; `None` if neither
/// does.
fn alignment(
    flat: &FlatLayout,
    natural: &Expr,
    stride: &Expr,
    bits: u32,
) -> Result<Option<i128>, ExprError> {
    let bits = i128::from(bits.max(1));
    let own = stride.as_const().and_then(|stride| stride.checked_mul(bits)).filter(|n| n % 8 == 0);
    let powers = (1..=MAX_POWER).map(|power| 1_i128 << power);
    for bytes in powers.chain(own.map(|bits| bits / 8)) {
        let elements = bytes * 8 / gcd(bytes * 8, bits).max(1);
        let up = Expr::binary(BinOp::Add, natural, &Expr::constant(elements - 1))?;
        let blocks = Expr::binary(BinOp::FloorDiv, &up, &Expr::constant(elements))?;
        let rounded = Expr::binary(BinOp::Mul, &blocks, &Expr::constant(elements))?;
        if flat.facts.proves_eq(&rounded, stride)? {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}
