//! Checks of conversions, `convert a to=b`: relayouts of a tensor's elements from one layout to another.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::scope::{ManifestScope, undeclared_tensor};
use super::{cast, reshard, ring};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::{
    ConvertItem, ConvertScheduleItem, ConvertScheduleKind, Identifier, ManifestSyntax,
};
use crate::model::layout_names;
use crate::model::reshard::Reshard;
use crate::model::{Convert, ConvertSchedule, Spanned, Tensor};

/// Checks the conversions of a manifest. Returns the valid ones in textual order, in two lists: those on one device,
/// and those that exchange data between devices. Adds errors to `diagnostics`.
pub(super) fn check(
    syntax: &ManifestSyntax,
    scope: Option<&ManifestScope>,
    tensors: &[Tensor],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Convert>, Vec<Reshard>) {
    let (mut converts, mut reshards) = (Vec::new(), Vec::new());
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    for item in &syntax.converts {
        let mut check = || -> CheckResult<()> {
            let find = |name| position(name, syntax, tensors);
            let (Some(from), Some(to)) = (find(&item.from)?, find(&item.to)?) else {
                return Ok(());
            };
            let (Some(source), Some(destination)) = (tensors.get(from), tensors.get(to)) else {
                return Ok(());
            };
            let (file, pair) = (&syntax.file, [source, destination]);
            let place = FileSpan::new(file, item.span.clone());
            if from == to {
                let message = format!("cannot convert `{}` to itself", source.name);
                let error = Diagnostic::error(Code::ShapeConvert, message, place, "");
                return Err(error.help("use another tensor in `to=`").into());
            }
            let axes = matching(source, destination, file, item)?;
            if let Some(error) = ring::ring_mismatch(pair, &axes, &place) {
                return Err(error.into());
            }
            let is_between = reshard::is_between(pair, &axes, item, file)?;
            let max_staging = reshard::staging(pair, item, scope, file)?;
            let cast = if is_between { None } else { cast::between(item, pair, &place)? };
            if !seen.insert((from, to)) {
                let error =
                    Diagnostic::error(Code::NameDuplicate, "duplicate conversion", place, "");
                return Err(error.help("remove one of the two").into());
            }
            if is_between {
                reshards.push(Reshard { from, to, axes, max_staging, place });
            } else {
                let choices = choices(&item.choices, file);
                converts.push(Convert { from, to, axes, cast, choices, place });
            }
            Ok(())
        };
        diagnostics.extend(check().err().into_iter().flatten());
    }
    (converts, reshards)
}

/// Position of the tensor `name` in `tensors`, the valid ones; `None` if the tensor is invalid and has been reported.
/// `Err` for an unknown name or a view.
fn position(
    name: &Identifier,
    syntax: &ManifestSyntax,
    tensors: &[Tensor],
) -> Result<Option<usize>, Diagnostic> {
    if syntax.views.iter().any(|view| view.name.value == name.value) {
        let message = "conversions of views are not supported yet";
        let error = Diagnostic::error(Code::NameNotYet, message, name.at(&syntax.file), "a view");
        let help = "use the `pack` and `unpack` of the window, from and to a dense array";
        return Err(error.help(help));
    }
    match undeclared_tensor(name, syntax) {
        Some(error) => Err(error),
        None => Ok(tensors.iter().position(|tensor| tensor.name == name.value)),
    }
}

/// Schedule that the manifest gives for a conversion. The planner checks that it can be followed.
fn choices(items: &[ConvertScheduleItem], file: &Arc<str>) -> ConvertSchedule {
    let mut choices = ConvertSchedule::default();
    for ConvertScheduleItem { kind, span } in items {
        let place = FileSpan::new(file, span.clone());
        match kind {
            ConvertScheduleKind::Order(names) => {
                let named =
                    |name: &Identifier| Spanned { value: name.value.clone(), place: name.at(file) };
                choices.order = names.iter().map(named).collect();
            }
            ConvertScheduleKind::Block(value) => {
                choices.block = Some(Spanned { value: *value, place });
            }
            ConvertScheduleKind::Inside(value) => {
                choices.inside = Some(Spanned { value: *value, place });
            }
            ConvertScheduleKind::Stores(value) => {
                choices.stores = Some(Spanned { value: *value, place });
            }
            ConvertScheduleKind::Fill(value) => {
                choices.fill = Some(Spanned { value: *value, place });
            }
        }
    }
    choices
}

/// For each axis of the source, the position of the destination's axis with the same name and extent; an error if there
/// is none.
fn matching(
    source: &Tensor,
    destination: &Tensor,
    file: &Arc<str>,
    item: &ConvertItem,
) -> Result<Vec<usize>, Diagnostic> {
    let (a, b) = (&source.layout, &destination.layout);
    let (from_axes, to_axes) = (source.whole_axes(), destination.whole_axes());
    let shape = |tensor: &Tensor| {
        let shape = layout_names::shape(tensor.whole_axes(), tensor.layout.symbols());
        format!("{} {shape}", tensor.name)
    };
    let fault = |message: String, help: String| {
        let place = FileSpan::new(file, item.span.clone());
        Diagnostic::error(Code::ShapeConvert, message, place, "")
            .note(shape(source))
            .note(shape(destination))
            .help(help)
    };
    let (from, to) = (&source.name, &destination.name);
    if from_axes.len() != to_axes.len() {
        let message = format!("`{from}` and `{to}` have different axes");
        return Err(fault(message, "declare the same axes in both, in any order".to_owned()));
    }
    let mut axes = Vec::new();
    for axis in from_axes {
        let Some(position) = to_axes.iter().position(|other| other.name == axis.name) else {
            let message = format!("`{to}` has no axis `{}`", axis.name);
            let help = "axes match by name: use the same names in both";
            return Err(fault(message, help.to_owned()));
        };
        let (own, other) = (layout_names::layout_expr(&axis.extent, a), to_axes.get(position));
        if other.is_none_or(|other| layout_names::layout_expr(&other.extent, b) != own) {
            let message = format!("axis `{}` has different extents", axis.name);
            let name = &axis.name;
            let there = other.and_then(|other| other.extent.as_const());
            let help = match axis.extent.as_const().zip(there) {
                Some((few, many)) if few < many => padded(name, few, many, to),
                Some((many, few)) => padded(name, few, many, from),
                None => {
                    format!("declare `{name}` with the same extent in both: {own}, as in `{from}`")
                }
            };
            return Err(fault(message, help));
        }
        axes.push(position);
    }
    Ok(axes)
}

/// Help for an extent that differs: declare `few` elements along `axis` in `tensor` too, and pad the axis to its `many`
/// slots.
fn padded(axis: &str, few: i128, many: i128, tensor: &str) -> String {
    let step = if few > 0 { "multiple" } else { "after" };
    format!(
        "declare `{axis} {few}` in `{tensor}` too; to store {many} there, write `layout {{ pad {axis} {step}={many} }}`"
    )
}
