//! A tensor moved between files that memory does not hold: in pieces, each with what it has of both files.
//!
//! Where both buffers are sums of the same digits that nest in memory, a piece is a box of the logical tensor and has
//! runs of both ([`Pieces`]). Any other layout is moved in windows of the dense buffer, whose elements are looked up one
//! by one ([`Indexed`]). Nothing is read or written here.

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

/// Which way a tensor goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From the dense buffer into the layout.
    Pack,
    /// Back.
    Unpack,
}

/// How the axes lie in a dense buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row-major.
    LastFastest,
    /// Fortran's.
    FirstFastest,
}

/// How a dense file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseFile {
    /// How the axes lie in it.
    pub order: Order,
    /// Bits that an element takes in it: 8 for one that has a byte of its own there.
    pub element_bits: u32,
}

/// A tensor in pieces.
#[derive(Debug, Clone)]
pub enum InPieces {
    /// Boxes with runs on both sides.
    Boxes(Box<Pieces>),
    /// Windows of the dense buffer.
    Indexed(Box<Indexed>),
}

/// A tensor cut into boxes.
#[derive(Debug, Clone)]
pub struct Pieces {
    terms: Terms,
    cuts: Vec<Cut>,
    unit: Unit,
    /// Elements of a unit.
    pub unit_elements: usize,
    /// The chains, those first whose blocks change last.
    order: Vec<usize>,
}

impl InPieces {
    /// Cuts a tensor into pieces that take no more than about `memory` bytes when two of them are at hand.
    ///
    /// # Errors
    /// [`RunError::Plan`], [`RunError::Symbols`], [`RunError::TooLarge`], [`RunError::Domain`].
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
        // A pass of its own makes the elements what memory holds.
        let held = if is_as_in_memory(tensor, file) { 0 } else { logical + own };
        let terms = Terms::of(tensor, symbols, file.order)?;
        // All are powers of two.
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
    /// How many there are.
    pub fn count(&self) -> u64 {
        let blocks = self.blocks().map(|blocks| u64::try_from(blocks).unwrap_or(1));
        blocks.product()
    }

    /// How many blocks each chain has, in the order in which they change.
    fn blocks(&self) -> impl Iterator<Item = i64> + '_ {
        self.order.iter().filter_map(|chain| {
            let (of, cut) = self.terms.chains.get(*chain).zip(self.cuts.get(*chain))?;
            Some(cut.blocks(of))
        })
    }

    /// One of them; their numbers follow the destination.
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

    /// Bytes of a unit in the laid out file.
    pub fn unit_bytes(&self) -> usize {
        usize::try_from(self.unit.own).unwrap_or(1)
    }

    /// Moves the elements of a piece from one buffer of its runs to the other.
    ///
    /// # Errors
    /// [`RunError::Outside`] where a buffer is smaller than the runs.
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

/// Whether the dense file holds elements as the laid out one does.
pub fn is_as_in_memory(tensor: &Tensor, file: DenseFile) -> bool {
    tensor.pack_from.is_none() && tensor.dtype.element_bits() == file.element_bits
}

/// What padding gets, as bytes that repeat; `None` where that is 0.
///
/// # Errors
/// [`RunError::Unsupported`] where the element type does not hold it.
pub fn padding(tensor: &Tensor) -> Result<Option<Vec<u8>>, RunError> {
    if tensor.layout.verdict() == Verdict::Bijective || tensor.fill == Fill::Nothing {
        return Ok(None);
    }
    let no_fill = |_| RunError::Unsupported;
    let bytes = if tensor.dtype.element_bits() < 8 {
        let bits = fill::bits(tensor.dtype, tensor.fill).map_err(no_fill)?;
        crate::plan::repeat_in_bytes(bits, (tensor.dtype, tensor.high_first))
    } else {
        let digits = fill::digits(tensor.dtype, tensor.fill).map_err(no_fill)?;
        element_bytes(&tensor.dtype.to_string(), &digits).ok_or(RunError::Unsupported)?
    };
    Ok(bytes.iter().any(|byte| *byte != 0).then_some(bytes))
}

/// Makes elements of the dense side's type those of the tensor, or the other way; `None` where both are one type.
#[derive(Debug, Clone, Copy)]
pub struct Recast(super::Dense);

impl Recast {
    /// What a tensor's elements go through.
    ///
    /// # Errors
    /// As [`super::pack`].
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

    /// Converts whole bytes of elements.
    ///
    /// # Errors
    /// [`RunError::Outside`] where `target` is too small.
    pub fn run(&self, source: &[u8], target: &mut [u8]) -> Result<(), RunError> {
        self.0.pass.run(source, target).ok_or(RunError::Outside)
    }
}
