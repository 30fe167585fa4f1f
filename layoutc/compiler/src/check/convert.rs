//! `convert a to=b`: conversion of a logical tensor between two layouts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::scope::{ManifestScope, nearest_or_all};
use super::{cast, reshard, ring};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{
    ConvertItem, ConvertScheduleItem, ConvertScheduleKind, Identifier, ItemKind, ManifestSyntax,
};
use crate::model::layout_names;
use crate::model::reshard::Reshard;
use crate::model::{
    Convert, ConvertSchedule, FillStrategy, InnerKernel, Spanned, StorePolicy, Tensor,
};

enum CheckedConversion {
    Convert(Box<Convert>),
    Reshard(Reshard),
}

/// The valid conversions of a manifest: those on one device, and those between devices.
pub(super) fn check(
    syntax: &ManifestSyntax,
    scope: Option<&ManifestScope>,
    tensors: &[Tensor],
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Convert>, Vec<Reshard>) {
    let (mut converts, mut reshards) = (Vec::new(), Vec::new());
    let mut seen: BTreeSet<(usize, usize)> = BTreeSet::new();
    for item in &syntax.converts {
        let found = match check_convert(item, syntax, scope, tensors) {
            Ok(found) => found,
            Err(found) => {
                diagnostics.extend(found);
                continue;
            }
        };
        let Some((from, to, place)) = found.as_ref().map(|found| match found {
            CheckedConversion::Convert(convert) => {
                (convert.from, convert.to, convert.place.clone())
            }
            CheckedConversion::Reshard(reshard) => {
                (reshard.from, reshard.to, reshard.place.clone())
            }
        }) else {
            continue;
        };
        if !seen.insert((from, to)) {
            let message = "duplicate conversion";
            let error = Diagnostic::error(Code::NameDuplicate, message, place, "");
            diagnostics.push(error.help("remove one of the two"));
            continue;
        }
        match found {
            Some(CheckedConversion::Convert(convert)) => converts.push(*convert),
            Some(CheckedConversion::Reshard(reshard)) => reshards.push(reshard),
            None => {}
        }
    }
    (converts, reshards)
}

/// `None` where an earlier diagnostic covers it.
fn check_convert(
    item: &ConvertItem,
    syntax: &ManifestSyntax,
    scope: Option<&ManifestScope>,
    tensors: &[Tensor],
) -> Result<Option<CheckedConversion>, Vec<Diagnostic>> {
    let file = &syntax.file;
    let find = |name: &Identifier| {
        if syntax.views.iter().any(|view| view.name.value == name.value) {
            let message = "conversions of views are not supported yet";
            let place = FileSpan::new(file, name.span.clone());
            let error = Diagnostic::error(Code::NameNotYet, message, place, "a view");
            let help = "use the `pack` and `unpack` of the window, from and to a dense array";
            return Err(vec![error.help(help)]);
        }
        let declared = syntax.tensors.iter().any(|tensor| tensor.name.value == name.value);
        let broken = syntax.torn || syntax.broken.contains(&(ItemKind::Tensor, name.value.clone()));
        if !declared && !broken {
            let message = format!("there is no tensor `{}`", name.value);
            let place = FileSpan::new(file, name.span.clone());
            let mut error = Diagnostic::error(Code::NameUnknown, message, place, "");
            let known: Vec<&str> =
                syntax.tensors.iter().map(|tensor| tensor.name.value.as_str()).collect();
            nearest_or_all(&mut error, &name.value, "tensors", &known);
            return Err(vec![error]);
        }
        Ok(tensors.iter().position(|tensor| tensor.name == name.value))
    };
    let (Some(from), Some(to)) = (find(&item.from)?, find(&item.to)?) else { return Ok(None) };
    let (Some(source), Some(destination)) = (tensors.get(from), tensors.get(to)) else {
        return Ok(None);
    };
    let place = FileSpan::new(file, item.span.clone());
    if from == to {
        let message = format!("cannot convert `{}` to itself", source.name);
        let error = Diagnostic::error(Code::ShapeConvert, message, place, "");
        return Err(vec![error.help("use another tensor in `to=`")]);
    }
    let one = |error| vec![error];
    let axes = matching(source, destination, file, item).map_err(one)?;
    if let Some(error) = ring::ring_mismatch([source, destination], &axes, &place) {
        return Err(vec![error]);
    }
    if reshard::is_between([source, destination], &axes, item, file).map_err(one)? {
        let max_staging = reshard::staging([source, destination], item, scope, file)?;
        return Ok(Some(CheckedConversion::Reshard(Reshard {
            from,
            to,
            axes,
            max_staging,
            place,
        })));
    }
    let cast = cast::between(item, [source, destination], &place).map_err(one)?;
    let choices = choices(&item.choices, file);
    let convert = Convert { from, to, axes, cast, choices, place };
    Ok(Some(CheckedConversion::Convert(Box::new(convert))))
}

/// The requested schedule of the conversion; the planner checks whether it applies.
fn choices(items: &[ConvertScheduleItem], file: &Arc<str>) -> ConvertSchedule {
    let mut choices = ConvertSchedule::default();
    for ConvertScheduleItem { kind, span } in items {
        let place = FileSpan::new(file, span.clone());
        match kind {
            ConvertScheduleKind::Order(names) => {
                let named = |name: &Identifier| Spanned {
                    value: name.value.clone(),
                    place: FileSpan::new(file, name.span.clone()),
                };
                choices.order = names.iter().map(named).collect();
            }
            ConvertScheduleKind::Block(value) => choices.block = Some(chosen(*value, place)),
            ConvertScheduleKind::InsideBlocks => {
                choices.inside = Some(chosen(InnerKernel::Transpose, place));
            }
            ConvertScheduleKind::InsideRuns => {
                choices.inside = Some(chosen(InnerKernel::CopyRuns, place));
            }
            ConvertScheduleKind::InsideElements => {
                choices.inside = Some(chosen(InnerKernel::Elementwise, place));
            }
            ConvertScheduleKind::StoresStreaming => {
                choices.stores = Some(chosen(StorePolicy::Streaming, place));
            }
            ConvertScheduleKind::StoresCached => {
                choices.stores = Some(chosen(StorePolicy::Cached, place));
            }
            ConvertScheduleKind::FillFirst => {
                choices.fill = Some(chosen(FillStrategy::WholeFirst, place));
            }
            ConvertScheduleKind::FillBorders => {
                choices.fill = Some(chosen(FillStrategy::PaddingOnly, place));
            }
        }
    }
    choices
}

fn chosen<T>(value: T, place: FileSpan) -> Spanned<T> {
    Spanned { value, place }
}

/// For each axis of the source, the position of the destination's axis with the same name and extent.
fn matching(
    source: &Tensor,
    destination: &Tensor,
    file: &Arc<str>,
    item: &ConvertItem,
) -> Result<Vec<usize>, Diagnostic> {
    let (a, b) = (&source.layout, &destination.layout);
    let (from_axes, to_axes) = (source.whole_axes(), destination.whole_axes());
    let shape = |tensor: &Tensor| {
        let axes = tensor.whole_axes().iter();
        let one = |axis: &layoutc_algebra::symbol::Axis| {
            format!("{} {}", axis.name, layout_names::layout_expr(&axis.extent, &tensor.layout))
        };
        format!("{} {{ {} }}", tensor.name, axes.map(one).collect::<Vec<_>>().join("; "))
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
            return Err(fault(
                message,
                "axes match by name: use the same names in both".to_owned(),
            ));
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

/// Help for a tensor whose axis has more slots than the other tensor's has elements.
fn padded(axis: &str, few: i128, many: i128, tensor: &str) -> String {
    let step = if few > 0 {
        format!("pad {axis} multiple={many}")
    } else {
        format!("pad {axis} after={many}")
    };
    format!(
        "declare `{axis} {few}` in `{tensor}` too; to store {many} there, write `layout {{ {step} }}`"
    )
}
