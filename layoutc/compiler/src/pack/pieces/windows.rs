//! Relayout in windows of the dense buffer, for a tensor that is not partitioned into boxes: the slot of each element
//! is evaluated, and slots are visited in ascending order.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::chains::Order;
use super::super::indexed::Offsets;
use super::super::{PackError, Width};
use crate::base::dtype::byte_group;
use crate::machine::CPU;
use crate::model::Tensor;

/// Window sizes, except that of the last window, are multiples of this number of elements, and thus of whole bytes,
/// whatever the element width.
const STEP: usize = 64;
/// Bounds of the maximum size of a span, in bytes, both inclusive: 4 KiB to 4 MiB.
const SPAN_BYTES: Range<usize> = 4 << 10..4 << 20;

/// Partition into windows of the dense buffer, with the offset of each element.
#[derive(Debug, Clone)]
pub struct Windows {
    offsets: Offsets,
    width: Width,
    element_bits: u64,
    /// Number of elements of the tensor.
    pub elements: usize,
    /// Number of elements of a window; the last window may have fewer.
    pub window: usize,
    /// Maximum size of a span, in bytes. A span of a single element may be larger.
    pub span_bytes: usize,
}

/// Slot of an element in the buffer of the layout, and its index in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct WindowSlot {
    slot: u64,
    number: u32,
}

/// Contiguous bytes of the buffer of the layout, and the elements in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte in the buffer.
    pub at: u64,
    /// Size, in bytes.
    pub bytes: usize,
    /// Range of the elements in the sorted slots of the window.
    pub slots: Range<usize>,
    /// True if every bit belongs to one of the elements.
    pub is_full: bool,
}

impl Windows {
    /// Partitions a tensor into windows of a dense buffer with the axes in `order`; the number of elements of a window
    /// is a multiple of 64, except in the last window. An element takes `dense_bits` bits on the dense side. A window,
    /// the slots of its elements and one span take about `memory` bytes or less, unless the smallest windows and spans
    /// take more.
    pub(super) fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        (order, dense_bits): (Order, usize),
        memory: usize,
    ) -> Result<Self, PackError> {
        let offsets = Offsets::new(tensor, symbols, order)?;
        let elements = offsets.elements;
        let span_bytes = (memory / 8).clamp(SPAN_BYTES.start, SPAN_BYTES.end);
        let element_bytes = dense_bits.div_ceil(8) + size_of::<WindowSlot>();
        let fits = memory.saturating_sub(span_bytes).checked_div(element_bytes);
        let fits = fits.unwrap_or(0).min(elements).min(1 << 30);
        Ok(Self {
            offsets,
            width: Width::of(tensor.dtype, tensor.high_first)?,
            element_bits: u64::from(tensor.dtype.element_bits()),
            elements,
            window: (fits - fits % STEP).max(STEP),
            span_bytes,
        })
    }

    /// Number of windows.
    pub fn count(&self) -> usize {
        self.elements.div_ceil(self.window)
    }

    /// Replaces the contents of `slots` with the slots of the elements of the window with the number `window`, counted
    /// from 0, in ascending order. Indices outside the domain of the layout have none.
    pub fn slots(&self, window: usize, slots: &mut Vec<WindowSlot>) {
        slots.clear();
        let first = window * self.window;
        let mut number = 0_u32;
        self.offsets.evaluate(first..(first + self.window).min(self.elements), |offsets| {
            for offset in offsets {
                if let Ok(slot) = u64::try_from(*offset) {
                    slots.push(WindowSlot { slot, number });
                }
                number = number.saturating_add(1);
            }
        });
        if !slots.is_sorted() {
            slots.sort_unstable();
        }
    }

    /// Spans that cover the slots of the elements of a window, which are sorted by slot. Slots with at
    /// most `CPU.gap_bytes` bytes between them share a span, up to [`Windows::span_bytes`].
    pub fn spans(&self, slots: &[WindowSlot]) -> Vec<Span> {
        let bits = self.element_bits;
        let (several, bytes_of_several) = byte_group(u32::try_from(bits).unwrap_or(8));
        let most = u64::try_from(self.span_bytes).unwrap_or(u64::MAX);
        let gap = u64::try_from(CPU.gap_bytes).unwrap_or(0);
        let mut spans: Vec<Span> = Vec::new();
        for (k, place) in slots.iter().enumerate() {
            // A span starts at an element that is byte-aligned; offsets in the span count from there.
            let first = place.slot / u64::from(several) * u64::from(bytes_of_several);
            let end = ((place.slot + 1) * bits).div_ceil(8);
            if let Some(span) = spans.last_mut() {
                let span_end = span.at + span.bytes as u64;
                let is_near = first <= span_end.saturating_add(gap);
                if is_near && end.saturating_sub(span.at) <= most {
                    span.bytes = usize::try_from(end - span.at).unwrap_or(span.bytes);
                    span.slots.end = k + 1;
                    continue;
                }
            }
            let bytes = usize::try_from(end - first).unwrap_or(0);
            spans.push(Span { at: first, bytes, slots: k..k + 1, is_full: false });
        }
        for span in &mut spans {
            span.is_full = span.slots.len() as u64 * bits == span.bytes as u64 * 8;
        }
        spans
    }

    /// Copies the elements of a span from the window `dense` to the bytes of the span. `slots` are the slots of the
    /// window's elements. `None` if a buffer is too short.
    pub fn pack(
        &self,
        span: &Span,
        slots: &[WindowSlot],
        dense: &[u8],
        bytes: &mut [u8],
    ) -> Option<()> {
        self.each(span, slots, |from, to| self.width.copy(dense, from, bytes, to))
    }

    /// Copies the elements of a span from its bytes to the window `dense`. `slots` are the slots of the window's
    /// elements. `None` if a buffer is too short.
    pub fn unpack(
        &self,
        span: &Span,
        slots: &[WindowSlot],
        bytes: &[u8],
        dense: &mut [u8],
    ) -> Option<()> {
        self.each(span, slots, |to, from| self.width.copy(bytes, from, dense, to))
    }

    /// Calls `one` for each element of a span, with its index in the window and its index in the span.
    fn each(
        &self,
        span: &Span,
        slots: &[WindowSlot],
        mut one: impl FnMut(usize, usize) -> Option<()>,
    ) -> Option<()> {
        let first = (span.at * 8).checked_div(self.element_bits)?;
        slots.get(span.slots.clone())?.iter().try_for_each(|place| {
            let slot = usize::try_from(place.slot.checked_sub(first)?).ok()?;
            one(usize::try_from(place.number).ok()?, slot)
        })
    }
}
