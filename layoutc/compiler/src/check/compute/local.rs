//! Tensors of intermediates that have storage: `local T dtype=f32 { layout { … } }`.

use layoutc_algebra::symbol::{Axis, Symbol};

use crate::base::diagnostic::CheckResult;
use crate::check::tensor::{self, CheckedTensor, ManifestContext};
use crate::manifest::syntax::{LocalItem, TensorItem};

/// Tensor of a `local` item with these axes, whose extents are over `symbols`, checked as if it were declared in
/// the file `home`.
pub(super) fn tensor(
    item: &LocalItem,
    shape: &[Axis],
    symbols: &[Symbol],
    (place, home): (ManifestContext<'_>, usize),
) -> CheckResult<CheckedTensor> {
    let tensor_item = TensorItem {
        shape: Some(tensor::shape_item(shape, symbols, &item.name.span)),
        layout: item.layout.clone(),
        ..TensorItem::new(item.name.clone(), item.dtype.clone(), item.span.clone())
    };
    let place = ManifestContext { file: home, recorder: None, ..place };
    tensor::check(&tensor_item, place)
}
