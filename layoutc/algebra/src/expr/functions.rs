//! Functions of index expressions that expand to sums of bits: Z-order and bit reversal. The Hilbert curve is
//! an operation of its own instead (see [`crate::expr::curve`]).

use alloc::vec::Vec;

use crate::expr::{BinOp, Expr, ExprError};

/// Bit `bit` of `x`, counted from 0 for the least significant bit, as an expression. `x` is below `2^bits`.
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

/// Sum of `bit * 2^place` over all pairs `(bit, place)`, as an expression; 0 without pairs.
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

/// Z-order (Morton) index, which interleaves the bits of the arguments, the last argument least significant. `parts`
/// contains each argument with its number of bits, at most 62 bits in total. Arguments may differ in width: above
/// the highest bit of an argument, only the bits of wider arguments are interleaved.
///
/// Source: Morton, 1966. On an 8 by 8 box, (1, 0) maps to 2 and (0, 1) to 1.
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

/// Value of the lowest `bits` bits of `x`, at most 62, in reverse order: with 4 bits, 1 becomes 8.
///
/// # Errors
/// [`ExprError::Overflow`] beyond 62 bits, [`ExprError::TooLarge`].
pub fn bitrev(x: &Expr, bits: u32) -> Result<Expr, ExprError> {
    if bits > 62 {
        return Err(ExprError::Overflow);
    }
    let mut placed = Vec::new();
    for bit in 0..bits {
        // `u32::MAX`: no bit is the most significant one of `x`, so that higher bits are masked off.
        placed.push((bit_of(x, bit, u32::MAX)?, bits - 1 - bit));
    }
    join_bits(&placed)
}
