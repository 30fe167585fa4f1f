//! Pack and unpack within the compiler: relayout of one tensor between its dense buffer and its layout.
//!
//! [`pack`] and [`unpack`] prepare the relayout of a whole tensor for given values of its symbols; [`Relayout::run`]
//! carries it out on two buffers. [`pieces`] divides a tensor into parts for files that do not fit in memory. If the
//! offsets on both sides are sums of the same digits, a tensor is a strided box, and a part of it is a smaller box. Any
//! other offset is evaluated for each element. Buffers have the format of the generated code on little-endian hosts;
//! elements of fewer than 8 bits are packed. No file is read or written.

mod boxes;
mod chains;
mod convert;
mod indexed;
mod kernels;
mod nest;
mod packed;
mod padding;
pub mod pieces;
mod program;
mod region;
mod shape;
mod transpose;
mod whole;

use std::collections::BTreeMap;

use layoutc_algebra::layout::Verdict;
use thiserror::Error;

use crate::base::dtype::Dtype;
use crate::model::{Fill, Tensor};

use self::chains::{Chains, Order};
use self::convert::Recast;
use self::indexed::Offsets;
use self::whole::Whole;

pub use self::packed::Packing;
pub use self::shape::{axis_of_symbol, logical_shape, physical_shape, sizes};

/// Error of an in-process relayout.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PackError {
    /// A symbol has no value, a value for which the layout is not proven, or a value for which a size cannot be
    /// computed.
    #[error("the symbols have no values that the layout is proven for")]
    Symbols,
    /// A buffer has the wrong size.
    #[error("a buffer of {given} bytes, and {needed} are needed")]
    Size {
        /// Actual size, in bytes.
        given: usize,
        /// Required size, in bytes.
        needed: usize,
    },
    /// A size or extent is negative or too large for the address space, or a temporary buffer cannot be allocated.
    #[error("a buffer is larger than memory")]
    TooLarge,
    /// An access is outside its buffer, or an element type conversion is not supported.
    #[error("an offset of the layout is outside its buffer")]
    Outside,
    /// The offset of the layout cannot be evaluated in 64 bits, or the element type cannot represent the fill value.
    #[error("the offset or the fill value of the layout has no value of its type")]
    Unsupported,
}

/// Direction of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the dense buffer to the layout.
    Pack,
    /// From the layout to the dense buffer.
    Unpack,
}

/// Storage format of the elements of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Width {
    /// Elements of this many bytes each.
    Bytes(usize),
    /// Elements of fewer than 8 bits, packed into a bit stream.
    Packed(Packing),
}

impl Width {
    /// Storage format of elements of type `dtype`. `high_first` is true if the first of the elements that share a byte
    /// is in the high bits.
    fn of(dtype: Dtype, high_first: bool) -> Result<Self, PackError> {
        let bits = dtype.element_bits();
        Ok(match Packing::new(bits, high_first) {
            Some(packing) => Self::Packed(packing),
            None => Self::Bytes(usize::try_from(bits / 8).map_err(|_| PackError::TooLarge)?),
        })
    }

    /// Copies element `from` of `source` to element `to` of `target`; `None` if one is outside its buffer.
    fn copy(self, source: &[u8], from: usize, target: &mut [u8], to: usize) -> Option<()> {
        match self {
            Self::Bytes(bytes) => {
                let range = |at: usize| {
                    let start = at.checked_mul(bytes)?;
                    Some(start..start.checked_add(bytes)?)
                };
                target.get_mut(range(to)?)?.copy_from_slice(source.get(range(from)?)?);
                Some(())
            }
            Self::Packed(packing) => packing.store(target, to, packing.load(source, from)?),
        }
    }
}

/// Treatment of those parts of a destination to which no element is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Unwritten {
    /// Padding keeps its values.
    Kept,
    /// There is no padding: the unused bits of the last byte become 0.
    ZeroBits,
    /// Padding is filled with copies of these bytes.
    Filled(Vec<u8>),
}

impl Unwritten {
    /// Treatment that the layout and the fill value of a tensor require.
    fn of(tensor: &Tensor, direction: Direction) -> Result<Self, PackError> {
        let has_fill = tensor.fill != Fill::Nothing;
        let has_padding = match direction {
            Direction::Pack => tensor.layout.verdict() != Verdict::Bijective,
            Direction::Unpack => tensor.layout.domain().is_some(),
        };
        let is_filled = match direction {
            Direction::Pack => tensor.layout.verdict() == Verdict::Padded,
            Direction::Unpack => true,
        };
        Ok(match (has_padding, has_fill && is_filled) {
            (false, _) => Self::ZeroBits,
            (true, false) => Self::Kept,
            (true, true) => Self::Filled(padding::pattern(tensor)?),
        })
    }
}

/// Relayout of one tensor, ready to run.
#[derive(Debug, Clone)]
pub struct Relayout {
    direction: Direction,
    engine: Engine,
    unwritten: Unwritten,
    /// Element type conversion of the dense buffer, and the size of that buffer with the element type of the tensor, in
    /// bytes. `None` if both buffers have the same element type.
    recast: Option<(Recast, usize)>,
    /// Size of the source, in bytes.
    pub from_bytes: usize,
    /// Size of the destination, in bytes.
    pub to_bytes: usize,
}

/// Arrangement of the elements of a tensor in both buffers.
#[derive(Debug, Clone)]
enum Engine {
    Boxes(Whole),
    Indexed(Offsets),
}

/// Prepares the relayout from the dense row-major buffer to the layout. `symbols` has the value of each symbol by name.
/// Padding is set to the fill value, or left unchanged if the tensor has none.
///
/// # Errors
/// [`PackError::Symbols`] if a symbol has no value for which the layout is proven, or a size cannot be computed for the
/// values; [`PackError::TooLarge`] if a size exceeds the address space; [`PackError::Unsupported`] if the offset cannot
/// be evaluated, or the element type cannot represent the fill value.
pub fn pack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Relayout, PackError> {
    Relayout::new(tensor, symbols, Direction::Pack)
}

/// Prepares the relayout from the layout to the dense row-major buffer. `symbols` has the value of each symbol by name.
/// The contents of padding have no effect. Elements outside the domain of the layout become the fill value.
///
/// # Errors
/// Errors of [`pack`].
pub fn unpack(tensor: &Tensor, symbols: &BTreeMap<String, i128>) -> Result<Relayout, PackError> {
    Relayout::new(tensor, symbols, Direction::Unpack)
}

impl Relayout {
    fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        direction: Direction,
    ) -> Result<Self, PackError> {
        shape::check_symbols(tensor, symbols)?;
        let (dense, laid_out) = sizes(tensor, symbols)?;
        let own = tensor.without_cast();
        let recast = Recast::of(tensor, direction)?;
        let recast = recast.map(|recast| Ok((recast, sizes(&own, symbols)?.0))).transpose()?;
        let chains = Chains::of(&own, symbols, Order::LastFastest)?;
        let engine = match chains {
            Some(chains) => Engine::Boxes(Whole::new(&own, chains)?),
            None => Engine::Indexed(Offsets::new(&own, symbols, Order::LastFastest)?),
        };
        let unwritten = Unwritten::of(&own, direction)?;
        let [from_bytes, to_bytes] = match direction {
            Direction::Pack => [dense, laid_out],
            Direction::Unpack => [laid_out, dense],
        };
        Ok(Self { direction, engine, unwritten, recast, from_bytes, to_bytes })
    }

    /// Copies every element of `source` to its position in `target`, with the element type conversion if there is one.
    /// Buffers need no alignment. May run on several threads.
    ///
    /// # Errors
    /// [`PackError::Size`] if the size of a buffer is not [`Relayout::from_bytes`] or [`Relayout::to_bytes`];
    /// [`PackError::TooLarge`] if a temporary buffer cannot be allocated; [`PackError::Outside`] if an offset is wrong
    /// or the element type conversion is not supported.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), PackError> {
        for (given, needed) in [(source.len(), self.from_bytes), (target.len(), self.to_bytes)] {
            if given != needed {
                return Err(PackError::Size { given, needed });
            }
        }
        let Some((recast, bytes)) = self.recast else { return self.moved(source, target) };
        let mut own = Vec::new();
        own.try_reserve_exact(bytes).map_err(|_| PackError::TooLarge)?;
        own.resize(bytes, 0);
        match self.direction {
            Direction::Pack => {
                recast.run(source, &mut own)?;
                self.moved(&own, target)
            }
            Direction::Unpack => {
                self.moved(source, &mut own)?;
                recast.run(&own, target)
            }
        }
    }

    /// Copies every element between buffers that both have the element type of the tensor.
    fn moved(&self, source: &[u8], target: &mut [u8]) -> Result<(), PackError> {
        let unwritten = &self.unwritten;
        let moved = match (&self.engine, self.direction) {
            (Engine::Boxes(whole), direction) => whole.run(direction, unwritten, source, target),
            (Engine::Indexed(offsets), Direction::Pack) => offsets.pack(unwritten, source, target),
            (Engine::Indexed(offsets), Direction::Unpack) => {
                offsets.unpack(unwritten, source, target)
            }
        };
        moved.ok_or(PackError::Outside)
    }
}
