//! Element types that change on the way: `pack-from=` of a tensor, `cast=` of a conversion.

use crate::cast::{Cast, CastError, CastMode};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, FileSpan};
use crate::dtype::{Dtype, Scalar};
use crate::fill;
use crate::manifest::syntax::ConvertItem;
use crate::model::{PackFrom, Tensor};

/// What pack takes of a tensor, and unpack gives, at the place that says so; `None` where that is the tensor's own type.
pub(super) fn pack_from(
    tensor: (&str, Dtype),
    logical: Dtype,
    mode: CastMode,
    place: &FileSpan,
) -> Result<Option<PackFrom>, Diagnostic> {
    let (name, own) = tensor;
    if logical.element_bits() < 8 {
        let message = format!("pack of `{name}` cannot take {logical}: its elements share bytes");
        let error = Diagnostic::error(Code::DtypeCast, message, place.clone(), "");
        let wide = match fill::format(logical.scalar) {
            Some(_) => "f32",
            None if fill::is_signed(logical.scalar) => "i8",
            None => "u8",
        };
        return Err(error.help(format!("give it elements of whole bytes: `pack-from={wide}`")));
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

/// How elements change on the way from one tensor to another; `None` where they do not.
pub(super) fn between(
    item: &ConvertItem,
    [source, destination]: [&Tensor; 2],
    place: &FileSpan,
) -> Result<Option<Cast>, Diagnostic> {
    let (from, to) = (source.dtype, destination.dtype);
    let told = |middle| {
        format!("`{}` holds {from} and `{}` holds {to}{middle}", source.name, destination.name)
    };
    match (Cast::new(from, to, item.cast.unwrap_or(CastMode::Round)), item.cast) {
        (Ok(None), _) => Ok(None),
        (Ok(cast), Some(_)) => Ok(cast),
        (Ok(Some(_)), None) => {
            let error = Diagnostic::error(Code::DtypeConvert, told(""), place.clone(), "");
            Err(error.help(format!(
                "say what becomes of what {to} cannot hold: `cast=round` or `cast=saturate`"
            )))
        }
        (Err(_), None) => {
            let error = Diagnostic::error(Code::DtypeConvert, told(""), place.clone(), "");
            Err(error.help("a conversion moves elements; give both the same element type"))
        }
        (Err(none), Some(_)) => Err(fault(told(", which are not converted"), none, place)),
    }
}

fn fault(message: String, CastError { dtype }: CastError, place: &FileSpan) -> Diagnostic {
    let error = Diagnostic::error(Code::DtypeCast, message, place.clone(), "");
    let error = error.note(format!("elements of {dtype} are moved as they are"));
    let scalar = Dtype { lanes: 1, ..dtype };
    error.help(match dtype.scalar {
        Scalar::Record(_) => "hold each field in a tensor of its own".to_owned(),
        Scalar::Bool => "hold the truth values as u8".to_owned(),
        Scalar::F8e8m0fnu => "hold the scales as f32, or as bf16".to_owned(),
        Scalar::C64 => "hold both parts as f32, along an axis of 2".to_owned(),
        Scalar::C128 => "hold both parts as f64, along an axis of 2".to_owned(),
        _ => format!("hold the lanes as {scalar}, along an axis of {}", dtype.lanes),
    })
}
