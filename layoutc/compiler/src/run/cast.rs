//! Element type conversion of whole buffers.

use rayon::prelude::*;

use super::packed::Packing;
use super::step::Width;
use crate::base::cast::{Cast, CastEvaluator};
use crate::machine::CPU;

/// Element type conversion of a dense buffer, before pack or after unpack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    pub(super) cast: Cast,
    /// Storage format of the source elements; `to` is that of the target elements.
    pub(super) from: Width,
    pub(super) to: Width,
}

impl Pass {
    /// Converts `source` to `target`, which have the same number of elements, in parallel chunks. `None` if both
    /// formats are packed, a packed buffer is found to be too short, or a target element exceeds 8 bytes.
    pub(super) fn run(self, source: &[u8], target: &mut [u8]) -> Option<()> {
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
