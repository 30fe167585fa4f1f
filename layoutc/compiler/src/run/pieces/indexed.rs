//! Relayout in windows of the dense buffer, for a tensor that is not partitioned into boxes: the position of each
//! element is computed, and positions are visited in ascending order.

use std::collections::BTreeMap;
use std::ops::Range;

use super::super::RunError;
use super::super::compile::Compiler;
use super::super::shape::number;
use super::super::step::Width;
use super::super::value::{LANES, Program, Room};
use super::Order;
use crate::base::dtype::byte_group;
use crate::loops::heuristics::parallelize::Cores;
use crate::loops::relayout::plan::{Primitives, RelayoutOptions};
use crate::lower::context::Naming;
use crate::machine::CPU;
use crate::model::{Memory, Tensor};
use crate::plan;

/// Window sizes, except that of the last window, are multiples of this number of elements, and thus of whole bytes,
/// whatever the element width.
const STEP: usize = 64;
/// Bounds of the maximum size of a span, in bytes, both inclusive: 4 KiB to 4 MiB.
const SPAN_BYTES: Range<usize> = 4 << 10..4 << 20;

/// Partition into windows of the dense buffer, with the program that computes the slot of each element.
#[derive(Debug, Clone)]
pub struct Indexed {
    offset: Program,
    slots: usize,
    /// Pair `(extent, variable)` of each axis, slowest axis of the dense buffer first. `variable` is the number of the
    /// variable of `offset` that is the index along the axis.
    axes: Vec<(usize, usize)>,
    width: Width,
    element_bits: u64,
    /// Number of elements of the tensor.
    pub elements: usize,
    /// Number of elements of a window; the last window may have fewer.
    pub window: usize,
    /// Maximum size of a span, in bytes. A span of a single element may be larger.
    pub span_bytes: usize,
}

/// Position of an element: slot in the buffer of the layout, and index in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Lives {
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
    /// Range of the elements in the sorted positions of the window.
    pub lives: Range<usize>,
    /// True if every bit belongs to one of the elements.
    pub is_full: bool,
}

impl Indexed {
    /// Partitions a tensor into windows of a dense buffer with the axes in `order`; the number of elements of a window
    /// is a multiple of 64, except in the last window. An element takes `dense_bits` bits on the dense side. A window,
    /// the positions of its elements and one span take about `memory` bytes or less, unless the smallest windows and
    /// spans take more.
    pub(super) fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        (order, dense_bits): (Order, usize),
        memory: usize,
    ) -> Result<Self, RunError> {
        let tensor = &tensor.without_cast().with_memory(Memory::Global);
        let avoid = |_: &str| false;
        let options = RelayoutOptions { cores: Cores::One, primitives: Primitives::None };
        let plan = plan::tensor(tensor, &Naming { prefix: "", avoid: &avoid, options })?;
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

    /// Number of windows.
    pub fn count(&self) -> usize {
        self.elements.div_ceil(self.window)
    }

    /// Replaces the contents of `lives` with the positions of the elements of the window with the number `window`,
    /// counted from 0. The positions are sorted by slot.
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

    /// Spans that cover the positions `lives` of the elements of a window, which are sorted by slot. Positions with at
    /// most `CPU.gap_bytes` bytes between them share a span, up to [`Indexed::span_bytes`].
    pub fn spans(&self, lives: &[Lives]) -> Vec<Span> {
        let bits = self.element_bits;
        let (several, bytes_of_several) = byte_group(u32::try_from(bits).unwrap_or(8));
        let most = u64::try_from(self.span_bytes).unwrap_or(u64::MAX);
        let gap = u64::try_from(CPU.gap_bytes).unwrap_or(0);
        let mut spans: Vec<Span> = Vec::new();
        for (k, place) in lives.iter().enumerate() {
            // A span starts at an element that is byte-aligned; offsets in the span count from there.
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

    /// Copies the elements of a span from the window `dense` to the bytes of the span. `lives` are the positions of the
    /// window's elements. `None` if a buffer is too short.
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

    /// Copies the elements of a span from its bytes to the window `dense`. `lives` are the positions of the window's
    /// elements. `None` if a buffer is too short.
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

    /// Calls `one` for each element of a span, with its index in the window and its index in the span.
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
