//! Shardings as Python expressions for JAX: `jax.make_mesh`, `PartitionSpec`, `NamedSharding`.
//!
//! Source: JAX, `partition_spec.py`, `named_sharding.py` and `mesh.py`. The entry of a tensor axis is the name of
//! a mesh axis, a tuple of names, or `None` for an axis that is not sharded. Trailing entries `None` are optional
//! in JAX, and are written here to show the rank.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::inexpressible::ShardingInexpressible;
use super::mesh::{Mesh, MeshAxis};
use super::mesh_sharding::MeshSharding;
use super::placement::{DevicePlacement, TensorSharding};

/// Python expression of a sharding: `NamedSharding(…)`, or `SingleDeviceSharding(…)` for a tensor on one device. The
/// expression refers to a Python variable `mesh` if the sharding has no mesh. `rank` is the rank of the tensor if the
/// sharding fits any rank, as in [`MeshSharding::of`].
///
/// # Errors
/// [`ShardingInexpressible::Group`] if the tensor is in a shard group, [`ShardingInexpressible::Name`] if the name of a
/// mesh axis cannot be quoted, and the errors of [`MeshSharding::of`] except [`ShardingInexpressible::Maximal`].
pub fn expression(
    placed: &TensorSharding,
    rank: Option<usize>,
) -> Result<String, ShardingInexpressible> {
    if placed.group.is_some() {
        return Err(ShardingInexpressible::Group);
    }
    if let DevicePlacement::Maximal { device } | DevicePlacement::MaximalMesh { device } =
        &placed.placement
    {
        return Ok(format!("SingleDeviceSharding(jax.devices()[{device}])"));
    }
    let meshed = MeshSharding::of(&placed.placement, rank)?;
    let spec = partition_spec(&meshed)?;
    match meshed.mesh.axes.as_slice() {
        [] => Ok(format!("NamedSharding(mesh, {spec})")),
        _ => Ok(format!("NamedSharding({}, {spec})", make_mesh(&meshed.mesh)?)),
    }
}

/// Python expression that creates a mesh, such as `jax.make_mesh((2, 4), ('x', 'y'))`.
///
/// # Errors
/// [`ShardingInexpressible::Name`] if the name of a mesh axis cannot be quoted.
pub fn make_mesh(mesh: &Mesh) -> Result<String, ShardingInexpressible> {
    let sizes: Vec<String> = mesh.axes.iter().map(|axis| format!("{}", axis.size)).collect();
    let names = mesh.axes.iter().map(quoted).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("jax.make_mesh({}, {})", tuple(&sizes), tuple(&names)))
}

/// Python expression `PartitionSpec(…)` with one entry per tensor axis, the mesh axes that shard it. Mesh axes over
/// which the devices hold partial sums follow as `unreduced`: `PartitionSpec('x', None, ('y', 'z'), unreduced={'w'})`.
///
/// # Errors
/// [`ShardingInexpressible::Name`] if the name of a mesh axis cannot be quoted.
pub fn partition_spec(meshed: &MeshSharding) -> Result<String, ShardingInexpressible> {
    let names = |positions: &[usize]| -> Result<Vec<String>, ShardingInexpressible> {
        positions
            .iter()
            .filter_map(|position| meshed.mesh.axes.get(*position))
            .map(quoted)
            .collect()
    };
    let mut entries = Vec::new();
    for positions in meshed.sharding.over() {
        let names = names(positions)?;
        entries.push(match names.as_slice() {
            [] => "None".into(),
            [name] => name.clone(),
            _ => tuple(&names),
        });
    }
    if !meshed.unreduced.is_empty() {
        entries.push(format!("unreduced={{{}}}", names(&meshed.unreduced)?.join(", ")));
    }
    Ok(format!("PartitionSpec({})", entries.join(", ")))
}

/// Python tuple of these entries, as text: `(a, b)`, and `(a,)` for one entry.
fn tuple(entries: &[String]) -> String {
    match entries {
        [entry] => format!("({entry},)"),
        _ => format!("({})", entries.join(", ")),
    }
}

/// Name of a mesh axis as a Python string literal; [`ShardingInexpressible::Name`] if the name contains a quote,
/// a backslash or a control character.
fn quoted(axis: &MeshAxis) -> Result<String, ShardingInexpressible> {
    if axis.name.chars().any(|c| c.is_control() || matches!(c, '\'' | '"' | '\\')) {
        return Err(ShardingInexpressible::Name { name: axis.name.clone() });
    }
    Ok(format!("'{}'", axis.name))
}
