//! Relayout between files that do not fit in memory, in pieces. A piece reads and writes a part of each file.
//!
//! If the offsets in both buffers are sums of the same digits, nested in memory, and groups of elements fill whole
//! bytes in both, a piece is a box of the logical tensor and consists of contiguous runs in both buffers ([`Pieces`]).
//! Any other tensor is processed in windows of the dense buffer, with an evaluated slot for each element ([`Windows`]).
//! This module does no I/O.

mod cut;
mod piece;
mod runs;
mod windows;

use std::collections::BTreeMap;

use super::chains::Chains;
use super::region::Region;
use super::{PackError, Unwritten, shape};
use crate::base::dtype::byte_group;
use crate::model::Tensor;
use cut::{Cut, Unit};

pub use super::Direction;
pub use super::chains::Order;
pub use super::convert::Recast;
pub use piece::Piece;
pub use runs::{Run, Runs};
pub use windows::{Span, WindowSlot, Windows};

/// Format of a dense file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseFile {
    /// Storage order of the axes.
    pub order: Order,
    /// Number of bits of an element in the file: 8 for a narrower element that is stored in its own byte.
    pub element_bits: u32,
}

/// Partition of a tensor for relayout in pieces.
#[derive(Debug, Clone)]
pub enum InPieces {
    /// Boxes of the logical tensor, with contiguous runs in both buffers.
    Boxes(Box<Pieces>),
    /// Windows of the dense buffer.
    Windows(Box<Windows>),
}

/// Partition of a tensor into boxes. Offsets and lengths in it are in units: groups of elements that are a whole number
/// of bytes in both element types.
#[derive(Debug, Clone)]
pub struct Pieces {
    chains: Chains,
    cuts: Vec<Cut>,
    unit: Unit,
    /// Number of elements of a unit: the smallest group that is a whole number of bytes in both element types.
    pub unit_elements: usize,
    /// Positions of the chains in `chains`, from the largest to the smallest stride in the destination.
    order: Vec<usize>,
}

impl InPieces {
    /// Partitions a tensor into pieces for a relayout in `direction` between the layout and the dense file `file`.
    /// `symbols` has the value of each symbol by name. The buffers of a piece, for boxes with double buffering, take at
    /// most about `memory` bytes; the smallest possible pieces are used if they take more.
    ///
    /// # Errors
    /// [`PackError::Symbols`] if a symbol has no value for which the layout is proven, or a size cannot be computed for
    /// the values; [`PackError::TooLarge`] if a size exceeds the address space; [`PackError::Unsupported`] if the
    /// offset cannot be evaluated.
    pub fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        (direction, file): (Direction, DenseFile),
        memory: usize,
    ) -> Result<Self, PackError> {
        shape::check_symbols(tensor, symbols)?;
        let own = tensor.dtype.element_bits();
        let logical = tensor.logical_dtype().element_bits();
        // A conversion between element types or widths needs further buffers.
        let held = if is_as_in_memory(tensor, file) { 0 } else { logical + own };
        let chains = Chains::of(tensor, symbols, file.order)?;
        let chains = chains.filter(|chains| Region::whole(chains).nests());
        // The group sizes are powers of two, so the maximum is a multiple of both.
        let several = [own, logical].map(|bits| byte_group(bits).0).into_iter().max().unwrap_or(1);
        let chains = chains.and_then(|chains| chains.in_units_of(i64::from(several)));
        let Some(chains) = chains else {
            let dense_bits = usize::try_from(file.element_bits.max(own) + held);
            let dense_bits = dense_bits.map_err(|_| PackError::TooLarge)?;
            let windows = Windows::new(tensor, symbols, (file.order, dense_bits), memory)?;
            return Ok(Self::Windows(Box::new(windows)));
        };
        let bytes = |bits: u32| i64::from(bits * several / 8);
        let unit = Unit {
            own: bytes(own),
            dense: bytes(file.element_bits),
            dense_held: 2 * bytes(file.element_bits) + bytes(held),
        };
        let cuts = cut::choose(&chains, unit, i128::try_from(memory).unwrap_or(i128::MAX));
        let mut order: Vec<usize> = (0..chains.chains.len()).collect();
        let stride = |chain: &usize| {
            let of = chains.chains.get(*chain);
            let slots = of.and_then(|chain| chain.digits.first()).map(|digit| digit.stride);
            let dense = of.map(|chain| chain.dense);
            let stride = if direction == Direction::Pack { slots } else { dense };
            stride.unwrap_or(0).abs()
        };
        order.sort_by_key(|chain| std::cmp::Reverse(stride(chain)));
        let unit_elements = usize::try_from(several).map_err(|_| PackError::TooLarge)?;
        let pieces = Pieces { chains, cuts, unit, unit_elements, order };
        Ok(Self::Boxes(Box::new(pieces)))
    }
}

impl Pieces {
    /// Number of pieces.
    pub fn count(&self) -> u64 {
        let blocks = self.blocks().map(|blocks| u64::try_from(blocks).unwrap_or(1));
        blocks.product()
    }

    /// Number of blocks of each chain, slowest chain of the destination first.
    fn blocks(&self) -> impl Iterator<Item = i64> + '_ {
        self.order.iter().filter_map(|chain| {
            let (of, cut) = self.chains.chains.get(*chain).zip(self.cuts.get(*chain))?;
            Some(cut.blocks(of))
        })
    }

    /// Piece `number`, counted from 0 in the order of the destination.
    pub fn piece(&self, number: u64) -> Piece {
        let mut rest = i64::try_from(number).unwrap_or(0);
        let mut numbers = vec![0; self.order.len()];
        let blocks: Vec<i64> = self.blocks().collect();
        for (chain, blocks) in self.order.iter().zip(blocks).rev() {
            if let Some(number) = numbers.get_mut(*chain) {
                *number = rest.rem_euclid(blocks);
            }
            rest = rest.div_euclid(blocks);
        }
        let blocks = piece::blocks(&self.chains, &self.cuts, &numbers);
        Piece::new(&self.chains, &blocks, self.unit)
    }

    /// Size of a unit in the layout's file, in bytes.
    pub fn unit_bytes(&self) -> usize {
        usize::try_from(self.unit.own).unwrap_or(1)
    }

    /// Copies the elements of a piece from `source` to `target`. Each buffer holds the runs of the piece in that file,
    /// concatenated, as elements of the tensor's type also on the dense side. The source is the dense side for
    /// [`Direction::Pack`].
    ///
    /// # Errors
    /// [`PackError::Outside`] if a buffer is smaller than its runs.
    pub fn run(
        &self,
        piece: &Piece,
        direction: Direction,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), PackError> {
        piece.copy(direction, (source, target), self.unit.own).ok_or(PackError::Outside)
    }
}

/// True if an element of the dense file has the type and the width of an element of the layout, so that no conversion
/// is needed.
pub fn is_as_in_memory(tensor: &Tensor, file: DenseFile) -> bool {
    tensor.pack_from.is_none() && tensor.dtype.element_bits() == file.element_bits
}

/// Bytes that are repeated in a new file to which no element is written: in the padding of the layout for
/// [`Direction::Pack`], for indices outside the domain for [`Direction::Unpack`]. `None` if all of them are 0, if every
/// byte belongs to an element, or if they are left unchanged. Elements have the type of the tensor.
///
/// # Errors
/// [`PackError::Unsupported`] if the element type cannot represent the fill value.
pub fn padding(tensor: &Tensor, direction: Direction) -> Result<Option<Vec<u8>>, PackError> {
    let pattern = match Unwritten::of(tensor, direction)? {
        Unwritten::Filled(pattern) => Some(pattern),
        Unwritten::Kept | Unwritten::ZeroBits => None,
    };
    Ok(pattern.filter(|pattern| pattern.iter().any(|byte| *byte != 0)))
}
