//! Pictures of layouts: a slice of the logical grid, in which each cell has the offset of its element, next to the
//! memory.
//!
//! A [`Picture`] is computed from the proven layout: its index functions and their inverse. The renderers [`terminal`],
//! [`svg`], [`page`] and [`json`] read only the [`Picture`].

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
pub use tiling::{CellText, GridLine};

use concrete_layout::ConcreteLayout;
use tiling::SliceTiling;

/// Maximum size of a picture, in cells. Of larger layouts a sample of rows and columns is drawn, with gaps in place of
/// the omitted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLimits {
    /// Maximum number of rows of the logical grid.
    pub rows: usize,
    /// Maximum number of columns of the logical grid.
    pub columns: usize,
    /// Maximum number of rows of memory.
    pub memory_rows: usize,
    /// Maximum number of drawn slots in a row of memory.
    pub memory_columns: usize,
}

impl PictureLimits {
    /// Limits of a picture in a document, such as a chapter of a book.
    pub const FIGURE: Self = Self { rows: 16, columns: 12, memory_rows: 16, memory_columns: 16 };
    /// Limits of a picture on a web page, which can scroll.
    pub const PAGE: Self = Self { rows: 64, columns: 64, memory_rows: 256, memory_columns: 64 };
}

/// Meaning of the colors of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coloring {
    /// Tiles, or lanes.
    Tiles,
    /// Banks of shared memory, four to a color, with the bank as the text of an element.
    Banks,
}

/// Kind of object that a picture draws. It determines how slots without an element are explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSubject {
    /// Tensor: slots without an element are padding.
    Tensor,
    /// Shards of a sharded tensor, combined by [`side_by_side`]. The member is the number of leading storage axes that
    /// number the shards. The color of an element depends on its shard.
    Parts(usize),
    /// View: slots without an element of the view are explained as outside of the view.
    View,
    /// View with several elements in one slot, such as a broadcast.
    SharedView,
}

impl PictureSubject {
    /// Pair of the tensor to draw and the kind of picture. For a sharded tensor it is the tensor of all shards,
    /// otherwise `tensor` itself. `view` is the view whose elements `tensor` has, or `None` if `tensor` is not that of
    /// a view.
    ///
    /// # Errors
    /// [`NamedLocateError::Value`] if the shards have no common layout, as in [`side_by_side`].
    pub fn of<'t>(
        tensor: &'t Tensor,
        view: Option<&View>,
    ) -> Result<(Cow<'t, Tensor>, Self), NamedLocateError> {
        if let Some((whole, axes)) = side_by_side(tensor)? {
            return Ok((Cow::Owned(whole), Self::Parts(axes)));
        }
        let subject = match view {
            Some(view) if view.is_broadcast() => Self::SharedView,
            Some(_) => Self::View,
            None => Self::Tensor,
        };
        Ok((Cow::Borrowed(tensor), subject))
    }
}

/// Picture of a layout: the data that renderers need.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Name of the tensor.
    pub tensor: String,
    /// Element type in manifest notation: `f32`.
    pub dtype: String,
    /// Values of the layout's symbols, by name.
    pub symbols: Vec<(String, i128)>,
    /// Names and extents of the logical axes, outermost first.
    pub logical: Vec<(String, i128)>,
    /// Names and extents of the storage axes, outermost first.
    pub storage: Vec<(String, i128)>,
    /// Positions of the storage axes that an axis separator follows.
    pub separators: Vec<usize>,
    /// Extents of the physical axes, outermost first.
    pub physical: Vec<i128>,
    /// Number of slots of the flat buffer.
    pub slots: i128,
    /// Drawn slice: two logical axes, and fixed indices of the remaining axes.
    pub frame: SliceFrame,
    /// Names of the storage axes whose indices determine the color of an element.
    pub colored_by: Vec<String>,
    /// Text of an element in the logical grid: its indices along an axis named `lane` or `thread` and the axes after it,
    /// its bank on request, or its offset.
    pub text: CellText,
    /// Logical grid of the drawn slice.
    pub grid: LogicalGrid,
    /// Drawn part of the memory.
    pub memory: MemoryGrid,
}

/// Names and extents of a tensor's logical axes, outermost first. `symbols` holds the values of symbols by name.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest, [`NamedLocateError::Value`] if a computation fails, for example by an overflow.
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

/// Computes the picture of the slice `frame` of `tensor` within the limits `room`, colored by `coloring`. `symbols` holds the values of symbols by name, and `subject` is the kind of object that `tensor` stands for.
///
/// # Errors
/// [`NamedLocateError::Symbol`] if a symbol has no value, [`NamedLocateError::Facts`] if its value violates the
/// constraints of the manifest, [`NamedLocateError::Value`] if a computation fails, for example by an overflow.
pub fn picture(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
    frame: SliceFrame,
    room: PictureLimits,
    (subject, coloring): (PictureSubject, Coloring),
) -> Result<Picture, NamedLocateError> {
    let layout = &tensor.layout;
    let figures = ConcreteLayout::new(layout, locate::values(tensor, symbols)?)?;
    let mut tiling = SliceTiling::new(&figures, &frame);
    if coloring == Coloring::Banks {
        tiling.text = CellText::Bank(tensor.dtype.element_bits());
    }
    if let PictureSubject::Parts(axes) = subject {
        tiling.colors = (0..axes).collect();
        tiling.text = CellText::Offset;
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
        text: tiling.text,
        grid,
        memory,
    })
}
