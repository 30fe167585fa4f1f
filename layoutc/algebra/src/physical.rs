//! From storage axes to memory: groups between separators, strides, physical shape, pitch.
//!
//! Source: TVM RFC 0039, buffers and flattening: the axes between two separators are one physical axis, row-major
//! inside; without a separator the rank is 1.

use alloc::vec::Vec;
use core::ops::Range;

use crate::expr::{BinOp, Expr, ExprError};
use crate::layout::Axis;
use crate::poly::gcd;
use crate::simplify::Facts;

/// The positions of the storage axes of each group. Rank 0 is one group without axes.
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

/// How the storage axes lie in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placement {
    /// Per storage axis: elements of its own physical axis between neighbours.
    pub(crate) local_strides: Vec<Expr>,
    /// Extents of the physical axes.
    pub(crate) shape: Vec<Expr>,
    /// Per physical axis: elements of the flat buffer between neighbours.
    pub(crate) pitches: Vec<Expr>,
}

/// What the steps ask of the placement.
#[derive(Debug, Clone, Default)]
pub(crate) struct Demands {
    /// Element strides of all axes, which then form one group.
    pub(crate) strides: Option<Vec<Expr>>,
    /// Storage axes along which every step is a multiple of so many bytes.
    pub(crate) alignments: Vec<(usize, i128)>,
    /// What the last physical extent is rounded up to, in elements; 0 and 1 are nothing.
    pub(crate) tail: i128,
    /// Bits of one element.
    pub(crate) element_bits: u32,
}

pub(crate) fn place(
    axes: &[Axis],
    separators: &[usize],
    demands: &Demands,
    facts: &Facts,
) -> Result<Placement, ExprError> {
    let one = Expr::constant(1);
    if let Some(strides) = &demands.strides {
        let shape = alloc::vec![cosize(axes, strides, facts)?];
        return Ok(Placement { local_strides: strides.clone(), shape, pitches: alloc::vec![one] });
    }
    let groups = groups(axes.len(), separators);
    let mut local_strides = alloc::vec![one.clone(); axes.len()];
    let mut shape = alloc::vec![one.clone(); groups.len()];
    let mut pitches = alloc::vec![one.clone(); groups.len()];
    let mut pitch = one;
    for (g, group) in groups.iter().enumerate().rev() {
        let innermost = g + 1 == groups.len();
        let minor_most = group.end.checked_sub(1).filter(|k| group.contains(k));
        if !innermost && let Some(bytes) = minor_most.and_then(|k| demands.alignment(k)) {
            pitch = round_up(&pitch, demands.elements(bytes), facts)?;
        }
        let mut stride = Expr::constant(1);
        let mut extent = Expr::constant(1);
        for k in group.clone().rev() {
            if let Some(bytes) = demands.alignment(k)
                && (innermost || Some(k) != minor_most)
            {
                let whole = demands.elements(bytes);
                // What every value of the pitch is a multiple of.
                let known = facts.normalize(&pitch)?.terms().fold(0, |n, (_, c)| gcd(n, c));
                let shared = gcd(known, whole).max(1);
                stride = round_up(&stride, whole / shared, facts)?;
            }
            let own = axes.get(k).map_or_else(|| Expr::constant(1), |a| a.extent.clone());
            extent = facts.simplify(&Expr::binary(BinOp::Mul, &stride, &own)?)?;
            if let Some(slot) = local_strides.get_mut(k) {
                *slot = stride;
            }
            // An empty axis leaves the strides of the others as they would be with one index.
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
        if innermost && demands.tail > 1 {
            extent = round_up(&extent, demands.tail, facts)?;
        }
        if let (Some(s), Some(p)) = (shape.get_mut(g), pitches.get_mut(g)) {
            *s = extent.clone();
            *p = pitch.clone();
        }
        let counted = if extent.as_const() == Some(0) { stride } else { extent };
        pitch = facts.simplify(&Expr::binary(BinOp::Mul, &pitch, &counted)?)?;
    }
    Ok(Placement { local_strides, shape, pitches })
}

fn local_stride(strides: &[Expr], k: usize) -> Expr {
    strides.get(k).cloned().unwrap_or_else(|| Expr::constant(1))
}

impl Demands {
    fn alignment(&self, axis: usize) -> Option<i128> {
        self.alignments.iter().find(|(k, _)| *k == axis).map(|(_, bytes)| *bytes)
    }

    /// The fewest elements whose size is a multiple of `bytes`: 16 of 4 bytes for 64.
    fn elements(&self, bytes: i128) -> i128 {
        let bits = bytes.saturating_mul(8);
        bits / gcd(bits, i128::from(self.element_bits.max(1))).max(1)
    }
}

fn round_up(value: &Expr, multiple: i128, facts: &Facts) -> Result<Expr, ExprError> {
    let k = Expr::constant(multiple);
    let sum = Expr::binary(BinOp::Add, value, &Expr::constant(multiple - 1))?;
    let blocks = Expr::binary(BinOp::FloorDiv, &sum, &k)?;
    facts.simplify(&Expr::binary(BinOp::Mul, &blocks, &k)?)
}

/// The largest offset + 1: CuTe's cosize. 0 when an axis is empty.
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
