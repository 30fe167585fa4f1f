//! Conversion of strided blocks to nested blocks, the form in which layouts are exported to letters, tags and
//! patterns.

use alloc::vec::Vec;

use super::Inexpressible;
use super::flat::{FlatLayout, StrideGap};
use crate::layout::Layout;

/// Block of an axis that forms a storage axis. Without a factor, it is the outermost part of the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TagBlock {
    pub(super) axis: usize,
    pub(super) div: i128,
    pub(super) factor: Option<i128>,
}

/// How the padding of a layout is expressed in a notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PaddingEncoding {
    /// The outermost block of an axis is rounded up. Other padding becomes a block of an axis of extent 1.
    RoundUp,
    /// All padding becomes a block of an axis of extent 1, if there is such an axis.
    UnitAxis,
    /// Layouts with padding are not expressible.
    Reject,
}

/// Dense blocks of a layout, by descending stride. Every axis has exactly one block without a factor.
///
/// # Errors
/// [`Inexpressible`] if the layout does not consist of dense blocks.
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

/// Expresses padding as a block of the axis of extent 1 that has the fewest blocks so far. The block is major
/// to the existing ones.
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

/// Adds an outermost part of extent 1 to an axis that has none, after the outermost part of the preceding
/// axis.
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

/// Axes in the order of their outermost parts.
pub(super) fn order(blocks: &[TagBlock]) -> Vec<usize> {
    blocks.iter().filter(|block| block.factor.is_none()).map(|block| block.axis).collect()
}

/// Letter of each axis, chosen such that a text with these letters in the given order binds them to the right
/// axes.
///
/// # Errors
/// [`Inexpressible::Names`] if letters can bind to axes only by position, and the order is not the identity.
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
