//! Views with other elements: elements joined to wider vectors (`f32` to `f32x4`), or vectors split into narrower
//! elements.

use std::sync::Arc;

use layoutc_algebra::builder::{ElementRegroup, RegroupError};

use super::{ViewBase, ViewDefinition};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::base::dtype::Dtype;
use crate::check::expr::overflow;
use crate::check::faults::text;
use crate::manifest::syntax::ViewItem;
use crate::model::ViewKind;

/// Lowers the view `item` of the base `seen` with elements of type `dtype`, whose number of lanes is a multiple or a
/// divisor of the base's. Elements are joined or split along the axis of stride 1. `file` is the path of the manifest.
/// `Err` if, for example, no axis has stride 1, the elements to join are not contiguous, their number along the axis is
/// not a multiple of the number that is joined into one (2 for `f32x2` to `f32x4`), a swizzle separates them, or the
/// base is aligned by `align … at=origin`.
pub(super) fn lane_view(
    item: &ViewItem,
    dtype: Dtype,
    seen: ViewBase<'_>,
    file: &Arc<str>,
) -> CheckResult<ViewDefinition> {
    let [own, other] = [dtype.lanes, seen.tensor.dtype.lanes];
    let ratio = |a: u32, b: u32| i128::from(a.checked_div(b).unwrap_or(1));
    let lanes = if own > other {
        ElementRegroup::Join(ratio(own, other))
    } else {
        ElementRegroup::Split(ratio(other, own))
    };
    let place = item.dtype.as_ref().map_or(&item.name.span, |text| &text.span);
    let place = FileSpan::new(file, place.clone());
    let (builder, axis) = seen
        .builder
        .regroup_elements(lanes)
        .map_err(|error| vec![fault(&error, item, dtype, seen, place)])?;
    let (joined, cut) = match lanes {
        ElementRegroup::Join(lanes) => (lanes, 1),
        ElementRegroup::Split(lanes) => (1, lanes),
    };
    let mut labels = seen.tensor.labels.clone();
    if let Some(labels) = labels.get_mut(axis) {
        labels.clear();
    }
    Ok(ViewDefinition {
        builder,
        seeing: ViewKind::Lanes { axis, joined, cut },
        labels,
        steps: Vec::new(),
    })
}

fn fault(
    error: &RegroupError,
    item: &ViewItem,
    dtype: Dtype,
    seen: ViewBase<'_>,
    place: FileSpan,
) -> Diagnostic {
    let (name, seen_name) = (&item.name.value, &seen.tensor.name);
    let (logical, symbols) = (seen.builder.logical(), seen.builder.facts().symbols());
    let of = seen.tensor.dtype;
    let refused = |message: String, note: String| {
        Diagnostic::error(Code::ShapeLanes, message, place.clone(), "").note(note)
    };
    let own = "or declare a `shape` and a `layout` in the view";
    let whole = |lanes: i128| format!("{dtype} is {lanes} elements of {of}");
    let axis_text = |axis: usize| {
        let axis = logical.get(axis);
        axis.map_or_else(Default::default, |a| (a.name.clone(), text(&a.extent, logical, symbols)))
    };
    // A symbolic figure may still be a multiple.
    let none = |count: &str| {
        if count.parse::<i128>().is_ok() { "not a multiple" } else { "not known to be a multiple" }
    };
    let message = format!("cannot view the elements of `{seen_name}` as {dtype}");
    match error {
        RegroupError::NoAxis => {
            let message = format!("no axis of `{seen_name}` has stride 1");
            Diagnostic::error(Code::ShapeLanes, message, place, "")
                .help(format!("declare a `shape` and a `layout` in `{name}`"))
        }
        RegroupError::Extent { axis, lanes } => {
            let (axis, extent) = axis_text(*axis);
            let none = none(&extent);
            let whole = whole(*lanes);
            let note = format!("{whole}; axis `{axis}` has {extent} elements, {none} of {lanes}");
            refused(message, note).help(format!("make the extent a multiple of {lanes}, {own}"))
        }
        RegroupError::NotContiguous { axis, lanes } => {
            let (axis, _) = axis_text(*axis);
            let note = format!(
                "{}; {lanes} elements along `{axis}`, from a multiple of {lanes}, are not always contiguous",
                whole(*lanes)
            );
            refused(message, note).help(format!("make `{axis}` the innermost axis, {own}"))
        }
        RegroupError::Stride { axis, stride, lanes } => {
            let stride = text(stride, logical, symbols);
            let note = format!(
                "{}; the stride of storage axis `{axis}` is {stride} elements, {} of {lanes}",
                whole(*lanes),
                none(&stride)
            );
            refused(message, note).help(format!("pad the axes inside it to a multiple of {lanes}"))
        }
        RegroupError::StorageExtent { axis, extent, lanes } => {
            let extent = text(extent, logical, symbols);
            let note = format!(
                "{}; storage axis `{axis}` has {extent} slots, {} of {lanes}",
                whole(*lanes),
                none(&extent)
            );
            refused(message, note).help(format!("pad `{axis}` to a multiple of {lanes}"))
        }
        RegroupError::Swizzled { lanes } => {
            let note = format!("{}; the swizzle separates their lanes", whole(*lanes));
            refused(message, note)
                .help("use a swizzle whose base covers whole elements of the view")
        }
        RegroupError::Origin => {
            let note =
                "the first element is aligned by slots before it (`align … at=origin`)".to_owned();
            refused(message, note).help("remove `at=origin`, or keep the element type")
        }
        RegroupError::Expr(inner) => {
            let message = format!("the layout of `{name}` is too large: {inner}");
            overflow(inner, message, place)
        }
    }
}
