//! Element types of ONNX, and the elements of small tensors: shapes, axes and scales are given so.

use super::proto;
use crate::dtype::Scalar;

/// The most elements that are looked at.
pub(super) const MAX_KNOWN: usize = 4096;

/// Elements that are known, row-major.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Integers(Vec<i64>),
    Floats(Vec<f64>),
}

impl Values {
    pub(super) fn integers(&self) -> Option<&[i64]> {
        match self {
            Self::Integers(values) => Some(values),
            Self::Floats(_) => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Floats(values) => values.len(),
        }
    }
}

/// The element type of a number of `TensorProto.DataType`.
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
        _ => return None,
    })
}

/// The elements of a tensor of so many, where they are few, of a type that shapes and scales have, and in the file.
pub(super) fn values(tensor: &proto::Tensor, dtype: Scalar, count: u64) -> Option<Values> {
    let count = usize::try_from(count).ok().filter(|count| *count <= MAX_KNOWN)?;
    let raw = tensor.raw_data.as_ref();
    let known = match dtype {
        Scalar::I64 if raw.is_empty() => Values::Integers(tensor.int64_data.clone()),
        Scalar::I64 => Values::Integers(parts(raw, i64::from_le_bytes)),
        Scalar::I32 if !raw.is_empty() => {
            Values::Integers(parts(raw, |part| i64::from(i32::from_le_bytes(part))))
        }
        Scalar::I32 | Scalar::Bool if raw.is_empty() => {
            Values::Integers(tensor.int32_data.iter().copied().map(i64::from).collect())
        }
        Scalar::Bool => Values::Integers(raw.iter().copied().map(i64::from).collect()),
        Scalar::F32 if raw.is_empty() => {
            Values::Floats(tensor.float_data.iter().copied().map(f64::from).collect())
        }
        Scalar::F32 => Values::Floats(parts(raw, |part| f64::from(f32::from_le_bytes(part)))),
        _ => return None,
    };
    (known.len() == count).then_some(known)
}

/// Bytes cut into numbers of `N`; an incomplete one at the end is dropped.
fn parts<const N: usize, T>(raw: &[u8], number: impl Fn([u8; N]) -> T) -> Vec<T> {
    raw.chunks_exact(N).filter_map(|part| part.try_into().ok()).map(number).collect()
}
