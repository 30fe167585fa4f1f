//! Definitions in a header for the element types of its tensors: structures, and conversions of small floats.

use super::dialect::Dialect;
use super::model::{SmallFloat, Structure};
use super::{element, record};
use crate::base::cast::{CastMode, overflow_bits};
use crate::base::dtype::record::Record;
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::model::Tensor;

pub(super) fn structures<'t>(
    dialect: &Dialect,
    tensors: impl Iterator<Item = &'t Tensor>,
) -> Vec<Structure> {
    let mut dtypes: Vec<Dtype> = Vec::new();
    for tensor in tensors {
        // A vector of complex numbers needs the structure of a complex number first.
        dtypes.extend([Dtype { lanes: 1, ..tensor.dtype }, tensor.dtype]);
    }
    let mut structures: Vec<Structure> = Vec::new();
    for dtype in dtypes {
        let Some((name, members)) = element::structure(dialect, dtype) else { continue };
        let asserts = dtype.record().map(|record| record::asserts(dialect, record));
        let asserts = asserts.unwrap_or_default();
        if structures.iter().all(|known| known.name != name) {
            let guard = format!("{}_DEFINED", name.to_ascii_uppercase());
            structures.push(Structure { name, guard, members, asserts });
        }
    }
    structures
}

/// Element types of the tensors, in memory and in the dense buffers of pack and unpack, and of the fields of records;
/// with repetitions.
pub(super) fn of<'t>(tensors: impl Iterator<Item = &'t Tensor>) -> Vec<Dtype> {
    let fields = |dtype: Dtype| {
        let fields = dtype.record().map_or(&[][..], Record::fields);
        [dtype].into_iter().chain(fields.iter().map(|field| field.dtype))
    };
    tensors.flat_map(|tensor| [tensor.dtype, tensor.logical_dtype()]).flat_map(fields).collect()
}

pub(super) fn conversions(dialect: &Dialect, tensors: &[Tensor]) -> Vec<SmallFloat> {
    let small = |scalar: Scalar| {
        let dtype = Dtype { scalar, lanes: 1 };
        let format = fill::format(scalar).filter(|_| dtype.element_bits() < 32)?;
        let overflow = overflow_bits(&format, CastMode::Round);
        Some(SmallFloat {
            name: dtype.to_string(),
            holder: (dialect.scalars)(scalar).to_owned(),
            exponent_bits: format.exponent_bits,
            mantissa_bits: format.mantissa_bits,
            bias: u32::try_from(format.bias).unwrap_or(0),
            sign_shift: format.exponent_bits.saturating_add(format.mantissa_bits),
            greatest: format!("0x{:X}u", format.greatest),
            overflow: format!("0x{overflow:X}u"),
            nan: format!("0x{:X}u", format.nan.unwrap_or(format.greatest)),
            ieee: format.infinity.is_some(),
            has_nan: format.nan.is_some(),
            unsigned_zero: format.unsigned_zero,
        })
    };
    let mut all: Vec<SmallFloat> = Vec::new();
    let dtypes = of(tensors.iter());
    for float in dtypes.into_iter().filter_map(|dtype| small(dtype.scalar)) {
        if all.iter().all(|known| known.name != float.name) {
            all.push(float);
        }
    }
    all.sort_by(|a, b| b.sign_shift.cmp(&a.sign_shift).then_with(|| a.name.cmp(&b.name)));
    all
}
