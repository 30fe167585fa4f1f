//! Types of words of several elements that a thread accesses at once, and their fill values.

use crate::base::dtype::{Dtype, Scalar};
use crate::ir::{Spelling, Stmt};

/// Type of a word of `together` elements of type `dtype`: an unsigned integer of 1, 2 or 4 bytes, or a vector of 32-bit
/// integers; one or several 64-bit integers if the word is longer than 4 bytes and the fill value, of the bits `fill`,
/// does not repeat every 4 bytes.
pub(crate) fn element(dtype: Dtype, together: i64, fill: u64) -> Dtype {
    let bytes = i64::from(dtype.element_bits() / 8) * together;
    let pattern = pattern(dtype, fill);
    if bytes <= 4 || pattern >> 32 == pattern & 0xFFFF_FFFF {
        return Dtype::integers(bytes);
    }
    Dtype { scalar: Scalar::U64, lanes: u32::try_from(bytes / 8).unwrap_or(1) }
}

/// Declaration of the constant `name` of type `word`, a word of elements of type `dtype`, with the fill value of the
/// bits `fill` in every element.
pub(crate) fn fill_constant(dtype: Dtype, name: &str, word: Dtype, fill: u64) -> Stmt {
    let bytes = usize::try_from(word.scalar_bits() / 8).unwrap_or(8);
    let bytes = pattern(dtype, fill).to_le_bytes().into_iter().take(bytes).collect();
    Stmt::LetElement { name: name.to_owned(), dtype: word, bytes, spelling: Spelling::Bits }
}

/// Eight bytes of elements of type `dtype` whose scalars have the bits `fill`, first element in the low bits. The
/// imaginary part of complex numbers is 0.
fn pattern(dtype: Dtype, fill: u64) -> u64 {
    match dtype.scalar_bits() {
        64.. => fill,
        bits => (0..64)
            .step_by(usize::try_from(bits.max(8)).unwrap_or(64))
            .fold(0, |all, at| all | fill << at),
    }
}
