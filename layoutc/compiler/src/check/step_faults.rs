//! Locations and help texts of faults in layout steps.

use layoutc_algebra::step::StepError;

use super::step_scope::StepScope;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::{StepItem, StepKind};

/// Location of the fault `error` of a step: the name of an axis in an `order`, `split`, `fuse` or `pad` step if the
/// fault is about an axis, otherwise the whole step. `ground` provides the path of the manifest.
pub(super) fn step_place(step: &StepItem, error: &StepError, ground: StepScope<'_>) -> FileSpan {
    let wanted = match error {
        StepError::UnknownAxis { name, .. } | StepError::RepeatedAxis(name) => name,
        StepError::NotAdjacent { second, .. } => second,
        _ => return ground.place(&step.span),
    };
    let span = match &step.kind {
        StepKind::Order(words) => {
            words.iter().rfind(|w| w.value == *wanted).map(|w| w.span.clone())
        }
        StepKind::Split { axis, .. }
        | StepKind::PadMultiple { axis, .. }
        | StepKind::PadBeforeAfter { axis, .. } => Some(axis.span.clone()),
        StepKind::Fuse { axes, .. } => {
            axes.iter().rfind(|n| n.value == *wanted).map(|n| n.span.clone())
        }
        _ => None,
    };
    ground.place(&span.unwrap_or_else(|| step.span.clone()))
}

/// Replaces the help of `fault`, the diagnostic of an `order` step, by the corrected step. Applies if `error` is an
/// unknown axis for which no similar name is suggested, or the omission of axes; `fault` is unchanged for other errors.
/// `names` are the axes that the step names, `axes` are all axes at this step.
pub(super) fn with_order(
    fault: &mut Diagnostic,
    error: &StepError,
    names: &[&str],
    axes: &[String],
) {
    let mut omitted: Vec<&str> =
        axes.iter().map(String::as_str).filter(|axis| !names.contains(axis)).collect();
    match error {
        StepError::UnknownAxis { .. } if fault.fixes.is_empty() => {
            // Each unknown name is replaced by an omitted axis, the most minor first, so that the order differs from
            // that of the shape.
            let is_known = |name: &str| name == "..." || axes.iter().any(|axis| axis == name);
            let mut order: Vec<&str> = names
                .iter()
                .filter_map(|name| if is_known(name) { Some(*name) } else { omitted.pop() })
                .collect();
            omitted.reverse();
            if !order.contains(&"...") {
                order.extend(omitted);
            }
            fault.help = vec![format!("use the axes of the tensor: `order {}`", order.join(" "))];
        }
        StepError::MissingAxes(_) => {
            let names = names.join(" ");
            let rest = omitted.join(" ");
            fault.help =
                vec![format!("name every axis: `order {names} {rest}`, or `order {names} ...`")];
        }
        _ => {}
    }
}
