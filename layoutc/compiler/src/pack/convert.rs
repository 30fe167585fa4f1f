//! Element type conversion of whole buffers.

use rayon::prelude::*;

use super::packed::Packing;
use super::{Direction, PackError, Width};
use crate::base::cast::{Cast, CastEvaluator};
use crate::machine::CPU;
use crate::model::Tensor;

/// Conversion between the element type of the dense buffer and that of the tensor, before pack or after unpack.
#[derive(Debug, Clone, Copy)]
pub struct Recast {
    cast: Cast,
    /// Storage format of the source elements.
    from: Width,
    /// Storage format of the target elements.
    to: Width,
}

impl Recast {
    /// Conversion for a relayout in `direction`; `None` if both element types are the same.
    ///
    /// # Errors
    /// [`PackError::TooLarge`] if the size of an element exceeds the address space.
    pub fn of(tensor: &Tensor, direction: Direction) -> Result<Option<Self>, PackError> {
        let Some(logical) = tensor.pack_from else { return Ok(None) };
        let own = Width::of(tensor.dtype, tensor.high_first)?;
        let dense = Width::of(logical.dtype, tensor.high_first)?;
        Ok(Some(match direction {
            Direction::Pack => Self { cast: logical.pack, from: dense, to: own },
            Direction::Unpack => Self { cast: logical.unpack, from: own, to: dense },
        }))
    }

    /// Converts the elements of `source` to those of `target`, in order and in parallel chunks. Both buffers start at a
    /// byte boundary and have the same number of elements.
    ///
    /// # Errors
    /// [`PackError::Outside`] if a packed buffer is found to be too short, or if the conversion is not supported, such
    /// as one between two packed types.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), PackError> {
        self.chunks(source, target).ok_or(PackError::Outside)
    }

    fn chunks(self, source: &[u8], target: &mut [u8]) -> Option<()> {
        let converter = CastEvaluator::new(self.cast);
        let bytes = [self.from, self.to].map(bytes_of_chunk);
        let [from, to] = bytes;
        let pieces = source.par_chunks(from?).zip(target.par_chunks_mut(to?));
        pieces.try_for_each(|(source, target)| match (self.from, self.to) {
            (Width::Bytes(from), Width::Bytes(to)) => whole(converter, source, from, target, to),
            (Width::Bytes(from), Width::Packed(packing)) => {
                for (k, element) in source.chunks_exact(from).enumerate() {
                    let value = converter.convert(number(element));
                    packing.store(target, k, u8::try_from(value & 0xFF).ok()?)?;
                }
                Some(())
            }
            (Width::Packed(packing), Width::Bytes(to)) => {
                unpacked(converter, source, packing, target, to)
            }
            (Width::Packed(_), Width::Packed(_)) => None,
        })
    }
}

fn bytes_of_chunk(width: Width) -> Option<usize> {
    match width {
        Width::Bytes(bytes) => CPU.cast_elements.checked_mul(bytes),
        Width::Packed(packing) => Some(packing.bytes(CPU.cast_elements)),
    }
}

fn unpacked(
    converter: CastEvaluator,
    source: &[u8],
    packing: Packing,
    target: &mut [u8],
    to: usize,
) -> Option<()> {
    for (k, element) in target.chunks_exact_mut(to).enumerate() {
        let value = converter.convert(u64::from(packing.load(source, k)?));
        element.copy_from_slice(value.to_le_bytes().get(..to)?);
    }
    Some(())
}

/// Value of a little-endian unsigned integer. Bits beyond 64 are lost.
fn number(element: &[u8]) -> u64 {
    element.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn whole(
    converter: CastEvaluator,
    source: &[u8],
    from: usize,
    target: &mut [u8],
    to: usize,
) -> Option<()> {
    match (from, to) {
        (4, 2) => sized::<4, 2>(converter, source, target),
        (2, 4) => sized::<2, 4>(converter, source, target),
        (4, 1) => sized::<4, 1>(converter, source, target),
        (1, 4) => sized::<1, 4>(converter, source, target),
        (8, 4) => sized::<8, 4>(converter, source, target),
        (4, 8) => sized::<4, 8>(converter, source, target),
        _ => {
            for (from, to) in source.chunks_exact(from).zip(target.chunks_exact_mut(to)) {
                let value = converter.convert(number(from)).to_le_bytes();
                to.copy_from_slice(value.get(..to.len())?);
            }
        }
    }
    Some(())
}

/// Converts the elements of `source` to `target`, as `whole` does, for the constant element sizes `FROM` in `source`
/// and `TO` in `target`, in bytes. The elements are little-endian.
fn sized<const FROM: usize, const TO: usize>(
    converter: CastEvaluator,
    source: &[u8],
    target: &mut [u8],
) {
    let (source, target) = (source.as_chunks::<FROM>().0, target.as_chunks_mut::<TO>().0);
    for (from, to) in source.iter().zip(target) {
        let value = converter.convert(number(from)).to_le_bytes();
        if let Some(value) = value.first_chunk::<TO>() {
            *to = *value;
        }
    }
}
