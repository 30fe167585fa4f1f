//! Record element types: structures of fields, each with an element type and extents.
//!
//! Fields are contiguous except for gaps required by an alignment. Every field and every record starts at a byte
//! boundary: `{ d f16; q u4 32 }` has 16 + 32 * 4 bits = 18 bytes.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use crate::base::dtype::Dtype;

/// Maximum number of fields of a record.
pub const MAX_FIELDS: usize = 256;

/// Maximum size of a record in bytes.
pub const MAX_BYTES: u64 = 1 << 12;

/// Maximum alignment of a field or record, in bytes.
pub const MAX_ALIGNMENT: u32 = 1 << 12;

/// Declaration of a record's field, before its offset is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldSpec {
    /// Name of the field, unique in the record.
    pub name: String,
    /// Element type of the field; not a record.
    pub dtype: Dtype,
    /// Number of elements along each axis of the field, outermost first; empty for one element.
    pub counts: Vec<u32>,
    /// Alignment of the field's offset in bytes, a power of two; `None`: the field follows the previous one directly.
    pub align: Option<u32>,
}

/// Field of a record, with its offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name of the field.
    pub name: String,
    /// Element type of the field.
    pub dtype: Dtype,
    /// Number of elements along each axis of the field, outermost first; empty for one element.
    pub counts: Vec<u32>,
    /// Offset of the field from the start of the record, in bytes.
    pub offset: u32,
}

impl Field {
    /// Number of elements of the field: the product of `counts`, 1 for none.
    pub fn elements(&self) -> u32 {
        self.counts.iter().fold(1, |all, count| all.saturating_mul(*count))
    }

    /// Size of the field in bytes, rounded up.
    pub fn bytes(&self) -> u32 {
        self.elements().saturating_mul(self.dtype.element_bits()).div_ceil(8)
    }
}

/// Contents of a record type, stored once for each text: its fields, size, alignment and text. Size and alignment are
/// in bytes.
#[derive(Debug)]
struct RecordLayout {
    fields: Vec<Field>,
    bytes: u32,
    alignment_bytes: u32,
    high_first: bool,
    text: String,
}

/// Element type made of fields. Records with equal [`Record::text`] are the same type, wherever they are declared.
#[derive(Debug, Clone, Copy)]
pub struct Record(&'static RecordLayout);

// Interned records by text. Never freed: their number is bounded by the texts of manifests.
static KNOWN: Mutex<BTreeMap<String, Record>> = Mutex::new(BTreeMap::new());

/// Error in the declaration of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordError {
    /// A field does not start at a byte boundary.
    Field {
        /// Index of the field in the record, counted from 0.
        field: usize,
        /// Offset of the field from the start of the record, in bits; not a multiple of 8.
        bits: u64,
    },
    /// The record does not end at a byte boundary.
    End {
        /// Size of the record including gaps, in bits; not a multiple of 8.
        bits: u64,
    },
    /// The record is larger than [`MAX_BYTES`].
    Large {
        /// Size of the record up to the end of the first field that exceeds the limit, in bytes, rounded up. Size of
        /// the whole record if only its last gap exceeds the limit.
        bytes: u64,
    },
}

impl Record {
    /// Record with the fields `wanted`, in this order. Its alignment in bytes is the greatest of `align` and the
    /// alignments of the fields, and its size is rounded up to a multiple of this alignment. With `high_first`, the
    /// first of the elements that share a byte is in the high bits.
    ///
    /// # Errors
    /// [`RecordError::Field`] if a field does not start at a byte boundary, [`RecordError::End`] if the record does not
    /// end at one, [`RecordError::Large`] if the record exceeds [`MAX_BYTES`].
    pub fn new(
        wanted: &[FieldSpec],
        align: Option<u32>,
        high_first: bool,
    ) -> Result<Self, RecordError> {
        let mut at = 0_u64;
        let mut fields = Vec::new();
        for (number, field) in wanted.iter().enumerate() {
            if let Some(align) = field.align {
                at = at.next_multiple_of(u64::from(align.max(1)).saturating_mul(8));
            }
            let Ok(offset) = u32::try_from(at / 8) else { return Err(large(at)) };
            if !at.is_multiple_of(8) {
                return Err(RecordError::Field { field: number, bits: at });
            }
            let counts = field.counts.clone();
            let (name, dtype) = (field.name.clone(), field.dtype);
            let bits = counts
                .iter()
                .fold(u64::from(dtype.element_bits()), |all, n| all.saturating_mul((*n).into()));
            at = at.saturating_add(bits);
            if at.div_ceil(8) > MAX_BYTES {
                return Err(large(at));
            }
            fields.push(Field { name, dtype, counts, offset });
        }
        let aligns = wanted.iter().filter_map(|field| field.align).chain(align);
        let alignment = aligns.max();
        if let Some(alignment) = alignment {
            at = at.next_multiple_of(u64::from(alignment.max(1)).saturating_mul(8));
        }
        if !at.is_multiple_of(8) {
            return Err(RecordError::End { bits: at });
        }
        let bytes = u32::try_from(at / 8).ok().filter(|bytes| u64::from(*bytes) <= MAX_BYTES);
        let bytes = bytes.ok_or_else(|| large(at))?;
        let high_first = high_first && wanted.iter().any(|f| f.dtype.element_bits() < 8);
        let text = text(wanted, align, high_first);
        let alignment_bytes = alignment.unwrap_or(1).max(1);
        Ok(interned(RecordLayout { fields, bytes, alignment_bytes, high_first, text }))
    }

    /// Record that [`Record::new`] created earlier with this [`text`](Record::text); `None` if it created none.
    pub fn parse(text: &str) -> Option<Self> {
        KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(text).copied()
    }

    /// Fields of the record, in order of their offsets.
    pub fn fields(self) -> &'static [Field] {
        &self.0.fields
    }

    /// Size of the record in bytes, including gaps.
    pub fn bytes(self) -> u32 {
        self.0.bytes
    }

    /// Alignment of the record in bytes: the greatest one declared for the record or a field, 1 if none is declared.
    pub fn alignment_bytes(self) -> u32 {
        self.0.alignment_bytes
    }

    /// True if the first of the sub-byte elements that share a byte is in its high bits. False if it is in the low
    /// bits, and for a record without sub-byte elements.
    pub fn is_high_first(self) -> bool {
        self.0.high_first
    }

    /// Gaps as pairs (offset, size) in bytes, each from the end of a field to the start of the next or the end of the
    /// record.
    pub fn gaps(self) -> impl Iterator<Item = (u32, u32)> {
        let ends = self.fields().iter().map(|field| field.offset.saturating_add(field.bytes()));
        let next = self.fields().iter().skip(1).map(|field| field.offset).chain([self.bytes()]);
        ends.zip(next).map(|(end, next)| (end, next.saturating_sub(end))).filter(|gap| gap.1 > 0)
    }

    /// Text of the record as in a manifest: `{ d f16; q u4 32 }`. Its alignment and `high-first` follow, each if set.
    pub fn text(self) -> &'static str {
        &self.0.text
    }
}

impl PartialEq for Record {
    fn eq(&self, other: &Self) -> bool {
        self.0.text == other.0.text
    }
}

impl Eq for Record {}

impl PartialOrd for Record {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Record {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.text.cmp(&other.0.text)
    }
}

fn large(bits: u64) -> RecordError {
    RecordError::Large { bytes: bits.div_ceil(8) }
}

fn text(fields: &[FieldSpec], align: Option<u32>, high_first: bool) -> String {
    let mut text = String::from("{");
    for (number, field) in fields.iter().enumerate() {
        let _ =
            write!(text, "{} {} {}", if number == 0 { "" } else { ";" }, field.name, field.dtype);
        field.counts.iter().for_each(|count| text.push_str(&format!(" {count}")));
        field.align.iter().for_each(|align| text.push_str(&format!(" align={align}")));
    }
    text.push_str(" }");
    align.iter().for_each(|align| text.push_str(&format!(" align={align}")));
    if high_first {
        text.push_str(" high-first");
    }
    text
}

/// Record type with the contents `parts`. An existing record with the same text is returned; otherwise a new one is
/// stored, and never freed.
fn interned(parts: RecordLayout) -> Record {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(record) = known.get(&parts.text) {
        return *record;
    }
    let text = parts.text.clone();
    let record = Record(Box::leak(Box::new(parts)));
    known.insert(text, record);
    record
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, dtype: &str, counts: &[u32], align: Option<u32>) -> FieldSpec {
        let dtype = Dtype::parse(dtype).unwrap();
        FieldSpec { name: name.to_owned(), dtype, counts: counts.to_vec(), align }
    }

    #[test]
    fn quantization_blocks_have_the_size_of_their_c_structs() {
        let bytes = |fields: &[FieldSpec]| Record::new(fields, None, false).map(Record::bytes);
        let d = field("d", "f16", &[], None);
        let m = field("m", "f16", &[], None);
        let q = |dtype: &str, count| field("q", dtype, &[count], None);
        assert_eq!(bytes(&[d.clone(), q("u4", 32)]), Ok(18));
        assert_eq!(bytes(&[d.clone(), q("i8", 32)]), Ok(34));
        assert_eq!(bytes(&[d.clone(), m.clone(), q("u4", 32)]), Ok(20));
        let scales = field("scales", "u8", &[12], None);
        assert_eq!(bytes(&[d.clone(), m, scales, q("u4", 256)]), Ok(144));
        assert_eq!(bytes(&[field("e", "f8e8m0fnu", &[], None), q("f4e2m1fn", 32)]), Ok(17));
        assert_eq!(bytes(&[d.clone(), q("u4", 1)]), Err(RecordError::End { bits: 20 }));
        assert_eq!(bytes(&[q("u3", 3), d.clone()]), Err(RecordError::Field { field: 1, bits: 9 }));
        assert_eq!(bytes(&[d, q("u8", u32::MAX)]), Err(large(16 + 8 * u64::from(u32::MAX))));
    }

    #[test]
    fn record_alignment_gaps_match_c() {
        let fields = [
            field("tag", "i8", &[], None),
            field("x", "f32", &[], Some(4)),
            field("c", "u8", &[], None),
        ];
        let record = Record::new(&fields, None, true).unwrap();
        let offsets: Vec<u32> = record.fields().iter().map(|field| field.offset).collect();
        assert_eq!((offsets, record.bytes(), record.alignment_bytes()), (vec![0, 4, 8], 12, 4));
        assert_eq!(record.gaps().collect::<Vec<_>>(), [(1, 3), (9, 3)]);
        assert_eq!(record.text(), "{ tag i8; x f32 align=4; c u8 }");
        assert_eq!(Record::parse(record.text()), Some(record));
        let wide = Record::new(&fields, Some(16), true).unwrap();
        assert_eq!((wide.bytes(), wide == record), (16, false));
    }
}
