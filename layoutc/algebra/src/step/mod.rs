//! Layout steps, one per file. A step returns an [`IndexMap`] on the current axes. Checks that apply to every
//! map, such as those of extents and negative indices, are made where the map is applied (see
//! [`crate::builder`]).

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

/// Reason why the arguments of a step are invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StepError {
    /// No current axis has this name.
    #[error("unknown axis `{name}`; the axes are {}", axes.join(", "))]
    UnknownAxis {
        /// Name that is not an axis.
        name: String,
        /// Names of the current axes.
        axes: Vec<String>,
    },
    /// An axis is named twice.
    #[error("axis `{0}` is repeated")]
    RepeatedAxis(String),
    /// The step `order` omits axes.
    #[error("`order` omits {}", .0.join(", "))]
    MissingAxes(Vec<String>),
    /// The step `order` contains `...` twice.
    #[error("`...` is repeated")]
    TwoEllipses,
    /// The axes of a step `fuse` are not adjacent in this order.
    #[error("`{first}` and `{second}` are not adjacent in this order")]
    NotAdjacent {
        /// Name of the first axis.
        first: String,
        /// Name of the axis that should follow it directly.
        second: String,
    },
    /// The step `fuse` has fewer than two axes.
    #[error("`fuse` needs at least two axes")]
    TooFewAxes,
    /// A tile has no extents, or ends in `*`.
    #[error(
        "a tile needs at least one extent, and its last entry cannot be `*`: there is nothing to merge into"
    )]
    TrailingStar,
    /// The number of names differs from the number of axes to be named.
    #[error("{given} names for {wanted} axes: {}", wanted_axes.join(", "))]
    NameCount {
        /// Number of names given.
        given: usize,
        /// Number of names needed.
        wanted: usize,
        /// Default names of the axes to be named.
        wanted_axes: Vec<String>,
    },
    /// The layout would have more than [`MAX_AXES`] axes.
    #[error("the layout would have {0} storage axes; the limit is {MAX_AXES}")]
    TooManyAxes(usize),
    /// An expression is too large, or a value is out of range.
    #[error(transparent)]
    Expr(#[from] ExprError),
}

/// Maximum number of axes of a layout.
pub const MAX_AXES: usize = 64;

/// Position of the axis with this name.
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

/// Index along the current axis at `position`, as an expression.
fn current(position: usize) -> Expr {
    Expr::var(Var::Storage(u32::try_from(position).unwrap_or(u32::MAX)))
}

/// Map item that keeps the current axis at `position` unchanged.
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

/// Index map of these items, without separators; an error if there are more than [`MAX_AXES`].
fn map_of(items: Vec<MapItem>) -> Result<IndexMap, StepError> {
    if items.len() > MAX_AXES {
        return Err(StepError::TooManyAxes(items.len()));
    }
    Ok(IndexMap { items, separators: Vec::new() })
}
