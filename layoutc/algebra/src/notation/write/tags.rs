//! Export to TVM's layout letters and oneDNN's format tags.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::blocks::{PaddingEncoding, TagBlock, add_outer, blocks, letters, order};
use super::flat::{FlatLayout, StridedBlock};
use super::{Inexpressible, NotationText};
use crate::layout::Layout;

/// Maximum number of axes of a tensor in oneDNN.
const MAX_RANK: usize = 12;

/// Candidate texts for `layout`, whose strided blocks are `flat`, in TVM's notation, such as `NCHW16c`: one for each
/// encoding of padding. The error of the first encoding if both fail.
pub(super) fn tvm(flat: &FlatLayout, layout: &Layout) -> Result<Vec<NotationText>, Inexpressible> {
    padding_candidates(|tail| letters_of(&blocks(flat, layout, tail)?, layout))
}

/// Candidate texts for a notation in which padding has two encodings. Calls `text` with [`PaddingEncoding::RoundUp`],
/// then with [`PaddingEncoding::UnitAxis`], and omits a text that fails; the first error if both fail.
fn padding_candidates(
    text: impl Fn(PaddingEncoding) -> Result<String, Inexpressible>,
) -> Result<Vec<NotationText>, Inexpressible> {
    match (text(PaddingEncoding::RoundUp), text(PaddingEncoding::UnitAxis)) {
        (Err(error), Err(_)) => Err(error),
        (own, single) => Ok([own, single].into_iter().flatten().map(NotationText::from).collect()),
    }
}

fn letters_of(blocks: &[TagBlock], layout: &Layout) -> Result<String, Inexpressible> {
    let letters = letters(&order(blocks), layout)?;
    let mut text = String::new();
    for (k, block) in blocks.iter().enumerate() {
        let letter = letters.get(block.axis).copied().unwrap_or('?');
        let Some(factor) = block.factor else {
            text.push(letter);
            continue;
        };
        let is_same = |other: &TagBlock| other.axis == block.axis && other.factor.is_some();
        if blocks.iter().take(k).any(is_same) {
            return Err(Inexpressible::TwoBlocks { axis: block.axis });
        }
        text.push_str(&format!("{factor}{}", letter.to_ascii_lowercase()));
    }
    Ok(text)
}

/// Candidate texts for `layout`, whose strided blocks are `flat`, in oneDNN's notation, such as `aBcd16b`: one for each
/// encoding of padding. [`Inexpressible::Rank`] for more than [`MAX_RANK`] axes; the error of the first encoding if
/// both fail.
pub(super) fn onednn(
    flat: &FlatLayout,
    layout: &Layout,
) -> Result<Vec<NotationText>, Inexpressible> {
    let rank = layout.logical.len();
    if rank > MAX_RANK {
        return Err(Inexpressible::Rank { rank, most: MAX_RANK });
    }
    padding_candidates(|tail| tag_of(blocks(flat, layout, tail)?, flat))
}

fn tag_of(mut blocks: Vec<TagBlock>, flat: &FlatLayout) -> Result<String, Inexpressible> {
    outer_first(&mut blocks, flat)?;
    let (mut outer, mut inner) = (String::new(), String::new());
    for (k, block) in blocks.iter().enumerate() {
        let letter = ('a'..='l').nth(block.axis).unwrap_or('?');
        let is_blocked = |b: &TagBlock| b.axis == block.axis && b.factor.is_some();
        let Some(factor) = block.factor else {
            let letter =
                if blocks.iter().any(is_blocked) { letter.to_ascii_uppercase() } else { letter };
            outer.push(letter);
            continue;
        };
        let below = blocks.iter().skip(k + 1).filter(|other| is_blocked(other));
        let under = below.filter_map(|b| b.factor).try_fold(1_i128, i128::checked_mul);
        if under != Some(block.div) {
            return Err(Inexpressible::Order);
        }
        inner.push_str(&format!("{factor}{letter}"));
    }
    Ok(outer + &inner)
}

/// Moves the outermost part of every axis before all blocks, as a tag such as `aBc8b` requires. An outermost part that
/// follows a block in memory becomes a block whose factor is its number of values, and its axis gets a new outermost
/// part of extent 1. [`Inexpressible::Order`] if the number of values is symbolic.
fn outer_first(blocks: &mut Vec<TagBlock>, flat: &FlatLayout) -> Result<(), Inexpressible> {
    let first = blocks.iter().position(|block| block.factor.is_some()).unwrap_or(blocks.len());
    let mut axes = Vec::new();
    for block in blocks.iter_mut().skip(first).filter(|block| block.factor.is_none()) {
        let is_it =
            |piece: &&StridedBlock| piece.axis() == Some(block.axis) && piece.div == block.div;
        let count = match flat.pieces.iter().find(is_it) {
            Some(piece) => piece.count.as_const().ok_or(Inexpressible::Order)?,
            None => 1,
        };
        block.factor = Some(count);
        axes.push(block.axis);
    }
    blocks.retain(|block| block.factor != Some(1));
    axes.sort_unstable();
    axes.into_iter().for_each(|axis| add_outer(blocks, axis));
    Ok(())
}
