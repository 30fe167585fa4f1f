//! The step `tile 8 128`, which tiles the innermost axes as XLA does.
//!
//! Source: XLA, tiled layout. With innermost extents `d` and tile extents `t`, the new shape is the extents of all
//! outer axes, then `ceil(d / t)` for each tiled axis, then `t`. Before tiling, an entry `*` merges its axis into the
//! next inner one.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{StepError, binary, current, identity_item, item, map_of};
use crate::expr::{BinOp, Expr};
use crate::map::{IndexMap, unique};
use crate::symbol::Axis;

/// Entry of a tile for one axis: `*`, or an extent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TileExtent {
    /// Merge of the axis into the next inner one, written as `*`: merging `h` into `w` gives the index
    /// `h * extent(w) + w`.
    Merge,
    /// Extent of the tile along the axis, in elements.
    Extent(Expr),
}

/// Axis that is tiled, after outer axes have been merged into it: its name, its index over the current axes, and the
/// extent of the tile in elements.
struct TiledAxis {
    name: String,
    index: Expr,
    tile: Expr,
}

/// Tiles the last `tile.len()` axes. A tile longer than the rank implies leading axes of extent 1, named `unit0`, …. In
/// place of the tiled axes come the grid axes (`index // tile`), named `<axis>_outer`, then the axes within the tile
/// (`index % tile`), named `<axis>_inner`; a name that is taken gets a suffix such as `_2`. `names`, unless empty,
/// replaces these names, in the same order.
///
/// For example, [3, 5] under the tile [2, 2] becomes [2, 3, 2, 2], and the index (2, 3) becomes (1, 1, 0, 1).
///
/// # Errors
/// [`StepError::TrailingStar`] if `tile` is empty or ends with [`TileExtent::Merge`]; [`StepError::NameCount`] if
/// `names` has another number of names; [`StepError::TooManyAxes`]; [`StepError::Expr`] if an index becomes too large
/// an expression.
pub fn tile(axes: &[Axis], tile: &[TileExtent], names: &[String]) -> Result<IndexMap, StepError> {
    if !matches!(tile.last(), Some(TileExtent::Extent(_))) {
        return Err(StepError::TrailingStar);
    }
    if tile.len() > super::MAX_AXES {
        return Err(StepError::TooManyAxes(tile.len()));
    }
    let prefix = axes.len().saturating_sub(tile.len());
    let bodies = merge(axes, prefix, tile)?;
    let derived: Vec<String> = ["outer", "inner"]
        .iter()
        .flat_map(|end| bodies.iter().map(move |body| format!("{}_{end}", body.name)))
        .collect();
    if !names.is_empty() && names.len() != derived.len() {
        return Err(StepError::NameCount {
            given: names.len(),
            wanted: derived.len(),
            wanted_axes: derived,
        });
    }
    let mut taken: BTreeSet<String> = axes.iter().take(prefix).map(|a| a.name.clone()).collect();
    let chosen: Vec<String> = if names.is_empty() {
        derived.into_iter().map(|name| unique(&name, &mut taken)).collect()
    } else {
        names.to_vec()
    };
    let mut indices = Vec::new();
    for op in [BinOp::FloorDiv, BinOp::Mod] {
        for body in &bodies {
            indices.push(binary(op, &body.index, &body.tile)?);
        }
    }
    let mut items: Vec<_> = (0..prefix).map(|k| identity_item(axes, k)).collect();
    items.extend(chosen.into_iter().zip(indices).map(|(name, index)| item(name, index)));
    map_of(items)
}

/// Axes to be tiled, outermost first, each with the outer axes that a `*` merges into it. `prefix` is the number of
/// leading axes of `axes` that the tile does not cover. If the tile is longer than the rank, its leading entries apply
/// to additional axes of extent 1.
fn merge(axes: &[Axis], prefix: usize, tile: &[TileExtent]) -> Result<Vec<TiledAxis>, StepError> {
    let units = tile.len().saturating_sub(axes.len());
    let mut bodies = Vec::new();
    let mut merged: Option<(String, Expr)> = None;
    for (k, entry) in tile.iter().enumerate() {
        let (name, index, extent) = if k < units {
            (format!("unit{k}"), Expr::constant(0), Expr::constant(1))
        } else {
            let position = prefix + k - units;
            match axes.get(position) {
                Some(axis) => (axis.name.clone(), current(position), axis.extent.clone()),
                None => continue,
            }
        };
        let (name, index) = match merged.take() {
            None => (name, index),
            Some((outer, above)) => {
                let scaled = binary(BinOp::Mul, &above, &extent)?;
                (format!("{outer}_{name}"), binary(BinOp::Add, &scaled, &index)?)
            }
        };
        match entry {
            TileExtent::Merge => merged = Some((name, index)),
            TileExtent::Extent(tile) => bodies.push(TiledAxis { name, index, tile: tile.clone() }),
        }
    }
    Ok(bodies)
}
