//! Placement in memory of joined or split elements: conversion of strides, pitches (strides of physical axes) and
//! extents between element sizes.

use super::LayoutBuilder;
use super::regroup::{RegroupError, is_multiple, quotient, times};
use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError};
use crate::layout::physical::{MemoryPlacement, PlacementOptions, groups};
use crate::layout::swizzle::Swizzle;
use crate::normal_form::simplify::Facts;

impl LayoutBuilder {
    /// True if the storage axis at position `storage` has extent 1.
    pub(super) fn is_single(&self, storage: usize) -> bool {
        self.storage.get(storage).is_some_and(|axis| axis.extent.as_const() == Some(1))
    }

    /// Checks that the strides of all storage axes except `run` are multiples of `lanes`, so that they are whole
    /// numbers of wide elements, and likewise the extent of `run` and the last physical extent. Axes of extent 1 in the
    /// group of `run` are not checked. `placement` is in narrow elements, and `run` is the position of the contiguous
    /// storage axis. [`RegroupError::Stride`] or [`RegroupError::StorageExtent`] otherwise.
    pub(super) fn check_divisible(
        &self,
        placement: &MemoryPlacement,
        run: usize,
        lanes: i128,
    ) -> Result<(), RegroupError> {
        let name = |k: usize| self.storage.get(k).map(|axis| axis.name.clone()).unwrap_or_default();
        let groups = groups(self.storage.len(), &self.separators);
        for (group, pitch) in groups.iter().zip(&placement.pitches) {
            let innermost = group.contains(&run);
            for k in group.clone().filter(|k| *k != run) {
                let Some(local) = placement.local_strides.get(k) else { continue };
                let stride = self.facts.simplify(&Expr::binary(BinOp::Mul, local, pitch)?)?;
                // The stride of an axis of extent 1 is never used.
                if innermost && self.is_single(k) {
                    continue;
                }
                if !is_multiple(&stride, lanes, &self.facts)? {
                    return Err(RegroupError::Stride { axis: name(k), stride, lanes });
                }
            }
        }
        let along = self.storage.get(run).map(|axis| &axis.extent);
        for extent in along.into_iter().chain(placement.shape.last()) {
            if !is_multiple(extent, lanes, &self.facts)? {
                return Err(RegroupError::StorageExtent {
                    axis: name(run),
                    extent: extent.clone(),
                    lanes,
                });
            }
        }
        Ok(())
    }

    /// Checks that two placements describe the same memory: `longer` in wide elements, and `shorter` in narrow
    /// elements, `lanes` per wide one. In `shorter`, the last physical extent, the pitches of the other physical axes,
    /// and the strides of the last group except that of `run` must be `lanes` times as large; all other extents and
    /// strides must be equal. Strides of axes of extent 1 are not compared. `run` is the position of the contiguous
    /// storage axis. [`RegroupError::StorageExtent`] or [`RegroupError::Stride`] otherwise.
    pub(super) fn check_placements_agree(
        &self,
        shorter: &MemoryPlacement,
        longer: &MemoryPlacement,
        run: usize,
        lanes: i128,
    ) -> Result<(), RegroupError> {
        let equal = |a: &Expr, b: &Expr| self.facts.proves_eq(a, b);
        let row = || {
            let axis = self.storage.get(run).map(|axis| axis.name.clone()).unwrap_or_default();
            let extent = shorter.shape.last().cloned().unwrap_or_else(|| Expr::constant(1));
            RegroupError::StorageExtent { axis, extent, lanes }
        };
        let last = shorter.shape.len().saturating_sub(1);
        for (k, (short, long)) in shorter.shape.iter().zip(&longer.shape).enumerate() {
            let long = if k == last { times(long, lanes)? } else { long.clone() };
            if !equal(short, &long)? {
                return Err(row());
            }
        }
        let outer = shorter.pitches.iter().zip(&longer.pitches).take(last);
        for (short, long) in outer {
            if !equal(short, &times(long, lanes)?)? {
                return Err(row());
            }
        }
        let innermost = groups(self.storage.len(), &self.separators).pop().unwrap_or_default();
        for (k, (short, long)) in
            shorter.local_strides.iter().zip(&longer.local_strides).enumerate()
        {
            let scaled = innermost.contains(&k) && k != run;
            let long = if scaled { times(long, lanes)? } else { long.clone() };
            if !self.is_single(k) && !equal(short, &long)? {
                let axis = self.storage.get(k).map(|axis| axis.name.clone()).unwrap_or_default();
                return Err(RegroupError::Stride { axis, stride: short.clone(), lanes });
            }
        }
        Ok(())
    }
}

impl PlacementOptions {
    /// Placement options after `lanes` adjacent elements are joined into one wide element. `element_bits` is multiplied
    /// by `lanes`. Explicit strides are divided by `lanes`, except that of the contiguous storage axis, at position
    /// `run`, which stays 1. `tail` and `swizzle` are converted to count wide elements.
    ///
    /// # Errors
    /// [`RegroupError::Swizzled`] if there is a swizzle, and `lanes` is not a power of two, or the swizzle reads or
    /// changes one of the lowest `log2(lanes)` bits of the index, which number the elements within a wide element.
    /// [`RegroupError::Expr`] if a value overflows or an expression becomes too large.
    pub(super) fn widened(
        &self,
        run: usize,
        lanes: i128,
        facts: &Facts,
    ) -> Result<Self, RegroupError> {
        let bits = i128::from(self.element_bits).checked_mul(lanes).ok_or(ExprError::Overflow)?;
        let tail = self.tail / gcd(self.tail, lanes).max(1);
        let change = |stride: &Expr| facts.simplify(&quotient(stride, lanes)?);
        let swizzle = self.rescaled_swizzle(lanes, &|base, bits| base - bits)?;
        Ok(Self { swizzle, ..self.with_element_bits(run, bits, tail, &change)? })
    }

    /// Placement options for narrower elements, `lanes` per former element. `element_bits` is divided by `lanes`.
    /// Explicit strides are multiplied by `lanes`, except the stride 1 of the contiguous storage axis at the position
    /// `run`. `tail` and `swizzle` are converted to count narrow elements.
    ///
    /// # Errors
    /// [`RegroupError::Swizzled`] if there is a swizzle, and `lanes` is not a power of two or the swizzle exceeds the
    /// range of [`Swizzle`]. [`RegroupError::Expr`] if `lanes` is 0, a value overflows or an expression becomes too
    /// large.
    pub(super) fn narrowed(
        &self,
        run: usize,
        lanes: i128,
        facts: &Facts,
    ) -> Result<Self, RegroupError> {
        let bits = i128::from(self.element_bits).checked_div(lanes).ok_or(ExprError::Divisor)?;
        let tail = self.tail.checked_mul(lanes).ok_or(ExprError::Overflow)?;
        let change = |stride: &Expr| facts.simplify(&times(stride, lanes)?);
        let swizzle = self.rescaled_swizzle(lanes, &|base, bits| base + bits)?;
        Ok(Self { swizzle, ..self.with_element_bits(run, bits, tail, &change)? })
    }

    /// Swizzle for wider or narrower elements, which differ by the factor `lanes`. Its base is `moved(base, n)`, where
    /// `n` is log2 of `lanes`: `base - n` for wider elements. `None` if there is no swizzle, or a swizzle of 0 bits.
    /// [`RegroupError::Swizzled`] if `lanes` is not a power of two, or if the new base leaves its range.
    fn rescaled_swizzle(
        &self,
        lanes: i128,
        moved: &dyn Fn(i128, i128) -> i128,
    ) -> Result<Option<Swizzle>, RegroupError> {
        let Some(swizzle) = self.swizzle.filter(|swizzle| swizzle.bits() > 0) else {
            return Ok(None);
        };
        let base = moved(swizzle.base().into(), lanes.trailing_zeros().into());
        let own = Swizzle::new(swizzle.bits().into(), base, swizzle.shift().into());
        own.ok()
            .filter(|_| lanes.count_ones() == 1)
            .map(Some)
            .ok_or(RegroupError::Swizzled { lanes })
    }

    fn with_element_bits(
        &self,
        run: usize,
        bits: i128,
        tail: i128,
        change: &dyn Fn(&Expr) -> Result<Expr, ExprError>,
    ) -> Result<Self, ExprError> {
        let element_bits = u32::try_from(bits).map_err(|_| ExprError::Overflow)?;
        let strides = match &self.strides {
            None => None,
            Some(strides) => {
                let one = |(k, stride): (usize, &Expr)| {
                    if k == run { Ok(stride.clone()) } else { change(stride) }
                };
                Some(strides.iter().enumerate().map(one).collect::<Result<_, ExprError>>()?)
            }
        };
        Ok(Self { strides, tail, element_bits, ..self.clone() })
    }
}
