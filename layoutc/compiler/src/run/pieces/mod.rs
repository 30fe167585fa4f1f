//! Relayout between files that do not fit in memory, in pieces. A piece reads and writes a part of each file.
//!
//! If the offsets in both buffers are sums of the same digits, nested in memory, and groups of elements fill whole
//! bytes in both, a piece is a box of the logical tensor and consists of contiguous runs in both buffers ([`Pieces`]).
//! Any other tensor is processed in windows of the dense buffer, with a computed position for each element
//! ([`Indexed`]). This module does no I/O.

mod boxes;
mod carry;
mod cut;
mod indexed;
mod piece;
mod runs;
mod terms;

use std::collections::BTreeMap;

use layoutc_algebra::layout::Verdict;

use super::compile::element_bytes;
use super::{RunError, Side, dense_pass};
use crate::base::dtype::byte_group;
use crate::base::fill;
use crate::model::{Fill, Tensor};
use cut::{Cut, Unit};
use terms::Terms;

pub use indexed::{Indexed, Lives, Span};
pub use piece::Piece;
pub use runs::{Run, Runs};

/// Direction of a relayout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the dense buffer to the layout.
    Pack,
    /// From the layout to the dense buffer.
    Unpack,
}

/// Storage order of the axes in a dense buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row-major, as in C.
    LastFastest,
    /// Column-major, as in Fortran.
    FirstFastest,
}

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
    Indexed(Box<Indexed>),
}

/// Partition of a tensor into boxes. Offsets and lengths in it are in units: groups of elements that are a whole number
/// of bytes in both element types.
#[derive(Debug, Clone)]
pub struct Pieces {
    terms: Terms,
    cuts: Vec<Cut>,
    unit: Unit,
    /// Number of elements of a unit: the smallest group that is a whole number of bytes in both element types.
    pub unit_elements: usize,
    /// Positions of the chains in `terms`, from the largest to the smallest stride in the destination.
    order: Vec<usize>,
}

impl InPieces {
    /// Partitions a tensor into pieces for a relayout in `direction` between the layout and the dense file `file`.
    /// `symbols` has the value of each symbol by name. The buffers of a piece, for boxes with double buffering, take at
    /// most about `memory` bytes; the smallest possible pieces are used if they take more.
    ///
    /// # Errors
    /// [`RunError::Domain`] if the layout has a `where` domain, [`RunError::Symbols`] if a symbol has no value or a
    /// size cannot be computed for the values, [`RunError::TooLarge`] if a size exceeds the address space,
    /// [`RunError::Plan`] if planning fails, [`RunError::Unsupported`] if the function of the offset cannot be
    /// evaluated.
    pub fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        (direction, file): (Direction, DenseFile),
        memory: usize,
    ) -> Result<Self, RunError> {
        if tensor.layout.domain().is_some() {
            return Err(RunError::Domain);
        }
        let own = tensor.dtype.element_bits();
        let logical = tensor.logical_dtype().element_bits();
        // A conversion between element types or widths needs further buffers.
        let held = if is_as_in_memory(tensor, file) { 0 } else { logical + own };
        let terms = Terms::of(tensor, symbols, file.order)?;
        // The group sizes are powers of two, so the maximum is a multiple of both.
        let several = [own, logical].map(|bits| byte_group(bits).0).into_iter().max().unwrap_or(1);
        let terms = terms.and_then(|terms| terms.in_units_of(i64::from(several)));
        let Some(terms) = terms else {
            let dense_bits = usize::try_from(file.element_bits.max(own) + held);
            let dense_bits = dense_bits.map_err(|_| RunError::TooLarge)?;
            let indexed = Indexed::new(tensor, symbols, (file.order, dense_bits), memory)?;
            return Ok(Self::Indexed(Box::new(indexed)));
        };
        let bytes = |bits: u32| i64::from(bits * several / 8);
        let unit = Unit {
            own: bytes(own),
            dense: bytes(file.element_bits),
            dense_held: 2 * bytes(file.element_bits) + bytes(held),
        };
        let cuts = cut::choose(&terms, unit, i128::try_from(memory).unwrap_or(i128::MAX));
        let mut order: Vec<usize> = (0..terms.chains.len()).collect();
        let stride = |chain: &usize| {
            let of = terms.chains.get(*chain);
            let slots = of.and_then(|chain| chain.digits.first()).map(|digit| digit.stride);
            let dense = of.map(|chain| chain.dense);
            let stride = if direction == Direction::Pack { slots } else { dense };
            stride.unwrap_or(0).abs()
        };
        order.sort_by_key(|chain| std::cmp::Reverse(stride(chain)));
        let unit_elements = usize::try_from(several).map_err(|_| RunError::TooLarge)?;
        let pieces = Pieces { terms, cuts, unit, unit_elements, order };
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
            let (of, cut) = self.terms.chains.get(*chain).zip(self.cuts.get(*chain))?;
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
        let blocks = piece::blocks(&self.terms, &self.cuts, &numbers);
        Piece::new(&self.terms, &blocks, self.unit)
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
    /// [`RunError::Outside`] if a buffer is smaller than its runs.
    pub fn run(
        &self,
        piece: &Piece,
        direction: Direction,
        source: &[u8],
        target: &mut [u8],
    ) -> Result<(), RunError> {
        let moved = match direction {
            Direction::Pack => piece.pack(source, target, self.unit.own),
            Direction::Unpack => piece.unpack(source, target, self.unit.own),
        };
        moved.ok_or(RunError::Outside)
    }
}

/// True if an element of the dense file has the type and the width of an element of the layout, so that no conversion
/// is needed.
pub fn is_as_in_memory(tensor: &Tensor, file: DenseFile) -> bool {
    tensor.pack_from.is_none() && tensor.dtype.element_bits() == file.element_bits
}

/// Bytes that are repeated to fill the padding. `None` if all of them are 0, the layout is proven to have no padding,
/// or padding is left unchanged.
///
/// # Errors
/// [`RunError::Unsupported`] if the element type cannot represent the fill value.
pub fn padding(tensor: &Tensor) -> Result<Option<Vec<u8>>, RunError> {
    if tensor.layout.verdict() == Verdict::Bijective || tensor.fill == Fill::Nothing {
        return Ok(None);
    }
    let no_fill = |_| RunError::Unsupported;
    let bytes = if tensor.dtype.element_bits() < 8 {
        let bits = fill::bits(tensor.dtype, tensor.fill).map_err(no_fill)?;
        crate::lower::relayout::builder::repeat_in_bytes(bits, (tensor.dtype, tensor.high_first))
    } else {
        let lane = fill::bytes(tensor.dtype, tensor.fill).map_err(no_fill)?;
        element_bytes(tensor.dtype, &lane)
    };
    Ok(bytes.iter().any(|byte| *byte != 0).then_some(bytes))
}

/// Conversion between the element type of the dense buffer and that of the tensor.
#[derive(Debug, Clone, Copy)]
pub struct Recast(super::Dense);

impl Recast {
    /// Conversion for a relayout in `direction`; `None` if both element types are the same. `symbols` has the value of
    /// each symbol by name.
    ///
    /// # Errors
    /// [`RunError::Plan`], [`RunError::Symbols`] or [`RunError::TooLarge`] if the size of the dense buffer cannot be
    /// computed.
    pub fn of(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        direction: Direction,
    ) -> Result<Option<Self>, RunError> {
        let side = match direction {
            Direction::Pack => Side::Source,
            Direction::Unpack => Side::Destination,
        };
        Ok(dense_pass(tensor, symbols, side)?.map(Self))
    }

    /// Converts the elements of `source` to those of `target`, in order. Both buffers start at a byte boundary and have
    /// the same number of elements.
    ///
    /// # Errors
    /// [`RunError::Outside`] if a packed buffer is found to be too short, or if the conversion is not supported, such
    /// as one between two packed types.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), RunError> {
        self.0.pass.run(source, target).ok_or(RunError::Outside)
    }
}
