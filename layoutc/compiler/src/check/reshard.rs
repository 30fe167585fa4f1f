//! Conversions between devices: whether one is, and what it cannot be.

use std::ops::Range;
use std::sync::Arc;

use super::scope::{ManifestScope, number};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::ConvertItem;
use crate::model::Tensor;
use crate::model::reshard::DeviceSharding;
use crate::plan::reshard::is_sum_of_axes;

/// The most devices that exchange parts.
const MAX_RANKS: i64 = 1 << 16;

/// Whether devices exchange parts: `axes[k]` is the position in the destination of axis `k` of the source. Where every
/// device has in both the same part without an index beyond the tensor, each converts its own.
///
/// # Errors
/// `mesh::convert`.
pub(super) fn is_between(
    [source, destination]: [&Tensor; 2],
    axes: &[usize],
    item: &ConvertItem,
    file: &Arc<str>,
) -> Result<bool, Diagnostic> {
    let fault = |span: &Range<usize>, message: String, help: String| {
        let place = FileSpan::new(file, span.clone());
        Diagnostic::error(Code::MeshConvert, message, place, "").help(help)
    };
    let (from, to) = match (&source.sharded, &destination.sharded) {
        (Some(from), Some(to)) if !have_equal_shards([from, to], axes) => (from, to),
        (Some(_), None) | (None, Some(_)) => {
            let one_is_cut = source.sharded.is_some();
            let (cut, whole) =
                if one_is_cut { (source, destination) } else { (destination, source) };
            let mesh = cut.sharded.as_ref().map_or("", |sharded| &sharded.mesh_name);
            let (cut, whole) = (&cut.name, &whole.name);
            let message = format!("`{cut}` lies on a mesh, and `{whole}` does not");
            let help =
                format!("write `shard {mesh}` in `{whole}`: every device holds all of it then");
            return Err(fault(&item.span, message, help));
        }
        _ => {
            let Some(bound) = &item.max_staging else { return Ok(false) };
            let message = "nothing is exchanged between devices here".to_owned();
            let help = "leave `max-staging=` out".to_owned();
            return Err(fault(&bound.span(), message, help));
        }
    };
    if source.dtype != destination.dtype || item.cast.is_some() {
        let message = format!(
            "devices exchange elements of one type, not {} for {}",
            source.dtype, destination.dtype
        );
        let help = "convert on the devices first, into a tensor with the same `shard`".to_owned();
        return Err(fault(&item.span, message, help));
    }
    if source.dtype.element_bits() < 8 {
        let message =
            format!("elements of {} share bytes, and devices exchange bytes", source.dtype);
        let help = "convert to a type of a byte or more first, on the devices".to_owned();
        return Err(fault(&item.span, message, help));
    }
    if let Some(choice) = item.choices.first() {
        let message = "a conversion between devices has no loops to choose".to_owned();
        let help = "take the block out; `max-staging=` bounds the memory of copies".to_owned();
        return Err(fault(&choice.span, message, help));
    }
    let devices = from.devices().max(to.devices());
    if devices > MAX_RANKS {
        let message = format!("{devices} devices are too many to work out what each sends");
        let help =
            format!("exchange parts among {MAX_RANKS} devices at most, in groups of a mesh each");
        return Err(fault(&item.span, message, help));
    }
    if [from, to].iter().any(|sharded| sharded.extents().is_none()) {
        let message = "an extent is known only at run time".to_owned();
        let help =
            "give the tensors numbers as extents: what is exchanged depends on them".to_owned();
        return Err(fault(&item.span, message, help));
    }
    Ok(true)
}

/// Whether every device holds the same part of both, and no part reaches beyond the tensor.
fn have_equal_shards([from, to]: [&DeviceSharding; 2], axes: &[usize]) -> bool {
    let own = from.sharding.over();
    let other = axes.iter().map(|axis| to.sharding.over().get(*axis));
    from.mesh == to.mesh && !from.is_uneven() && own.iter().map(Some).eq(other)
}

/// The most bytes of copies on the way.
///
/// # Errors
/// Those of the number, and `mesh::convert` where an element of each message takes more.
pub(super) fn staging(
    [source, destination]: [&Tensor; 2],
    item: &ConvertItem,
    scope: Option<&ManifestScope>,
    file: &Arc<str>,
) -> Result<Option<i64>, Vec<Diagnostic>> {
    let (Some(bound), Some(scope)) = (&item.max_staging, scope) else { return Ok(None) };
    let bytes = number(bound, scope, file)?;
    let place = FileSpan::new(file, bound.span());
    let fault = |message: String| Diagnostic::error(Code::MeshConvert, message, place, "");
    let devices = [source, destination].into_iter().filter_map(|tensor| tensor.sharded.as_ref());
    let devices = devices.map(DeviceSharding::devices).max().unwrap_or(1);
    let element = i64::from(source.dtype.element_bits().div_ceil(8));
    // One element to each device and one from each, where elements are copied into messages at all.
    let is_copied = !is_sum_of_axes(&source.layout) || !is_sum_of_axes(&destination.layout);
    let least = if is_copied { devices.saturating_mul(2).saturating_mul(element) } else { 1 };
    match i64::try_from(bytes) {
        Ok(bytes) if bytes >= least => Ok(Some(bytes)),
        Ok(bytes) if bytes >= 1 => {
            let error = fault(format!(
                "copies take {least} bytes at least, not {bytes}: one element of {element} bytes to each of {devices} devices and one from each"
            ));
            Err(vec![error.help(format!("write `max-staging=\"{least} B\"`, or more"))])
        }
        _ => {
            let error = fault(format!("copies cannot take {bytes} bytes"));
            Err(vec![error.help("write how many they may take, or leave `max-staging=` out")])
        }
    }
}
