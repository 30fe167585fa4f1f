//! Combination of a sharded tensor's shards into one tensor for pictures.

use crate::model::Tensor;
use crate::query::locate::NamedLocateError;

/// Whole tensor of which `tensor` is one shard, in one memory that contains each shard once, one after another. Returns
/// the pair `(whole, axes)`: the first `axes` storage axes of `whole` number the shards, and are named like the mesh
/// axes. `None` for a tensor that is not sharded.
///
/// # Errors
/// [`NamedLocateError::Value`] if the shards have no common layout, for example because an expression becomes too large
/// or the sharding does not fit the layout of the shard.
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
