//! Intermediates of a kernel that have storage, declared by `local T dtype=f32 { layout { … } }`.

use layoutc_algebra::symbol::{Axis, Symbol};

use crate::base::diagnostic::CheckResult;
use crate::check::tensor::{self, CheckedTensor, ManifestContext};
use crate::manifest::syntax::{LocalItem, TensorItem};

/// Checks the `local` item as a tensor with the axes `shape`, whose extents are over `symbols`. The last argument is
/// the pair `(place, home)`: `place` is the context of the manifest that is checked, and `home` the position, among the
/// loaded manifests, of the manifest whose scope resolves the names in the layout.
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
