//! Records: the fields are the labels of an axis, and share one element type.

use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::layout::Axis;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Place};
use crate::dtype::Dtype;
use crate::manifest::syntax::{AxisItem, Extent, FIELD, Name, Record, Shape, Text};

/// The name of the axis that a record adds to the shape.
pub(super) fn axis_name(record: &Record) -> Name {
    Name { value: FIELD.to_owned(), span: record.span.clone() }
}

/// The axes of a tensor: those of the shape, then that of the record, unless the shape places it.
pub(super) fn axes(shape: &Shape, record: Option<&Record>) -> Vec<AxisItem> {
    let mut axes = shape.axes.clone();
    let Some(record) = record else { return axes };
    if axes.iter().all(|axis| axis.name.value != FIELD) {
        axes.push(AxisItem { name: axis_name(record), extent: Extent::Fields });
    }
    axes
}

/// How many fields there are, and their names.
pub(super) fn fields(record: &Record) -> (Expr, Vec<String>) {
    let names: Vec<String> = record.fields.iter().map(|(name, _)| name.value.clone()).collect();
    (Expr::constant(i128::try_from(names.len()).unwrap_or(i128::MAX)), names)
}

/// The axis `field` of a tensor without a record has nothing that says its extent.
pub(super) fn no_record(place: Place) -> Diagnostic {
    let message = format!("axis `{FIELD}` has no extent");
    let error = Diagnostic::error(Code::ShapeExtent, message, place, "");
    error.help(format!("write `{FIELD} 64`, or a record: `dtype {{ x f32; y f32 }}`"))
}

/// What an axis of the shape has to do with the record, if it is its axis: it has an index for each field.
pub(super) fn fits(
    axis: &Axis,
    labels: &[String],
    record: &Record,
    (file, name): (&Arc<str>, &Name),
) -> Result<(), Diagnostic> {
    let (extent, fields) = fields(record);
    if axis.extent == extent && (labels.is_empty() || labels == fields) {
        return Ok(());
    }
    let message = format!("the axis `{FIELD}` is not that of the record");
    let place = Place::new(file, name.span.clone());
    let error = Diagnostic::error(Code::DtypeRecord, message, place, "");
    let error = error.also(Place::new(file, record.span.clone()), "has these fields");
    Err(error.help(format!("write `{FIELD}` alone: its indices are {}", fields.join(", "))))
}

/// The element type of all fields; `parsed` reads one.
pub(super) fn dtype(
    record: &Record,
    file: &Arc<str>,
    parsed: &dyn Fn(&Text) -> Result<Dtype, Diagnostic>,
) -> Result<Dtype, Vec<Diagnostic>> {
    let (mut good, mut errors) = (Vec::new(), Vec::new());
    for (name, text) in &record.fields {
        match parsed(text) {
            Ok(dtype) => good.push((name, text, dtype)),
            Err(error) => errors.push(error),
        }
    }
    let Some((first, text, dtype)) = good.first().filter(|_| errors.is_empty()) else {
        return Err(errors);
    };
    let Some((other, at, odd)) = good.iter().find(|(_, _, other)| other != dtype) else {
        return Ok(*dtype);
    };
    let message = format!("the field `{}` is {odd}, and `{}` is {dtype}", other.value, first.value);
    let error =
        Diagnostic::error(Code::DtypeRecord, message, Place::new(file, at.span.clone()), "");
    let mut error = error.also(Place::new(file, text.span.clone()), "the first");
    error.noted("the fields of a record are one axis, so they share an element type");
    Err(vec![
        error.help(format!("write a tensor for each element type: one of {dtype}, one of {odd}")),
    ])
}
