//! Export to XLA's layouts, such as `{1,0:T(8,128)(2,1)}`, after `bf16[16,256]` if XLA has the element type.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::flat::{FlatLayout, StrideGap, StridedBlock};
use super::strides::multiple_of;
use super::tiles::{AxisGroup, MAX_TILES, MAX_TRIES, tiles};
use super::{ElementFormat, Inexpressible, NotationText};
use crate::layout::Layout;
use crate::notation::xla::named;

/// Maximum number of groups of axes for which all orders are tried; of more groups, only the memory order is tried.
const MAX_ORDERED: usize = 5;

/// Single candidate text for a layout in XLA's notation, with a shape in front if the extents are constant and XLA has
/// the type `elements.dtype`. A tensor without axes is [`Inexpressible::Scalar`] if no shape can be written.
pub(super) fn write(
    flat: &FlatLayout,
    layout: &Layout,
    elements: ElementFormat<'_>,
) -> Result<Vec<NotationText>, Inexpressible> {
    let extents: Option<Vec<i128>> =
        layout.logical.iter().map(|axis| axis.extent.as_const()).collect();
    let shape = extents.clone().zip(elements.dtype.and_then(named));
    if layout.logical.is_empty() {
        let (_, (name, _)) = shape.ok_or(Inexpressible::Scalar)?;
        return Ok(alloc::vec![format!("{name}[]").into()]);
    }
    let braces = braces(flat, layout)?;
    Ok(match shape {
        None => alloc::vec![format!("{{{braces}}}").into()],
        Some((extents, (name, packed))) => {
            let extents: Vec<String> = extents.iter().map(ToString::to_string).collect();
            let gap = if braces.contains(':') { "" } else { ":" };
            let packed = packed.map_or(String::new(), |bits| format!("{gap}E({bits})"));
            alloc::vec![format!("{name}[{}]{{{braces}{packed}}}", extents.join(",")).into()]
        }
    })
}

/// Text between the braces of a layout: the order of the dimensions, minor to major, then the tiles, then the rounding
/// of the size, such as `1,0:T(8,128)L(2048)`. The error of [`missing_feature`] if no tiles produce the layout.
fn braces(flat: &FlatLayout, layout: &Layout) -> Result<String, Inexpressible> {
    let total = flat.total.as_const();
    // Size without the slots after the last step of the largest stride.
    let natural = match flat.pieces.last() {
        None => Some(1),
        Some(piece) => piece
            .stride
            .as_const()
            .zip(piece.count.as_const())
            .and_then(|(stride, count)| stride.checked_mul(count)),
    };
    let orders = orders(groups(flat, layout), flat);
    let sizes = [(total, None), (natural, natural.zip(total).filter(|(own, all)| own < all))];
    for (slots, rounded) in sizes {
        if slots != total && rounded.is_none() {
            continue;
        }
        for count in 0..=MAX_TILES {
            let mut tries = MAX_TRIES;
            for order in &orders {
                if let Some(tiles) = tiles(flat, order, slots, count, &mut tries) {
                    let tail = rounded.map(|(natural, total)| multiple_of(natural, total));
                    return Ok(text(order, &tiles, tail));
                }
            }
        }
    }
    Err(missing_feature(flat))
}

/// Error for a layout for which no tiles were found. [`Inexpressible::Padding`] if the gap of a block other than a most
/// significant one is not [`StrideGap::Exact`], or if the smallest stride is not 1. Otherwise
/// [`Inexpressible::Symbolic`] if a symbolic stride has an unknown gap, else [`Inexpressible::Order`].
fn missing_feature(flat: &FlatLayout) -> Inexpressible {
    let is_symbolic = |piece: &StridedBlock| piece.stride.as_const().is_none();
    let starts = flat.pieces.first().is_none_or(|piece| piece.stride.as_const() == Some(1));
    let is_padded = |piece: &StridedBlock| piece.room != StrideGap::Exact && !piece.is_top;
    if !starts || flat.pieces.iter().any(is_padded) {
        Inexpressible::Padding
    } else if flat.pieces.iter().any(|piece| is_symbolic(piece) && piece.room == StrideGap::Unknown)
    {
        Inexpressible::Symbolic
    } else {
        Inexpressible::Order
    }
}

/// Groups of axes in memory order, major to minor. Axes that are linearized form one group; any other axis is a group
/// of its own. An axis without a block follows its predecessor in logical order; without a predecessor it comes first.
fn groups(flat: &FlatLayout, layout: &Layout) -> Vec<AxisGroup> {
    let mut groups: Vec<AxisGroup> = Vec::new();
    let extent = |axes: &[usize]| {
        let extents = axes.iter().map(|axis| layout.logical.get(*axis)?.extent.as_const());
        extents.into_iter().try_fold(1_i128, |n, extent| n.checked_mul(extent?))
    };
    // In memory order; an axis without a block follows its predecessor.
    for piece in flat.pieces.iter().rev().filter(|piece| piece.is_top) {
        groups.push(AxisGroup { axes: piece.axes.clone(), extent: extent(&piece.axes) });
    }
    for axis in 0..layout.logical.len() {
        if groups.iter().any(|group| group.axes.contains(&axis)) {
            continue;
        }
        let before = axis.checked_sub(1);
        let at = before.and_then(|k| groups.iter().position(|group| group.axes.contains(&k)));
        let own = AxisGroup { axes: alloc::vec![axis], extent: extent(&[axis]) };
        groups.insert(at.map_or(0, |at| at + 1), own);
    }
    groups
}

/// Orders of `groups` that are tried, the given one first. If the layout has blocks or padding and there are at most
/// [`MAX_ORDERED`] groups, the result is all permutations; otherwise only the given order.
fn orders(groups: Vec<AxisGroup>, flat: &FlatLayout) -> Vec<Vec<AxisGroup>> {
    let is_tiled = flat.pieces.iter().any(|piece| !piece.is_top || piece.room != StrideGap::Exact);
    if groups.len() > MAX_ORDERED || !is_tiled {
        return alloc::vec![groups];
    }
    let mut orders: Vec<Vec<AxisGroup>> = alloc::vec![Vec::new()];
    for _ in 0..groups.len() {
        let grown = orders.iter().flat_map(|order| {
            let rest = groups.iter().filter(|group| !order.contains(group));
            rest.map(|group| order.iter().chain([group]).cloned().collect::<Vec<_>>())
        });
        orders = grown.collect();
    }
    orders
}

fn text(order: &[AxisGroup], tiles: &[Vec<i128>], tail: Option<i128>) -> String {
    let axes: Vec<String> =
        order.iter().flat_map(|group| &group.axes).rev().map(ToString::to_string).collect();
    let mut text = axes.join(",");
    let tail = tail.map_or(String::new(), |multiple| format!("L({multiple})"));
    if !tiles.is_empty() || !tail.is_empty() {
        text.push(':');
    }
    for (k, tile) in tiles.iter().enumerate() {
        let skipped = order.len().saturating_sub(tile.len());
        let mut entries = Vec::new();
        for (j, extent) in tile.iter().enumerate() {
            // Only the first tile applies to linearized axes.
            let several = order.get(skipped + j).filter(|_| k == 0).map_or(1, |g| g.axes.len());
            entries.extend((1..several).map(|_| "*".to_string()));
            entries.push(extent.to_string());
        }
        text.push_str(if k == 0 { "T" } else { "" });
        text.push_str(&format!("({})", entries.join(",")));
    }
    text.push_str(&tail);
    text
}
