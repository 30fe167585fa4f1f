//! Tensors in files: `NumPy` type strings, and conversion of elements to and from the compiler's buffers.

pub(crate) mod file;
pub(crate) mod npy;
pub(crate) mod out_of_core;
mod record;
pub(crate) mod tensor_file;

use std::borrow::Cow;

use layoutc_compiler::base::dtype::{Dtype, Scalar};
use layoutc_compiler::base::fill::is_signed as is_signed_integer;
use layoutc_compiler::pack::Packing;

use npy::{NpyDescr, NpyHeader};

/// `NumPy` type string of an element type, such as `<f4`; of one lane for a vector type. A type that `NumPy` lacks gets
/// the type string of an integer that holds its bits: `<u2` for bf16, `|u1` for f8, `|i1` for i4. For a record, the
/// list of its fields, `[('d', '<f2'), ('q', '|u1', (16,))]`, which a .npy header contains without quotes.
pub(crate) fn descr(dtype: Dtype) -> Cow<'static, str> {
    match dtype.record() {
        Some(record) => Cow::Owned(record::descr(record)),
        None => Cow::Borrowed(of_scalar(dtype.scalar)),
    }
}

/// `NumPy` type string of a scalar type, or of one lane of a vector type; empty for a record.
fn of_scalar(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::F64 => "<f8",
        Scalar::F32 => "<f4",
        Scalar::F16 => "<f2",
        Scalar::Bf16 | Scalar::U16 => "<u2",
        Scalar::I64 => "<i8",
        Scalar::I32 => "<i4",
        Scalar::I16 => "<i2",
        Scalar::I8 | Scalar::I6 | Scalar::I5 | Scalar::I4 | Scalar::I3 | Scalar::I2 => "|i1",
        Scalar::U64 => "<u8",
        Scalar::U32 => "<u4",
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu
        | Scalar::F6e2m3fn
        | Scalar::F6e3m2fn
        | Scalar::F4e2m1fn
        | Scalar::U8
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1 => "|u1",
        Scalar::Bool => "|b1",
        Scalar::C64 => "<c8",
        Scalar::C128 => "<c16",
        Scalar::Record(_) => "",
    }
}

/// True if a file with the type string `descr` can hold elements of `dtype`. It is the type string of `dtype`, in any
/// byte order. For a type that `NumPy` lacks, it may also be that of unsigned integers or raw bytes of the size of an
/// element in the file. For a record, see [`record::is_taken`].
pub(crate) fn is_compatible(descr: &NpyDescr, dtype: Dtype) -> bool {
    if let Some(record) = dtype.record() {
        return record::is_taken(descr, record);
    }
    let own = of_scalar(dtype.scalar);
    let is_own = own.get(1..) == Some(format!("{}{}", descr.kind, descr.bytes).as_str());
    let bits = match dtype.scalar {
        Scalar::Bf16 => descr.kind == 'V' && descr.bytes == 2,
        Scalar::F8e4m3fn
        | Scalar::F8e4m3fnuz
        | Scalar::F8e5m2
        | Scalar::F8e5m2fnuz
        | Scalar::F8e8m0fnu
        | Scalar::F6e2m3fn
        | Scalar::F6e3m2fn
        | Scalar::F4e2m1fn
        | Scalar::I6
        | Scalar::I5
        | Scalar::I4
        | Scalar::I3
        | Scalar::I2
        | Scalar::U6
        | Scalar::U5
        | Scalar::U4
        | Scalar::U3
        | Scalar::U2
        | Scalar::U1 => matches!(descr.kind, 'u' | 'V') && descr.bytes == 1,
        _ => false,
    };
    is_own || bits
}

/// True if the array must be transposed for C order: the file is in Fortran order, and at least two axes are longer
/// than 1.
pub(crate) fn is_reordered(npy: &NpyHeader) -> bool {
    npy.is_fortran && npy.shape.iter().filter(|extent| **extent > 1).count() > 1
}

/// Elements of a .npy file in C order and little-endian. `data` has the bytes of the elements in the file. They are
/// copied only if the file has Fortran order or big-endian elements.
pub(crate) fn to_c_order<'a>(npy: &NpyHeader, data: &'a [u8]) -> Cow<'a, [u8]> {
    let width = npy.descr.bytes.max(1);
    let mut data = Cow::Borrowed(data);
    if is_reordered(npy) {
        data = Cow::Owned(from_fortran(&data, &npy.shape, width));
    }
    let part = part_bytes(&npy.descr);
    if npy.descr.is_big && npy.descr.kind != 'V' && part > 1 {
        data.to_mut().chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    data
}

/// Number of bytes of an element that are reversed together when the byte order changes: the size of the element, or
/// half of it for a complex number, whose real and imaginary parts are reversed separately.
pub(crate) fn part_bytes(descr: &NpyDescr) -> usize {
    let width = descr.bytes.max(1);
    if descr.kind == 'c' { width / 2 } else { width }
}

/// Copy of an array with the extents `shape` and elements of `width` bytes, transposed from Fortran order, where the
/// first axis is the fastest, to C order.
fn from_fortran(data: &[u8], shape: &[u64], width: usize) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = width;
    for extent in shape {
        strides.push(stride);
        stride = stride.saturating_mul(usize::try_from(*extent).unwrap_or(usize::MAX));
    }
    let mut ordered = Vec::with_capacity(data.len());
    let mut index = vec![0_u64; shape.len()];
    let mut at = 0;
    while let Some(element) = data.get(at..at + width) {
        ordered.extend_from_slice(element);
        let axes = index.iter_mut().zip(shape).zip(&strides).rev();
        let mut is_over = true;
        for ((index, extent), stride) in axes {
            *index += 1;
            at += stride;
            if *index < *extent {
                is_over = false;
                break;
            }
            at -= stride * usize::try_from(*extent).unwrap_or(0);
            *index = 0;
        }
        if is_over {
            break;
        }
    }
    ordered
}

/// Packs sub-byte elements of the type `dtype` into bytes, as `packing` arranges them. `bytes` has one element per
/// byte, in the format of the `NumPy` kind letter `kind`: signed values for `i`, bit patterns for `u`, and either for
/// any other letter. The error is the pair (index, byte) of the first element whose value is out of range.
pub(crate) fn packed(
    bytes: &[u8],
    kind: char,
    dtype: Dtype,
    packing: Packing,
) -> Result<Vec<u8>, (usize, u8)> {
    let bits = dtype.element_bits().clamp(1, 8);
    let count = bytes.len().saturating_mul(usize::try_from(bits).unwrap_or(1)).div_ceil(8);
    let mut all = vec![0; count];
    for (k, byte) in bytes.iter().enumerate() {
        let above = byte.cast_signed() >> (bits - 1);
        let is_value = is_signed(dtype) && matches!(above, 0 | -1);
        let is_pattern = u32::from(*byte) >> bits == 0;
        let fits = match kind {
            'i' => is_value,
            'u' => is_pattern,
            _ => is_value || is_pattern,
        };
        if !fits {
            return Err((k, *byte));
        }
        packing.store(&mut all, k, *byte).ok_or((k, *byte))?;
    }
    Ok(all)
}

/// Unpacks the first `count` sub-byte elements of `packed` to one byte each, sign-extended for a signed integer type.
/// Elements beyond the end of `packed` are omitted.
pub(crate) fn unpacked(packed: &[u8], dtype: Dtype, packing: Packing, count: usize) -> Vec<u8> {
    let above = 8 - dtype.element_bits().min(8);
    let element = |k: usize| {
        let byte = packing.load(packed, k)?;
        let signed = (byte << above).cast_signed() >> above;
        Some(if is_signed(dtype) { signed.cast_unsigned() } else { byte })
    };
    (0..count).map_while(element).collect()
}

/// True for signed integer types narrower than a byte.
pub(crate) fn is_signed(dtype: Dtype) -> bool {
    dtype.element_bits() < 8 && is_signed_integer(dtype.scalar)
}
