//! What lies between the elements of files and those of memory: another byte order, a byte for each element that shares
//! one in memory, another element type on the dense side.

use layoutc_compiler::dtype::Dtype;
use layoutc_compiler::run::pieces::Recast;
use layoutc_compiler::run::{Packing, RunError};

use crate::array::npy::NpyDescr;
use crate::array::{packed, part_bytes, unpacked};

/// Elements of a dense file that have a byte each and share one in memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnpackedBits {
    /// `NumPy`'s word for what the bytes are.
    pub(crate) kind: char,
    /// What they hold.
    pub(crate) dtype: Dtype,
    /// How they share bytes.
    pub(crate) packing: Packing,
}

/// How the elements of a file become those of memory, or the other way.
#[derive(Debug, Clone, Default)]
pub(crate) struct ElementCodec {
    /// Bytes that are turned round in what is read: the parts of big-endian numbers.
    pub(crate) swap_width: Option<usize>,
    /// How the dense file spreads elements.
    pub(crate) unpacked_bits: Option<UnpackedBits>,
    /// From the type of the dense side into that of the tensor, or back.
    pub(crate) recast: Option<Recast>,
}

/// Why elements could not be taken.
#[derive(Debug)]
pub(crate) enum CodecError {
    /// The byte at this place is no value of the type.
    Value { at: usize, byte: u8, dtype: Dtype },
    /// A plan went wrong.
    Run(RunError),
}

impl From<RunError> for CodecError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl ElementCodec {
    /// The bytes that are turned round in an array of such elements.
    pub(crate) fn swap_width_of(descr: &NpyDescr) -> Option<usize> {
        let part = part_bytes(descr);
        (descr.is_big && descr.kind != 'V' && part > 1).then_some(part)
    }

    /// Whether the dense file holds what memory does.
    pub(crate) fn is_plain(&self) -> bool {
        self.unpacked_bits.is_none() && self.recast.is_none()
    }

    /// Turns round what was read.
    pub(crate) fn swap_bytes(&self, read: &mut [u8]) {
        if let Some(part) = self.swap_width {
            read.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
    }

    /// Elements of the dense file as memory holds them, in `own`, which has their size.
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
            None => Err(RunError::Outside.into()),
        }
    }

    /// Elements of memory, so many, as the dense file holds them, in `written`, which has their size.
    pub(crate) fn encode(
        &self,
        (own, elements): (&[u8], usize),
        written: &mut [u8],
    ) -> Result<(), CodecError> {
        let Some(UnpackedBits { dtype, packing, .. }) = self.unpacked_bits else {
            return match &self.recast {
                Some(recast) => Ok(recast.run(own, written)?),
                None => Err(RunError::Outside.into()),
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
            return Err(RunError::Outside.into());
        }
        written.copy_from_slice(&spread);
        Ok(())
    }
}

/// Bits that an element takes in a dense file.
pub(crate) fn dense_bits(dtype: Dtype, spread: Option<UnpackedBits>) -> u32 {
    if spread.is_some() { 8 } else { dtype.element_bits() }
}
