//! Checks of conversions, `convert a to=b`: relayouts of a tensor's elements from one layout to another.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::declarations::Declarations;
use super::scope::ManifestScope;
use super::{cast, reshard, ring};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan};
use crate::manifest::syntax::{ConvertItem, ConvertScheduleItem, ConvertScheduleKind, Identifier};
use crate::model::layout_names;
use crate::model::reshard::Reshard;
use crate::model::{Convert, ConvertSchedule, Spanned, Tensor, TensorRef};

/// Checks the conversions of a manifest. Returns the pair `(converts, reshards)` of the conversions without errors,
/// both in textual order: `converts` has those on one device, `reshards` those that exchange data between devices.
/// `scope` resolves the names in `max-staging=`. Adds errors to `diagnostics`.
pub(super) fn check(
    declared: Declarations<'_>,
    scope: Option<&ManifestScope>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Convert>, Vec<Reshard>) {
    let (mut converts, mut reshards) = (Vec::new(), Vec::new());
    let syntax = declared.syntax;
    let mut seen: BTreeSet<(TensorRef, TensorRef)> = BTreeSet::new();
    for item in &syntax.converts {
        let mut check = || -> CheckResult<()> {
            let ends = (declared.find(&item.from)?, declared.find(&item.to)?);
            let (Some(from), Some(to)) = ends else {
                return Ok(());
            };
            let ends = (declared.tensor(from), declared.tensor(to));
            let (Some(source), Some(destination)) = ends else {
                return Ok(());
            };
            let (file, pair) = (&syntax.file, [source, destination]);
            let place = FileSpan::new(file, item.span.clone());
            if from == to {
                let message = format!("cannot convert `{}` to itself", source.name);
                let error = Diagnostic::error(Code::ShapeConvert, message, place, "");
                return Err(error.help("use another tensor in `to=`").into());
            }
            if let Some(error) = overlap(declared, [from, to], &place) {
                return Err(error.into());
            }
            if let Some(error) = declared.read_only_fault(to, item.to.at(file)) {
                return Err(error.into());
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
            if let (true, TensorRef::Tensor(from), TensorRef::Tensor(to)) = (is_between, from, to) {
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

/// Error at `place` for a conversion whose source and destination, `ends`, lie in the memory of one tensor: a tensor
/// and its view, or two views of it. `None` if they lie in the memory of different tensors.
fn overlap(
    declared: Declarations<'_>,
    ends: [TensorRef; 2],
    place: &FileSpan,
) -> Option<Diagnostic> {
    let [from, to] = ends.map(|of| declared.owner(of));
    let owner = declared.tensors.get(from?).filter(|_| from == to)?;
    let [source, destination] = ends.map(|of| declared.tensor(of).map_or("", |one| &one.name));
    let name = &owner.name;
    let message = match (source == name, destination == name) {
        (true, _) => format!("`{destination}` is a view of `{name}`"),
        (_, true) => format!("`{source}` is a view of `{name}`"),
        _ => format!("`{source}` and `{destination}` are views of `{name}`"),
    };
    let error = Diagnostic::error(Code::NameView, message, place.clone(), "");
    Some(error.help("convert to a tensor with memory of its own"))
}

/// Schedule of a conversion from the `items` of its `convert` node. The planner checks later if the conversion can
/// follow it.
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

/// Position, for each axis of the source, of the destination's axis with the same name and extent: `[1, 0]` for the
/// source axes `n, c` and the destination axes `c, n`. The axes of a sharded tensor are those of the whole tensor.
/// `Err` at `item` if an axis of either tensor has no such counterpart.
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

/// Help for a conversion whose tensors have different extents along `axis`: `many` in `tensor`, and the smaller extent
/// `few` in the other. It suggests to declare the extent `few` in `tensor` too, and to pad the axis to `many` slots in
/// its layout.
fn padded(axis: &str, few: i128, many: i128, tensor: &str) -> String {
    let step = if few > 0 { "multiple" } else { "after" };
    format!(
        "declare `{axis} {few}` in `{tensor}` too; to store {many} there, write `layout {{ pad {axis} {step}={many} }}`"
    )
}
