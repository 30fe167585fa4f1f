//! Conversion of a [`FlatLayout`] to dense nested blocks ([`TagBlock`]), from which TVM's letters, oneDNN's tags and
//! einops' patterns are printed.

use alloc::vec::Vec;

use super::Inexpressible;
use super::flat::{FlatLayout, StrideGap};
use crate::layout::Layout;

/// Storage axis that is a block of one logical axis: `axis // div % factor`, or, without a factor, the outermost
/// part `axis // div`. The block `16c` has factor 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TagBlock {
    pub(super) axis: usize,
    pub(super) div: i128,
    pub(super) factor: Option<i128>,
}

/// Encoding of the padding of a layout in a notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaddingEncoding {
    /// Padding at the outermost block of an axis is part of the factor of the block: 60 channels padded to 64 are
    /// `C64c`. Other padding becomes a block of an axis of extent 1.
    RoundUp,
    /// All padding becomes a block of an axis of extent 1. In two cases padding at the outermost block of an axis is
    /// encoded as in `RoundUp`: there is no axis of extent 1, or the padded size is not a multiple of the size.
    UnitAxis,
    /// Layouts with padding are not expressible.
    Reject,
}

/// Dense blocks of `layout`, by descending stride. `flat` is the layout in strided blocks, and `tail` the encoding of
/// its padding. Every axis has exactly one block without a factor.
///
/// # Errors
/// * [`Inexpressible::Scalar`]: the tensor has no axes.
/// * [`Inexpressible::Merged`]: a block is part of several linearized axes.
/// * [`Inexpressible::Symbolic`]: the number of values of a block other than the outermost one of its axis, the
///   smallest stride, or a gap depends on a symbol.
/// * [`Inexpressible::Padding`]: `tail` cannot encode the padding, or a constant stride has the gap
///   [`StrideGap::Unknown`].
pub(super) fn blocks(
    flat: &FlatLayout,
    layout: &Layout,
    tail: PaddingEncoding,
) -> Result<Vec<TagBlock>, Inexpressible> {
    let rank = layout.logical.len();
    if rank == 0 {
        return Err(Inexpressible::Scalar);
    }
    let has_piece = |axis: usize| flat.pieces.iter().any(|piece| piece.axes.contains(&axis));
    let single: Vec<usize> = (0..rank).filter(|axis| !has_piece(*axis)).collect();
    let mut blocks = Vec::new();
    if let Some(piece) = flat.pieces.first() {
        match piece.stride.as_const() {
            Some(1) => {}
            Some(gap) if tail != PaddingEncoding::Reject => add_single(&mut blocks, &single, gap)?,
            Some(_) => return Err(Inexpressible::Padding),
            None => return Err(Inexpressible::Symbolic),
        }
    }
    for piece in &flat.pieces {
        let axis = piece.axis().ok_or_else(|| Inexpressible::merged(piece))?;
        let count = piece.count.as_const();
        let fixed = if piece.is_top { None } else { Some(count.ok_or(Inexpressible::Symbolic)?) };
        let mut block = TagBlock { axis, div: piece.div, factor: fixed };
        let mut gap = None;
        match (piece.room, count) {
            (StrideGap::Exact, _) => {}
            (StrideGap::Padded(room), Some(count)) if tail != PaddingEncoding::Reject => {
                let as_single = room % count == 0 && !single.is_empty();
                if piece.is_top && (tail == PaddingEncoding::RoundUp || !as_single) {
                    block.factor = Some(room);
                } else if as_single {
                    gap = Some(room / count);
                } else {
                    return Err(Inexpressible::Padding);
                }
            }
            (StrideGap::Unknown, None) => return Err(Inexpressible::Symbolic),
            (StrideGap::Unknown, _) if piece.stride.as_const().is_none() => {
                return Err(Inexpressible::Symbolic);
            }
            (StrideGap::Padded(_) | StrideGap::Unknown, _) => return Err(Inexpressible::Padding),
        }
        blocks.push(block);
        if let Some(gap) = gap {
            add_single(&mut blocks, &single, gap)?;
        }
    }
    blocks.reverse();
    for axis in 0..rank {
        add_outer(&mut blocks, axis);
    }
    Ok(blocks)
}

/// Adds a block of `gap` values that expresses padding to `blocks`, which are in the order of ascending stride.
/// `single` are the positions of the axes of extent 1. The block belongs to the axis of `single` with the fewest
/// blocks; [`Inexpressible::Padding`] if `single` is empty.
fn add_single(
    blocks: &mut Vec<TagBlock>,
    single: &[usize],
    gap: i128,
) -> Result<(), Inexpressible> {
    let of = |axis: usize| blocks.iter().filter(move |block| block.axis == axis);
    let axis =
        *single.iter().min_by_key(|axis| of(**axis).count()).ok_or(Inexpressible::Padding)?;
    let div = of(axis).filter_map(|block| block.factor).fold(1_i128, i128::saturating_mul);
    blocks.push(TagBlock { axis, div, factor: Some(gap) });
    Ok(())
}

/// Adds an outermost part of extent 1 for `axis` to `blocks`, which are in the order of descending stride. No effect if
/// `axis` has an outermost part. The new part follows the outermost part of axis `axis - 1`; for axis 0 it comes first.
pub(super) fn add_outer(blocks: &mut Vec<TagBlock>, axis: usize) {
    if blocks.iter().any(|block| block.axis == axis && block.factor.is_none()) {
        return;
    }
    let outer = |of: usize| blocks.iter().position(|b| b.axis == of && b.factor.is_none());
    let at = axis.checked_sub(1).and_then(outer).map_or(0, |before| before + 1);
    let own = blocks.iter().filter(|block| block.axis == axis).filter_map(|block| block.factor);
    let div = own.fold(1_i128, i128::saturating_mul);
    blocks.insert(at, TagBlock { axis, div, factor: None });
}

/// Positions of the axes, in the order in which their outermost parts occur in `blocks`.
pub(super) fn order(blocks: &[TagBlock]) -> Vec<usize> {
    blocks.iter().filter(|block| block.factor.is_none()).map(|block| block.axis).collect()
}

/// Upper-case letter of each logical axis, in axis order. The letters are chosen so that a text that lists the axes in
/// the order `order` of axis positions binds each letter to its axis. [`Inexpressible::Names`] if there are no such
/// letters.
pub(super) fn letters(order: &[usize], layout: &Layout) -> Result<Vec<char>, Inexpressible> {
    let mut named = Vec::new();
    for axis in &layout.logical {
        let mut chars = axis.name.chars();
        match (chars.next().filter(char::is_ascii_alphabetic), chars.next()) {
            (Some(letter), None) => named.push(letter.to_ascii_uppercase()),
            _ => break,
        }
    }
    let is_distinct = |letters: &[char]| {
        letters.iter().enumerate().all(|(k, c)| !letters.iter().take(k).any(|d| c == d))
    };
    let rank = layout.logical.len();
    if named.len() == rank && is_distinct(&named) {
        return Ok(named);
    }
    if order.iter().enumerate().any(|(k, axis)| k != *axis) {
        return Err(Inexpressible::Names);
    }
    // Binding by position: no letter may be the name of an axis.
    let is_free = |letter: &char| {
        let is = |name: &str| {
            name.len() == 1 && name.starts_with(|c: char| c.eq_ignore_ascii_case(letter))
        };
        !layout.logical.iter().any(|axis| is(&axis.name))
    };
    let first = |name: &str| name.chars().next().map(|c| c.to_ascii_uppercase());
    let initials: Vec<char> = layout.logical.iter().filter_map(|axis| first(&axis.name)).collect();
    let usable = |c: &char| c.is_ascii_alphabetic() && is_free(c);
    if initials.len() == rank && initials.iter().all(usable) && is_distinct(&initials) {
        return Ok(initials);
    }
    let letters: Vec<char> = ('A'..='Z').filter(is_free).take(rank).collect();
    if letters.len() == rank { Ok(letters) } else { Err(Inexpressible::Names) }
}
