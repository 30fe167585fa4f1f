//! Element types of ONNX, and the elements of small constant tensors such as shapes, axes and scales.

use super::error::{ShapeError, ShapeResult};
use super::proto;
use crate::base::dtype::Scalar;

/// Maximum number of elements of a tensor whose elements are read or computed during the import. Elements of larger
/// tensors are unknown, except in a list attribute of `Constant`.
pub(super) const MAX_KNOWN: usize = 4096;

/// Elements of a constant tensor in row-major order. `Integers` holds elements of an integer type or `bool`, `Floats`
/// those of a float type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConstantElements {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

impl ConstantElements {
    pub(super) fn integers(&self) -> Option<&[i64]> {
        match self {
            Self::Integers(values) => Some(values),
            Self::Floats(_) => None,
        }
    }

    /// Elements converted to floats; `None` if the absolute value of an integer exceeds 2^53, so that the conversion
    /// might round.
    pub(super) fn floats(&self) -> Option<Vec<f64>> {
        match self {
            Self::Integers(values) => values.iter().map(|value| float(*value)).collect(),
            Self::Floats(values) => Some(values.clone()),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
        }
    }

    /// Elements at the positions `places`, in order; `None` if a position is `None` or out of bounds.
    pub(super) fn pick(&self, places: impl Iterator<Item = Option<usize>>) -> Option<Self> {
        Some(match self {
            Self::Integers(values) => Self::Integers(
                places.map(|place| values.get(place?).copied()).collect::<Option<_>>()?,
            ),
            Self::Floats(values) => Self::Floats(
                places.map(|place| values.get(place?).copied()).collect::<Option<_>>()?,
            ),
        })
    }

    /// Elements of several tensors concatenated in order; `None` if there are both integers and floats among them.
    pub(super) fn chain(parts: &[&Self]) -> Option<Self> {
        let mut integers = Vec::new();
        let mut floats = Vec::new();
        for part in parts {
            match part {
                Self::Integers(values) => integers.extend_from_slice(values),
                Self::Floats(values) => floats.extend_from_slice(values),
            }
        }
        match (integers.is_empty(), floats.is_empty()) {
            (_, true) => Some(Self::Integers(integers)),
            (true, false) => Some(Self::Floats(floats)),
            (false, false) => None,
        }
    }
}

/// Integer as a float; `None` if the absolute value exceeds 2^53, so that the conversion might round.
pub(super) fn float(value: i64) -> Option<f64> {
    let high = i32::try_from(value >> 26).ok().map(f64::from)?;
    let low = i32::try_from(value & 0x3ff_ffff).ok().map(f64::from)?;
    // Each part is exact in a float.
    (value.unsigned_abs() <= 1 << 53).then_some(high * 67_108_864.0 + low)
}

/// Float truncated towards 0 as an integer; `None` if the absolute value exceeds 2^53 or the float is a NaN.
pub(super) fn whole(value: f64) -> Option<i64> {
    let is_exact = value.abs() <= 9_007_199_254_740_992.0;
    #[expect(clippy::cast_possible_truncation, reason = "truncation is intended")]
    is_exact.then_some(value.trunc() as i64)
}

/// `value` rounded to the element type `dtype`, `f64` or `f32`; `None` for any other type.
pub(super) fn rounded(value: f64, dtype: Scalar) -> Option<f64> {
    match dtype {
        Scalar::F64 => Some(value),
        #[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
        Scalar::F32 => Some(f64::from(value as f32)),
        _ => None,
    }
}

/// True if `value` is in the range of the element type `dtype`, an integer type of at least 8 bits or `bool`; false for
/// any other type, including integers of fewer bits, such as `i4`.
pub(super) fn represents(dtype: Scalar, value: i64) -> bool {
    match dtype {
        Scalar::I64 => true,
        Scalar::I32 => i32::try_from(value).is_ok(),
        Scalar::I16 => i16::try_from(value).is_ok(),
        Scalar::I8 => i8::try_from(value).is_ok(),
        Scalar::U64 => value >= 0,
        Scalar::U32 => u32::try_from(value).is_ok(),
        Scalar::U16 => u16::try_from(value).is_ok(),
        Scalar::U8 => u8::try_from(value).is_ok(),
        Scalar::Bool => value == 0 || value == 1,
        _ => false,
    }
}

/// Element type for a number of ONNX's `TensorProto.DataType`: 1 is `f32`. `None` if layoutc has no corresponding type.
pub(super) fn scalar(number: i32) -> Option<Scalar> {
    Some(match number {
        1 => Scalar::F32,
        2 => Scalar::U8,
        3 => Scalar::I8,
        4 => Scalar::U16,
        5 => Scalar::I16,
        6 => Scalar::I32,
        7 => Scalar::I64,
        9 => Scalar::Bool,
        10 => Scalar::F16,
        11 => Scalar::F64,
        12 => Scalar::U32,
        13 => Scalar::U64,
        14 => Scalar::C64,
        15 => Scalar::C128,
        16 => Scalar::Bf16,
        17 => Scalar::F8e4m3fn,
        18 => Scalar::F8e4m3fnuz,
        19 => Scalar::F8e5m2,
        20 => Scalar::F8e5m2fnuz,
        21 => Scalar::U4,
        22 => Scalar::I4,
        23 => Scalar::F4e2m1fn,
        24 => Scalar::F8e8m0fnu,
        25 => Scalar::U2,
        26 => Scalar::I2,
        27 => Scalar::F6e2m3fn,
        28 => Scalar::F6e3m2fn,
        _ => return None,
    })
}

/// Element type for a number of ONNX's `TensorProto.DataType`: 1 is `f32`.
///
/// # Errors
/// [`ShapeError::ElementType`] if layoutc has no corresponding type.
pub(super) fn element_type(number: i32) -> ShapeResult<Scalar> {
    scalar(number).ok_or(ShapeError::ElementType(number.into()))
}

/// Description of an ONNX element type that layoutc does not have, by its number in `TensorProto.DataType`: 8 gives
/// `string elements`.
pub(super) fn element_type_name(number: i64) -> String {
    match number {
        0 => "elements without a type".to_owned(),
        8 => "string elements".to_owned(),
        _ => format!("elements of ONNX type {number}"),
    }
}

/// Elements of a constant tensor with `count` elements of type `dtype`. `None` if `count` exceeds [`MAX_KNOWN`], if the
/// file does not store the elements or stores another number of them, if the type is not an integer type of at least 8
/// bits, `bool`, `f32` or `f64`, or if an element is out of range of the type or exceeds 63 bits.
pub(super) fn values(
    tensor: &proto::OnnxTensor,
    dtype: Scalar,
    count: u64,
) -> Option<ConstantElements> {
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_KNOWN)?;
    let raw = tensor.raw_data.as_ref();
    let known = if raw.is_empty() { listed(tensor, dtype)? } else { packed(raw, dtype)? };
    let is_representable =
        known.integers().is_none_or(|all| all.iter().all(|one| represents(dtype, *one)));
    (known.len() == count && is_representable).then_some(known)
}

/// Elements that a tensor stores in typed fields, such as `float_data`; `None` for types other than integer types of at
/// least 8 bits, `bool`, `f32` and `f64`, and if an unsigned integer exceeds 63 bits.
fn listed(tensor: &proto::OnnxTensor, dtype: Scalar) -> Option<ConstantElements> {
    Some(match dtype {
        Scalar::I64 => ConstantElements::Integers(tensor.int64_data.clone()),
        Scalar::U32 | Scalar::U64 => {
            let all = tensor.uint64_data.iter().map(|value| i64::try_from(*value).ok());
            ConstantElements::Integers(all.collect::<Option<_>>()?)
        }
        Scalar::I32 | Scalar::I16 | Scalar::I8 | Scalar::U16 | Scalar::U8 | Scalar::Bool => {
            ConstantElements::Integers(tensor.int32_data.iter().copied().map(i64::from).collect())
        }
        Scalar::F32 => {
            ConstantElements::Floats(tensor.float_data.iter().copied().map(f64::from).collect())
        }
        Scalar::F64 => ConstantElements::Floats(tensor.double_data.clone()),
        _ => return None,
    })
}

/// Elements that a tensor stores as little-endian bytes in `raw_data`; `None` for types other than integer types of at
/// least 8 bits, `bool`, `f32` and `f64`, and if an unsigned integer exceeds 63 bits.
fn packed(raw: &[u8], dtype: Scalar) -> Option<ConstantElements> {
    let integers = match dtype {
        Scalar::I64 => parts(raw, i64::from_le_bytes),
        Scalar::I32 => parts(raw, |part| i32::from_le_bytes(part).into()),
        Scalar::I16 => parts(raw, |part| i16::from_le_bytes(part).into()),
        Scalar::I8 => parts(raw, |part| i8::from_le_bytes(part).into()),
        Scalar::U64 => {
            let all = parts(raw, u64::from_le_bytes).into_iter();
            all.map(|value| i64::try_from(value).ok()).collect::<Option<_>>()?
        }
        Scalar::U32 => parts(raw, |part| u32::from_le_bytes(part).into()),
        Scalar::U16 => parts(raw, |part| u16::from_le_bytes(part).into()),
        Scalar::U8 | Scalar::Bool => raw.iter().copied().map(i64::from).collect(),
        Scalar::F32 => {
            let floats = parts(raw, |part| f32::from_le_bytes(part).into());
            return Some(ConstantElements::Floats(floats));
        }
        Scalar::F64 => return Some(ConstantElements::Floats(parts(raw, f64::from_le_bytes))),
        _ => return None,
    };
    Some(ConstantElements::Integers(integers))
}

/// Numbers of `N` bytes each, converted by `number`; an incomplete number at the end is dropped.
fn parts<const N: usize, T>(raw: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    raw.chunks_exact(N).filter_map(|part| part.try_into().ok()).map(number).collect()
}
