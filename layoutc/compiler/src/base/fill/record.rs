//! Fill values of records: every element of every field is the fill value, converted to the field's type.

use super::{Fill, FillValue};
use super::{FillError, bits, default_fill};
use crate::base::dtype::Scalar;
use crate::base::dtype::record::{Field, Record};

/// Bytes of one element of the type `record` in which every field has the fill value. The bytes of gaps between fields
/// are 0, as are all bytes for [`Fill::Nothing`]. In a field whose type has no zero, the fill value 0 becomes the least
/// value of the type.
///
/// # Errors
/// [`FillError`] if the type of a field cannot represent the value.
pub(super) fn bytes(record: Record, fill: Fill) -> Result<Vec<u8>, FillError> {
    let mut bytes = vec![0_u8; usize::try_from(record.bytes()).unwrap_or(0)];
    for field in record.fields() {
        let scalar = of_field(field, fill)?;
        let width = field.dtype.scalar_bits();
        // The imaginary part of a complex number is 0.
        let is_complex = matches!(field.dtype.scalar, Scalar::C64 | Scalar::C128);
        let real = if is_complex { width / 2 } else { width };
        let scalars = field.elements().saturating_mul(field.dtype.lanes);
        for number in 0..scalars {
            let start = field.offset.saturating_mul(8).saturating_add(number.saturating_mul(width));
            for bit in (0..real).filter(|bit| scalar >> bit & 1 == 1) {
                // With `high-first` the first of the elements that share a byte is in its high bits.
                let (at, in_byte) = if width < 8 && record.is_high_first() {
                    let at = start.saturating_add(width - 1 - bit);
                    (at / 8, 7 - at % 8)
                } else {
                    let at = start.saturating_add(bit);
                    (at / 8, at % 8)
                };
                let byte = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at));
                if let Some(byte) = byte {
                    *byte |= 1 << in_byte;
                }
            }
        }
    }
    Ok(bytes)
}

/// First field of a record whose element type cannot represent the fill value; `None` if the types of all fields can.
pub(crate) fn first_unrepresentable(record: Record, fill: Fill) -> Option<&'static Field> {
    record.fields().iter().find(|field| of_field(field, fill).is_err())
}

fn of_field(field: &Field, fill: Fill) -> Result<u64, FillError> {
    let fill = match fill {
        Fill::Value(value) => Fill::Value(default_fill(field.dtype, value)),
        Fill::Nothing => Fill::Value(FillValue::Integer(0)),
    };
    match fill {
        Fill::Value(FillValue::Integer(0)) => Ok(0),
        fill => bits(field.dtype, fill),
    }
}
