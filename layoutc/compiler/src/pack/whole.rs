//! Relayout of a whole tensor between two buffers in memory: parts that write disjoint windows of the destination run
//! in parallel.

use super::chains::Chains;
use super::nest::{copy, copy_packed};
use super::padding::{fill_padding, repeat};
use super::region::{Region, Task, share, task_count};
use super::{Direction, PackError, Unwritten, Width};
use crate::base::dtype::byte_group;
use crate::model::Tensor;

/// Whole tensor whose offsets in both buffers are sums of the same digits.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    chains: Chains,
    /// Storage format of a unit of `chains`.
    unit: Width,
    /// Number of units that fill whole bytes together.
    group: i64,
}

impl Whole {
    /// Whole tensor with the offsets of `chains`, which count elements.
    ///
    /// # Errors
    /// [`PackError::TooLarge`] if the size of an element exceeds the address space.
    pub(super) fn new(tensor: &Tensor, chains: Chains) -> Result<Self, PackError> {
        let bits = tensor.dtype.element_bits();
        let (several, bytes) = byte_group(bits);
        // Groups of packed elements that stay together are moved as whole bytes.
        if let Some(chains) = chains.clone().in_units_of(i64::from(several)) {
            let unit = Width::Bytes(usize::try_from(bytes).map_err(|_| PackError::TooLarge)?);
            return Ok(Self { chains, unit, group: 1 });
        }
        let unit = Width::of(tensor.dtype, tensor.high_first)?;
        Ok(Self { chains, unit, group: i64::from(several) })
    }

    /// Copies every element from `source` to its position in `target`. `None` if an access is outside a buffer.
    pub(super) fn run(
        &self,
        direction: Direction,
        unwritten: &Unwritten,
        source: &[u8],
        target: &mut [u8],
    ) -> Option<()> {
        let several = task_count(target.len());
        self.run_tasks(direction, unwritten, (source, target), several)
    }

    /// Runs about `several` tasks in parallel.
    fn run_tasks(
        &self,
        direction: Direction,
        unwritten: &Unwritten,
        (source, target): (&[u8], &mut [u8]),
        several: i64,
    ) -> Option<()> {
        if let (Unwritten::ZeroBits, Width::Packed(_), Some(last)) =
            (unwritten, self.unit, target.last_mut())
        {
            *last = 0;
        }
        let whole = Region::whole(&self.chains);
        let unit = (|unit| self.bytes(unit), self.group);
        share(&whole, (direction, several), unit, target, |task, window| {
            self.part(direction, unwritten, task, source, window)
        })
    }

    /// Offset of a unit, in bytes; `None` if it does not start at a byte boundary.
    fn bytes(&self, unit: i64) -> Option<usize> {
        let is_aligned = unit.checked_rem(self.group) == Some(0);
        let unit = usize::try_from(unit).ok().filter(|_| is_aligned)?;
        match self.unit {
            Width::Bytes(bytes) => unit.checked_mul(bytes),
            Width::Packed(packing) => Some(packing.bytes(unit)),
        }
    }

    /// Moves the elements of one task. `window` is its part of the destination.
    fn part(
        &self,
        direction: Direction,
        unwritten: &Unwritten,
        Task { start, region }: &Task,
        source: &[u8],
        window: &mut [u8],
    ) -> Option<()> {
        if let (Unwritten::Filled(pattern), Direction::Pack) = (unwritten, direction) {
            match self.unit {
                Width::Bytes(unit) => {
                    let at = (*start, i64::try_from(unit).ok()?);
                    fill_padding((&self.chains, region), pattern, window, at)?;
                }
                Width::Packed(_) => repeat(pattern, window),
            }
        }
        region.inside(&mut |found| match self.unit {
            Width::Packed(packing) => {
                let (loops, [from, to]) = found.directed(direction, 1);
                copy_packed(source, window, (loops, [from, to - start]), packing)
            }
            Width::Bytes(unit) => {
                let unit = i64::try_from(unit).ok()?;
                let (loops, [from, to]) = found.directed(direction, unit);
                copy(source, window, (loops, [from, to - start * unit]), unit)
            }
        })
    }
}

#[cfg(test)]
mod tests;
