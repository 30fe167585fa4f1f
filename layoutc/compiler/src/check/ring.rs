//! Checks of ring buffers: tensors of which memory holds only a window of consecutive indices along one axis.

use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::symbol::Axis;

use super::scope::{ManifestScope, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::RingItem;
use crate::model::Tensor;
use crate::model::layout_names;
use crate::model::ring::Ring;

/// Lowers the `ring` item of a tensor with the axes `whole`. Returns the pair (axes of the window in memory, ring): the
/// window has the axes `whole`, with the capacity as the extent of the ring's axis. Index i of this axis is in slot
/// `i % capacity`, so that any `capacity` consecutive indices have distinct slots. `labels` has the labels of each
/// axis; the ring's axis must have none. The tuple is (scope of the consts in the capacity, path of the manifest).
///
/// # Errors
/// `ring::axis`, and errors of the number.
pub(super) fn ring(
    item: &RingItem,
    (scope, file): (&ManifestScope, &Arc<str>),
    whole: Vec<Axis>,
    labels: &[Vec<String>],
) -> CheckResult<(Vec<Axis>, Ring)> {
    let name = &item.axis.value;
    let at = |span: &std::ops::Range<usize>| FileSpan::new(file, span.clone());
    let fault =
        |place: FileSpan, message: String| Diagnostic::error(Code::RingAxis, message, place, "");
    let Some(axis) = whole.iter().position(|axis| axis.name == *name) else {
        let error = fault(at(&item.axis.span), format!("the tensor has no axis `{name}`"));
        let known = whole.iter().map(|axis| axis.name.as_str());
        return Err(error.nearest_or_all(name, "axes", known).into());
    };
    if labels.get(axis).is_some_and(|labels| !labels.is_empty()) {
        let message = format!("axis `{name}` cannot be a ring: it has labels");
        let error = fault(at(&item.axis.span), message);
        return Err(error.help("use another axis for the ring").into());
    }
    let capacity = number(&item.capacity, scope, file)?;
    let extent = whole.get(axis).and_then(|axis| axis.extent.as_const());
    if capacity < 1 || extent.is_some_and(|extent| capacity > extent) {
        let message = match extent {
            Some(extent) => {
                format!("expected a ring of 1 to {extent} indices of `{name}`, found {capacity}")
            }
            None => {
                format!("expected a ring of at least 1 index of `{name}`, found {capacity}")
            }
        };
        let help = "write the number of consecutive indices in memory";
        return Err(vec![fault(at(&item.capacity.span()), message).help(help)]);
    }
    let mut axes = whole.clone();
    if let Some(own) = axes.get_mut(axis) {
        own.extent = Expr::constant(capacity);
    }
    Ok((axes, Ring { axis, capacity, whole }))
}

/// Error, located at the `ring` item `item` of the manifest `file`, for a tensor that is both sharded and a ring.
pub(super) fn sharded_ring_fault(file: &Arc<str>, item: &RingItem) -> Diagnostic {
    let message = "a sharded tensor cannot be a ring";
    let place = FileSpan::new(file, item.span.clone());
    let error = Diagnostic::error(Code::RingAxis, message, place, "");
    error.help("declare the shard as a separate tensor, without `shard`")
}

/// Error at `place` for the use of a ring buffer in an operation that requires whole tensors; `None` for a tensor that
/// is no ring. `takes` starts the message with the operation: "a kernel requires".
pub(super) fn ring_fault(tensor: &Tensor, takes: &str, place: FileSpan) -> Option<Diagnostic> {
    let ring = tensor.ring.as_ref()?;
    let (name, axis, capacity) = (&tensor.name, ring.name(), ring.capacity);
    let message =
        format!("{takes} whole tensors, and `{name}` is a ring of {capacity} indices of `{axis}`");
    let shape = layout_names::shape(tensor.layout.logical(), tensor.layout.symbols());
    let error = Diagnostic::error(Code::RingWhole, message, place, "");
    let help = format!(
        "declare the window in memory as a separate tensor with the same layout: `shape {shape}`"
    );
    Some(error.help(help))
}

/// Error, located at `place`, for a conversion from or to a ring buffer. `None` if no tensor is a ring, or both are
/// rings of equal capacity along the same axis of equal extent. Axis `k` of the source is axis `axes[k]` of the
/// destination.
pub(super) fn ring_mismatch(
    [source, destination]: [&Tensor; 2],
    axes: &[usize],
    place: &FileSpan,
) -> Option<Diagnostic> {
    if let (Some(from), Some(to)) = (&source.ring, &destination.ring)
        && from.capacity == to.capacity
        && axes.get(from.axis) == Some(&to.axis)
        && from.whole.get(from.axis) == to.whole.get(to.axis)
    {
        return None;
    }
    let takes = "a conversion that changes the ring requires";
    [source, destination].into_iter().find_map(|tensor| ring_fault(tensor, takes, place.clone()))
}
