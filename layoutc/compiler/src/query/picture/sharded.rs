//! A sharded tensor as one tensor: the shards of all devices in one memory.

use crate::model::Tensor;
use crate::query::locate::NamedLocateError;

/// A whole sharded tensor, each shard once, and the number of leading storage axes that number the shards and are named
/// like the mesh axes; `None` for any other tensor.
///
/// # Errors
/// [`NamedLocateError::Value`] if an expression becomes too large.
pub fn side_by_side(tensor: &Tensor) -> Result<Option<(Tensor, usize)>, NamedLocateError> {
    let Some(sharded) = &tensor.sharded else { return Ok(None) };
    let (layout, axes) = tensor
        .layout
        .of_shards(&sharded.mesh, &sharded.sharding, &sharded.whole)
        .map_err(|error| NamedLocateError::Value(error.to_string()))?;
    let mut whole = tensor.with_layout(layout);
    whole.sharded = None;
    Ok(Some((whole, axes)))
}
