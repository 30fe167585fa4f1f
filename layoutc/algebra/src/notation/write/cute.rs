//! Export to CuTe's layouts, with one mode per axis, the fastest sub-mode first, and an optional swizzle:
//! `S<3,3,3> o 0 o (8,64):(64,1)`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flat::{FlatLayout, StridedBlock};
use super::triton;
use super::{Inexpressible, NotationText};
use crate::builder::LayoutBuilder;
use crate::expr::{Expr, Var};
use crate::layout::Layout;
use crate::layout::swizzle::Swizzle;
use crate::map::{IndexMap, MapItem};
use crate::prove::Executor;

/// Maximum number of offset bits that are considered in the search for a swizzle; higher bits are never swizzled.
const MAX_BITS: i128 = 32;

/// Layout in CuTe's notation, such as `((16,4),8):((1,128),16)`. `bits` is the size of an element. `executor` runs the
/// proofs of the layout before its swizzle.
pub(super) fn write(
    layout: &Layout,
    bits: u32,
    executor: &dyn Executor,
) -> Result<NotationText, Inexpressible> {
    if layout.logical.is_empty() {
        return Err(Inexpressible::Scalar);
    }
    if let Some(swizzle) = layout.swizzle {
        let before = before_swizzle(layout, bits, executor)?;
        return Ok(format!("{swizzle} o 0 o {}", modes(&FlatLayout::of(&before)?, &before)?).into());
    }
    match FlatLayout::of(layout) {
        Ok(flat) => Ok(modes(&flat, layout)?.into()),
        Err(Inexpressible::Swizzle) => linear(layout),
        Err(error) => Err(error),
    }
}

/// Layout from which the swizzle of `layout` is removed; the storage map and the strides are kept. `bits` is the size
/// of an element. [`Inexpressible::Separators`] for several physical axes, [`Inexpressible::Swizzle`] if the layout
/// without the swizzle cannot be built or proven on `executor`.
fn before_swizzle(
    layout: &Layout,
    bits: u32,
    executor: &dyn Executor,
) -> Result<Layout, Inexpressible> {
    let rank = layout.physical_map.len();
    if rank != 1 {
        return Err(Inexpressible::Separators { rank });
    }
    let mut items = Vec::new();
    for (index, axis) in layout.storage_map.iter().zip(&layout.storage) {
        let index = index.substitute(&|var| match var {
            Var::Axis(k) => Some(Expr::var(Var::Storage(k))),
            _ => None,
        })?;
        let (name, extent) = (axis.name.clone(), Some(axis.extent.clone()));
        items.push(MapItem { name, index, extent, span: 0..0 });
    }
    let build = || {
        let mut builder = LayoutBuilder::new(&layout.symbols, &layout.logical, bits).ok()?;
        builder.apply(&IndexMap { items, separators: Vec::new() }).ok()?;
        builder.strides(&layout.strides).ok()?;
        builder.finish(layout.alignment_bytes, executor).ok()
    };
    build().ok_or(Inexpressible::Swizzle)
}

/// Text `swizzle o 0 o shape:stride` of a layout whose offset is an XOR of bits of the axis indices. The swizzle is
/// that of [`swizzle_of`]; [`Inexpressible::Swizzle`] if there is none.
fn linear(layout: &Layout) -> Result<NotationText, Inexpressible> {
    let images = triton::images(layout)?;
    let swizzle = swizzle_of(&images).ok_or(Inexpressible::Swizzle)?;
    let (mut shapes, mut strides) = (Vec::new(), Vec::new());
    for axis in &images {
        let (mut counts, mut steps): (Vec<i128>, Vec<i128>) = (Vec::new(), Vec::new());
        for image in axis {
            let step = swizzle.at(*image);
            match (counts.last_mut(), steps.last()) {
                (Some(count), Some(first)) if count.checked_mul(*first) == Some(step) => {
                    *count *= 2;
                }
                _ => {
                    counts.push(2);
                    steps.push(step);
                }
            }
        }
        let texts = |all: &[i128]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        shapes.push(mode(&texts(&counts), "1"));
        strides.push(mode(&texts(&steps), "0"));
    }
    Ok(format!("{swizzle} o 0 o {}:{}", tuple(&shapes), tuple(&strides)).into())
}

/// Swizzle that maps every offset in `images` to a power of two; `None` if there is none. Of several swizzles, the one
/// with the fewest bits, then the shortest shift. `images` has the offsets of the elements at the indices 1, 2, 4, … of
/// each axis.
fn swizzle_of(images: &[Vec<i128>]) -> Option<Swizzle> {
    let all = || images.iter().flatten();
    let highest = all().map(|image| 128 - image.leading_zeros()).max().unwrap_or(0);
    let highest = i128::from(highest).min(MAX_BITS);
    for bits in 1..=highest {
        for distance in bits..=highest {
            for shift in [distance, -distance] {
                for base in 0..=highest - distance {
                    let Ok(swizzle) = Swizzle::new(bits, base, shift) else { continue };
                    if all().all(|image| swizzle.at(*image).count_ones() == 1) {
                        return Some(swizzle);
                    }
                }
            }
        }
    }
    None
}

/// Text `shape:stride` of `layout`, whose strided blocks are `flat`, with one mode per logical axis:
/// `((16,4),8):((1,128),16)`. [`Inexpressible::Symbolic`] for a symbolic extent, count or stride,
/// [`Inexpressible::Merged`] if a block is part of several linearized axes.
fn modes(flat: &FlatLayout, layout: &Layout) -> Result<String, Inexpressible> {
    let (mut shapes, mut strides) = (Vec::new(), Vec::new());
    for (position, axis) in layout.logical.iter().enumerate() {
        let mut pieces: Vec<&StridedBlock> =
            flat.pieces.iter().filter(|piece| piece.axes.contains(&position)).collect();
        pieces.sort_by_key(|piece| piece.div);
        if axis.extent.as_const().is_none() {
            return Err(Inexpressible::Symbolic);
        }
        let (mut counts, mut steps) = (Vec::new(), Vec::new());
        for piece in pieces {
            if piece.axis().is_none() {
                return Err(Inexpressible::merged(piece));
            }
            let numbers = piece.count.as_const().zip(piece.stride.as_const());
            let (count, step) = numbers.ok_or(Inexpressible::Symbolic)?;
            counts.push(count.to_string());
            steps.push(step.to_string());
        }
        shapes.push(mode(&counts, "1"));
        strides.push(mode(&steps, "0"));
    }
    Ok(format!("{}:{}", tuple(&shapes), tuple(&strides)))
}

fn tuple(modes: &[String]) -> String {
    match modes {
        [one] => one.clone(),
        several => format!("({})", several.join(",")),
    }
}

/// Text of a mode with the sub-modes `parts`: `(16,4)`, or `16` for a single one. `none` is the text of a mode without
/// sub-modes.
fn mode(parts: &[String], none: &str) -> String {
    match parts {
        [] => none.to_string(),
        [one] => one.clone(),
        several => format!("({})", several.join(",")),
    }
}
