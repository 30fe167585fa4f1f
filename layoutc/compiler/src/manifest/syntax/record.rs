//! Typed syntax of record types, whose elements have named fields.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Identifier, IntegerExpr, SpannedText};

/// Name of the axis whose indices are the fields of a record, if all fields have one type.
pub const FIELD: &str = "field";

/// Record type of a tensor's elements: `dtype { x f32; y f32 }`, `dtype align=4 { d f16; q u4 32 }`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordItem {
    /// Fields of the record, at least one, with distinct names.
    pub fields: Vec<FieldItem>,
    /// Minimum alignment of the record in bytes; `None`: 1. The alignment of the record is the greatest of this number
    /// and the alignments of its fields. The size of the record is rounded up to a multiple of it.
    pub align: Option<IntegerExpr>,
    /// Byte range of the record in the file.
    pub span: Range<usize>,
}

/// Field of a record: `q u4 32 align=4` is 32 elements of type `u4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldItem {
    /// Name that the field declares.
    pub name: Identifier,
    /// Element type of the field, as written.
    pub dtype: SpannedText,
    /// Number of elements along each axis of the field, outermost first; empty for one element.
    pub counts: Vec<IntegerExpr>,
    /// Alignment of the field's offset, in bytes; `None`: the field follows the previous one directly.
    pub align: Option<IntegerExpr>,
    /// Byte range of the field's node in the file.
    pub span: Range<usize>,
}

impl RecordItem {
    /// True if the record stands for an axis whose indices are the fields: all fields have one type, and neither the
    /// record nor a field has counts or an alignment. Otherwise a record is one element that contains all fields.
    pub fn is_axis(&self) -> bool {
        let first = self.fields.first().map(|field| &field.dtype.value);
        let is_plain = |field: &FieldItem| {
            field.counts.is_empty() && field.align.is_none() && Some(&field.dtype.value) == first
        };
        self.align.is_none() && self.fields.iter().all(is_plain)
    }
}
