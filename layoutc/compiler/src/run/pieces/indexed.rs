//! A tensor whose layout is no sum of digits, in windows of its dense buffer: where each element lives is computed, and
//! the places are visited in their order.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::RunError;
use super::super::compile::Compiler;
use super::super::shape::number;
use super::super::step::Width;
use super::super::value::{LANES, Program, Room};
use super::Order;
use crate::base::dtype::byte_group;
use crate::machine::CPU;
use crate::model::{Memory, Tensor};
use crate::plan::cores::Cores;
use crate::plan::nest::{Moves, Ways};
use crate::plan::{self, Naming};

/// Elements of a window are so many, or a multiple: whole bytes, whatever they are.
const STEP: usize = 64;
/// The least and the most bytes of a span.
const SPAN_BYTES: Range<usize> = 4 << 10..4 << 20;

/// Windows of the dense buffer, each with the places of its elements.
#[derive(Debug, Clone)]
pub struct Indexed {
    offset: Program,
    slots: usize,
    /// Extents, the slowest axis of the dense buffer first, and the slot of each.
    axes: Vec<(usize, usize)>,
    width: Width,
    element_bits: u64,
    /// Elements of the tensor.
    pub elements: usize,
    /// Elements of a window.
    pub window: usize,
    /// The most bytes of a span.
    pub span_bytes: usize,
}

/// Where an element lives, and its number in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Lives {
    slot: u64,
    number: u32,
}

/// Bytes of the laid out buffer, and the elements that live in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The first byte.
    pub at: u64,
    /// How many bytes.
    pub bytes: usize,
    /// Which of the window's places.
    pub lives: Range<usize>,
    /// Whether every bit of it is one of these elements'.
    pub is_full: bool,
}

impl Indexed {
    /// A tensor in windows that take no more than `memory` bytes, the places of their elements and a span included; the
    /// dense side takes `dense_bits` for each element.
    pub(super) fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        (order, dense_bits): (Order, usize),
        memory: usize,
    ) -> Result<Self, RunError> {
        let tensor = &tensor.without_cast().with_memory(Memory::Global);
        let avoid = |_: &str| false;
        let ways = Ways { cores: Cores::One, moves: Moves::Elements };
        let plan = plan::tensor(tensor, &Naming { prefix: "", avoid: &avoid, ways })?;
        let value = |name: &str| symbols.get(name).and_then(|value| i64::try_from(*value).ok());
        let values: Option<Vec<i64>> =
            plan.symbols.iter().map(|symbol| value(&symbol.name)).collect();
        let width = super::super::width(tensor.dtype, tensor.high_first)?;
        let mut compiler = Compiler::new(&[&plan.offset], width);
        let offset = compiler.index(&plan.offset, &values.ok_or(RunError::Symbols)?)?;
        let mut axes = Vec::new();
        for (slot, axis) in tensor.layout.logical().iter().enumerate() {
            let extent = number(tensor, &axis.extent, symbols)?;
            axes.push((usize::try_from(extent).map_err(|_| RunError::TooLarge)?, slot));
        }
        if order == Order::FirstFastest {
            axes.reverse();
        }
        let elements = axes.iter().try_fold(1_usize, |all, (extent, _)| all.checked_mul(*extent));
        let span_bytes = (memory / 8).clamp(SPAN_BYTES.start, SPAN_BYTES.end);
        let mut indexed = Self {
            offset,
            slots: compiler.slots,
            axes,
            width,
            element_bits: u64::from(tensor.dtype.element_bits()),
            elements: elements.ok_or(RunError::TooLarge)?,
            window: STEP,
            span_bytes,
        };
        let element_bytes = dense_bits.div_ceil(8) + size_of::<Lives>();
        let fits = memory.saturating_sub(span_bytes).checked_div(element_bytes);
        let fits = fits.unwrap_or(0).min(indexed.elements).min(1 << 30);
        indexed.window = (fits - fits % STEP).max(STEP);
        Ok(indexed)
    }

    /// How many windows there are.
    pub fn count(&self) -> usize {
        self.elements.div_ceil(self.window)
    }

    /// Where the elements of a window live, in the order of memory.
    pub fn places(&self, window: usize, lives: &mut Vec<Lives>) {
        lives.clear();
        let first = window * self.window;
        let end = (first + self.window).min(self.elements);
        let mut slots = vec![0_i64; self.slots];
        let mut room = Room::default();
        let mut at = first;
        let Some((fast, slot)) = self.axes.last().copied() else {
            let slot = self.offset.at(&slots, &mut room);
            lives.extend((first < end).then(|| Lives::new(slot, 0)));
            return;
        };
        while at < end {
            let mut rest = at;
            for (extent, slot) in self.axes.iter().rev() {
                if let Some(index) = slots.get_mut(*slot) {
                    *index = i64::try_from(rest % (*extent).max(1)).unwrap_or(0);
                }
                rest /= (*extent).max(1);
            }
            let some = (fast - at % fast.max(1)).min(end - at).clamp(1, LANES);
            let found = self.offset.lanes(&slots, (slot, 1), &mut room);
            let numbers = (at - first..).take(some);
            lives.extend(found.iter().zip(numbers).map(|(slot, k)| Lives::new(*slot, k)));
            at += some;
        }
        if !lives.is_sorted() {
            lives.sort_unstable();
        }
    }

    /// The spans of the laid out buffer that the places of a window are in.
    pub fn spans(&self, lives: &[Lives]) -> Vec<Span> {
        let bits = self.element_bits;
        let (several, bytes_of_several) = byte_group(u32::try_from(bits).unwrap_or(8));
        let most = u64::try_from(self.span_bytes).unwrap_or(u64::MAX);
        let gap = u64::try_from(CPU.gap_bytes).unwrap_or(0);
        let mut spans: Vec<Span> = Vec::new();
        for (k, place) in lives.iter().enumerate() {
            // A span begins where an element does, and its bytes are counted from there.
            let first = place.slot / u64::from(several) * u64::from(bytes_of_several);
            let end = ((place.slot + 1) * bits).div_ceil(8);
            if let Some(span) = spans.last_mut() {
                let span_end = span.at + span.bytes as u64;
                let is_near = first <= span_end.saturating_add(gap);
                if is_near && end.saturating_sub(span.at) <= most {
                    span.bytes = usize::try_from(end - span.at).unwrap_or(span.bytes);
                    span.lives.end = k + 1;
                    continue;
                }
            }
            let bytes = usize::try_from(end - first).unwrap_or(0);
            spans.push(Span { at: first, bytes, lives: k..k + 1, is_full: false });
        }
        for span in &mut spans {
            span.is_full = span.lives.len() as u64 * bits == span.bytes as u64 * 8;
        }
        spans
    }

    /// Writes the elements of a span into its bytes; `dense` holds the window.
    pub fn pack(&self, span: &Span, lives: &[Lives], dense: &[u8], bytes: &mut [u8]) -> Option<()> {
        self.each(span, lives, |from, to| match self.width {
            Width::Bytes(width) => {
                let element = dense.get(from * width..(from + 1) * width)?;
                bytes.get_mut(to * width..(to + 1) * width)?.copy_from_slice(element);
                Some(())
            }
            Width::Packed(packing) => packing.store(bytes, to, packing.load(dense, from)?),
        })
    }

    /// Reads the elements of a span out of its bytes.
    pub fn unpack(
        &self,
        span: &Span,
        lives: &[Lives],
        bytes: &[u8],
        dense: &mut [u8],
    ) -> Option<()> {
        self.each(span, lives, |to, from| match self.width {
            Width::Bytes(width) => {
                let element = bytes.get(from * width..(from + 1) * width)?;
                dense.get_mut(to * width..(to + 1) * width)?.copy_from_slice(element);
                Some(())
            }
            Width::Packed(packing) => packing.store(dense, to, packing.load(bytes, from)?),
        })
    }

    /// Calls `one` with each element's number in the window and in the span.
    fn each(
        &self,
        span: &Span,
        lives: &[Lives],
        mut one: impl FnMut(usize, usize) -> Option<()>,
    ) -> Option<()> {
        let first = (span.at * 8).checked_div(self.element_bits)?;
        lives.get(span.lives.clone())?.iter().try_for_each(|place| {
            let slot = usize::try_from(place.slot.checked_sub(first)?).ok()?;
            one(usize::try_from(place.number).ok()?, slot)
        })
    }
}

impl Lives {
    fn new(slot: i64, number: usize) -> Self {
        Self {
            slot: u64::try_from(slot).unwrap_or(u64::MAX >> 8),
            number: u32::try_from(number).unwrap_or(u32::MAX),
        }
    }
}
