//! Relayout of a tensor whose offsets are not sums of digits: the offset of each element is evaluated.

use std::collections::BTreeMap;
use std::ops::Range;

use layoutc_algebra::expr::{CompareOp, Expr};
use rayon::prelude::*;

use super::chains::Order;
use super::program::{LANES, Program, Scratch};
use super::shape::number;
use super::{PackError, Unwritten, Width};
use crate::model::Tensor;

/// Number of consecutive elements that one call evaluates: as many whole bytes, whatever the element width.
const BATCH: usize = 1 << 14;
/// Number of batches whose offsets are held at a time.
const BATCHES: usize = 16;
/// Offset of an index outside the domain of the layout.
const NONE: i64 = -1;

/// Offsets of the elements of a tensor in the buffer of its layout, in the order of the dense buffer.
#[derive(Debug, Clone)]
pub(super) struct Offsets {
    offset: Program,
    /// Comparisons that hold for an element; other indices have no slot.
    domain: Vec<(CompareOp, Program, Program)>,
    /// Extents of the axes, and the axes in `offset`, slowest axis of the dense buffer first.
    axes: Vec<(usize, usize)>,
    /// Storage format of the elements.
    width: Width,
    /// Number of elements, including indices outside the domain.
    pub(super) elements: usize,
}

impl Offsets {
    /// Offsets of a tensor for the values `symbols`, in the order of a dense buffer with the axes in `order`.
    ///
    /// # Errors
    /// [`PackError::Unsupported`] if the offset cannot be evaluated in 64 bits, [`PackError::Symbols`] if a symbol has
    /// no value or an extent cannot be computed, [`PackError::TooLarge`] if a size exceeds the address space.
    pub(super) fn new(
        tensor: &Tensor,
        symbols: &BTreeMap<String, i128>,
        order: Order,
    ) -> Result<Self, PackError> {
        let layout = &tensor.layout;
        let symbol = |k: u32| {
            let symbol = layout.symbols().get(usize::try_from(k).ok()?)?;
            i64::try_from(*symbols.get(&symbol.name)?).ok()
        };
        let program = |expr: &Expr| Program::of(expr, &symbol).ok_or(PackError::Unsupported);
        let conditions = layout.domain().into_iter().flat_map(|domain| &domain.all);
        let domain = conditions.map(|one| Ok((one.op, program(&one.left)?, program(&one.right)?)));
        let mut axes = Vec::new();
        for (axis, of) in layout.logical().iter().enumerate() {
            let extent = number(tensor, &of.extent, symbols)?;
            axes.push((usize::try_from(extent).map_err(|_| PackError::TooLarge)?, axis));
        }
        if order == Order::FirstFastest {
            axes.reverse();
        }
        let elements = axes.iter().try_fold(1_usize, |all, (extent, _)| all.checked_mul(*extent));
        Ok(Self {
            offset: program(layout.offset())?,
            domain: domain.collect::<Result<_, PackError>>()?,
            width: Width::of(tensor.dtype, tensor.high_first)?,
            elements: elements.ok_or(PackError::TooLarge)?,
            axes,
        })
    }

    /// Calls `one` with lists of the offsets of consecutive elements, from the element `range.start` of the dense
    /// buffer to `range.end`; [`NONE`] for an index outside the domain.
    pub(super) fn evaluate(&self, range: Range<usize>, mut one: impl FnMut(&[i64])) {
        let mut indices = vec![0_i64; self.axes.len()];
        let mut room = Scratch::default();
        let (extent, fast) = self.axes.last().copied().unwrap_or((1, 0));
        let extent = extent.max(1);
        let mut at = range.start;
        while at < range.end {
            let mut rest = at;
            for (extent, axis) in self.axes.iter().rev() {
                if let Some(index) = indices.get_mut(*axis) {
                    *index = i64::try_from(rest % (*extent).max(1)).unwrap_or(0);
                }
                rest /= (*extent).max(1);
            }
            let some = (extent - at % extent).min(range.end - at).clamp(1, LANES);
            let mut found = self.offset.lanes(&indices, fast, &mut room);
            for (op, left, right) in &self.domain {
                let left = left.lanes(&indices, fast, &mut room);
                let right = right.lanes(&indices, fast, &mut room);
                for (slot, (left, right)) in found.iter_mut().zip(left.iter().zip(&right)) {
                    let holds = match op {
                        CompareOp::Eq => left == right,
                        CompareOp::Lt => left < right,
                        CompareOp::Ge => left >= right,
                    };
                    if !holds {
                        *slot = NONE;
                    }
                }
            }
            one(found.get(..some).unwrap_or_default());
            at += some;
        }
    }

    /// Copies every element of the dense buffer `source` to its slot in `target`. `None` if an access is outside a
    /// buffer.
    pub(super) fn pack(
        &self,
        unwritten: &Unwritten,
        source: &[u8],
        target: &mut [u8],
    ) -> Option<()> {
        match (unwritten, target.last_mut()) {
            (Unwritten::Filled(pattern), _) => super::padding::repeat(pattern, target),
            (Unwritten::ZeroBits, Some(last)) if matches!(self.width, Width::Packed(_)) => {
                *last = 0;
            }
            _ => {}
        }
        let mut batches = vec![Vec::new(); BATCHES];
        for first in (0..self.elements).step_by(BATCH * BATCHES) {
            batches.par_iter_mut().enumerate().for_each(|(k, batch)| {
                let first = first + k * BATCH;
                batch.clear();
                self.evaluate(first..(first + BATCH).min(self.elements), |slots| {
                    batch.extend_from_slice(slots);
                });
            });
            let numbered = (first..).step_by(BATCH).zip(&batches);
            let all: Vec<_> = numbered.filter(|(_, slots)| !slots.is_empty()).collect();
            match (Self::window_starts(&all), self.width) {
                (Some(starts), Width::Bytes(bytes)) => {
                    let windows = windows((&starts, bytes), target)?;
                    let parts = windows.into_par_iter().zip(&all);
                    parts.try_for_each(|((start, window), (first, slots))| {
                        self.scatter((source, *first), slots, (window, start))
                    })?;
                }
                _ => all.iter().try_for_each(|(first, slots)| {
                    self.scatter((source, *first), slots, (target, 0))
                })?,
            }
        }
        Some(())
    }

    /// First slot of each batch if the batches write ascending, disjoint windows of the buffer of the layout, so that
    /// they can be written in parallel; `None` otherwise.
    fn window_starts(batches: &[(usize, &Vec<i64>)]) -> Option<Vec<usize>> {
        let mut last = NONE;
        let start = |(_, slots): &(usize, &Vec<i64>)| {
            let low = slots.iter().copied().min()?;
            let is_behind = low > last;
            last = slots.iter().copied().max()?;
            usize::try_from(low).ok().filter(|_| is_behind)
        };
        batches.iter().map(start).collect()
    }

    /// Copies every element from its slot in `source` to the dense buffer `target`; indices outside the domain get the
    /// fill value, if any. `None` if an access is outside a buffer.
    pub(super) fn unpack(
        &self,
        unwritten: &Unwritten,
        source: &[u8],
        target: &mut [u8],
    ) -> Option<()> {
        if let (Width::Packed(_), Some(last)) = (self.width, target.last_mut())
            && *unwritten != Unwritten::Kept
        {
            *last = 0;
        }
        let pattern = match unwritten {
            Unwritten::Filled(pattern) => Some(pattern.as_slice()),
            Unwritten::Kept | Unwritten::ZeroBits => None,
        };
        let bytes = match self.width {
            Width::Bytes(bytes) => BATCH.checked_mul(bytes)?,
            Width::Packed(packing) => packing.bytes(BATCH),
        };
        target.par_chunks_mut(bytes.max(1)).enumerate().try_for_each(|(k, target)| {
            let (first, mut done, mut is_inside) = (k * BATCH, 0, Some(()));
            self.evaluate(first..(first + BATCH).min(self.elements), |slots| {
                let gathered = self.gather(source, slots, (done, target), pattern);
                is_inside = is_inside.and(gathered);
                done += slots.len();
            });
            is_inside
        })
    }

    /// Copies the elements from `from.1` on of the dense buffer `from.0` to the slots `slots` of the layout; slot
    /// `to.1` is the first one of the window `to.0`.
    fn scatter(
        &self,
        (source, first): (&[u8], usize),
        slots: &[i64],
        (window, start): (&mut [u8], usize),
    ) -> Option<()> {
        let slots = (first..).zip(slots).filter(|(_, slot)| **slot != NONE);
        let mut slots = slots.map(|(from, slot)| (from, usize::try_from(*slot)));
        slots.try_for_each(|(from, slot)| {
            self.element(source, from, window, slot.ok()?.checked_sub(start)?)
        })
    }

    /// Copies the slots `slots` of `source` to the elements from `to.0` on of `to.1`. An index outside the domain gets
    /// the element at the start of `pattern`, if any.
    fn gather(
        &self,
        source: &[u8],
        slots: &[i64],
        (first, target): (usize, &mut [u8]),
        pattern: Option<&[u8]>,
    ) -> Option<()> {
        (first..).zip(slots).try_for_each(|(to, slot)| {
            let Ok(slot) = usize::try_from(*slot) else {
                let Some(pattern) = pattern else { return Some(()) };
                return self.width.copy(pattern, 0, target, to);
            };
            self.element(source, slot, target, to)
        })
    }

    /// Copies element `from` of `source` to element `to` of `target`.
    #[inline]
    fn element(&self, source: &[u8], from: usize, target: &mut [u8], to: usize) -> Option<()> {
        match self.width {
            Width::Bytes(1) => element::<1>(source, from, target, to),
            Width::Bytes(2) => element::<2>(source, from, target, to),
            Width::Bytes(4) => element::<4>(source, from, target, to),
            Width::Bytes(8) => element::<8>(source, from, target, to),
            width => width.copy(source, from, target, to),
        }
    }
}

/// Windows of `target` that start at the slots `starts`, each with that slot. The bytes in front of the first window
/// are in none, the last window has all bytes behind it. Slots have `bytes` bytes.
fn windows<'t>(
    (starts, bytes): (&[usize], usize),
    target: &'t mut [u8],
) -> Option<Vec<(usize, &'t mut [u8])>> {
    let (mut found, mut rest, mut at) = (Vec::new(), target, 0);
    for (number, start) in starts.iter().enumerate() {
        let first = start.checked_mul(bytes)?;
        let (_, behind) = rest.split_at_mut_checked(first.checked_sub(at)?)?;
        let end = starts
            .get(number + 1)
            .map_or(Some(behind.len()), |next| next.checked_mul(bytes)?.checked_sub(first));
        let (window, behind) = behind.split_at_mut_checked(end?)?;
        found.push((*start, window));
        (at, rest) = (first + end?, behind);
    }
    Some(found)
}

/// Copies element `from` of `source` to element `to` of `target`; elements have `N` bytes.
fn element<const N: usize>(source: &[u8], from: usize, target: &mut [u8], to: usize) -> Option<()> {
    *target.as_chunks_mut::<N>().0.get_mut(to)? = *source.as_chunks::<N>().0.get(from)?;
    Some(())
}
