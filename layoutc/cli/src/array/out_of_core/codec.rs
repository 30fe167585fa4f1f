//! Conversion between elements in files and in memory: byte order, sub-byte packing, and the element type of
//! the dense array.

use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::pack::pieces::Recast;
use layoutc_compiler::pack::{PackError, Packing};

use crate::array::npy::NpyDescr;
use crate::array::{packed, part_bytes, unpacked};

/// Format of sub-byte elements in a dense file that has one byte for each of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnpackedBits {
    /// `NumPy` kind letter of the bytes in a dense file that is read, which gives their format. `i`: the sign-extended
    /// value. `u`: the bit pattern, with zeros in the higher bits. Any other letter: both formats are accepted. A dense
    /// file that is written has the format of [`unpacked`], whatever the letter is.
    pub(crate) kind: char,
    /// Type of the sub-byte elements.
    pub(crate) dtype: Dtype,
    /// Packing of several sub-byte elements into each byte of memory.
    pub(crate) packing: Packing,
}

/// Steps that convert the elements of a file to those in memory, or back.
#[derive(Debug, Clone, Default)]
pub(crate) struct ElementCodec {
    /// Number of bytes of the input that are reversed together to change its byte order; `None` if its bytes stay in
    /// order.
    pub(crate) swap_width: Option<usize>,
    /// Format of the bytes of a dense file that has one byte per sub-byte element; `None` if the dense file has another
    /// format.
    pub(crate) unpacked_bits: Option<UnpackedBits>,
    /// Cast between the element type of the dense array and that of the tensor, `None` without a cast.
    pub(crate) recast: Option<Recast>,
}

#[derive(Debug)]
pub(crate) enum CodecError {
    /// A sub-byte element whose value is out of range for its type `dtype`. The value is the byte `byte` at the offset
    /// `at` of the input of [`ElementCodec::decode`]. The offset is also the index of the element, because an element
    /// takes one byte there.
    Value {
        at: usize,
        byte: u8,
        dtype: Dtype,
    },
    Run(PackError),
}

impl From<PackError> for CodecError {
    fn from(error: PackError) -> Self {
        Self::Run(error)
    }
}

impl ElementCodec {
    /// Number of bytes of elements of the type `descr` that are reversed together to change the byte order; `None` if
    /// no bytes need to be reversed: the elements are little-endian, raw bytes, or of one byte.
    pub(crate) fn swap_width_of(descr: &NpyDescr) -> Option<usize> {
        let part = part_bytes(descr);
        (descr.is_big && descr.kind != 'V' && part > 1).then_some(part)
    }

    /// True if an element has the same bytes in the dense file and in memory, up to the byte order.
    pub(crate) fn is_plain(&self) -> bool {
        self.unpacked_bits.is_none() && self.recast.is_none()
    }

    /// Reverses the byte order of the elements in `read`, in place, by [`Self::swap_width`]; does nothing if that is
    /// `None`.
    pub(crate) fn swap_bytes(&self, read: &mut [u8]) {
        if let Some(part) = self.swap_width {
            read.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
    }

    /// Converts elements from the format of the dense file, `read`, to the format of memory. The result is written to
    /// `own`, which must have the size of the result in bytes.
    ///
    /// # Errors
    /// [`CodecError::Value`] for a sub-byte element out of range. [`CodecError::Run`] for an error of [`Recast::run`],
    /// or, without a cast, if `own` has another size.
    pub(crate) fn decode(&self, read: &[u8], own: &mut [u8]) -> Result<(), CodecError> {
        let joined = match self.unpacked_bits {
            Some(UnpackedBits { kind, dtype, packing }) => {
                let joined = packed(read, kind, dtype, packing);
                Some(joined.map_err(|(at, byte)| CodecError::Value { at, byte, dtype })?)
            }
            None => None,
        };
        let logical = joined.as_deref().unwrap_or(read);
        match &self.recast {
            Some(recast) => Ok(recast.run(logical, own)?),
            None if own.len() == logical.len() => {
                own.copy_from_slice(logical);
                Ok(())
            }
            None => Err(PackError::Outside.into()),
        }
    }

    /// Converts `elements` elements from the format of memory, `own`, to the format of the dense file. The result is
    /// written to `written`, which must have the size of the result in bytes.
    ///
    /// # Errors
    /// [`CodecError::Run`] if the codec has no conversion ([`Self::is_plain`]), if `written` must have one byte for
    /// each sub-byte element and has another size, or for an error of [`Recast::run`].
    pub(crate) fn encode(
        &self,
        (own, elements): (&[u8], usize),
        written: &mut [u8],
    ) -> Result<(), CodecError> {
        let Some(UnpackedBits { dtype, packing, .. }) = self.unpacked_bits else {
            return match &self.recast {
                Some(recast) => Ok(recast.run(own, written)?),
                None => Err(PackError::Outside.into()),
            };
        };
        let mut logical = Vec::new();
        let logical = match &self.recast {
            Some(recast) => {
                let bits = usize::try_from(dtype.element_bits()).unwrap_or(8);
                logical.resize(elements.saturating_mul(bits).div_ceil(8), 0);
                recast.run(own, &mut logical)?;
                &logical
            }
            None => own,
        };
        let spread = unpacked(logical, dtype, packing, elements);
        if spread.len() != written.len() {
            return Err(PackError::Outside.into());
        }
        written.copy_from_slice(&spread);
        Ok(())
    }
}

/// Bits per element in the dense file: 8 if `spread` is `Some`, because each sub-byte element then takes one byte, and
/// the bits of `dtype` otherwise.
pub(crate) fn dense_bits(dtype: Dtype, spread: Option<UnpackedBits>) -> u32 {
    if spread.is_some() { 8 } else { dtype.element_bits() }
}
