//! Functions of index expressions: orders in which neighbours in a box stay neighbours in memory, as sums of bits. The
//! Hilbert curve is none: it is an operation of its own (see [`crate::curve`]).

use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError};

/// `bit` of `x`, which has `bits` bits.
fn bit_of(x: &Expr, bit: u32, bits: u32) -> Result<Expr, ExprError> {
    let high = match bit {
        0 => x.clone(),
        _ => Expr::binary(BinOp::FloorDiv, x, &Expr::constant(1 << bit))?,
    };
    if bit + 1 == bits {
        return Ok(high);
    }
    Expr::binary(BinOp::Mod, &high, &Expr::constant(2))
}

/// Bits put together: each `(bit, place)` counts 2^place.
fn join_bits(bits: &[(Expr, u32)]) -> Result<Expr, ExprError> {
    let mut sum: Option<Expr> = None;
    for (bit, place) in bits {
        let term = match place {
            0 => bit.clone(),
            _ => Expr::binary(BinOp::Mul, bit, &Expr::constant(1 << place))?,
        };
        sum = Some(match sum {
            None => term,
            Some(sum) => Expr::binary(BinOp::Add, &sum, &term)?,
        });
    }
    Ok(sum.unwrap_or_else(|| Expr::constant(0)))
}

/// The number of Z-order: the bits of the arguments by turns, the last argument's lowest bit lowest. An argument that
/// has run out of bits is left out. `parts` are the arguments, each below 2^bits; all their bits together are at most 62.
///
/// Source: Morton, 1966. On a box of 8 by 8, (1, 0) goes to 2 and (0, 1) to 1.
///
/// # Errors
/// [`ExprError::Overflow`] beyond 62 bits, [`ExprError::TooLarge`].
pub fn morton(parts: &[(Expr, u32)]) -> Result<Expr, ExprError> {
    if parts.iter().fold(0_u32, |sum, (_, bits)| sum.saturating_add(*bits)) > 62 {
        return Err(ExprError::Overflow);
    }
    let mut placed = Vec::new();
    let mut place = 0;
    for bit in 0..62 {
        for (x, bits) in parts.iter().rev().filter(|(_, bits)| bit < *bits) {
            placed.push((bit_of(x, bit, *bits)?, place));
            place += 1;
        }
    }
    placed.reverse();
    join_bits(&placed)
}

/// The lowest `bits` bits of `x`, at most 62, in reverse: of 4 bits, 1 goes to 8.
///
/// # Errors
/// [`ExprError::Overflow`] beyond 62 bits, [`ExprError::TooLarge`].
pub fn bitrev(x: &Expr, bits: u32) -> Result<Expr, ExprError> {
    if bits > 62 {
        return Err(ExprError::Overflow);
    }
    let mut placed = Vec::new();
    for bit in 0..bits {
        // Higher bits are cut off: none is the last of `x`.
        placed.push((bit_of(x, bit, u32::MAX)?, bits - 1 - bit));
    }
    join_bits(&placed)
}
