//! Layouts as blocks of axes, each with a stride in the flat buffer ([`FlatLayout`]). Exports to strides, letters
//! and tiles start from this form.

use alloc::vec::Vec;

use super::Inexpressible;
use crate::digits::{Chain, Digits};
use crate::expr::{BinOp, Expr, ExprError, ExprNode};
use crate::layout::{DigitTargets, Layout};
use crate::normal_form::simplify::Facts;

/// Gap between a block and the next larger stride of the layout, or, for the largest stride, the end of the
/// buffer. The span of a block is `stride * count`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StrideGap {
    /// The next larger stride equals the span of the block: there is no padding. The block with the largest stride is
    /// also `Exact` if it is not known to be `Padded`, since slots after the last element affect no stride.
    Exact,
    /// The next larger stride is `n` times the stride of the block, where `n` exceeds the count of the block:
    /// `Padded(8)` for the 6 elements of a row at a row stride of 8.
    Padded(i128),
    /// The next larger stride is not known to be `Exact` or `Padded`: for example, it depends on a symbol, is not a
    /// multiple of the stride of the block, or is less than the span of the block.
    Unknown,
}

/// Block of consecutive digits of an index: `index // div % count`, or `index // div` for the most significant block.
/// The index is that of an axis, or of several linearized axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StridedBlock {
    /// Positions of the axes of which the block is a part, outermost first. There are several if the block is a part of
    /// the row-major index over these axes.
    pub(super) axes: Vec<usize>,
    pub(super) div: i128,
    /// True for the most significant block of its axes.
    pub(super) is_top: bool,
    /// Number of values of the block: `ceil(whole / div)` for the most significant block.
    pub(super) count: Expr,
    /// Stride of the block in the flat buffer, in elements.
    pub(super) stride: Expr,
    pub(super) room: StrideGap,
    /// Product of the extents of the axes of the block.
    whole: Expr,
}

impl StridedBlock {
    /// Position of the axis of which the block is a part; `None` if it is a part of several linearized axes.
    pub(super) fn axis(&self) -> Option<usize> {
        match self.axes.as_slice() {
            [axis] => Some(*axis),
            _ => None,
        }
    }
}

/// Number of blocks of `div` values that cover `whole` values: `ceil(whole / div)`, simplified by `facts`.
fn blocks(whole: &Expr, div: i128, facts: &Facts) -> Result<Expr, ExprError> {
    let up = Expr::binary(BinOp::Add, whole, &Expr::constant(div - 1))?;
    facts.simplify(&Expr::binary(BinOp::FloorDiv, &up, &Expr::constant(div))?)
}

/// Layout as strided blocks in one flat buffer, without blocks that have a single value.
#[derive(Debug, Clone)]
pub(super) struct FlatLayout {
    /// Blocks of the layout, by ascending stride as far as the strides can be compared.
    pub(super) pieces: Vec<StridedBlock>,
    /// Size of the flat buffer in elements, padding included.
    pub(super) total: Expr,
    pub(super) facts: Facts,
}

impl FlatLayout {
    /// Decomposes a layout into strided blocks.
    ///
    /// # Errors
    /// * [`Inexpressible::Separators`]: the layout has several physical axes.
    /// * [`Inexpressible::Empty`]: an extent is 0.
    /// * [`Inexpressible::Swizzle`], [`Inexpressible::NoDigits`]: the offset is not a sum of digits.
    /// * [`Inexpressible::Reversed`]: a stride is negative.
    /// * [`Inexpressible::Offset`]: a constant is added to an index or to the offset.
    /// * [`Inexpressible::Expr`]: an expression becomes too large.
    pub(super) fn of(layout: &Layout) -> Result<Self, Inexpressible> {
        let ranks = layout.physical_map.len();
        if ranks != 1 {
            return Err(Inexpressible::Separators { rank: ranks });
        }
        if layout.logical.iter().any(|axis| axis.extent.as_const() == Some(0)) {
            return Err(Inexpressible::Empty);
        }
        let facts = Facts::new(&layout.symbols);
        let Some(digits) = &layout.digits else { return Err(inexpressible_reason(layout)) };
        let (strides, first) = strides(layout, digits, &facts)?;
        let mut pieces = Vec::new();
        for chain in &digits.chains {
            pieces.extend(chain_pieces(layout, digits, chain, &strides, &facts)?);
        }
        if !facts.proves_eq(&first, &Expr::constant(0))? {
            return Err(Inexpressible::Offset);
        }
        let mut flat = Self { pieces, total: layout.physical_elements.clone(), facts };
        flat.sort()?;
        flat.merge()?;
        flat.measure()?;
        Ok(flat)
    }

    /// Block of each of the `rank` logical axes, in axis order. An entry is `None` for an axis without a block, such as
    /// an axis of extent 1. [`Inexpressible::Merged`] if a block is part of several linearized axes,
    /// [`Inexpressible::Blocks`] if an axis has several blocks.
    pub(super) fn whole(&self, rank: usize) -> Result<Vec<Option<&StridedBlock>>, Inexpressible> {
        let mut whole = alloc::vec![None; rank];
        for piece in &self.pieces {
            let axis = piece.axis().ok_or_else(|| Inexpressible::merged(piece))?;
            match whole.get_mut(axis) {
                Some(slot @ None) => *slot = Some(piece),
                _ => return Err(Inexpressible::Blocks { axis }),
            }
        }
        Ok(whole)
    }

    /// Sorts the blocks by ascending stride. With a symbolic stride, each next block is the one whose stride provably
    /// equals `stride * count` of the previous block, or 1 for the first block. If there is none, it is the one with
    /// the provably least stride, else the first of those that remain.
    fn sort(&mut self) -> Result<(), ExprError> {
        if self.pieces.iter().all(|piece| piece.stride.as_const().is_some()) {
            self.pieces.sort_by_key(|piece| piece.stride.as_const());
            return Ok(());
        }
        let mut rest = core::mem::take(&mut self.pieces);
        let mut next = Expr::constant(1);
        while !rest.is_empty() {
            let at = match self.position(&rest, &next)? {
                Some(at) => at,
                None => self.least(&rest)?.unwrap_or(0),
            };
            let piece = rest.remove(at);
            next = Expr::binary(BinOp::Mul, &piece.stride, &piece.count)?;
            self.pieces.push(piece);
        }
        Ok(())
    }

    /// Position in `pieces` of the first block whose stride provably equals `stride`; `None` if there is none.
    fn position(&self, pieces: &[StridedBlock], stride: &Expr) -> Result<Option<usize>, ExprError> {
        for (k, piece) in pieces.iter().enumerate() {
            if self.facts.proves_eq(&piece.stride, stride)? {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }

    fn least(&self, pieces: &[StridedBlock]) -> Result<Option<usize>, ExprError> {
        for (k, piece) in pieces.iter().enumerate() {
            let mut is_least = true;
            for other in pieces {
                is_least &= self.facts.proves_ge(&other.stride, &piece.stride)?;
            }
            if is_least {
                return Ok(Some(k));
            }
        }
        Ok(None)
    }

    /// Merges blocks that are adjacent both in their axes and in the buffer. A most significant block stays separate
    /// unless the merged count provably equals the number of blocks that cover the axes, `ceil(whole / div)`: for 10
    /// values, 3 blocks of 4 are not merged to a count of 12, which would include the padding.
    fn merge(&mut self) -> Result<(), ExprError> {
        let mut merged: Vec<StridedBlock> = Vec::new();
        for piece in core::mem::take(&mut self.pieces) {
            if let Some(below) = merged.last_mut()
                && below.axes == piece.axes
                && let Some(count) = below.count.as_const()
                && below.div.checked_mul(count) == Some(piece.div)
                && !below.is_top
            {
                let step = Expr::binary(BinOp::Mul, &below.stride, &below.count)?;
                let all = Expr::binary(BinOp::Mul, &piece.count, &below.count)?;
                let all = self.facts.simplify(&all)?;
                let reach = blocks(&piece.whole, below.div, &self.facts)?;
                let exact = !piece.is_top || self.facts.proves_eq(&all, &reach)?;
                if exact && self.facts.proves_eq(&step, &piece.stride)? {
                    (below.count, below.is_top) = (all, piece.is_top);
                    continue;
                }
            }
            merged.push(piece);
        }
        self.pieces = merged;
        Ok(())
    }

    fn measure(&mut self) -> Result<(), ExprError> {
        let strides: Vec<Expr> = self.pieces.iter().map(|piece| piece.stride.clone()).collect();
        let (facts, mut above) = (&self.facts, strides.into_iter().skip(1));
        for piece in &mut self.pieces {
            let next = above.next();
            let own = Expr::binary(BinOp::Mul, &piece.stride, &piece.count)?;
            let upper = next.as_ref().unwrap_or(&self.total);
            piece.room = match (upper.as_const(), piece.stride.as_const(), piece.count.as_const()) {
                _ if facts.proves_eq(&own, upper)? => StrideGap::Exact,
                (Some(upper), Some(stride), Some(count))
                    if stride > 0 && upper % stride == 0 && upper / stride > count =>
                {
                    StrideGap::Padded(upper / stride)
                }
                // Slots after the last element do not affect any stride.
                _ if next.is_none() => StrideGap::Exact,
                _ => StrideGap::Unknown,
            };
        }
        Ok(())
    }
}

/// Error for a layout without a digit form: [`Inexpressible::Swizzle`] if a storage index contains `^` or `&`,
/// otherwise [`Inexpressible::NoDigits`].
fn inexpressible_reason(layout: &Layout) -> Inexpressible {
    if layout.storage_map.iter().any(has_bits) {
        Inexpressible::Swizzle
    } else {
        Inexpressible::NoDigits
    }
}

fn has_bits(expr: &Expr) -> bool {
    match expr.node() {
        ExprNode::Const(_) | ExprNode::Var(_) => false,
        ExprNode::Neg(a) => has_bits(a),
        ExprNode::Bin(BinOp::And | BinOp::Xor, ..) => true,
        ExprNode::Bin(_, a, b) => has_bits(a) || has_bits(b),
    }
}

/// Pair `(strides, first)` for `layout`, whose digit form is `digits`. `strides` has the stride of each digit in the
/// flat buffer, in elements; `None` for a digit that does not affect the offset. `first` is the offset of the first
/// element, without [`Layout::lead`] if the digits are those of the storage indices.
fn strides(
    layout: &Layout,
    digits: &Digits,
    facts: &Facts,
) -> Result<(Vec<Option<Expr>>, Expr), ExprError> {
    let mut strides: Vec<Option<Expr>> = alloc::vec![None; digits.digits.len()];
    let mut first = Expr::constant(0);
    for (k, form) in digits.targets.iter().enumerate() {
        let unit = match layout.digit_targets {
            DigitTargets::Offset => Expr::constant(1),
            DigitTargets::Storage => layout.strides.get(k).cloned().ok_or(ExprError::Unbound)?,
        };
        let scaled = |weight: i128| Expr::binary(BinOp::Mul, &unit, &Expr::constant(weight));
        first = Expr::binary(BinOp::Add, &first, &scaled(form.constant)?)?;
        for (digit, weight) in &form.terms {
            if let Some(slot) = strides.get_mut(*digit) {
                let own = scaled(*weight)?;
                let sum = match slot.take() {
                    Some(sum) => Expr::binary(BinOp::Add, &sum, &own)?,
                    None => own,
                };
                *slot = Some(facts.simplify(&sum)?);
            }
        }
    }
    Ok((strides, first))
}

/// Blocks that the digits of `chain` form, the most significant first; a block of a single value is omitted. `strides`
/// has the stride of each digit of the layout. [`Inexpressible::Reversed`] for a negative stride,
/// [`Inexpressible::Offset`] if a constant is added to the index.
fn chain_pieces(
    layout: &Layout,
    digits: &Digits,
    chain: &Chain,
    strides: &[Option<Expr>],
    facts: &Facts,
) -> Result<Vec<StridedBlock>, Inexpressible> {
    let axis = chain.axes.first().copied().unwrap_or(0);
    if chain.sign != 1 {
        return Err(Inexpressible::Reversed { axis });
    }
    if chain.constant != 0 {
        return Err(Inexpressible::Offset);
    }
    let mut whole = Expr::constant(1);
    for axis in &chain.axes {
        let axis = layout.logical.get(*axis).ok_or(ExprError::Unbound)?;
        whole = Expr::binary(BinOp::Mul, &whole, &axis.extent)?;
    }
    let mut pieces: Vec<StridedBlock> = Vec::new();
    for position in &chain.digits {
        let digit = digits.digits.get(*position).ok_or(ExprError::Unbound)?;
        let Some(Some(stride)) = strides.get(*position) else { continue };
        if facts.bounds(stride)?.1 < 0 {
            return Err(Inexpressible::Reversed { axis });
        }
        let is_top = pieces.is_empty();
        let count = if is_top {
            // A chain of digits may span more than the extent of the axis.
            blocks(&whole, digit.weight, facts)?
        } else {
            digit.extent.clone()
        };
        if count.as_const().is_some_and(|count| count <= 1) {
            continue;
        }
        pieces.push(StridedBlock {
            axes: chain.axes.clone(),
            div: digit.weight,
            is_top,
            count,
            stride: stride.clone(),
            room: StrideGap::Unknown,
            whole: whole.clone(),
        });
    }
    Ok(pieces)
}
