//! Checks of the element types of views.

use std::sync::Arc;

use crate::base::codes::Code;
use crate::base::diagnostic::{CheckResult, Diagnostic};
use crate::base::dtype::{Dtype, LANES, Scalar};
use crate::manifest::syntax::ViewItem;
use crate::model::Tensor;

/// Checks the element type `dtype` of the view `item` of the base `seen`. A type other than that of the base is an
/// error in a window. Elsewhere, it must have the scalar type of the base and a number of lanes that is a multiple or a
/// divisor of the base's, and the base must be aligned for it. `file` is the path of the manifest.
pub(super) fn check(
    item: &ViewItem,
    dtype: Dtype,
    seen: &Tensor,
    file: &Arc<str>,
) -> CheckResult<()> {
    let other = seen.dtype;
    if dtype == other {
        return Ok(());
    }
    let Some(text) = &item.dtype else { return Ok(()) };
    let place = text.at(file);
    let message = format!("cannot view `{}` of {other} as {dtype}", seen.name);
    let error = Diagnostic::error(Code::DtypeView, message, place.clone(), "");
    if item.map.is_some() {
        let help =
            "remove `dtype`, and declare a view of the window: a window does not change elements";
        return Err(vec![error.help(help)]);
    }
    if dtype.scalar != other.scalar {
        let note = "a view has the scalars of its buffer";
        if let Scalar::Record(_) = other.scalar {
            let note = "the elements are records, and a view cannot split them";
            return Err(vec![error.note(note).help("remove `dtype`")]);
        }
        let help = match Dtype::parse(&format!("{}x4", Dtype { lanes: 1, ..other })) {
            Some(vector) => {
                format!("remove `dtype`, or use vectors of the same scalars: `{vector}`")
            }
            None => "remove `dtype`".to_owned(),
        };
        return Err(vec![error.note(note).help(help)]);
    }
    let [few, many] = if dtype.lanes < other.lanes { [dtype, other] } else { [other, dtype] };
    if many.lanes.checked_rem(few.lanes) != Some(0) {
        let note = format!("{} lanes are not a multiple of {}", many.lanes, few.lanes);
        let divides = |a: u32, b: u32| a != b && a.checked_rem(b) == Some(0);
        let fits = |lanes: &u32| divides(*lanes, other.lanes) || divides(other.lanes, *lanes);
        let types = [1].into_iter().chain(LANES.iter().copied()).filter(fits);
        let types = types.map(|lanes| format!("`{}`", Dtype { lanes, ..other }));
        let help = format!("use one of {}", types.collect::<Vec<_>>().join(", "));
        return Err(vec![error.note(note).help(help)]);
    }
    let (has, needs) = (seen.layout.alignment_bytes(), alignment(dtype));
    if has < needs {
        let name = &seen.name;
        let message = format!("`{name}` is aligned to {has} bytes, and {dtype} needs {needs}");
        let error = Diagnostic::error(Code::ShapeLanes, message, place, "");
        return Err(vec![error.help(format!("write `align {needs}` in the layout of `{name}`"))]);
    }
    Ok(())
}

/// Required alignment of an element type, in bytes: the largest power of two that divides its size in whole bytes, at
/// most 16; 1 for a type smaller than a byte.
fn alignment(dtype: Dtype) -> u64 {
    let bytes = u64::from(dtype.element_bits() / 8);
    if bytes == 0 { 1 } else { 1 << bytes.trailing_zeros().min(4) }
}
