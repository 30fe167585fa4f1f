//! Checks of records, `dtype { x f32; y f32 }`: fields of one type, without counts and alignments, become an axis with
//! labels; other records become one element type.

use std::sync::Arc;

use layoutc_algebra::expr::Expr;
use layoutc_algebra::symbol::Axis;

use super::faults::counted;
use super::scope::{ManifestScope, number};
use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic, FileSpan, collect_all, collect_both};
use crate::base::dtype::Dtype;
use crate::base::dtype::record::{self, FieldSpec, MAX_ALIGNMENT, MAX_BYTES, RecordError};
use crate::base::nearest::near_powers_of_two;
use crate::manifest::syntax::{
    AxisItem, Extent, FIELD, FieldItem, Identifier, IntegerExpr, RecordItem, ShapeItem, SpannedText,
};

/// Name, `field`, of the axis that a record adds to the shape, with the record's span.
pub(super) fn axis_name(record: &RecordItem) -> Identifier {
    Identifier { value: FIELD.to_owned(), span: record.span.clone() }
}

/// Axes of a tensor, outermost first: those of the shape, then the axis of the record if the fields of the record form
/// an axis and the shape does not have it already.
pub(super) fn axes(shape: &ShapeItem, record: Option<&RecordItem>) -> Vec<AxisItem> {
    let mut axes = shape.axes.clone();
    let Some(record) = record.filter(|record| record.is_axis()) else { return axes };
    if axes.iter().all(|axis| axis.name.value != FIELD) {
        axes.push(AxisItem { name: axis_name(record), extent: Extent::Fields });
    }
    axes
}

/// Pair `(count, names)`: the number of the record's fields as a constant expression, and the names of the fields in
/// order.
pub(super) fn fields(record: &RecordItem) -> (Expr, Vec<String>) {
    let names: Vec<String> = record.fields.iter().map(|field| field.name.value.clone()).collect();
    (Expr::constant(i128::try_from(names.len()).unwrap_or(i128::MAX)), names)
}

/// Error, located at `place`, for an axis `field` without an extent in a tensor without a record.
pub(super) fn no_record(place: FileSpan) -> Diagnostic {
    let message = format!("axis `{FIELD}` has no extent");
    let error = Diagnostic::error(Code::ShapeExtent, message, place, "");
    error.help(format!("write `{FIELD} 64`, or a record: `dtype {{ x f32; y f32 }}`"))
}

/// Error, located at `place`, for an axis `field` in the shape of a tensor whose record is one element: its fields
/// differ in type, or it has counts or an alignment, so that the fields do not form an axis. The tuple is (path of the
/// manifest, record).
pub(super) fn no_axis(place: FileSpan, (file, record): (&Arc<str>, &RecordItem)) -> Diagnostic {
    let message = format!("the fields of this record do not form an axis `{FIELD}`");
    let error = Diagnostic::error(Code::DtypeRecord, message, place, "");
    let error = error.with_label(FileSpan::new(file, record.span.clone()), "the record");
    let note = "fields of different types, counts or alignments form one element: there is no stride between them";
    error
        .note(note)
        .help(format!("remove `{FIELD}`; for a struct of arrays, declare a tensor per field"))
}

/// Checks the axis that stands for the fields of a record: its extent must be the number of fields, and its labels, if
/// any, the names of the fields. The tuple is (path of the manifest, name of the axis), for the error.
pub(super) fn fits(
    axis: &Axis,
    labels: &[String],
    record: &RecordItem,
    (file, name): (&Arc<str>, &Identifier),
) -> Result<(), Diagnostic> {
    let (extent, fields) = fields(record);
    if axis.extent == extent && (labels.is_empty() || labels == fields) {
        return Ok(());
    }
    let message = format!("axis `{FIELD}` does not match the record");
    let place = name.at(file);
    let error = Diagnostic::error(Code::DtypeRecord, message, place, "");
    let error = error.with_label(FileSpan::new(file, record.span.clone()), "has these fields");
    Err(error.help(format!("write `{FIELD}` alone: its indices are {}", fields.join(", "))))
}

/// Context in which a record is checked: the path of the manifest, the scope of the consts in its counts, and
/// `high_first`, true if the first of the sub-byte elements in a byte is in its high bits.
#[derive(Clone, Copy)]
pub(super) struct RecordContext<'a> {
    pub(super) file: &'a Arc<str>,
    pub(super) scope: &'a ManifestScope,
    pub(super) high_first: bool,
}

/// Element type of a tensor with the record `item`: the type of all fields if they form an axis, otherwise the record.
/// `parsed` parses the text of an element type. `Err` for an invalid field or alignment, and for a record that is too
/// large or in which a field or the end is inside a byte.
pub(super) fn dtype(
    item: &RecordItem,
    ground: RecordContext<'_>,
    parsed: &dyn Fn(&SpannedText) -> Result<Dtype, Diagnostic>,
) -> CheckResult<Dtype> {
    let fields = collect_all(item.fields.iter().map(|field| of_field(field, ground, parsed)));
    let (wanted, align) = collect_both(fields, ground.alignment(item.align.as_ref()))?;
    match wanted.first() {
        Some(first) if item.is_axis() => return Ok(first.dtype),
        Some(_) => {}
        None => return Err(Vec::new()),
    }
    match record::Record::new(&wanted, align, ground.high_first) {
        Ok(record) => Ok(Dtype::from(record)),
        Err(error) => Err(vec![fault(error, item, &wanted, ground)]),
    }
}

fn of_field(
    field: &FieldItem,
    ground: RecordContext<'_>,
    parsed: &dyn Fn(&SpannedText) -> Result<Dtype, Diagnostic>,
) -> CheckResult<FieldSpec> {
    let dtype = parsed(&field.dtype)?;
    let counts = field.counts.iter().map(|count| ground.count(field, count));
    let counts = counts.collect::<Result<Vec<u32>, _>>()?;
    let align = ground.alignment(field.align.as_ref())?;
    Ok(FieldSpec { name: field.name.value.clone(), dtype, counts, align })
}

impl RecordContext<'_> {
    fn at(&self, span: std::ops::Range<usize>) -> FileSpan {
        FileSpan::new(self.file, span)
    }

    fn count(&self, field: &FieldItem, count: &IntegerExpr) -> CheckResult<u32> {
        let value = number(count, self.scope, self.file)?;
        if let Some(count) = u32::try_from(value).ok().filter(|count| *count > 0) {
            return Ok(count);
        }
        let name = &field.name.value;
        let (message, help) = if value < 1 {
            let message = format!("field `{name}` has {value} elements; the minimum is 1");
            (message, "write 1 or more, or remove the field".to_owned())
        } else {
            let message = format!("field `{name}` has too many elements: {value}");
            (message, format!("a record has at most {MAX_BYTES} bytes"))
        };
        let error = Diagnostic::error(Code::DtypeRecord, message, self.at(count.span()), "");
        Err(vec![error.help(help)])
    }

    fn alignment(&self, align: Option<&IntegerExpr>) -> CheckResult<Option<u32>> {
        let Some(bound) = align else { return Ok(None) };
        let value = number(bound, self.scope, self.file)?;
        let fits = |align: &u32| align.is_power_of_two() && *align <= MAX_ALIGNMENT;
        if let Some(align) = u32::try_from(value).ok().filter(fits) {
            return Ok(Some(align));
        }
        let message = format!(
            "expected an alignment of a field, a power of two from 1 to {MAX_ALIGNMENT} bytes, found {value}"
        );
        let error = Diagnostic::error(Code::StepValue, message, self.at(bound.span()), "");
        Err(vec![error.help(near_powers_of_two(value, MAX_ALIGNMENT.into()))])
    }
}

fn fault(
    error: RecordError,
    item: &RecordItem,
    wanted: &[FieldSpec],
    ground: RecordContext<'_>,
) -> Diagnostic {
    let refused =
        |message: String, span| Diagnostic::error(Code::DtypeRecord, message, ground.at(span), "");
    match error {
        RecordError::Large { bytes } => {
            let message =
                format!("a record has at most {MAX_BYTES} bytes, and this one has {bytes}");
            refused(message, item.span.clone())
                .help("give a field fewer elements, and add an axis to the shape")
        }
        RecordError::Field { field, bits: before } => {
            let name = item.fields.get(field).map_or("", |field| &field.name.value);
            let before = counted(&before, "bit");
            let message = format!("field `{name}` starts inside a byte, after {before}");
            let span = item.fields.get(field).map_or(item.span.clone(), |f| f.span.clone());
            let packed = wanted.get(..field).unwrap_or_default();
            refused(message, span).help(format!(
                "{}, or start at the next byte: `align=1` after `{name}`",
                whole(packed)
            ))
        }
        RecordError::End { bits: all } => {
            let all = counted(&all, "bit");
            let message = format!("a record consists of whole bytes, and these fields have {all}");
            refused(message, item.span.clone())
                .help(format!("{}, or pad the last byte: `dtype align=1 {{ … }}`", whole(wanted)))
        }
    }
}

/// Help for fields that do not end at a byte boundary: a suitable count for the last field with a partial byte.
fn whole(fields: &[FieldSpec]) -> String {
    let odd = fields.iter().rev().find(|field| {
        let elements = field.counts.iter().fold(1_u64, |all, n| all.saturating_mul((*n).into()));
        elements.saturating_mul(field.dtype.element_bits().into()) % 8 != 0
    });
    let Some(FieldSpec { name, dtype, counts, .. }) = odd else {
        return "give the packed fields whole bytes".to_owned();
    };
    let (several, _) = dtype.byte_group();
    if counts.is_empty() {
        return format!(
            "give `{name}` a count that is a multiple of {several}: `{name} {dtype} {}`",
            several.max(32)
        );
    }
    format!("give `{name}` a multiple of {several} elements")
}
