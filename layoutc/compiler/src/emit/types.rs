//! What a header defines for the element types of its tensors: structures, and conversions of small floats.

use super::dialect::Dialect;
use super::element;
use super::model::{SmallFloat, Structure};
use crate::dtype::{Dtype, Scalar};
use crate::model::Tensor;

pub(super) fn structures<'t>(
    dialect: &Dialect,
    tensors: impl Iterator<Item = &'t Tensor>,
) -> Vec<Structure> {
    let mut dtypes: Vec<Dtype> = Vec::new();
    for tensor in tensors {
        // Lanes of complex numbers need the complex numbers first.
        dtypes.extend([Dtype { lanes: 1, ..tensor.dtype }, tensor.dtype]);
    }
    let mut structures: Vec<Structure> = Vec::new();
    for (name, members) in dtypes.into_iter().filter_map(|dtype| element::structure(dialect, dtype))
    {
        if structures.iter().all(|known| known.name != name) {
            let guard = format!("{}_DEFINED", name.to_ascii_uppercase());
            structures.push(Structure { name, guard, members });
        }
    }
    structures
}

#[expect(clippy::wildcard_enum_match_arm, reason = "only small floats are converted")]
pub(super) fn conversions(dialect: &Dialect, tensors: &[Tensor]) -> Vec<SmallFloat> {
    let small = |scalar: Scalar| {
        let [exponent_bits, mantissa_bits, bias] = match scalar {
            Scalar::F16 => [5, 10, 15],
            Scalar::Bf16 => [8, 7, 127],
            Scalar::F8e4m3fn => [4, 3, 7],
            Scalar::F8e5m2 => [5, 2, 15],
            Scalar::F8e8m0fnu => [8, 0, 127],
            Scalar::F4e2m1fn => [2, 1, 1],
            _ => return None,
        };
        let dtype = Dtype { scalar, lanes: 1 };
        let infinity = ((1_u32 << exponent_bits) - 1) << mantissa_bits;
        let (greatest, overflow, nan, has_nan) = match scalar {
            Scalar::F8e4m3fn => (0x7E, 0x7F, 0x7F, true),
            Scalar::F4e2m1fn => (0x7, 0x7, 0x7, false),
            Scalar::F8e8m0fnu => (0xFE, 0xFF, 0xFF, true),
            _ => (infinity - 1, infinity, infinity | 1 << (mantissa_bits - 1), true),
        };
        Some(SmallFloat {
            name: dtype.to_string(),
            holder: (dialect.scalars)(scalar).to_owned(),
            exponent_bits,
            mantissa_bits,
            bias,
            sign_shift: exponent_bits + mantissa_bits,
            greatest: format!("0x{greatest:X}u"),
            overflow: format!("0x{overflow:X}u"),
            nan: format!("0x{nan:X}u"),
            ieee: matches!(scalar, Scalar::F16 | Scalar::Bf16 | Scalar::F8e5m2),
            has_nan,
        })
    };
    let mut all: Vec<SmallFloat> = Vec::new();
    let dtypes = tensors.iter().flat_map(|tensor| [tensor.dtype, tensor.logical_dtype()]);
    for float in dtypes.filter_map(|dtype| small(dtype.scalar)) {
        if all.iter().all(|known| known.name != float.name) {
            all.push(float);
        }
    }
    all.sort_by(|a, b| b.sign_shift.cmp(&a.sign_shift).then_with(|| a.name.cmp(&b.name)));
    all
}
