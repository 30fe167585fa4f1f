//! Checks of conversions between sharded tensors that exchange data between devices.

use std::ops::Range;
use std::sync::Arc;

use super::scope::{ManifestScope, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::ConvertItem;
use crate::model::Tensor;
use crate::model::reshard::DeviceSharding;

/// Maximum number of devices of a conversion that exchanges data. A conversion over more is an error.
const MAX_RANKS: i64 = 1 << 16;

/// Returns true if the conversion `item` exchanges data between devices; false if neither tensor is sharded, or both
/// are sharded in the same way without padding. Axis `k` of the source is axis `axes[k]` of the destination.
///
/// # Errors
/// `mesh::convert` if only one tensor is sharded, or if `max-staging=` is given without an exchange. For an exchange
/// also if the element types differ or have fewer than 8 bits, if `item` has `cast=` or a schedule, if there are more
/// than [`MAX_RANKS`] devices, or if an extent is symbolic.
pub(super) fn is_between(
    [source, destination]: [&Tensor; 2],
    axes: &[usize],
    item: &ConvertItem,
    file: &Arc<str>,
) -> Result<bool, Diagnostic> {
    let fault = |span: &Range<usize>, message: &str, help: &str| {
        let place = FileSpan::new(file, span.clone());
        Err(Diagnostic::error(Code::MeshConvert, message, place, "").help(help))
    };
    let (from, to) = match (&source.sharded, &destination.sharded) {
        (Some(from), Some(to)) if !have_equal_shards([from, to], axes) => (from, to),
        (Some(_), None) | (None, Some(_)) => {
            let one_is_cut = source.sharded.is_some();
            let (cut, whole) =
                if one_is_cut { (source, destination) } else { (destination, source) };
            let mesh = cut.sharded.as_ref().map_or("", |sharded| &sharded.mesh_name);
            let (cut, whole) = (&cut.name, &whole.name);
            let message = format!("`{cut}` is sharded over a mesh, and `{whole}` is not");
            let help = format!("write `shard {mesh}` in `{whole}` to replicate it on every device");
            return fault(&item.span, &message, &help);
        }
        _ => {
            let Some(bound) = &item.max_staging else { return Ok(false) };
            let message = "`max-staging=` on a conversion without an exchange between devices";
            return fault(&bound.span(), message, "remove `max-staging=`");
        }
    };
    if source.dtype != destination.dtype || item.cast.is_some() {
        let message = format!(
            "an exchange between devices cannot convert {} to {}",
            source.dtype, destination.dtype
        );
        let help = "convert on the devices first, into a tensor with the same `shard`";
        return fault(&item.span, &message, help);
    }
    if source.dtype.element_bits() < 8 {
        let message = format!(
            "cannot exchange elements of type {}: they are smaller than a byte",
            source.dtype
        );
        let help = "convert on the devices first, to a type of at least one byte";
        return fault(&item.span, &message, help);
    }
    if let Some(choice) = item.choices.first() {
        let message = "a conversion between devices has no loop schedule";
        let help = "remove the block; `max-staging=` limits the staging memory";
        return fault(&choice.span, message, help);
    }
    let devices = from.devices().max(to.devices());
    if devices > MAX_RANKS {
        let message = format!("too many devices in an exchange: {devices}");
        let help = format!("exchange among at most {MAX_RANKS} devices, with a mesh per group");
        return fault(&item.span, &message, &help);
    }
    if [from, to].iter().any(|sharded| sharded.extents().is_none()) {
        let message = "cannot exchange a tensor with an extent that is known only at run time";
        return fault(&item.span, message, "give the tensors constant extents");
    }
    Ok(true)
}

/// True if both tensors are sharded over equal meshes along the same axes, so that every device holds the same part of
/// both, and no shard is padded. Axis `k` of the tensor sharded by `from` is axis `axes[k]` of the tensor sharded by
/// `to`.
fn have_equal_shards([from, to]: [&DeviceSharding; 2], axes: &[usize]) -> bool {
    let own = from.sharding.over();
    let other = axes.iter().map(|axis| to.sharding.over().get(*axis));
    from.mesh == to.mesh && !from.is_uneven() && own.iter().map(Some).eq(other)
}

/// Limit on the staging memory of an exchange for each device, in bytes, that `max-staging=` gives; `None` without one.
/// `scope` resolves the names in it.
///
/// # Errors
/// Errors of the number, and `mesh::convert` if the limit is less than 1, or, if messages are staged, less than one
/// element to and from each device needs.
pub(super) fn staging(
    [source, destination]: [&Tensor; 2],
    item: &ConvertItem,
    scope: Option<&ManifestScope>,
    file: &Arc<str>,
) -> CheckResult<Option<i64>> {
    // Without an exchange, `max-staging=` is refused before.
    let (Some(bound), Some(scope)) = (&item.max_staging, scope) else { return Ok(None) };
    let bytes = number(bound, scope, file)?;
    let place = bound.at(file);
    let fault = |message: String| Diagnostic::error(Code::MeshConvert, message, place, "");
    let devices = [source, destination].into_iter().filter_map(|tensor| tensor.sharded.as_ref());
    let devices = devices.map(DeviceSharding::devices).max().unwrap_or(1);
    let element = i64::from(source.dtype.element_bits().div_ceil(8));
    // If messages are staged at all: one element to each device and one from each.
    let is_copied = !source.layout.is_separable() || !destination.layout.is_separable();
    let least = if is_copied { devices.saturating_mul(2).saturating_mul(element) } else { 1 };
    match i64::try_from(bytes) {
        Ok(bytes) if bytes >= least => Ok(Some(bytes)),
        Ok(bytes) if bytes >= 1 => {
            let error = fault(format!(
                "staging needs at least {least} bytes, not {bytes}: one element of {element} bytes to each of {devices} devices and one from each"
            ));
            Err(vec![error.help(format!("write `max-staging=\"{least} B\"` or more"))])
        }
        _ => {
            let error = fault(format!("staging cannot have {bytes} bytes"));
            Err(vec![error.help("write a positive limit, or remove `max-staging=`")])
        }
    }
}
