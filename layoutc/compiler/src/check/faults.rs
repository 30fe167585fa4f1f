//! Diagnostics of the errors that the layout builder reports, and text helpers for messages.

use layoutc_algebra::builder::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::expr::print;
use layoutc_algebra::step::{MAX_AXES, StepError};
use layoutc_algebra::symbol::{Axis, Symbol};

use super::domain;
use super::expr::overflow;
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};

/// Text of an expression, with axes named as in `logical` and symbols as in `symbols`.
pub(super) fn text(expr: &Expr, logical: &[Axis], symbols: &[Symbol]) -> String {
    print::expr(expr, &|var| crate::model::layout_names::variable(var, logical, &[], symbols))
}

/// Text of a logical index: `[0, 4]`.
pub(super) fn index(index: &[i128]) -> String {
    format!("[{}]", joined(index))
}

/// Count with its noun `what`, to which an `s` is added unless the count is 1: `1 slot`, `2 slots`.
pub(super) fn counted(count: &impl ToString, what: &str) -> String {
    match count.to_string().as_str() {
        "1" => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// Texts of items, separated by commas: `0, 4`.
pub(super) fn joined(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Position, in the map that the builder refuses, of the item that `error` names: its index is negative, exceeds its
/// declared extent or is not bounded. `None` for other errors.
pub(super) fn item_of(error: &BuildError) -> Option<usize> {
    match error {
        BuildError::Negative { item, .. }
        | BuildError::ExtentTooSmall { item, .. }
        | BuildError::Unbounded { item } => Some(*item),
        _ => None,
    }
}

/// Diagnostic at `place` of an error of a step such as `order` or `split`, for example an unknown axis or a wrong
/// number of names. `axes` are the names of the axes that exist at this step.
pub(super) fn step_fault(error: &StepError, axes: &[String], place: FileSpan) -> Diagnostic {
    let message = error.to_string();
    let fault = |code| Diagnostic::error(code, message.clone(), place.clone(), "");
    match error {
        StepError::UnknownAxis { name, .. } => {
            let fault = fault(Code::StepAxis).nearest(name, axes.iter().map(String::as_str));
            if !fault.help.is_empty() {
                return fault;
            }
            fault.help(match axes.split_last() {
                None => "remove the step".to_owned(),
                Some((only, [])) => format!("write `{only}`, or remove the step"),
                Some((last, others)) => {
                    format!("write `{}` or `{last}`, or remove the step", others.join("`, `"))
                }
            })
        }
        StepError::MissingAxes(_) => {
            fault(Code::StepAxis).help("name every axis, or write `...` for all others")
        }
        StepError::RepeatedAxis(_) => fault(Code::StepAxis).help("name it once"),
        StepError::TwoEllipses => {
            fault(Code::StepAxis).help("write `...` once: it matches all axes that are not named")
        }
        StepError::NotAdjacent { .. } => {
            fault(Code::StepAxis).help("make them adjacent with `order` first")
        }
        StepError::TooFewAxes => {
            fault(Code::StepForm).help("name another axis, or remove the step")
        }
        StepError::TrailingStar => fault(Code::StepForm)
            .help("write the tile's extent along the last axis after it: `tile * 128`"),
        StepError::NameCount { wanted, .. } => fault(Code::StepForm)
            .help(format!("write {wanted} names, or none for the default names")),
        StepError::TooManyAxes(count) => {
            let more = count.saturating_sub(MAX_AXES);
            fault(Code::LimitAxes)
                .help(format!("use {more} fewer: remove axes of extent 1, or fuse several"))
        }
        StepError::Expr(error) => overflow(error, message, place),
    }
}

/// Diagnostic at `place` of a step of the tensor `tensor` that the layout builder `builder` refuses with `error`.
pub(crate) fn build_fault(
    error: &BuildError,
    tensor: &str,
    builder: &LayoutBuilder,
    place: &FileSpan,
) -> Diagnostic {
    let logical = builder.logical();
    let symbols = builder.facts().symbols();
    let message = error.to_string();
    let place = place.clone();
    let names: Vec<String> = builder.axes().iter().map(|axis| axis.name.clone()).collect();
    let fault = |code| Diagnostic::error(code, message.clone(), place.clone(), "");
    match error {
        BuildError::Negative { witness, value, .. } => {
            let message = format!("an index of `{tensor}` is negative");
            Diagnostic::error(Code::MapNegative, message, place, "")
                .note(format!("{tensor}{} maps to {value}", index(witness)))
                .help("add an offset: indices start at 0")
                .witness(vec![witness.clone()])
        }
        BuildError::ExtentTooSmall { witness, value, needed, .. } => {
            let needed = text(needed, logical, symbols);
            let message = format!("the declared extent is too small for `{tensor}`");
            Diagnostic::error(Code::MapExtent, message, place, "")
                .note(format!("{tensor}{} maps to {value}", index(witness)))
                .help(format!("use an extent of at least {needed}"))
                .witness(vec![witness.clone()])
        }
        BuildError::Unbounded { .. } => {
            let message =
                format!("cannot prove that an index of `{tensor}` stays in range for all sizes");
            Diagnostic::error(Code::MapUnproven, message, place, "")
                .help("declare facts of the symbols (`min`, `max`, `multiple`), or use an index that starts at 0")
        }
        BuildError::AfterSeparators => {
            fault(Code::SeparatorsLaterStep).help("move the separators to the end")
        }
        BuildError::EmptyGroup => {
            let names = names.join(", ");
            fault(Code::SeparatorsEmptyGroup)
                .help(format!("place a separator between two axes; the axes here are {names}"))
        }
        BuildError::AfterAlign => {
            fault(Code::StepForm).help("move `align` after the steps that create axes")
        }
        BuildError::AfterSwizzle => {
            fault(Code::StepForm).help("use `swizzle` once, as the last step")
        }
        BuildError::AfterStrides => {
            fault(Code::StepForm).help("move `strides` to the end: they apply to the final axes")
        }
        BuildError::StrideCount { .. } => {
            fault(Code::StepForm).help(format!("write one stride for each of {}", names.join(", ")))
        }
        BuildError::WindowRank { axes, .. } => {
            fault(Code::MapArity).help(format!("write {axes} indices, one per axis"))
        }
        BuildError::NegativeStride => fault(Code::StepValue).help("write 0 or more"),
        BuildError::Size => size(tensor, logical, symbols, place),
        BuildError::Step(inner) => step_fault(inner, &names, place),
        BuildError::NoElement | BuildError::Uncounted => domain::unfit(error, place),
        BuildError::Expr(error) => overflow(error, message, place),
    }
}

/// Diagnostic of a tensor whose number of elements, slots or bytes exceeds 64 bits; notes show the extents and symbols.
pub(super) fn size(
    tensor: &str,
    logical: &[Axis],
    symbols: &[Symbol],
    place: FileSpan,
) -> Diagnostic {
    let message = format!("the size of `{tensor}` does not fit 64 bits");
    let factors: Vec<String> =
        logical.iter().map(|axis| text(&axis.extent, logical, symbols)).collect();
    let mut fault = Diagnostic::error(Code::LimitSize, message, place, "");
    if !factors.is_empty() {
        fault = fault.note(format!("its logical extents are {}", factors.join(" × ")));
    }
    let elements = logical.iter().map(|axis| axis.extent.as_const()).product::<Option<i128>>();
    let spread = elements.is_some_and(|elements| elements <= i128::from(u32::MAX));
    if spread {
        fault = fault.note("the layout spreads them over too many slots");
    }
    for symbol in symbols {
        fault = fault.note(format!("`{}` may be up to {}", symbol.name, symbol.max));
    }
    let help = match symbols {
        [] if spread => "reduce a tile, a padding, a stride or a factor of a map",
        [] => "reduce the extents, or distribute the elements over several tensors",
        _ => "declare a smaller `max` of the symbol",
    };
    fault.help(help).note(format!("the limit for elements and bytes is {}", i64::MAX))
}
