//! Combination of a sharded tensor's shards into one tensor for pictures.

use crate::model::Tensor;
use crate::query::locate::NamedLocateError;

/// Pair `(tensor, axes)`: a tensor that contains every shard of a sharded tensor once, and the number of its leading
/// storage axes that number the shards. These axes have the names of mesh axes. `None` for a tensor that is not
/// sharded.
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
