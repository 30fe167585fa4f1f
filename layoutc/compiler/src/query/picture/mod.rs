//! Pictures of layouts: a slice of the logical grid with the offset of each element, next to the memory.
//!
//! A picture is computed from the proven layout: its index functions and their inverse. The renderers [`terminal`],
//! [`svg`], [`page`] and [`json`] do not depend on layouts.

mod captions;
mod concrete_layout;
mod frame;
mod grid;
mod json;
mod memory;
mod page;
mod palette;
mod sample;
mod sharded;
mod style;
mod styled_text;
mod svg;
mod table;
mod terminal;
mod tiling;

use std::borrow::Cow;
use std::collections::BTreeMap;

use layoutc_algebra::symbol::Axis;

use crate::model::{Tensor, View};
use crate::query::locate::{self, NamedLocateError};

pub use frame::{FrameError, SliceFrame, fixed_index};
pub use grid::{GridCell, GridElement, LogicalGrid};
pub use json::json;
pub use memory::{MemoryGrid, MemoryRow, MemorySlot};
pub use page::page;
pub use palette::ColorDepth;
pub use sharded::side_by_side;
pub use svg::{inline, inline_style, svg};
pub use terminal::{room, terminal};
pub use tiling::GridLine;

use concrete_layout::ConcreteLayout;
use tiling::SliceTiling;

/// Maximum size of a picture. Larger layouts are sampled, with gaps between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLimits {
    /// Rows of the logical grid.
    pub rows: usize,
    /// Columns of the logical grid.
    pub columns: usize,
    /// Rows of memory.
    pub memory_rows: usize,
    /// Slots per row of memory.
    pub memory_columns: usize,
}

impl PictureLimits {
    /// Limits of a figure.
    pub const FIGURE: Self = Self { rows: 16, columns: 12, memory_rows: 16, memory_columns: 16 };
    /// Limits of a page with scrolling.
    pub const PAGE: Self = Self { rows: 64, columns: 64, memory_rows: 256, memory_columns: 64 };
}

/// Kind of the drawn object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSubject {
    /// Tensor: slots without an element are padding.
    Tensor,
    /// Shards of a tensor on many devices, by [`side_by_side`]: that number of leading storage axes selects the shard
    /// and the color.
    Parts(usize),
    /// View: other slots belong to the base.
    View,
    /// View of which several elements share a slot.
    SharedView,
}

impl PictureSubject {
    /// Drawn tensor and its kind: all shards of a sharded tensor, else `tensor`, which is that of `view` if given.
    ///
    /// # Errors
    /// As of [`side_by_side`].
    pub fn of<'t>(
        tensor: &'t Tensor,
        view: Option<&View>,
    ) -> Result<(Cow<'t, Tensor>, Self), NamedLocateError> {
        if let Some((whole, axes)) = side_by_side(tensor)? {
            return Ok((Cow::Owned(whole), Self::Parts(axes)));
        }
        let subject = match view {
            Some(view) if view.is_shared => Self::SharedView,
            Some(_) => Self::View,
            None => Self::Tensor,
        };
        Ok((Cow::Borrowed(tensor), subject))
    }
}

/// Layout with everything that is drawn.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Name of the tensor.
    pub tensor: String,
    /// Element type in manifest syntax.
    pub dtype: String,
    /// Values of the symbols.
    pub symbols: Vec<(String, i128)>,
    /// Logical axes with their extents.
    pub logical: Vec<(String, i128)>,
    /// Storage axes with their extents.
    pub storage: Vec<(String, i128)>,
    /// Storage axes followed by a separator.
    pub separators: Vec<usize>,
    /// Physical shape.
    pub physical: Vec<i128>,
    /// Slots of the flat buffer.
    pub slots: i128,
    /// Drawn axes, and fixed indices of the others.
    pub frame: SliceFrame,
    /// Storage axes that determine the color of an element.
    pub colored_by: Vec<String>,
    /// Logical grid.
    pub grid: LogicalGrid,
    /// Memory.
    pub memory: MemoryGrid,
}

/// Logical axes of a tensor with their extents.
///
/// # Errors
/// As of [`picture`].
pub fn extents(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<Vec<(String, i128)>, NamedLocateError> {
    let figures = ConcreteLayout::new(&tensor.layout, locate::values(tensor, symbols)?)?;
    Ok(named(tensor.layout.logical(), &figures.logical))
}

fn named(axes: &[Axis], extents: &[i128]) -> Vec<(String, i128)> {
    let names = axes.iter().map(|axis| axis.name.clone());
    names.zip(extents.iter().copied()).collect()
}

/// Picture of `tensor` within the limits.
///
/// # Errors
/// [`NamedLocateError`] for symbols without a value and for overflows.
pub fn picture(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    frame: SliceFrame,
    room: PictureLimits,
    subject: PictureSubject,
) -> Result<Picture, NamedLocateError> {
    let layout = &tensor.layout;
    let figures = ConcreteLayout::new(layout, locate::values(tensor, symbols)?)?;
    let mut tiling = SliceTiling::new(&figures, &frame);
    if let PictureSubject::Parts(axes) = subject {
        tiling.colors = (0..axes).collect();
    }
    let grid = LogicalGrid::new(&figures, &frame, &tiling, room, subject);
    let memory = MemoryGrid::new(&figures, &frame, &tiling, &grid, room, subject)?;
    let known = layout.symbols().iter().map(|symbol| symbol.name.clone());
    Ok(Picture {
        tensor: tensor.name.clone(),
        dtype: tensor.dtype.to_string(),
        symbols: known.zip(figures.symbols.iter().copied()).collect(),
        logical: named(layout.logical(), &figures.logical),
        storage: named(layout.storage(), &figures.storage),
        separators: layout.separators().to_vec(),
        physical: figures.physical.clone(),
        slots: figures.slots,
        frame,
        colored_by: tiling.colored_by(layout),
        grid,
        memory,
    })
}
