//! Tensors of which memory holds a ring: the axis, how many of its indices there are, and what takes a whole tensor.

use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::Axis;

use super::scope::{ManifestScope, nearest_or_all, number};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::layout_names;
use crate::manifest::syntax::RingItem;
use crate::model::Tensor;
use crate::model::ring::Ring;

/// The axes that memory holds, and the ring. That any `held` neighbours of the axis have places of their own follows from
/// the proof of the layout: their remainders by `held` are all different.
pub(super) fn ring(
    item: &RingItem,
    (scope, file): (&ManifestScope, &Arc<str>),
    whole: Vec<Axis>,
    labels: &[Vec<String>],
) -> Result<(Vec<Axis>, Ring), Vec<Diagnostic>> {
    let name = &item.axis.value;
    let at = |span: &std::ops::Range<usize>| FileSpan::new(file, span.clone());
    let fault =
        |place: FileSpan, message: String| Diagnostic::error(Code::RingAxis, message, place, "");
    let Some(axis) = whole.iter().position(|axis| axis.name == *name) else {
        let mut error = fault(at(&item.axis.span), format!("the tensor has no axis `{name}`"));
        let known: Vec<&str> = whole.iter().map(|axis| axis.name.as_str()).collect();
        nearest_or_all(&mut error, name, "axes", &known);
        return Err(vec![error]);
    };
    if labels.get(axis).is_some_and(|labels| !labels.is_empty()) {
        let message = format!("the axis `{name}` has labels, so all of it is in memory");
        return Err(vec![fault(at(&item.axis.span), message).help("make a ring of another axis")]);
    }
    let held = number(&item.held, scope, file)?;
    let extent = whole.get(axis).and_then(|axis| axis.extent.as_const());
    if held < 1 || extent.is_some_and(|extent| held > extent) {
        let message = match extent {
            Some(extent) => format!("memory holds 1 to {extent} of `{name}`, not {held}"),
            None => format!("memory holds at least 1 of `{name}`, not {held}"),
        };
        let help = "write how many neighbours along the axis are in memory at a time";
        return Err(vec![fault(at(&item.held.span()), message).help(help)]);
    }
    let mut axes = whole.clone();
    if let Some(own) = axes.get_mut(axis) {
        own.extent = Expr::constant(held);
    }
    Ok((axes, Ring { axis, held, whole }))
}

/// The fault of a tensor that is cut over a mesh and a ring.
pub(super) fn sharded_ring_fault(file: &Arc<str>, item: &RingItem) -> Diagnostic {
    let message = "a tensor that is cut over a mesh is no ring";
    let place = FileSpan::new(file, item.span.clone());
    let error = Diagnostic::error(Code::RingAxis, message, place, "");
    error.help("declare what a device holds as a tensor of its own, without `shard`")
}

/// The fault of what takes a tensor of which memory holds a ring for a whole one; `takes` says so: `a kernel computes on`.
pub(super) fn ring_fault(tensor: &Tensor, takes: &str, place: FileSpan) -> Option<Diagnostic> {
    let ring = tensor.ring.as_ref()?;
    let (name, axis, held) = (&tensor.name, ring.name(), ring.held);
    let message =
        format!("{takes} whole tensors, and memory holds {held} of `{axis}` of `{name}` at a time");
    let axes = tensor.layout.logical.iter();
    let axes = axes.map(|axis| {
        format!("{} {}", axis.name, layout_names::layout_expr(&axis.extent, &tensor.layout))
    });
    let shape = axes.collect::<Vec<_>>().join("; ");
    let error = Diagnostic::error(Code::RingWhole, message, place, "");
    let help = format!(
        "declare what is in memory as a tensor of its own, with the same layout: `shape {{ {shape} }}`"
    );
    Some(error.help(help))
}

/// The fault of a conversion from or to a ring, unless both are rings of the same indices; `axes[k]` is the position in
/// the destination of axis `k` of the source.
pub(super) fn ring_mismatch(
    [source, destination]: [&Tensor; 2],
    axes: &[usize],
    place: &FileSpan,
) -> Option<Diagnostic> {
    if let (Some(from), Some(to)) = (&source.ring, &destination.ring)
        && from.held == to.held
        && axes.get(from.axis) == Some(&to.axis)
        && from.whole.get(from.axis) == to.whole.get(to.axis)
    {
        return None;
    }
    let takes = "a conversion that changes what is in memory moves";
    [source, destination].into_iter().find_map(|tensor| ring_fault(tensor, takes, place.clone()))
}
