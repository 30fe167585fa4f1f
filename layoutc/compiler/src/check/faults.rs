//! The algebra's errors in the user's words.

use std::sync::Arc;

use layoutc_algebra::build::{BuildError, LayoutBuilder};
use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::{Axis, Symbol};
use layoutc_algebra::notation::NotationFault;
use layoutc_algebra::print;
use layoutc_algebra::step::{MAX_AXES, StepError};

use super::domain;
use super::expr::{overflow, place_in};
use super::scope::suggest;
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::manifest::syntax::SpannedText;

/// An expression in the manifest's own words.
pub(super) fn text(expr: &Expr, logical: &[Axis], symbols: &[Symbol]) -> String {
    print::expr(expr, &|var| crate::layout_names::variable(var, logical, &[], symbols))
}

/// A logical index as text: `[0, 4]`.
pub(super) fn index(index: &[i128]) -> String {
    format!("[{}]", index.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

/// The item of a map that an error is about.
pub(super) fn item_of(error: &BuildError) -> Option<usize> {
    match error {
        BuildError::Negative { item, .. }
        | BuildError::ExtentTooSmall { item, .. }
        | BuildError::Unbounded { item } => Some(*item),
        _ => None,
    }
}

/// A step that names axes that are not there, or too many, or too few.
pub(super) fn step_fault(error: &StepError, axes: &[String], place: FileSpan) -> Diagnostic {
    let message = error.to_string();
    match error {
        StepError::UnknownAxis { name, .. } => {
            let mut fault = Diagnostic::error(Code::StepAxis, message, place, "");
            suggest(&mut fault, name, axes.iter().map(String::as_str));
            if fault.help.is_empty() {
                fault.add_help("name one of them, or leave the step out");
            }
            fault
        }
        StepError::MissingAxes(_) => Diagnostic::error(Code::StepAxis, message, place, "")
            .help("name every axis, or write `...` for all the others"),
        StepError::RepeatedAxis(_) => {
            Diagnostic::error(Code::StepAxis, message, place, "").help("name it once")
        }
        StepError::TwoEllipses => Diagnostic::error(Code::StepAxis, message, place, "")
            .help("write it once: it is all the axes that are not named"),
        StepError::NotAdjacent { .. } => Diagnostic::error(Code::StepAxis, message, place, "")
            .help("bring them together with `order` first"),
        StepError::TooFewAxes => Diagnostic::error(Code::StepForm, message, place, "")
            .help("name another axis, or take the step out"),
        StepError::TrailingStar => Diagnostic::error(Code::StepForm, message, place, "")
            .help("write the tile's extent along the last axis behind it: `tile * 128`"),
        StepError::NameCount { wanted, .. } => {
            Diagnostic::error(Code::StepForm, message, place, "")
                .help(format!("write {wanted} names, or none: these are the names then"))
        }
        StepError::TooManyAxes(count) => Diagnostic::error(Code::LimitAxes, message, place, "")
            .help(format!(
                "have {} fewer: leave out those of extent 1, or make one axis of several",
                count.saturating_sub(MAX_AXES)
            )),
        StepError::Expr(error) => overflow(error, message, place),
    }
}

/// A text in a foreign notation that is at fault.
pub(super) fn notation_fault(
    fault: &NotationFault,
    text: &SpannedText,
    file: &Arc<str>,
) -> Diagnostic {
    let place = place_in(text, &fault.span, file);
    let mut error = Diagnostic::error(fault.kind.into(), &fault.message, place, "");
    error.help.extend(fault.help.clone());
    error
}

/// A step that cannot follow those before it.
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
    match error {
        BuildError::Negative { witness, value, .. } => Diagnostic::error(
            Code::MapNegative,
            format!("an index of `{tensor}` goes below 0"),
            place,
            "",
        )
        .note(format!("{tensor}{} would land at {value}", index(witness)))
        .help("indices count from 0: add what is missing")
        .witness(vec![witness.clone()]),
        BuildError::ExtentTooSmall { witness, value, needed, .. } => {
            let needed = text(needed, logical, symbols);
            let message = format!("the stated extent is too small for `{tensor}`");
            Diagnostic::error(Code::MapExtent, message, place, "")
                .note(format!("{tensor}{} lands at {value}", index(witness)))
                .help(format!("the extent must be at least {needed}"))
                .witness(vec![witness.clone()])
        }
        BuildError::Unbounded { .. } => {
            let message =
                format!("an index of `{tensor}` could not be proven to stay inside for all sizes");
            Diagnostic::error(Code::MapUnproven, message, place, "")
                .help("state facts of the symbols (`min`, `max`, `multiple`), or an index that starts at 0")
        }
        BuildError::AfterSeparators => {
            Diagnostic::error(Code::SeparatorsLaterStep, message, place, "")
                .help("put the separators last")
        }
        BuildError::EmptyGroup => Diagnostic::error(Code::SeparatorsEmptyGroup, message, place, "")
            .help(format!(
                "a separator stands after an axis that another follows; the axes here are {}",
                names.join(", ")
            )),
        BuildError::AfterAlign => Diagnostic::error(Code::StepForm, message, place, "")
            .help("put `align` after the steps that make the axes"),
        BuildError::AfterSwizzle => {
            Diagnostic::error(Code::StepForm, message, place, "").help("put `swizzle` last, once")
        }
        BuildError::AfterStrides => Diagnostic::error(Code::StepForm, message, place, "")
            .help("put `strides` last: they are the strides of the axes as they stand"),
        BuildError::StrideCount { .. } => Diagnostic::error(Code::StepForm, message, place, "")
            .help(format!("one stride for each of {}", names.join(", "))),
        BuildError::WindowRank { axes, .. } => {
            Diagnostic::error(Code::MapArity, message, place, "")
                .help(format!("write {axes} indices, one for each axis"))
        }
        BuildError::NegativeStride => {
            Diagnostic::error(Code::StepValue, message, place, "").help("write 0 or more")
        }
        BuildError::Size => size(tensor, logical, symbols, place),
        BuildError::Step(inner) => step_fault(inner, &names, place),
        BuildError::NoElement | BuildError::Uncounted => domain::unfit(error, place),
        BuildError::Expr(error) => overflow(error, message, place),
    }
}

/// A tensor beyond 64 bits, with the factors.
pub(super) fn size(
    tensor: &str,
    logical: &[Axis],
    symbols: &[Symbol],
    place: FileSpan,
) -> Diagnostic {
    let message = format!("`{tensor}` does not fit 64 bits");
    let factors: Vec<String> =
        logical.iter().map(|axis| text(&axis.extent, logical, symbols)).collect();
    let mut fault = Diagnostic::error(Code::LimitSize, message, place, "");
    if !factors.is_empty() {
        fault = fault.note(format!("its logical extents are {}", factors.join(" × ")));
    }
    let elements = logical.iter().map(|axis| axis.extent.as_const()).product::<Option<i128>>();
    let spread = elements.is_some_and(|elements| elements <= i128::from(u32::MAX));
    if spread {
        fault = fault.note("the layout spreads them over more slots than can be counted");
    }
    for symbol in symbols {
        fault = fault.note(format!("`{}` may be {}", symbol.name, symbol.max));
    }
    let help = match symbols {
        [] if spread => {
            "make what spreads them smaller: a tile, a padding, a stride, a factor of a map"
        }
        [] => "make the extents smaller, or divide the elements among several tensors",
        _ => "state a smaller `max` for the symbol",
    };
    fault.help(help).note(format!("elements and bytes are counted up to {}", i64::MAX))
}
