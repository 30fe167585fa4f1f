//! Placement of storage axes in memory: groups of axes between separators, strides, and the physical shape with the
//! pitch (stride) of each physical axis.
//!
//! Source: TVM RFC 0039, buffers and flattening. The axes between two separators form one physical axis in
//! row-major order; without a separator there is one physical axis.

use alloc::vec::Vec;
use core::ops::Range;

use crate::expr::gcd;
use crate::expr::{BinOp, Expr, ExprError};
use crate::layout::swizzle::Swizzle;
use crate::normal_form::simplify::Facts;
use crate::symbol::Axis;

/// Ranges of positions of the `rank` storage axes, one range per group, outermost first. A group ends after each
/// position in `separators`: `groups(4, &[1])` is `[0..2, 2..4]`. Without storage axes there is one empty group.
pub fn groups(rank: usize, separators: &[usize]) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let mut start = 0;
    for last in separators {
        groups.push(start..last + 1);
        start = last + 1;
    }
    groups.push(start..rank);
    groups
}

/// Placement of the storage axes in memory: their strides and the physical shape, in elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryPlacement {
    /// Stride of each storage axis in the index of its physical axis, in elements.
    pub(crate) local_strides: Vec<Expr>,
    /// Extents of the physical axes, one per group of storage axes.
    pub(crate) shape: Vec<Expr>,
    /// Stride of each physical axis in the flat buffer, in elements.
    pub(crate) pitches: Vec<Expr>,
    /// Number of unused slots at the start of the last physical axis.
    pub(crate) lead: Expr,
}

/// Requests of the layout steps for the placement in memory: strides, alignments, rounding and swizzle.
#[derive(Debug, Clone, Default)]
pub(crate) struct PlacementOptions {
    /// Explicit strides of all storage axes, in elements. The axes then form one group. `None` for row-major
    /// strides.
    pub(crate) strides: Option<Vec<Expr>>,
    /// Pairs `(axis, bytes)`: the stride of the storage axis at position `axis` is rounded up to a multiple of `bytes`
    /// bytes. Of several pairs for one axis, the first one counts.
    pub(crate) alignments: Vec<(usize, i128)>,
    /// Number of which the last physical extent becomes a multiple by rounding up, in elements; 0 and 1 have no effect.
    /// A swizzle rounds the extent up further, to a multiple of [`Swizzle::reach`].
    pub(crate) tail: i128,
    /// Alignment of the byte offset of the first element, in bytes; 0 if none is requested.
    pub(crate) origin: i128,
    /// Fixed number of unused slots at the start of the last physical axis, which a window inherits from its base
    /// layout; `None` to compute the number from `origin`.
    pub(crate) lead: Option<Expr>,
    /// Swizzle of the index along the last physical axis; `None` if there is none.
    pub(crate) swizzle: Option<Swizzle>,
    /// Size of an element in bits.
    pub(crate) element_bits: u32,
}

/// Computes the placement of the storage axes `axes` in memory, with the strides, alignments, rounding and swizzle that
/// `demands` requests; a group ends after each position in `separators`. `first` contains the index of the first
/// element along each storage axis if that element must be aligned, and is empty otherwise. `facts` are the ranges of
/// the symbols.
pub(crate) fn place(
    axes: &[Axis],
    separators: &[usize],
    first: &[Expr],
    demands: &PlacementOptions,
    facts: &Facts,
) -> Result<MemoryPlacement, ExprError> {
    let one = Expr::constant(1);
    if let Some(strides) = &demands.strides {
        let size = cosize(axes, strides, facts)?;
        let lead = demands.lead(&size, first, strides, facts)?;
        let size = facts.simplify(&Expr::binary(BinOp::Add, &size, &lead)?)?;
        let size = demands.rounded(&size, facts)?;
        let (local_strides, shape) = (strides.clone(), alloc::vec![size]);
        return Ok(MemoryPlacement { local_strides, shape, pitches: alloc::vec![one], lead });
    }
    let groups = groups(axes.len(), separators);
    let mut local_strides = alloc::vec![one.clone(); axes.len()];
    let mut shape = alloc::vec![one.clone(); groups.len()];
    let mut pitches = alloc::vec![one.clone(); groups.len()];
    let mut pitch = one;
    let mut lead = Expr::constant(0);
    for (g, group) in groups.iter().enumerate().rev() {
        let innermost = g + 1 == groups.len();
        let minor_most = group.end.checked_sub(1).filter(|k| group.contains(k));
        if !innermost && let Some(bytes) = minor_most.and_then(|k| demands.alignment(k)) {
            pitch = round_up(&pitch, demands.elements(bytes), facts)?;
        }
        // With aligned rows, the first element needs alignment only within its row.
        if g + 2 == groups.len() && demands.origin > 0 {
            pitch = round_up(&pitch, demands.elements(demands.origin), facts)?;
        }
        let mut stride = Expr::constant(1);
        let mut extent = Expr::constant(1);
        for k in group.clone().rev() {
            if let Some(bytes) = demands.alignment(k)
                && (innermost || Some(k) != minor_most)
            {
                let whole = demands.elements(bytes);
                // Common divisor of the values that the pitch takes for all values of the symbols.
                let known = facts.normalize(&pitch)?.terms().fold(0, |n, (_, c)| gcd(n, c));
                let shared = gcd(known, whole).max(1);
                stride = round_up(&stride, whole / shared, facts)?;
            }
            let own = axes.get(k).map_or_else(|| Expr::constant(1), |a| a.extent.clone());
            extent = facts.simplify(&Expr::binary(BinOp::Mul, &stride, &own)?)?;
            if let Some(slot) = local_strides.get_mut(k) {
                *slot = stride;
            }
            // An axis of extent 0 leaves the strides of the others as if its extent were 1.
            let counted = if own.as_const() == Some(0) { Expr::constant(1) } else { own };
            stride = facts.simplify(&Expr::binary(
                BinOp::Mul,
                &local_stride(&local_strides, k),
                &counted,
            )?)?;
        }
        if axes.get(group.clone()).is_some_and(|g| g.iter().any(|a| a.extent.as_const() == Some(0)))
        {
            extent = Expr::constant(0);
        }
        if innermost {
            let strides = local_strides.get(group.clone()).unwrap_or_default();
            let first = first.get(group.clone()).unwrap_or_default();
            lead = demands.lead(&extent, first, strides, facts)?;
            extent = facts.simplify(&Expr::binary(BinOp::Add, &extent, &lead)?)?;
        }
        if innermost {
            extent = demands.rounded(&extent, facts)?;
        }
        if let (Some(s), Some(p)) = (shape.get_mut(g), pitches.get_mut(g)) {
            *s = extent.clone();
            *p = pitch.clone();
        }
        let counted = if extent.as_const() == Some(0) { stride } else { extent };
        pitch = facts.simplify(&Expr::binary(BinOp::Mul, &pitch, &counted)?)?;
    }
    Ok(MemoryPlacement { local_strides, shape, pitches, lead })
}

fn local_stride(strides: &[Expr], k: usize) -> Expr {
    strides.get(k).cloned().unwrap_or_else(|| Expr::constant(1))
}

impl PlacementOptions {
    /// Mutable references to all expressions in the placement options: the explicit strides, and the fixed number of
    /// leading slots.
    pub(crate) fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.strides.iter_mut().flatten().chain(&mut self.lead)
    }

    fn alignment(&self, axis: usize) -> Option<i128> {
        self.alignments.iter().find(|(k, _)| *k == axis).map(|(_, bytes)| *bytes)
    }

    /// Number of unused slots at the start of the last physical axis, so that the byte offset of the first element
    /// becomes a multiple of `origin`. The first element has the indices `first` along storage axes with the strides
    /// `strides`. Returns the fixed number `self.lead` if it is set. Otherwise 0 if no alignment is requested, or if
    /// `extent`, the extent of the axis, is 0. `facts` are the ranges of the symbols.
    fn lead(
        &self,
        extent: &Expr,
        first: &[Expr],
        strides: &[Expr],
        facts: &Facts,
    ) -> Result<Expr, ExprError> {
        if let Some(lead) = &self.lead {
            return Ok(lead.clone());
        }
        let mut at = Expr::constant(0);
        if self.origin == 0 || extent.as_const() == Some(0) {
            return Ok(at);
        }
        for (index, stride) in first.iter().zip(strides) {
            at = Expr::binary(BinOp::Add, &at, &Expr::binary(BinOp::Mul, index, stride)?)?;
        }
        // `-at % whole` as `last - (at + last) % whole`, free of negative values.
        let whole = self.elements(self.origin);
        let last = Expr::constant(whole - 1);
        let up = Expr::binary(BinOp::Add, &at, &last)?;
        let rest = Expr::binary(BinOp::Mod, &up, &Expr::constant(whole))?;
        facts.simplify(&Expr::binary(BinOp::Sub, &last, &rest)?)
    }

    /// Smallest multiple of `tail` that is at least `extent`, in elements. With a swizzle, it is also a multiple of
    /// [`Swizzle::reach`] for the rounded extent. `facts` are the ranges of the symbols.
    fn rounded(&self, extent: &Expr, facts: &Facts) -> Result<Expr, ExprError> {
        let mut multiple = self.tail.max(1);
        let mut rounded = round_up(extent, multiple, facts)?;
        while let Some(swizzle) = self.swizzle {
            let reach = swizzle.reach(rounded.as_const());
            let own = multiple.checked_mul(reach / gcd(multiple, reach).max(1));
            let own = own.filter(|own| *own <= i64::MAX.into()).ok_or(ExprError::Overflow)?;
            if own == multiple {
                break;
            }
            // The larger extent may have indices with more source bits of the swizzle set, so that the reach grows.
            multiple = own;
            rounded = round_up(extent, multiple, facts)?;
        }
        Ok(rounded)
    }

    /// Least positive number of elements whose total size is a multiple of `bytes`: 16 four-byte elements for 64 bytes.
    pub(crate) fn elements(&self, bytes: i128) -> i128 {
        let bits = bytes.saturating_mul(8);
        bits / gcd(bits, i128::from(self.element_bits.max(1))).max(1)
    }
}

fn round_up(value: &Expr, multiple: i128, facts: &Facts) -> Result<Expr, ExprError> {
    if multiple <= 1 {
        return Ok(value.clone());
    }
    let k = Expr::constant(multiple);
    let sum = Expr::binary(BinOp::Add, value, &Expr::constant(multiple - 1))?;
    let blocks = Expr::binary(BinOp::FloorDiv, &sum, &k)?;
    facts.simplify(&Expr::binary(BinOp::Mul, &blocks, &k)?)
}

/// Largest offset of an element plus 1 (`cosize` in CuTe), in elements, for the given strides; 0 if an axis has the
/// constant extent 0.
fn cosize(axes: &[Axis], strides: &[Expr], facts: &Facts) -> Result<Expr, ExprError> {
    if axes.iter().any(|axis| axis.extent.as_const() == Some(0)) {
        return Ok(Expr::constant(0));
    }
    let mut size = Expr::constant(1);
    for (axis, stride) in axes.iter().zip(strides) {
        let last = Expr::binary(BinOp::Sub, &axis.extent, &Expr::constant(1))?;
        size = Expr::binary(BinOp::Add, &size, &Expr::binary(BinOp::Mul, &last, stride)?)?;
    }
    facts.simplify(&size)
}
