//! Template model of tensors that are sharded over devices.

use layoutc_algebra::layout::Verdict;

use super::Settings;
use super::model::{AxisUnit, MeshAxisUnit, ReshardUnit, RingUnit, ShardingUnit};
use super::test_unit::fill_stmt;
use crate::loops::error::PlanError;
use crate::lower::context::{Context, Naming};
use crate::lower::expr::lower;
use crate::lower::index::ring::RingPlan;
use crate::lower::index::sharding::ShardingPlan;
use crate::lower::reshard::{tensors, traffic};
use crate::model::reshard::{DeviceSharding, Reshard};
use crate::model::ring::Ring;
use crate::model::{Fill, Manifest, Memory, Tensor};

/// Template model of a tensor's sharding. `plan` has the index functions of the sharding, and `context` the identifiers
/// of the symbols in the extents.
pub(super) fn sharding(
    sharded: &DeviceSharding,
    plan: ShardingPlan,
    context: &Context<'_>,
) -> Result<ShardingUnit, PlanError> {
    let mesh_axes = mesh_axes(sharded);
    let axis = |axis: &layoutc_algebra::symbol::Axis| {
        let extent = lower(&axis.extent, &|var| context.symbol(var))?.into();
        Ok(AxisUnit { name: axis.name.clone(), extent, labels: Vec::new() })
    };
    let whole = sharded.whole.iter().map(axis).collect::<Result<Vec<_>, PlanError>>()?;
    let name = |position: &usize| mesh_axes.get(*position).map(|axis| axis.name.clone());
    let repeated = sharded.sharding.repeated(&sharded.mesh);
    let size = |position: &usize| mesh_axes.get(*position).map_or(1, |axis| axis.size);
    let replicas = repeated.iter().map(size).product();
    let cuts = sharded.sharding.over().iter().map(|list| list.iter().filter_map(name).collect());
    Ok(ShardingUnit {
        mesh: sharded.mesh_name.clone(),
        devices: sharded.devices(),
        cuts: cuts.collect(),
        whole,
        replicas,
        uneven: sharded.is_uneven(),
        functions: plan.functions.into_iter().map(Into::into).collect(),
        mesh_axes,
    })
}

/// Template model of a tensor's ring buffer. `plan` has its index function, and `context` the identifiers of the
/// symbols in the extents.
pub(super) fn ring(
    ring: &Ring,
    plan: RingPlan,
    context: &Context<'_>,
) -> Result<RingUnit, PlanError> {
    let axis = |axis: &layoutc_algebra::symbol::Axis| {
        let extent = lower(&axis.extent, &|var| context.symbol(var))?.into();
        Ok(AxisUnit { name: axis.name.clone(), extent, labels: Vec::new() })
    };
    Ok(RingUnit {
        axis: ring.axis,
        name: ring.name().to_owned(),
        held: i64::try_from(ring.capacity)
            .map_err(|_| PlanError::Literal { value: ring.capacity })?,
        whole: ring.whole.iter().map(axis).collect::<Result<Vec<_>, PlanError>>()?,
        at: plan.at.into(),
    })
}

/// Axes of a mesh, outermost (major) first. The stride of an axis is a difference of device numbers: 1 for the last
/// axis.
fn mesh_axes(sharded: &DeviceSharding) -> Vec<MeshAxisUnit> {
    let mut stride = 1;
    let mut axes: Vec<MeshAxisUnit> = Vec::new();
    for axis in sharded.mesh.axes.iter().rev() {
        axes.push(MeshAxisUnit { name: axis.name.clone(), size: axis.size, stride });
        stride *= axis.size;
    }
    axes.reverse();
    axes
}

/// Template model of a conversion between shardings. `None` on a target with GPU kernels, if a tensor does not exist,
/// is not sharded or has no memory, or if the communication cannot be computed, because an extent is not constant or a
/// number is too large.
///
/// # Errors
/// [`PlanError::Literal`] if a count exceeds 64 bits.
pub(super) fn reshard(
    manifest: &Manifest,
    reshard: &Reshard,
    naming: &Naming<'_>,
    settings: &Settings,
) -> Result<Option<ReshardUnit>, PlanError> {
    let Some([from, to]) = tensors(manifest, reshard) else { return Ok(None) };
    let is_absent = [from, to].iter().any(|tensor| tensor.memory == Memory::None);
    let (Some(source), Some(destination)) = (&from.sharded, &to.sharded) else { return Ok(None) };
    if settings.language.kernels || is_absent {
        return Ok(None);
    }
    let Some(traffic) = traffic(manifest, reshard) else { return Ok(None) };
    let number = |value: i128| i64::try_from(value).map_err(|_| PlanError::Literal { value });
    let repeated = source.sharding.repeated(&source.mesh);
    let axes = mesh_axes(source).into_iter().enumerate();
    let sent = traffic.sent.as_ref();
    Ok(Some(ReshardUnit {
        name: naming.tensor(&format!("{}_to_{}", from.name, to.name)),
        from: reshard.from,
        to: reshard.to,
        axes: reshard.axes.clone(),
        ranks: traffic.ranks,
        repeated: axes.filter(|(k, _)| repeated.contains(k)).map(|(_, axis)| axis).collect(),
        typed: from.layout.is_separable() && to.layout.is_separable(),
        element_bytes: i64::from(from.dtype.element_bits() / 8),
        max_staging: reshard.max_staging,
        fill: fills(to, destination).then(|| fill_stmt(to).into()),
        least_bytes: number(traffic.least_bytes)?,
        sent_bytes: sent.map(|sent| number(sent.bytes)).transpose()?,
        messages: sent.map(|sent| sent.messages),
    }))
}

/// True if shards of the tensor have padding with a fill value.
fn fills(tensor: &Tensor, sharded: &DeviceSharding) -> bool {
    let is_padded = tensor.layout.verdict() == Verdict::Padded || sharded.is_uneven();
    is_padded && tensor.fill != Fill::Nothing
}
