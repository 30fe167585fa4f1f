//! Pictures of layouts: a slice of the logical grid with the offset of each element, beside the memory that it lies in.
//!
//! A picture is read off the proven layout: its index functions and their inverse. [`terminal`], [`svg`], [`page`] and
//! [`json`] draw it; none of them knows a layout.

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

use std::collections::BTreeMap;

use layoutc_algebra::layout::Axis;

use crate::locate::{self, NamedLocateError};
use crate::model::Tensor;

pub use frame::{FrameError, SliceFrame};
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

/// How much of a layout is drawn; what is beyond is left out between blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLimits {
    /// Rows of the logical grid.
    pub rows: usize,
    /// Columns of the logical grid.
    pub columns: usize,
    /// Rows of memory.
    pub memory_rows: usize,
    /// Slots in each of them.
    pub memory_columns: usize,
}

impl PictureLimits {
    /// Of a figure that is looked at as a whole.
    pub const FIGURE: Self = Self { rows: 16, columns: 12, memory_rows: 16, memory_columns: 16 };
    /// Of a page that is scrolled.
    pub const PAGE: Self = Self { rows: 64, columns: 64, memory_rows: 256, memory_columns: 64 };
}

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureSubject {
    /// A tensor: what it leaves of its memory is padding.
    Tensor,
    /// The parts of a tensor on many devices, by [`side_by_side`]: so many storage axes number them, and choose the colour.
    Parts(usize),
    /// A view: the rest of the memory is not its own.
    View,
    /// A view several elements of which have one slot.
    SharedView,
}

/// A layout with all that is drawn of it.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The tensor's name.
    pub tensor: String,
    /// The element type, as manifests write it.
    pub dtype: String,
    /// The values of the symbols.
    pub symbols: Vec<(String, i128)>,
    /// The logical axes with their extents.
    pub logical: Vec<(String, i128)>,
    /// The storage axes likewise.
    pub storage: Vec<(String, i128)>,
    /// After which storage axes a separator stands.
    pub separators: Vec<usize>,
    /// The shape of the memory.
    pub physical: Vec<i128>,
    /// Slots of the flat buffer.
    pub slots: i128,
    /// Which axes are drawn, and where the others are held.
    pub frame: SliceFrame,
    /// The storage axes that choose the colour of an element.
    pub colored_by: Vec<String>,
    /// The logical grid.
    pub grid: LogicalGrid,
    /// The memory.
    pub memory: MemoryGrid,
}

/// The logical axes of a tensor with their extents.
///
/// # Errors
/// As [`picture`].
pub fn extents(
    tensor: &Tensor,
    symbols: &BTreeMap<String, i128>,
) -> Result<Vec<(String, i128)>, NamedLocateError> {
    let figures = ConcreteLayout::new(&tensor.layout, locate::values(tensor, symbols)?)?;
    Ok(named(&tensor.layout.logical, &figures.logical))
}

fn named(axes: &[Axis], extents: &[i128]) -> Vec<(String, i128)> {
    let names = axes.iter().map(|axis| axis.name.clone());
    names.zip(extents.iter().copied()).collect()
}

/// The picture of `tensor`, as much as there is room for.
///
/// # Errors
/// [`NamedLocateError`] for symbols without a value, and for values that leave the integers.
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
    let known = layout.symbols.iter().map(|symbol| symbol.name.clone());
    Ok(Picture {
        tensor: tensor.name.clone(),
        dtype: tensor.dtype.to_string(),
        symbols: known.zip(figures.symbols.iter().copied()).collect(),
        logical: named(&layout.logical, &figures.logical),
        storage: named(&layout.storage, &figures.storage),
        separators: layout.separators.clone(),
        physical: figures.physical.clone(),
        slots: figures.slots,
        frame,
        colored_by: tiling.colored_by(layout),
        grid,
        memory,
    })
}
