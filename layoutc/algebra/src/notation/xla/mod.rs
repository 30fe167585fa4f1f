//! XLA's shapes, such as `bf16[1000,500]{0,1:T(8,128)(2,1)}`, or the layout in braces alone.
//!
//! Source: XLA, `hlo_parser.cc`, `layout_util.cc` and the document on tiled layouts. All tiles, and `*` in
//! them, contribute to sizes and indices here. XLA's own `ArraySize` reads only the first tile, returns 0 for
//! a `*`, and rounds to `L(n)` only if there is a tile; a remark reports each difference.

mod parse;
mod types;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use parse::parse;

pub(super) use types::named;
use types::width;

use super::{NotationError, NotationExtras, NotationFault, Remark, count_fault, shown};
use crate::builder::LayoutBuilder;
use crate::expr::Expr;
use crate::expr::parse::Span;
use crate::map::{IndexMap, identity};
use crate::step::{TileExtent, tile};
use crate::symbol::Axis;

/// Pair `(extents, span)` for a tile such as `(8,128)`. `extents` are the extents with their byte ranges, major to
/// minor; the extent `None` is `*`. `span` is the byte range of the tile.
type XlaTile = (Vec<(Option<i128>, Span)>, Span);

/// Parsed XLA shape with a layout, or either alone: `f32[16,256]{1,0:T(8,128)}`, `f32[16,256]` or `{1,0}`.
#[derive(Debug, Default)]
pub struct XlaShape {
    /// Element type as manifests name it, such as `f32`; `None` if the text is a layout without a shape.
    pub dtype: Option<&'static str>,
    /// Extents of the dimensions, in logical order; empty without a shape. The extent of a bounded dynamic
    /// dimension `<=128` is its bound, 128.
    pub dims: Vec<i128>,
    /// Notes to the user about the text.
    pub remarks: Vec<Remark>,
    /// Positions of the dimensions, minor to major, with their byte ranges; `None` for row-major order.
    order: Option<Vec<(i128, Span)>>,
    order_span: Span,
    tiles: Vec<XlaTile>,
    tail: Option<(i128, Span)>,
    bits: Option<(i128, Span)>,
    /// Memory space `S(n)` of the text, as a pair: the byte range of `n`, and the value of `n`. `None` for the default
    /// memory space, 0.
    space: Option<(Span, i128)>,
}

impl XlaShape {
    /// Number of dimensions in the order of the layout; `None` if the layout fits any rank.
    pub(super) fn rank(&self) -> Option<usize> {
        self.order.as_ref().map(Vec::len)
    }
}

/// Applies the dimension order, the tiles and the rounding `L(n)` of an XLA layout to the current axes of
/// `builder`. A shape or an element size in the text that differs from that of the tensor is a fault.
pub(super) fn apply(
    text: &str,
    builder: &mut LayoutBuilder,
) -> Result<NotationExtras, NotationError> {
    let shape = parse(text)?;
    let axes = builder.axes();
    if let Some(dtype) = shape.dtype {
        fits(&shape, axes, text.len())?;
        let bits = width(dtype);
        if bits != i128::from(builder.element_bits()) {
            let message = format!(
                "the text is for `{dtype}`, of {bits} bits; these have {}",
                builder.element_bits()
            );
            let fault = NotationFault::axes(0..text.len(), message);
            return Err(fault.help("the layout in braces is enough: `{1,0:T(8,128)}`").into());
        }
    }
    if let Some((bits, span)) = &shape.bits
        && *bits != 0
        && *bits != i128::from(builder.element_bits())
    {
        let message = format!(
            "`E({bits})` is for elements of {bits} bits; these have {}",
            builder.element_bits()
        );
        let fault = NotationFault::axes(span.clone(), message);
        let help = format!("write `E({})`, or leave it out", builder.element_bits());
        return Err(fault.help(help).into());
    }
    let order = major_to_minor(&shape, axes)?;
    let IndexMap { items, separators } = identity(axes);
    if order.iter().enumerate().any(|(k, axis)| k != *axis) {
        let items = order.iter().filter_map(|axis| items.get(*axis).cloned()).collect();
        builder.apply(&IndexMap { items, separators })?;
    }
    let mut remarks = shape.remarks.clone();
    let first = first_tile_elements(builder.axes(), shape.tiles.first());
    for (extents, _) in &shape.tiles {
        let extents: Vec<TileExtent> = extents
            .iter()
            .map(|(extent, _)| match extent {
                Some(extent) => TileExtent::Extent(Expr::constant(*extent)),
                None => TileExtent::Merge,
            })
            .collect();
        let map = tile(builder.axes(), &extents, &[])?;
        builder.apply(&map)?;
    }
    let all = elements(builder.axes());
    if let (Some(all), Some(first), Some((_, span))) = (all, first, shape.tiles.last())
        && all != first
    {
        let message = format!(
            "XLA's ArraySize counts {first} elements, by the first tile only; there are {all}"
        );
        // XLA counts 0 elements if the first tile contains a `*`.
        let help = match first {
            0 => format!("make room for {all} elements"),
            _ => format!("let each tile divide the one before it, or make room for {all} elements"),
        };
        remarks.push(Remark { span: span.clone(), message, help });
    }
    if let Some((multiple, span)) = &shape.tail {
        builder.round_up(*multiple)?;
        if shape.tiles.is_empty() {
            let message =
                "XLA's ArraySize rounds up to `L(n)` only where there is a tile".to_string();
            let help = "make room for as many elements as `layoutc inspect` reports".to_string();
            remarks.push(Remark { span: span.clone(), message, help });
        }
    }
    Ok(NotationExtras { remarks, memory_space: shape.space })
}

/// Checks that the dimensions of `shape` equal the extents of `axes`; a fault otherwise. `length` is the length
/// of the text in bytes, for the fault.
fn fits(shape: &XlaShape, axes: &[Axis], length: usize) -> Result<(), NotationFault> {
    if shape.dims.len() != axes.len() {
        return Err(count_fault(shape.dims.len(), "extent", axes, 0..length));
    }
    let differs = |(dim, axis): &(&i128, &Axis)| axis.extent.as_const() != Some(**dim);
    match shape.dims.iter().zip(axes).find(differs) {
        None => Ok(()),
        Some((dim, axis)) => {
            let message =
                format!("the extent {dim} is for `{}`, which has {}", axis.name, shown(axis));
            let fault = NotationFault::axes(0..length, message);
            Err(fault.help("the layout in braces is enough: `{1,0:T(8,128)}`"))
        }
    }
}

/// Help text for a dimension order that is not a permutation of `rank` dimensions.
fn each_once(rank: usize) -> String {
    match rank.checked_sub(1) {
        None => "leave the order out: there are no dimensions".to_string(),
        Some(0) => "write only `0`".to_string(),
        Some(last) => format!("write each of 0 to {last} once, the minor-most dimension first"),
    }
}

/// Positions in `axes` of the dimensions in the order of the layout `shape`, major to minor: `{0,1}` gives `[1, 0]`.
/// The order is row-major if the text has none; a fault if the order of the text is not a permutation.
fn major_to_minor(shape: &XlaShape, axes: &[Axis]) -> Result<Vec<usize>, NotationFault> {
    let rank = axes.len();
    let Some(order) = &shape.order else { return Ok((0..rank).collect()) };
    let each = each_once(rank);
    if order.len() != rank {
        let message = format!("{} of {rank} dimensions are in the order", order.len());
        return Err(NotationFault::axes(shape.order_span.clone(), message).help(each));
    }
    let mut found = Vec::new();
    for (dim, span) in order {
        let position = usize::try_from(*dim).ok().filter(|dim| *dim < rank);
        let Some(position) = position else {
            let message =
                format!("there is no dimension {dim}: they are 0 to {}", rank.saturating_sub(1));
            return Err(NotationFault::axes(span.clone(), message).help(each));
        };
        if found.contains(&position) {
            let message = format!("the dimension {dim} occurs twice");
            return Err(NotationFault::value(span.clone(), message).help(each));
        }
        found.push(position);
    }
    found.reverse();
    Ok(found)
}

fn elements(axes: &[Axis]) -> Option<i128> {
    axes.iter().try_fold(1_i128, |n, axis| n.checked_mul(axis.extent.as_const()?))
}

/// Number of elements that XLA's own `ArraySize` counts for `axes`, which are major to minor. It pads to the first tile
/// alone, and counts 0 if that tile contains `*`, even if an extent at or after the position of `*` is symbolic. `None`
/// if there is no tile, another extent is symbolic, or the number overflows.
fn first_tile_elements(axes: &[Axis], tile: Option<&XlaTile>) -> Option<i128> {
    let (extents, _) = tile?;
    let mut count = 1_i128;
    let missing = axes.len().saturating_sub(extents.len());
    for axis in axes.iter().take(missing) {
        count = count.checked_mul(axis.extent.as_const()?)?;
    }
    let units = extents.len().saturating_sub(axes.len());
    let ones = core::iter::repeat_n(Some(1), units);
    let dims = ones.chain(axes.iter().skip(missing).map(|axis| axis.extent.as_const()));
    for ((extent, _), dim) in extents.iter().zip(dims) {
        let Some(extent) = extent else { return Some(0) };
        let blocks = dim?.checked_add(extent - 1)? / extent;
        count = count.checked_mul(blocks.checked_mul(*extent)?)?;
    }
    Some(count)
}
