//! Layout steps that are index maps: `split`, `fuse`, `order`, `pad` and `tile`. Each function takes the current
//! storage axes, outermost first, and the arguments of a step, and returns the [`IndexMap`] from the current axes to
//! the new ones. Extents and negative indices are checked where the map is applied (see [`crate::builder`]).
//!
//! The other steps of a manifest are elsewhere: `map` in [`crate::map`], `notation` in [`crate::notation`], the steps
//! that place axes in memory (`axis-separators`, `strides`, `align`, `swizzle`) in `builder/placement.rs`, and `apply`,
//! `fill` and `padding` in the compiler. The list of all steps is `StepKind` in
//! `compiler/src/manifest/syntax/layout_step.rs`; their names and signatures are `STEPS` in
//! `compiler/src/manifest/read/keywords.rs`.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use crate::expr::{BinOp, Expr, ExprError, Var};
use crate::map::{IndexMap, MapItem};
use crate::symbol::Axis;

mod fuse;
mod order;
mod pad;
mod split;
mod tile;

pub use fuse::fuse;
pub use order::{OrderEntry, order};
pub use pad::{pad_around, pad_to_multiple};
pub use split::split;
pub use tile::{TileExtent, tile};

/// Reason why the arguments of a layout step are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StepError {
    /// No current axis has the given name.
    #[error("unknown axis `{name}`; the axes are {}", axes.join(", "))]
    UnknownAxis {
        /// Name in the arguments of the step that is not an axis.
        name: String,
        /// Names of the current axes, outermost first.
        axes: Vec<String>,
    },
    /// An axis is named twice, as in `order h h`. Contains its name.
    #[error("axis `{0}` is repeated")]
    RepeatedAxis(String),
    /// The step `order` has no `...` and omits axes. Contains their names, in the order of the current axes.
    #[error("`order` omits {}", .0.join(", "))]
    MissingAxes(Vec<String>),
    /// The step `order` contains `...` more than once.
    #[error("`...` is repeated")]
    TwoEllipses,
    /// The axes of a step `fuse` do not follow each other directly, as in `fuse h c` for the axes `h`, `w`, `c`.
    #[error("`{first}` and `{second}` are not adjacent in this order")]
    NotAdjacent {
        /// Name of the axis that comes first in the arguments.
        first: String,
        /// Name of the next axis in the arguments, which does not directly follow `first` in the layout.
        second: String,
    },
    /// The step `fuse` has fewer than two axes.
    #[error("`fuse` needs at least two axes")]
    TooFewAxes,
    /// A tile has no entries, or its last entry is `*`, as in `tile 8 *`.
    #[error(
        "a tile needs at least one extent, and its last entry cannot be `*`: there is nothing to merge into"
    )]
    TrailingStar,
    /// The number of names given for the new axes of a step differs from the number of new axes.
    #[error("{given} names for {wanted} axes: {}", wanted_axes.join(", "))]
    NameCount {
        /// Number of names in the arguments of the step.
        given: usize,
        /// Number of new axes, which is the number of names required.
        wanted: usize,
        /// Names that are derived for the new axes if the step states none, outermost first.
        wanted_axes: Vec<String>,
    },
    /// The layout would have more than [`MAX_AXES`] storage axes, or a tile has more entries than that. Contains the
    /// number of axes or entries.
    #[error("the layout would have {0} storage axes; the limit is {MAX_AXES}")]
    TooManyAxes(usize),
    /// An index expression of the new map is too large, or a constant is out of range.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Maximum number of storage axes of a layout; a step that would exceed it fails with [`StepError::TooManyAxes`].
pub const MAX_AXES: usize = 64;

/// Position in `axes`, from 0, of the axis named `name`.
///
/// # Errors
/// [`StepError::UnknownAxis`].
pub fn find_axis(axes: &[Axis], name: &str) -> Result<usize, StepError> {
    let unknown = || StepError::UnknownAxis { name: String::from(name), axes: names(axes) };
    axes.iter().position(|axis| axis.name == name).ok_or_else(unknown)
}

fn names(axes: &[Axis]) -> Vec<String> {
    axes.iter().map(|axis| axis.name.clone()).collect()
}

/// Index along the current axis at `position`, as the variable `Var::Storage(position)`.
fn current(position: usize) -> Expr {
    Expr::var(Var::Storage(u32::try_from(position).unwrap_or(u32::MAX)))
}

/// Map item that keeps the axis `axes[position]` unchanged, with its name and extent.
fn identity_item(axes: &[Axis], position: usize) -> MapItem {
    let (name, extent) = match axes.get(position) {
        Some(axis) => (axis.name.clone(), Some(axis.extent.clone())),
        None => (String::new(), None),
    };
    MapItem { name, index: current(position), extent, span: 0..0 }
}

fn item(name: String, index: Expr) -> MapItem {
    MapItem { name, index, extent: None, span: 0..0 }
}

fn binary(op: BinOp, a: &Expr, b: &Expr) -> Result<Expr, StepError> {
    Ok(Expr::binary(op, a, b)?)
}

/// Index map with the given items, outermost first, without axis separators; [`StepError::TooManyAxes`] if there are
/// more than [`MAX_AXES`] items.
fn map_of(items: Vec<MapItem>) -> Result<IndexMap, StepError> {
    if items.len() > MAX_AXES {
        return Err(StepError::TooManyAxes(items.len()));
    }
    Ok(IndexMap { items, separators: Vec::new() })
}
