//! Swizzles: bits of an offset folded over others by XOR, so that neighbours in a column lie in different banks.
//!
//! Source: CUTLASS, CuTe: `Swizzle<B,M,S>` is `y = x ^ ((x & ((2^B - 1) << (M + max(0, S)))) >> S)` with `|S| >= B`. For
//! `Swizzle<3,4,3>`, 128 goes to 144.

use core::fmt;

use thiserror::Error;

use crate::expr::{BinOp, Expr, ExprError};

/// A swizzle of element offsets: `bits` bits are folded over the `bits` from `base` on, which lie `shift` below them
/// (above, where it is negative).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swizzle {
    bits: u32,
    base: u32,
    shift: i32,
}

/// What is no swizzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SwizzleError {
    /// The bits would be folded over themselves.
    #[error("{bits} bits moved by {shift} overlap: the shift is at least the bits")]
    Overlap {
        /// How many bits.
        bits: u32,
        /// The shift.
        shift: i32,
    },
    /// A swizzle of bits that no offset has.
    #[error("bits and base are at least 0, and together with the shift at most 62")]
    Range,
    /// Bytes that are no whole number of elements.
    #[error("its lowest bit counts {bytes} bytes, and an element has {element_bits} bits")]
    Unit {
        /// The bytes that the lowest bit counts.
        bytes: i128,
        /// The bits of an element.
        element_bits: u32,
    },
}

impl Swizzle {
    /// The swizzle of `bits`, `base` and `shift`, in elements.
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

    /// The same where the three count bytes: for elements of 16 bits, 3, 4, 3 becomes 3, 3, 3.
    ///
    /// # Errors
    /// [`SwizzleError`].
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

    /// How many bits are folded.
    pub fn bits(self) -> u32 {
        self.bits
    }

    /// The lowest bit that is changed, or folded where the shift is negative.
    pub fn base(self) -> u32 {
        self.base
    }

    /// By how much the bits are moved down.
    pub fn shift(self) -> i32 {
        self.shift
    }

    /// The block that the swizzle repeats in: 2^(bits + base + |shift|) elements.
    pub fn block(self) -> i128 {
        1 << (self.bits + self.base + self.shift.unsigned_abs())
    }

    /// What an extent is rounded up to a multiple of, so that no index leaves it; of one that is no constant, `None`.
    ///
    /// Bits moved down change an index below the lowest of them, so that only the last run of an extent matters: its
    /// indices share the bits that are folded, n of them at most, and stay in runs of 2^(base + n). 4 rows of 64 under
    /// `S<3,3,3>` stay within their 256 elements. Bits moved up ask for whole blocks, where any is folded.
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

    /// The bits that are folded, and those they are folded over, each by its lowest one.
    pub(crate) fn fields(self) -> (u32, u32) {
        let far = self.base + self.shift.unsigned_abs();
        if self.shift >= 0 { (far, self.base) } else { (self.base, far) }
    }

    /// Where one offset, from 0, goes: 128 to 144 for 3, 4, 3.
    pub fn at(self, offset: i128) -> i128 {
        let (from, onto) = self.fields();
        offset ^ (((offset >> from) & ((1 << self.bits) - 1)) << onto)
    }

    /// Where `offset` goes. Twice it goes nowhere: a swizzle is its own inverse.
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
