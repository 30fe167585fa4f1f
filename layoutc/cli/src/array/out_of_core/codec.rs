//! Conversion between elements in files and in memory: byte order, sub-byte packing, and the element type of the
//! dense side.

use layoutc_compiler::base::dtype::Dtype;
use layoutc_compiler::run::pieces::Recast;
use layoutc_compiler::run::{Packing, RunError};

use crate::array::npy::NpyDescr;
use crate::array::{packed, part_bytes, unpacked};

/// Sub-byte elements, one byte each in the dense file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnpackedBits {
    /// `NumPy` kind of the bytes.
    pub(crate) kind: char,
    /// Type of the elements.
    pub(crate) dtype: Dtype,
    /// Packing in memory.
    pub(crate) packing: Packing,
}

/// Steps that convert the elements of a file to those of memory, or back.
#[derive(Debug, Clone, Default)]
pub(crate) struct ElementCodec {
    /// Width of the byte swap of big-endian input.
    pub(crate) swap_width: Option<usize>,
    /// Set if the dense file has one byte per sub-byte element.
    pub(crate) unpacked_bits: Option<UnpackedBits>,
    /// Cast from the type of the dense side to that of the tensor, or back.
    pub(crate) recast: Option<Recast>,
}

#[derive(Debug)]
pub(crate) enum CodecError {
    /// Byte `at` is out of range for the type.
    Value {
        at: usize,
        byte: u8,
        dtype: Dtype,
    },
    Run(RunError),
}

impl From<RunError> for CodecError {
    fn from(error: RunError) -> Self {
        Self::Run(error)
    }
}

impl ElementCodec {
    /// Width of the byte swap for elements of type `descr`; `None` if none is needed.
    pub(crate) fn swap_width_of(descr: &NpyDescr) -> Option<usize> {
        let part = part_bytes(descr);
        (descr.is_big && descr.kind != 'V' && part > 1).then_some(part)
    }

    /// True if dense file and memory hold the same bytes, up to byte order.
    pub(crate) fn is_plain(&self) -> bool {
        self.unpacked_bits.is_none() && self.recast.is_none()
    }

    /// Swaps the bytes of big-endian input.
    pub(crate) fn swap_bytes(&self, read: &mut [u8]) {
        if let Some(part) = self.swap_width {
            read.chunks_exact_mut(part).for_each(<[u8]>::reverse);
        }
    }

    /// Converts elements of the dense file to the form in memory. `own` has their size.
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

    /// Converts elements in memory to the form in the dense file. `written` has their size.
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

/// Bits per element in a dense file.
pub(crate) fn dense_bits(dtype: Dtype, spread: Option<UnpackedBits>) -> u32 {
    if spread.is_some() { 8 } else { dtype.element_bits() }
}
