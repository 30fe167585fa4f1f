//! Checks of element type conversions: `pack-from=` of a tensor, `cast=` of a conversion.

use crate::base::cast::{Cast, CastError, CastMode};
use crate::base::codes::Code;
use crate::base::diagnostic::{Diagnostic, FileSpan};
use crate::base::dtype::{Dtype, Scalar};
use crate::base::fill;
use crate::manifest::syntax::ConvertItem;
use crate::model::{PackFrom, Tensor};

/// Casts of pack and unpack between `logical`, the element type of the array that pack reads and unpack writes, and the
/// element type in memory. `tensor` is the pair (name of the tensor, element type in memory). `mode` is the treatment
/// of values that are out of range. `Err`, located at `place`, if elements of `logical` are smaller than a byte, or if
/// layoutc cannot cast between the types. `None` if the two types are equal and have at least 8 bits.
pub(super) fn pack_from(
    tensor: (&str, Dtype),
    logical: Dtype,
    mode: CastMode,
    place: &FileSpan,
) -> Result<Option<PackFrom>, Diagnostic> {
    let (name, own) = tensor;
    if logical.element_bits() < 8 {
        let message =
            format!("pack of `{name}` cannot read {logical}: its elements are smaller than a byte");
        let error = Diagnostic::error(Code::DtypeCast, message, place.clone(), "");
        let wide = match fill::format(logical.scalar) {
            Some(_) => "f32",
            None if fill::is_signed(logical.scalar) => "i8",
            None => "u8",
        };
        return Err(error.help(format!("use elements of whole bytes: `pack-from={wide}`")));
    }
    let cast = |from, to| {
        Cast::new(from, to, mode).map_err(|none| {
            let message = format!("`{name}` of {own} cannot be packed from {logical}");
            fault(message, none, place)
        })
    };
    let (Some(pack), Some(unpack)) = (cast(logical, own)?, cast(own, logical)?) else {
        return Ok(None);
    };
    Ok(Some(PackFrom { dtype: logical, pack, unpack }))
}

/// Cast from the element type of a conversion's source to that of its destination; `None` if the types are equal.
/// `Err`, located at `place`, if layoutc cannot cast between the types, or if the cast may change values and `item`
/// gives no `cast=`.
pub(super) fn between(
    item: &ConvertItem,
    [source, destination]: [&Tensor; 2],
    place: &FileSpan,
) -> Result<Option<Cast>, Diagnostic> {
    let (from, to) = (source.dtype, destination.dtype);
    let message = |middle| {
        format!(
            "`{}` has elements of type {from} and `{}` of type {to}{middle}",
            source.name, destination.name
        )
    };
    match (Cast::new(from, to, item.cast.unwrap_or(CastMode::Round)), item.cast) {
        (Ok(None), _) => Ok(None),
        (Ok(cast), Some(_)) => Ok(cast),
        (Ok(Some(cast)), None) if cast.is_lossless() => Ok(Some(cast)),
        (Ok(Some(_)), None) => {
            let error = Diagnostic::error(Code::DtypeConvert, message(""), place.clone(), "");
            Err(error.help(format!(
                "choose the treatment of values outside the range of {to}: `cast=round` or `cast=saturate`"
            )))
        }
        (Err(_), None) => {
            let error = Diagnostic::error(Code::DtypeConvert, message(""), place.clone(), "");
            Err(error.help(kernel_instead(source, destination).unwrap_or_else(|| {
                "a conversion copies elements unchanged; give both tensors the same element type"
                    .to_owned()
            })))
        }
        (Err(none), Some(_)) => {
            let mut error = fault(message(", and there is no cast between them"), none, place);
            if let Some(help) = kernel_instead(source, destination) {
                error.help = vec![help];
            }
            Err(error)
        }
    }
}

/// Help for a conversion between numbers and booleans: the text of a kernel that computes `destination` from `source`.
/// `None` for any other two element types.
fn kernel_instead(source: &Tensor, destination: &Tensor) -> Option<String> {
    let is_float =
        |tensor: &Tensor| matches!(tensor.dtype.scalar.compute_type(), Scalar::F64 | Scalar::F32);
    let is_integer = |tensor: &Tensor| {
        let ty = tensor.dtype.scalar.compute_type();
        matches!(ty, Scalar::I64 | Scalar::I32 | Scalar::U64 | Scalar::U32)
    };
    let is_number =
        |tensor: &Tensor| tensor.dtype.lanes == 1 && (is_float(tensor) || is_integer(tensor));
    let is_bool = |tensor: &Tensor| tensor.dtype == Dtype { scalar: Scalar::Bool, lanes: 1 };
    let index = |tensor: &Tensor| {
        let axes: Vec<&str> =
            tensor.layout.logical().iter().map(|axis| axis.name.as_str()).collect();
        format!("{}[{}]", tensor.name, axes.join(", "))
    };
    let (from, to) = (index(source), index(destination));
    let value = if is_number(source) && is_bool(destination) {
        format!("{from} != 0")
    } else if is_bool(source) && is_number(destination) {
        let [one, zero] = if is_float(destination) { ["1.0", "0.0"] } else { ["1", "0"] };
        format!("select({from}, {one}, {zero})")
    } else {
        return None;
    };
    let name = format!("{}_to_{}", source.name, destination.name);
    Some(format!(
        "write a kernel in place of the conversion: `kernel {name} {{ compute \"{to} = {value}\" }}`"
    ))
}

fn fault(message: String, CastError { dtype }: CastError, place: &FileSpan) -> Diagnostic {
    let error = Diagnostic::error(Code::DtypeCast, message, place.clone(), "");
    let error = error.note(format!("elements of {dtype} are copied unchanged"));
    error.help(supported_storage(dtype))
}

/// Help for the element type `dtype`, which layoutc cannot convert or compute with: another way to store the data, such
/// as booleans as `u8`, or the lanes of a vector along an axis.
pub(super) fn supported_storage(dtype: Dtype) -> String {
    let scalar = Dtype { lanes: 1, ..dtype };
    match dtype.scalar {
        Scalar::Record(_) => "store each field in its own tensor".to_owned(),
        Scalar::Bool => "store the booleans as u8".to_owned(),
        Scalar::F8e8m0fnu => "store the scales as f32 or bf16".to_owned(),
        Scalar::C64 => {
            "store the real and imaginary parts as f32 along an axis of extent 2".to_owned()
        }
        Scalar::C128 => {
            "store the real and imaginary parts as f64 along an axis of extent 2".to_owned()
        }
        _ => format!("store the lanes as {scalar} along an axis of extent {}", dtype.lanes),
    }
}
