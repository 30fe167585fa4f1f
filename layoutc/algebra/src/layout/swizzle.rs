//! XOR swizzles of element offsets, which spread the elements of a column over different memory banks.
//!
//! Source: CUTLASS, CuTe: `Swizzle<B,M,S>` is `y = x ^ ((x & ((2^B - 1) << (M + max(0, S)))) >> S)` with `|S| >= B`.
//! `Swizzle<3,4,3>` maps 128 to 144.

use core::fmt;

use thiserror::Error;

use crate::expr::{BinOp, Expr, ExprError};

/// Swizzle of element offsets: XORs `bits` source bits into the `bits` destination bits from position `base` up. The
/// source is `shift` bit positions above the destination. With a negative shift, the bits from `base` up are the
/// source, and the destination is `|shift|` positions above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

/// Reason why parameters do not form a swizzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SwizzleError {
    /// Source and destination bits of the swizzle overlap.
    #[error("a swizzle of {bits} bits overlaps itself at shift {shift}")]
    Overlap {
        /// Number of source bits, which is also the number of destination bits.
        bits: u32,
        /// Distance from the destination bits up to the source bits, in bit positions.
        shift: i32,
    },
    /// `bits` or `base` is negative, or `bits + base + |shift|` exceeds 62.
    #[error("bits and base must be at least 0, and at most 62 together with the shift")]
    Range,
    /// The lowest swizzled bit of a byte offset does not stand for a power-of-two number of elements.
    #[error(
        "the lowest bit stands for {bytes} bytes, not a power of two of {element_bits}-bit elements"
    )]
    Unit {
        /// Number of bytes that the lowest swizzled bit of a byte offset stands for.
        bytes: i128,
        /// Size of an element in bits.
        element_bits: u32,
    },
}

impl Swizzle {
    /// Creates a swizzle from `B`, `M` and `S` of `Swizzle<B,M,S>`, which count bits of an element offset.
    ///
    /// # Errors
    /// [`SwizzleError::Overlap`], [`SwizzleError::Range`].
    pub fn new(bits: i128, base: i128, shift: i128) -> Result<Self, SwizzleError> {
        let reach = bits.saturating_add(base).saturating_add(shift.saturating_abs());
        match (u32::try_from(bits), u32::try_from(base), i32::try_from(shift)) {
            (Ok(bits), Ok(base), Ok(shift)) if reach <= 62 => {
                if shift.unsigned_abs() < bits {
                    return Err(SwizzleError::Overlap { bits, shift });
                }
                Ok(Self { bits, base, shift })
            }
            _ => Err(SwizzleError::Range),
        }
    }

    /// Creates a swizzle of element offsets from parameters that count bits of a byte offset: for 16-bit elements,
    /// 3, 4, 3 becomes 3, 3, 3.
    ///
    /// # Errors
    /// [`SwizzleError::Overlap`], [`SwizzleError::Range`], [`SwizzleError::Unit`].
    pub fn of_bytes(
        bits: i128,
        base: i128,
        shift: i128,
        element_bits: u32,
    ) -> Result<Self, SwizzleError> {
        let bytes = 1_i128 << Self::new(bits, base, shift)?.base;
        let unit = (8 * bytes).checked_div(element_bits.into()).unwrap_or(0);
        if unit.count_ones() != 1 || unit * i128::from(element_bits) != 8 * bytes {
            return Err(SwizzleError::Unit { bytes, element_bits });
        }
        Self::new(bits, unit.trailing_zeros().into(), shift)
    }

    /// Number of source bits, each of which is combined by XOR with one destination bit.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// Position of the lowest destination bit, or of the lowest source bit if the shift is negative.
    pub fn base(self) -> u32 {
        self.base
    }

    /// Distance of the source bits above the destination bits; negative if they are below.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// Period of the swizzle in elements, 2^(bits + base + |shift|): offsets that differ by a multiple of it are
    /// combined by XOR alike.
    pub fn block(self) -> i128 {
        1 << (self.bits + self.base + self.shift.unsigned_abs())
    }

    /// Number of elements to a multiple of which `extent` must be rounded up, so that every index below `extent` is
    /// swizzled to an index below the rounded extent; 1 if no rounding is needed. `None` stands for a symbolic extent,
    /// in which every source bit can be set.
    ///
    /// With a positive shift, only indices in the last block of 2^(base + shift) elements can leave the extent.
    /// Their source bits are equal, a value of n bits, and the reach is 2^(base + n): 32 for `S<3,3,3>` and extent
    /// 256, whose last block of 64 has the source bits 3. With a negative shift, the reach is [`Swizzle::block`] if
    /// a source bit can be set.
    pub fn reach(self, extent: Option<i128>) -> i128 {
        if self.bits == 0 {
            return 1;
        }
        let (from, onto) = self.fields();
        let above = extent.map_or(i128::MAX, |extent| (extent - 1).max(0) >> from);
        if self.shift < 0 {
            return if above == 0 { 1 } else { self.block() };
        }
        let folded = above & ((1 << self.bits) - 1);
        if folded == 0 { 1 } else { 1 << (onto + 128 - folded.leading_zeros()) }
    }

    /// Bit positions `(source, destination)` of the lowest source bit and of the lowest destination bit, from 0.
    pub(crate) fn fields(self) -> (u32, u32) {
        let far = self.base + self.shift.unsigned_abs();
        if self.shift >= 0 { (far, self.base) } else { (self.base, far) }
    }

    /// Swizzled value of a non-negative offset: the swizzle 3, 4, 3 maps 128 to 144.
    pub fn at(self, offset: i128) -> i128 {
        let (from, onto) = self.fields();
        offset ^ (((offset >> from) & ((1 << self.bits) - 1)) << onto)
    }

    /// Swizzled value of a non-negative offset expression. Applying the same swizzle twice gives the offset again.
    ///
    /// # Errors
    /// [`ExprError::TooLarge`].
    pub fn apply(self, offset: &Expr) -> Result<Expr, ExprError> {
        if self.bits == 0 {
            return Ok(offset.clone());
        }
        let power = |bits: u32| Expr::constant(1 << bits);
        let (from, onto) = self.fields();
        let folded = Expr::binary(BinOp::FloorDiv, offset, &power(from))?;
        let folded = Expr::binary(BinOp::Mod, &folded, &power(self.bits))?;
        let folded = Expr::binary(BinOp::Mul, &folded, &power(onto))?;
        Expr::binary(BinOp::Xor, offset, &folded)
    }
}

impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "S<{},{},{}>", self.bits, self.base, self.shift)
    }
}
