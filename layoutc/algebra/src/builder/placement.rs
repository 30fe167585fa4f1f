//! Steps that place the storage axes in memory: separators, strides, swizzles and alignments.

use alloc::vec::Vec;

use super::{BuildError, LayoutBuilder, check_separators};
use crate::expr::Expr;
use crate::layout::swizzle::Swizzle;
use crate::step::find_axis;

impl LayoutBuilder {
    /// Puts an axis separator after each of the storage axes at the positions `after`, so that each group becomes a
    /// physical axis. An empty list changes nothing.
    ///
    /// # Errors
    /// [`BuildError::EmptyGroup`] if a group would be empty, or `after` is not ascending; [`BuildError::AfterStrides`]
    /// or [`BuildError::AfterSeparators`] if strides or separators are set already.
    pub fn separate(&mut self, after: &[usize]) -> Result<(), BuildError> {
        if after.is_empty() {
            return Ok(());
        }
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        check_separators(after, self.storage.len())?;
        self.separators = after.to_vec();
        Ok(())
    }

    /// Rounds the last physical extent up to a multiple of `multiple` elements, at least 1. A second call replaces the
    /// multiple of the first.
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`] or [`BuildError::AfterStrides`] if a swizzle or strides are set already.
    pub fn round_up(&mut self, multiple: i128) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        self.demands.tail = multiple;
        self.explained |= multiple > 1;
        Ok(())
    }

    /// Swizzles the index along the last physical axis. The extent of that axis is rounded up so that every swizzled
    /// index is inside the axis (see [`Swizzle::reach`]).
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`] if a swizzle is set already; [`BuildError::AfterAlign`] if the first element is
    /// aligned.
    pub fn swizzle(&mut self, swizzle: Swizzle) -> Result<(), BuildError> {
        if self.demands.origin > 0 {
            return Err(BuildError::AfterAlign);
        }
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        self.demands.swizzle = Some(swizzle);
        self.explained = true;
        Ok(())
    }

    /// Sets explicit strides of the current storage axes, in elements, outermost first. The axes then form one
    /// physical axis.
    ///
    /// # Errors
    /// [`BuildError::StrideCount`] unless there is one stride per storage axis; [`BuildError::NegativeStride`];
    /// [`BuildError::AfterSeparators`], [`BuildError::AfterStrides`] or [`BuildError::AfterSwizzle`] if separators,
    /// strides or a swizzle are set already; [`BuildError::Expr`] if a stride is too large an expression, or a value
    /// overflows.
    pub fn strides(&mut self, strides: &[Expr]) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        if !self.separators.is_empty() {
            return Err(BuildError::AfterSeparators);
        }
        if strides.len() != self.storage.len() {
            return Err(BuildError::StrideCount { given: strides.len(), axes: self.storage.len() });
        }
        let strides: Vec<Expr> =
            strides.iter().map(|s| self.facts.simplify(s)).collect::<Result<_, _>>()?;
        for stride in &strides {
            if self.facts.bounds(stride)?.0 < 0 {
                return Err(BuildError::NegativeStride);
            }
        }
        self.demands.strides = Some(strides);
        self.explained = true;
        Ok(())
    }

    /// Aligns the first element by unused slots before it, so that its byte offset in the buffer becomes a multiple
    /// of `bytes`, a power of two. The largest alignment of several calls applies.
    ///
    /// # Errors
    /// [`BuildError::AfterSwizzle`] if a swizzle is set already.
    pub fn align_origin(&mut self, bytes: i128) -> Result<(), BuildError> {
        if self.demands.swizzle.is_some() {
            return Err(BuildError::AfterSwizzle);
        }
        self.demands.origin = self.demands.origin.max(bytes);
        self.explained = true;
        Ok(())
    }

    /// Rounds the stride of the storage axis `name` up to a multiple of `bytes` bytes. Of several calls for one axis,
    /// the first one counts.
    ///
    /// # Errors
    /// [`StepError::UnknownAxis`](crate::step::StepError::UnknownAxis) through [`BuildError::Step`] if no storage axis
    /// is named `name`; [`BuildError::AfterStrides`] if strides are set already.
    pub fn align_axis(&mut self, name: &str, bytes: i128) -> Result<(), BuildError> {
        if self.demands.strides.is_some() {
            return Err(BuildError::AfterStrides);
        }
        let axis = find_axis(&self.storage, name)?;
        self.demands.alignments.push((axis, bytes));
        self.explained = true;
        Ok(())
    }
}
